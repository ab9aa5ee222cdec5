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

export const choicesLine = (choices: readonly CardChoice[]): string =>
  choices.map((choice) => `[${table[choice][0]}] ${table[choice][1]}`).join('  ');

/** What a key means among these choices; undefined when it means nothing. */
export const choiceOf = (choices: readonly CardChoice[], key: string): CardChoice | undefined =>
  choices.find((choice) => (key === endOfInput ? choice === 'later' : table[choice][0] === key));
