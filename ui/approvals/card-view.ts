import type { Ask } from '../../src/schema/ask.ts';
import type { CardChoice } from '../../src/view/ask-card.ts';
import { choiceWords } from '../../src/view/ask-choices.ts';
import { formatClock, formatRemaining, plural } from '../../src/view/format.ts';
import { foreign, type Line, say, type Span } from '../../src/view/line.ts';
import { ruleKinds, ruleMatches, ruleReach, ruleTarget } from '../../src/view/rule-lines.ts';
import { fieldLine } from '../field-line.ts';
import { markHits } from '../hits.ts';
import { columnsOf, cutLine, fitLine, lineColumns, spread, wrapLine } from '../../src/view/wrap.ts';
import { layOut } from '../composer/visual-lines.ts';
import { keyOf, type KeyMap } from '../keys/key-map.ts';
import type { CardFacts, CardMode, CardState } from './card-state.ts';
import { whyNot } from './card-choices.ts';
import { type CardData, type CardRow, cardText, piecesIn } from './card-text.ts';
import type { Seen } from './seen.ts';

export type CardPlace = {
  readonly columns: number;
  /** Rows that the card may take. */
  readonly rows: number;
  readonly glyphs: 'unicode' | 'ascii';
};

/** A card at one size: its rows, and what of its data they show. */
export type CardView = {
  readonly lines: readonly Line[];
  /** Pieces of the data that are on the screen. */
  readonly visible: Seen;
  /** Rows of the inside that are in view at a time, and the last one that may stand at the top. */
  readonly page: number;
  readonly lastTop: number;
};

const frames = {
  unicode: { top: '┏', side: '┃', bottom: '┗', topEnd: '┓', bottomEnd: '┛', rule: '━' },
  ascii: { top: '#', side: '#', bottom: '#', topEnd: '#', bottomEnd: '#', rule: '-' },
} as const;

/** Columns between the borders. */
export const innerColumns = (place: CardPlace): number => Math.max(4, place.columns - 4);

/** Columns of a text that is edited on a card, with room for its mark. */
export const fieldColumns = (place: CardPlace): number => Math.max(4, place.columns - 6);

/** Where there is little room, the keys alone stand for the choices: `F1` tells what they do. */
const shortColumns = 40;

/** Most lines of one part of the data that a card shows before it folds. */
const mostLines = 24;

/** Commands of the key map behind the choices of each kind of card. */
export const choiceCommands: Readonly<Record<CardChoice, string>> = {
  once: 'card.once',
  session: 'card.session',
  edits: 'card.edits',
  rule: 'card.rule',
  edit: 'card.edit',
  deny: 'card.deny',
  deny_feedback: 'card.deny-feedback',
  answer: 'card.answer',
  run_again: 'card.run-again',
  done: 'card.done',
  skip: 'card.skip',
  explain: 'card.explain',
  full: 'card.full',
  later: 'card.later',
};

type Drawn = Omit<CardFacts, 'unseen' | 'page' | 'lastTop'> & { readonly data: CardData; readonly unseen: number };

/**
 * The card with the focus. Title, choices and foot are always in view; what does not fit between them is folded, and
 * scrolls when even that is too much (10 §7.2).
 */
export function cardView(
  card: CardState,
  facts: Drawn,
  keys: KeyMap,
  place: CardPlace,
  now: number,
  shownId: (id: string) => string,
): CardView {
  const frame = frames[place.glyphs];
  const inner = innerColumns(place);
  const below = footRows(card, facts, keys, inner, place.rows);
  const room = Math.max(1, place.rows - below.length - 2);
  const body = bodyRows(card, facts, inner, room);
  const lastTop = Math.max(0, body.length - room);
  const top = Math.min(card.top, lastTop);
  const rows = body.slice(top, top + room);
  const side = (line: Line): Line => [
    say(`${frame.side} `, 'ask'),
    ...fitLine(line, inner),
    say(` ${frame.side}`, 'ask'),
  ];
  const query = card.mode.at === 'find' ? card.mode.editing.text.trim() : '';
  const more = lastTop === 0 ? '' : ` lines ${top + 1}-${top + rows.length} of ${body.length} · PgUp PgDn`;
  return {
    lines: [
      titleLine(facts.ask, frame, place.columns, now, shownId),
      ...rows.map(({ line }) => side(query === '' ? line : markHits(line, query))),
      ...below.map(side),
      footLine(facts.ask, frame, place.columns, more, shownId),
    ],
    visible:
      card.mode.at === 'choices' || card.mode.at === 'sending' || card.mode.at === 'find'
        ? piecesIn(facts.data, rows)
        : [],
    page: room,
    lastTop,
  };
}

type Frame = (typeof frames)['unicode' | 'ascii'];

function titleLine(ask: Ask, frame: Frame, columns: number, now: number, shownId: (id: string) => string): Line {
  const left: Line = [
    say(`${frame.top} ASK `, 'ask'),
    ...foreign(`${shownId(ask.id)} · ${ask.tools}.${ask.tool} `, 'ask'),
  ];
  const ms = ask.expires_at === null ? null : Date.parse(ask.expires_at) - now;
  // Where there is hardly room, the time alone stands at the edge.
  const [ever, before] = columns < shortColumns ? ['never', ''] : ['waits for ever', 'expires in '];
  const time = ms === null ? ever : ms <= 0 ? 'expired' : `${before}${formatRemaining(ms)}`;
  const right: Line = [say(` ${time} `, ms !== null && ms < 60_000 ? 'danger' : 'ask'), say(frame.topEnd, 'ask')];
  return ruled(left, right, frame, columns);
}

function footLine(ask: Ask, frame: Frame, columns: number, more: string, shownId: (id: string) => string): Line {
  const verdict = ask.kind === 'permission' || ask.kind === 'budget' ? ' --approve|--deny' : '';
  const also = ` also: reins approvals respond ${shownId(ask.id)}${verdict} `;
  const words = more === '' ? also : `${more} `;
  return ruled([say(frame.bottom, 'ask'), ...foreign(words, 'dim')], [say(frame.bottomEnd, 'ask')], frame, columns);
}

/** A border with words at both ends; those at the left give way. */
function ruled(left: Line, right: Line, frame: Frame, columns: number): Line {
  const kept = cutLine(left, Math.max(1, columns - lineColumns(right)));
  const gap = Math.max(0, columns - lineColumns(kept) - lineColumns(right));
  return [...kept, say(frame.rule.repeat(gap), 'ask'), ...right];
}

function bodyRows(card: CardState, facts: Drawn, inner: number, room: number): readonly CardRow[] {
  const { mode } = card;
  if (mode.at === 'rule') return plainRows(ruleRows(mode, inner));
  if (mode.at === 'edit') return plainRows(editRows(mode, inner));
  if (card.full) return cardText(facts.data, inner, Number.POSITIVE_INFINITY, true).rows;
  const whole = (most: number) => cardText(facts.data, inner, most, false).rows;
  for (let most = mostLines; most > 3; most -= 3) {
    const rows = whole(most);
    if (rows.length <= room) return rows;
  }
  return whole(3);
}

const plainRows = (lines: readonly Line[]): readonly CardRow[] =>
  lines.map((line) => ({ line, owner: null, from: 0, to: 0 }));

/** What stands under the data: a field, a question, or the choices. */
function footRows(card: CardState, facts: Drawn, keys: KeyMap, inner: number, rows: number): readonly Line[] {
  const said: readonly Line[] =
    card.said === null ? [] : wrapLine(foreign(`! ${card.said}`, 'warn'), inner).slice(0, 2);
  return [...said, ...modeRows(card, facts, keys, inner, rows)];
}

function modeRows(card: CardState, facts: Drawn, keys: KeyMap, inner: number, rows: number): readonly Line[] {
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
    case 'rule':
      return wrapLine(
        mode.proposals === null || mode.proposals.candidates.length === 0
          ? [say('Esc back')]
          : [
              say(`Up Down candidate   ${keyOf(keys, 'rule.matches') ?? 'm'} the matching calls   `),
              say(`${keyOf(keys, 'rule.write') ?? 'w'} write and allow`, 'accent'),
              say('   Esc back'),
            ],
        inner,
      );
    case 'edit':
      return wrapLine(
        [say('Enter judges the new arguments   Ctrl+J new line   Ctrl+G editor   Esc back', 'dim')],
        inner,
      );
    case 'find':
      return [
        [say('find: ', 'accent'), ...fieldLine(mode.editing)],
        ...wrapLine([say('Enter next hit   Up former hit   Esc back', 'dim')], inner),
      ];
    case 'field':
      return fieldRows(mode, inner, Math.max(1, Math.min(6, rows - 8)));
    case 'choices':
      return [
        ...questionRows(card, facts.ask, inner),
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

function fieldRows(mode: Extract<CardMode, { at: 'field' }>, inner: number, most: number): readonly Line[] {
  return [
    [say(asks[mode.for], 'dim')],
    ...textRows(mode.editing, inner - 2, most).map((line) => [say('› ', 'accent'), ...line]),
  ];
}

/** The rows of an edited text around its caret. */
function textRows(
  editing: Extract<CardMode, { at: 'field' | 'edit' }>['editing'],
  columns: number,
  most: number,
): readonly Line[] {
  const { lines, row } = layOut(editing, columns, columnsOf);
  const from = Math.max(0, Math.min(row - most + 1, lines.length - most));
  return lines.slice(from, from + most).map((line, index): Line => {
    const spans: Span[] = line.cells.map(({ shown: text, at }) =>
      from + index === row && at === editing.caret ? { text, caret: true } : { text },
    );
    if (from + index !== row || line.cells.some(({ at }) => at >= editing.caret)) return spans;
    return [...spans, { ...say(' '), caret: true }];
  });
}

const editRows = (mode: Extract<CardMode, { at: 'edit' }>, inner: number): readonly Line[] => [
  [say('edit the arguments', 'text', ['bold'])],
  ...textRows(mode.editing, inner - 2, 200),
];

function ruleRows(mode: Extract<CardMode, { at: 'rule' }>, inner: number): readonly Line[] {
  const { proposals } = mode;
  if (proposals === null) return [[say('looking for rules…', 'dim')]];
  const chosen = proposals.candidates[mode.chosen];
  if (chosen === undefined)
    return wrapLine(
      foreign(`no rule can be added: ${proposals.none ?? 'none would let only this through'}`, 'warn'),
      inner,
    );
  const indented = (text: string) => wrapLine(foreign(text), inner, [say('  ')]);
  return [
    [say(`add a rule · ${mode.chosen + 1} of ${proposals.candidates.length}`, 'text', ['bold'])],
    ...proposals.candidates.map(
      (one, index): Line => [
        say(`${index === mode.chosen ? '> ' : '  '}${ruleKinds[one.kind]}`, index === mode.chosen ? 'accent' : 'text'),
      ],
    ),
    [],
    ...indented(JSON.stringify(chosen.rule)),
    ...indented(ruleReach(chosen, proposals)),
    ...ruleTarget(proposals).flatMap(indented),
    ...(mode.matches
      ? ruleMatches(chosen).flatMap((text) => wrapLine(foreign(`- ${text}`, 'dim'), inner, [say('  ')]))
      : []),
  ];
}

function questionRows(card: CardState, ask: Ask, inner: number): readonly Line[] {
  return (ask.question?.choices ?? []).map((words, index) =>
    cutLine(
      [
        say(`${card.marked === index ? '>' : ' '} ${index + 1} `, card.marked === index ? 'accent' : 'dim'),
        ...foreign(words, card.marked === index ? 'accent' : 'text'),
      ],
      inner,
    ),
  );
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
    const plain = inner < shortColumns ? key : `${key} ${choiceWords(choice)}`;
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

/** An ask that does not have the keys, in one row. */
export function closedCard(
  ask: Ask,
  keys: KeyMap,
  columns: number,
  now: number,
  shownId: (id: string) => string,
): Line {
  const ms = ask.expires_at === null ? null : Date.parse(ask.expires_at) - now;
  const time = ms === null ? 'waits for ever' : ms <= 0 ? 'expired' : `expires in ${formatRemaining(ms)}`;
  const key = keyOf(keys, 'app.next-ask') ?? 'Ctrl+N';
  const left: Line = [
    say('┏ ', 'ask'),
    ...foreign(`ASK ${shownId(ask.id)} · ${ask.tools}.${ask.tool} `, 'ask'),
    ...foreign(ask.summary),
  ];
  return spread(left, [say(`${time} · ${key} answers it`, 'dim')], columns);
}

/** What became of an ask, in one row (10 §7.6). */
export function resultLine(ask: Ask, mine: boolean, columns: number): Line {
  const token = ask.state === 'approved' || ask.state === 'answered' ? 'ok' : 'danger';
  return cutLine(
    [
      say('- ', 'dim'),
      ...foreign(verdictWords(ask, mine), token),
      ...foreign(` · ${ask.tools}.${ask.tool} ${ask.summary}`, 'dim'),
    ],
    columns,
  );
}

/** `approved 10:02:11 by you · this session`. */
export function verdictWords(ask: Ask, mine: boolean): string {
  const at = formatClock(ask.resolved_at ?? ask.updated_at);
  const remember = ask.verdict?.remember === undefined ? '' : ` · ${choiceWords(ask.verdict.remember)}`;
  if (ask.state === 'expired') return `expired ${at}, denied`;
  return `${ask.state} ${at} by ${mine ? 'you' : (ask.verdict?.by ?? 'system')}${remember}`;
}
