import type { CardChoice } from './ask-card.ts';

/** The key of each choice and what stands beside it (03 §10). A letter means one thing on one card. */
const table: Readonly<Record<CardChoice, readonly [key: string, words: string]>> = {
  once: ['y', 'once'],
  session: ['s', 'this session'],
  edits: ['w', 'edits here, this session'],
  rule: ['r', 'add a rule'],
  edit: ['e', 'edit the arguments'],
  deny: ['n', 'deny'],
  deny_feedback: ['f', 'deny with words'],
  answer: ['a', 'answer'],
  run_again: ['a', 'run again'],
  done: ['d', 'treat as done'],
  skip: ['k', 'skip'],
  explain: ['x', 'explain'],
  full: ['v', 'view all'],
  later: ['l', 'later'],
};

/** Ctrl-D: the input ends here, and what was asked is left for later (03 §10). */
const endOfInput = '\u0004';

/** The choices, in lines of at most so many columns: no line ends within a choice, unless one is wider than that. */
export function choicesLines(choices: readonly CardChoice[], columns: number): readonly string[] {
  const lines: string[] = [];
  for (const choice of choices) {
    const [key, words] = table[choice];
    const next = `[${key}] ${words}`;
    const last = lines.at(-1);
    if (last !== undefined && last.length + 2 + next.length <= columns) lines[lines.length - 1] = `${last}  ${next}`;
    else lines.push(next);
  }
  return lines;
}

/** What a key means among these choices; undefined when it means nothing. */
export const choiceOf = (choices: readonly CardChoice[], key: string): CardChoice | undefined =>
  choices.find((choice) => (key === endOfInput ? choice === 'later' : table[choice][0] === key));
