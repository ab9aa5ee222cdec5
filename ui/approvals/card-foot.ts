import type { Glyphs } from '../../src/view/escape.ts';
import type { Ask } from '../../src/schema/ask.ts';
import { plural } from '../../src/view/format.ts';
import { type Line, type Span, foreign, say } from '../../src/view/line.ts';
import { caretInView, fieldLine } from '../field-line.ts';
import { cutLine, wrapLine } from '../../src/view/wrap.ts';
import { type KeyMap, keyOf } from '../keys/key-map.ts';
import type { CardMode, CardState } from './card-state.ts';
import { whyNot } from './card-choices.ts';
import { type CardPlace, type Drawn, choiceCommands, choiceLabel, shortColumns } from './card-place.ts';
import { textRows } from './card-forms.ts';

/** What stands under the data: a field, a question, or the choices. */
export function footRows(
  card: CardState,
  facts: Drawn,
  keys: KeyMap,
  inner: number,
  place: CardPlace,
): readonly Line[] {
  const said: readonly Line[] =
    card.said === null ? [] : wrapLine(foreign(`! ${card.said}`, place.glyphs, 'warn'), inner).slice(0, 2);
  return [...said, ...modeRows(card, facts, keys, inner, place)];
}

function modeRows(
  card: CardState,
  facts: Drawn,
  keys: KeyMap,
  inner: number,
  { rows, glyphs }: CardPlace,
): readonly Line[] {
  const { mode } = card;
  switch (mode.at) {
    case 'sending':
      return [[say('sending…', 'dim')]];
    case 'no-words':
      return [[say(`deny without words? ${keyOf(keys, 'card.deny') ?? 'n'}   Esc back`, 'warn')]];
    case 'run-edited':
      return [
        [
          say(
            `the policy allows this: run with these arguments? ${keyOf(keys, 'card.once') ?? 'y'}   Esc back`,
            'warn',
          ),
        ],
      ];
    case 'rule': {
      const chosen = mode.proposals?.candidates[mode.chosen];
      return wrapLine(
        mode.proposals === null || chosen === undefined
          ? [say('Esc back')]
          : [
              ...(mode.proposals.candidates.length > 1 ? [say('↑↓ candidate   ')] : []),
              // Where it would have allowed nothing else there is nothing to list.
              ...(chosen.also_allowed === 0
                ? []
                : [say(`${keyOf(keys, 'rule.matches') ?? 'm'} the matching calls   `)]),
              say(`${keyOf(keys, 'rule.write') ?? 'w'} write and allow`, 'accent'),
              say('   Esc back'),
            ],
        inner,
      );
    }
    case 'edit':
      return wrapLine(
        [say('Enter judges the new arguments   Ctrl+J new line   Ctrl+G editor   Esc back', 'dim')],
        inner,
      );
    case 'find':
      return [
        caretInView([say('find: ', 'accent'), ...fieldLine(mode.editing, glyphs)], inner),
        ...wrapLine([say('Enter next hit   Up former hit   Esc back', 'dim')], inner),
      ];
    case 'field':
      return fieldRows(mode, inner, Math.max(1, Math.min(6, rows - 8)), glyphs);
    case 'choices':
      return [
        ...questionRows(card, facts.ask, inner, glyphs),
        ...(card.marked === null ? [] : [[say('Enter sends what is marked', 'accent')]]),
        ...(rows < 12 || card.said !== null ? [] : unseenRows(card, facts, keys, inner)),
        ...choiceRows(card, facts, keys, inner),
      ];
  }
}

const asks: Readonly<Record<Extract<CardMode, { at: 'field' }>['for'], string>> = {
  deny_feedback: 'why (the model reads it as words, Enter denies, Esc goes back)',
  answer: 'answer (Enter sends, Ctrl+J new line, Esc goes back)',
  done: 'its result, as the model will read it (Enter sends, Esc goes back)',
};

function fieldRows(
  mode: Extract<CardMode, { at: 'field' }>,
  inner: number,
  most: number,
  glyphs: Glyphs,
): readonly Line[] {
  return [
    [say(asks[mode.for], 'dim')],
    ...textRows(mode.editing, inner - 2, most, glyphs).map((line) => [say('› ', 'accent'), ...line]),
  ];
}

function questionRows(card: CardState, ask: Ask, inner: number, glyphs: Glyphs): readonly Line[] {
  // Only these have keys of their own; the others are reached with Up and Down.
  const digits = 9;
  return (ask.question?.choices ?? []).flatMap((words, index) => {
    const token = card.marked === index ? 'accent' : undefined;
    const key = index < digits ? String(index + 1) : ' ';
    return wrapLine(
      foreign(words, glyphs, token ?? 'text'),
      inner,
      [say(`${card.marked === index ? '>' : ' '} ${key} `, token ?? 'dim')],
      [say('    ')],
    );
  });
}

function choiceRows(card: CardState, facts: Drawn, keys: KeyMap, inner: number): readonly Line[] {
  const rows: Span[][] = [[]];
  const gap = inner < shortColumns ? 1 : 3;
  let used = 0;
  for (const choice of facts.choices) {
    const key = choice === 'later' ? 'Esc' : keyOf(keys, choiceCommands[choice]);
    if (key === null) continue;
    const pressed = card.burst?.choice === choice;
    const open = card.selected === choice || pressed;
    const plain = inner < shortColumns ? key : `${key} ${choiceLabel(choice, facts.ask.kind, inner)}`;
    const words = open ? `[${plain}]` : plain;
    if (used > 0 && used + gap + words.length > inner) {
      rows.push([]);
      used = 0;
    }
    if (used > 0) rows.at(-1)?.push(say(' '.repeat(gap)));
    const blocked = whyNot(choice, { ...facts, page: 0, lastTop: 0 }) !== null;
    rows.at(-1)?.push(say(words, pressed ? 'selection' : blocked ? 'dim' : open ? 'accent' : 'text'));
    used += words.length + (used > 0 ? gap : 0);
  }
  return rows.map((row) => cutLine(row, inner));
}

/** How to get to what was not seen yet: to the whole card, and in it to the next page. */
const unseenRows = ({ full }: CardState, { unseen }: Drawn, keys: KeyMap, inner: number): readonly Line[] =>
  unseen === 0
    ? []
    : wrapLine(
        [say(`${plural(unseen, 'line')} not seen: ${keyOf(keys, full ? 'card.page' : 'card.full') ?? 'PgDn'}`, 'warn')],
        inner,
      );
