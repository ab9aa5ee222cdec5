import type { Ask } from '../../src/schema/ask.ts';
import { askCard, type CardChoice, cardLines } from '../../src/view/ask-card.ts';
import { columnsOf } from '../../src/view/wrap.ts';

/** How a line answers an ask: a letter and the words that stand for it. */
export type PlainChoice = { readonly letter: string; readonly words: string; readonly choice: CardChoice };

const letters: Readonly<Partial<Record<CardChoice, readonly [letter: string, words: string]>>> = {
  once: ['y', 'allow once'],
  session: ['s', 'allow for this session'],
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

/** What this ask may be answered with here; rules and edited arguments need a screen, or `reins approvals respond`. */
export const choicesOf = (ask: Ask, now: number): readonly PlainChoice[] =>
  askCard(ask, now).choices.flatMap((choice) => {
    const known = letters[choice];
    return known === undefined ? [] : [{ letter: known[0], words: known[1], choice }];
  });

/** A card longer than this is cut before its end, until it was asked for whole. */
const mostLines = 200;

/**
 * The card as lines of their own label.
 * @param whole nothing is left out
 * @returns how many lines are hidden: nothing unseen is approved
 */
export function askLines(
  ask: Ask,
  now: number,
  columns: number,
  whole: boolean,
): { readonly lines: readonly string[]; readonly hidden: number } {
  const { lines, hidden } = cardLines(askCard(ask, now), whole ? Number.POSITIVE_INFINITY : mostLines, {
    columns: columns - 5,
    width: columnsOf,
  });
  return { lines: lines.map((line) => `ask: ${line}`), hidden };
}
