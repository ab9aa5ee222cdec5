import type { Ask } from '../../src/schema/ask.ts';
import type { RuleProposals } from '../../src/schema/policy-views.ts';
import type { CardChoice } from '../../src/view/ask-card.ts';
import type { Editing } from '../composer/editing.ts';

/** What a card is doing with the keys that it has. */
export type CardMode =
  | { readonly at: 'choices' }
  /** Words that go with a verdict. */
  | { readonly at: 'field'; readonly for: 'deny_feedback' | 'answer' | 'done'; readonly editing: Editing }
  /** `leaving`: Esc was pressed once, and the next one throws away what was edited. */
  | { readonly at: 'edit'; readonly editing: Editing; readonly original: string; readonly leaving?: boolean }
  /** The edited call would be allowed: it runs only after one more key. */
  | { readonly at: 'run-edited'; readonly args: Record<string, unknown>; readonly text: string; readonly why: string }
  | { readonly at: 'no-words' }
  | {
      readonly at: 'rule';
      readonly proposals: RuleProposals | null;
      readonly chosen: number;
      readonly matches: boolean;
    }
  /** A search in the card that is viewed whole; `hit`: its row. */
  | { readonly at: 'find'; readonly editing: Editing; readonly hit: number | null }
  | { readonly at: 'sending' };

export type CardState = {
  readonly id: string;
  readonly binding: string;
  readonly mode: CardMode;
  /** Keys before this time are dropped (10 §7.3). */
  readonly guardUntil: number;
  /** A letter that takes effect when no other follows it. */
  readonly burst: { readonly choice: CardChoice; readonly at: number } | null;
  /** When the last printable key came. */
  readonly printedAt: number;
  /** Chosen with Up and Down. */
  readonly selected: CardChoice | null;
  /** Choice of a question that is marked, counted from 0. */
  readonly marked: number | null;
  readonly full: boolean;
  readonly top: number;
  readonly said: string | null;
};

/** What the world is asked to do with an answer. */
export type CardIntent =
  | { readonly do: 'answer'; readonly id: string; readonly binding: string; readonly answer: CardAnswer }
  /** Judges other arguments: `edit-judged` comes back. */
  | { readonly do: 'judge-edit'; readonly id: string; readonly args: Record<string, unknown>; readonly text: string }
  | { readonly do: 'edit'; readonly id: string; readonly binding: string; readonly args: Record<string, unknown> }
  | { readonly do: 'propose'; readonly id: string }
  | { readonly do: 'explain'; readonly id: string }
  | { readonly do: 'editor'; readonly id: string; readonly text: string }
  /** A key takes effect at this time, unless another follows: a tick is wanted. */
  | { readonly do: 'wake'; readonly at: number };

export type CardAnswer =
  | { readonly outcome: 'approve'; readonly remember: 'session' | 'edits' | null }
  | {
      readonly outcome: 'approve';
      readonly remember: 'rule';
      readonly rule: { readonly candidate: number; readonly sha256: string };
    }
  | { readonly outcome: 'deny'; readonly feedback: string | null }
  | { readonly outcome: 'answer'; readonly text: string }
  | { readonly outcome: 'answer'; readonly treat_as: 'run_again' | 'done' | 'skip'; readonly text: string | null };

/** What a card must know about its ask. */
export type CardFacts = {
  readonly ask: Ask;
  readonly choices: readonly CardChoice[];
  /** Lines of data that were not on the screen yet. */
  readonly unseen: number;
  /** Something in the call cannot be seen or looks like something else. */
  readonly hidden: boolean;
  readonly guardMs: number;
  /** Rows that one page of the card has. */
  readonly page: number;
  /** The last row that may stand at the top. */
  readonly lastTop: number;
};

export type Carded = { readonly card: CardState; readonly intents: readonly CardIntent[] };

export const newCard = (ask: Pick<Ask, 'id' | 'binding'>, now: number, guardMs: number): CardState => ({
  id: ask.id,
  binding: ask.binding,
  mode: { at: 'choices' },
  guardUntil: now + guardMs,
  burst: null,
  printedAt: Number.NEGATIVE_INFINITY,
  selected: null,
  marked: null,
  full: false,
  top: 0,
  said: null,
});

/** The guard begins anew: something else is on the screen than a moment ago. */
export const guarded = (card: CardState, now: number, guardMs: number): CardState => ({
  ...card,
  guardUntil: now + guardMs,
  burst: null,
});

export const only = (card: CardState, ...intents: readonly CardIntent[]): Carded => ({ card, intents });
export const saying = (card: CardState, said: string): Carded => only({ ...card, said, burst: null });

export const answer = (card: CardState, given: CardAnswer): Carded =>
  only(
    { ...card, mode: { at: 'sending' }, said: null },
    { do: 'answer', id: card.id, binding: card.binding, answer: given },
  );

export const scrollCard = (card: CardState, facts: CardFacts, pages: 1 | -1): CardState =>
  scrollLines(card, facts, Math.max(1, facts.page - 1) * pages);

export const scrollLines = (card: CardState, facts: CardFacts, by: number): CardState => ({
  ...card,
  top: Math.max(0, Math.min(facts.lastTop, card.top + by)),
});
