import type { AskKind } from '../../src/schema/ask.ts';
import type { Glyphs } from '../../src/view/escape.ts';
import type { CardChoice } from '../../src/view/ask-card.ts';
import type { CardFacts } from './card-state.ts';
import type { CardData } from './card-text.ts';

export type CardPlace = {
  readonly columns: number;
  /** Rows that the card may take. */
  readonly rows: number;
  readonly glyphs: Glyphs;
  /** Where a server of this database listens, in which it can be answered too; null = there is none. */
  readonly server?: number | null;
};

/** Columns between the borders. */
export const innerColumns = (place: CardPlace): number => Math.max(4, place.columns - 4);

/** Columns of a text that is edited on a card, with room for its mark. */
export const fieldColumns = (place: CardPlace): number => Math.max(4, place.columns - 6);

/** Where there is little room, the keys alone stand for the choices: `F1` tells what they do. */
export const shortColumns = 40;

/** The columns that the long words of all choices take in one row (10 §2.2). */
const wordyColumns = 100;

const labels: Readonly<Record<CardChoice, readonly [long: string, short: string]>> = {
  once: ['once', 'once'],
  session: ['this session', 'session'],
  edits: ['edits here, this session', 'edits here'],
  rule: ['add a rule', 'rule'],
  edit: ['edit', 'edit'],
  deny: ['deny', 'deny'],
  deny_feedback: ['deny, say why', 'deny, say why'],
  answer: ['answer in words', 'answer in words'],
  run_again: ['run again', 'run again'],
  done: ['treat as done', 'treat as done'],
  skip: ['skip', 'skip'],
  explain: ['explain', 'explain'],
  full: ['view all', 'view all'],
  later: ['later', 'later'],
};

/** What stands beside the key of a choice, in as many words as there is room for. */
export const choiceLabel = (choice: CardChoice, kind: AskKind, inner: number): string =>
  kind === 'budget' && choice === 'once' ? 'grant once more' : labels[choice][inner >= wordyColumns ? 0 : 1];

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

export type Drawn = Omit<CardFacts, 'unseen' | 'page' | 'lastTop'> & {
  readonly data: CardData;
  readonly unseen: number;
};
