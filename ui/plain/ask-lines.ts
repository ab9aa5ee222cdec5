import type { Ask } from '../../src/schema/ask.ts';
import { askCard, type AskCard, type CardChoice, cardLines } from '../../src/view/ask-card.ts';
import { notation, type SafeText } from '../../src/view/escape.ts';
import { chrome } from '../../src/view/line.ts';
import { labelledRows, type PlainLook } from '../../src/view/plain-lines.ts';
import { spokenTime } from '../../src/view/spoken.ts';
import { columnsOf } from '../../src/view/wrap.ts';
import { shortId } from '../approvals/approvals-state.ts';

/** How a line answers an ask: a letter and the words that stand for it. */
export type PlainChoice = { readonly letter: string; readonly words: string; readonly choice: CardChoice };

const letters: Readonly<Record<CardChoice, readonly [letter: string, words: string]>> = {
  once: ['y', 'allow once'],
  session: ['s', 'allow for this session'],
  edits: ['w', 'allow, and edits here for this session'],
  rule: ['r', 'allow and add a rule'],
  edit: ['e', 'edit the arguments'],
  deny: ['n', 'deny'],
  deny_feedback: ['f', 'deny and say why'],
  answer: ['a', 'answer'],
  run_again: ['a', 'run again'],
  done: ['d', 'treat as done'],
  skip: ['k', 'skip'],
  explain: ['x', 'explain'],
  full: ['v', 'view all'],
  later: ['l', 'later: it stays open'],
};

/** What this ask may be answered with. */
export const choicesOf = (ask: Ask, now: number): readonly PlainChoice[] =>
  askCard(ask, now).choices.map((choice) => {
    const [letter, words] = letters[choice];
    return { letter, words, choice };
  });

/** A card longer than this is cut in its middle, until it was asked for whole: from here to there, and what is hidden in it. */
const mostLines = 200;
const firstLines = 100;
const lastLines = 20;

/**
 * The card as lines of their own label.
 * @param whole nothing is left out
 * @returns how many lines are hidden: nothing unseen is approved
 */
export function askLines(
  ask: Ask,
  now: number,
  look: PlainLook,
  whole: boolean,
): { readonly lines: readonly string[]; readonly hidden: number } {
  const full = askCard(ask, now, shortId, look.glyphs);
  // What another part says in full is read out once.
  const card = whole ? full : { ...full, parts: full.parts.filter(({ extra }) => extra !== 'told') };
  const lines = look.spoken ? spokenLines(ask, card, now, look) : columnLines(card, look);
  if (whole || lines.length <= mostLines) return { lines, hidden: 0 };
  const rest = lines.slice(firstLines, -lastLines);
  const flagged = rest.filter((line) => line.split(notation[look.glyphs]).some(isFlag));
  const hidden = rest.length - flagged.length;
  const fold = `ask: (${hidden} lines are hidden here; those with hidden characters follow)`;
  return { lines: [...lines.slice(0, firstLines), fold, ...flagged, ...lines.slice(-lastLines)], hidden };
}

/** Every second piece is an escape; a line end alone hides nothing. */
const isFlag = (piece: string, index: number): boolean => index % 2 === 1 && !/^(?:⏎|<LF>)$/.test(piece);

const columnLines = (card: AskCard, { columns }: PlainLook): readonly string[] =>
  cardLines(
    card,
    Number.POSITIVE_INFINITY,
    columns === null ? null : { columns: columns - 6, width: columnsOf },
  ).lines.map((line) => `ask: ${line}`.trimEnd());

/** For ears: `label: text`, and no columns. A line of the data says which it is, so that none can pass for another label. */
function spokenLines(ask: Ask, card: AskCard, now: number, look: PlainLook): readonly string[] {
  const time =
    ask.expires_at === null ? 'it waits for ever' : `${spokenTime(Date.parse(ask.expires_at) - now)} left to answer`;
  // What goes on in another row says so, or it could begin like a label.
  const say = (label: string, text: SafeText) => labelledRows(`ask: ${label}`, text, look, 'ask: more: ');
  return [
    ...say(`${card.headline}: `, card.title),
    ...say('', chrome(time)),
    ...card.parts.flatMap(({ label, lines }, at) => {
      // A part without a label goes on with the one before it.
      const name = label === '' ? (card.parts[at - 1]?.label ?? '') : label;
      return lines.flatMap((text, index) => say(`${name}${lines.length > 1 ? ` line ${index + 1}` : ''}: `, text));
    }),
    ...card.warnings.flatMap((text) => say('warning: ', text)),
  ];
}
