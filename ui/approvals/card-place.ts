import type { Glyphs } from '../../src/view/escape.ts';
import type { CardChoice } from '../../src/view/ask-card.ts';
import type { CardFacts } from './card-state.ts';
import type { CardData } from './card-text.ts';

export type CardPlace = {
  readonly columns: number;
  /** Rows that the card may take. */
  readonly rows: number;
  readonly glyphs: Glyphs;
};

/** Columns between the borders. */
export const innerColumns = (place: CardPlace): number => Math.max(4, place.columns - 4);

/** Columns of a text that is edited on a card, with room for its mark. */
export const fieldColumns = (place: CardPlace): number => Math.max(4, place.columns - 6);

/** Where there is little room, the keys alone stand for the choices: `F1` tells what they do. */
export const shortColumns = 40;

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
