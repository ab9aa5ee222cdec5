import type { Ask } from '../../src/schema/ask.ts';
import type { RuleProposals } from '../../src/schema/policy-views.ts';
import type { CardChoice } from '../../src/view/ask-card.ts';
import { argumentsText, readArguments } from '../../src/view/asked-arguments.ts';
import {
  edit,
  type EditCommand,
  type Editing,
  editingOf,
  emptyEditing,
  replace,
  typeText,
} from '../composer/editing.ts';
import { draftOf, wholeText } from '../composer/draft.ts';

/** What a card is doing with the keys that it has. */
export type CardMode =
  | { readonly at: 'choices' }
  /** Words that go with a verdict. */
  | { readonly at: 'field'; readonly for: 'deny_feedback' | 'answer' | 'done'; readonly editing: Editing }
  | { readonly at: 'edit'; readonly editing: Editing; readonly original: string }
  /** The edited call would be allowed: it runs only after one more key. */
  | { readonly at: 'run-edited'; readonly args: Record<string, unknown>; readonly text: string }
  | { readonly at: 'no-words' }
  | {
      readonly at: 'rule';
      readonly proposals: RuleProposals | null;
      readonly chosen: number;
      readonly matches: boolean;
    }
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

/** A letter waits so long for another one: a sentence begun while a card took the focus answers nothing (10 §7.3.5). */
export const burstMs = 150;
const maxFeedback = 4000;
const maxAnswer = 20_000;

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

const only = (card: CardState, ...intents: readonly CardIntent[]): Carded => ({ card, intents });
const saying = (card: CardState, said: string): Carded => only({ ...card, said, burst: null });

const order: readonly CardChoice[] = [
  'later',
  'deny',
  'skip',
  'deny_feedback',
  'explain',
  'full',
  'answer',
  'edit',
  'done',
  'run_again',
  'once',
  'session',
  'edits',
  'rule',
];

/** Choices that say yes: they wait until everything has been seen (10 §7.4). */
const approving: ReadonlySet<CardChoice> = new Set(['once', 'session', 'edits', 'rule', 'run_again']);

/** Why a choice cannot be taken now; null when it can. */
export function whyNot(choice: CardChoice, facts: CardFacts): string | null {
  if (!facts.choices.includes(choice)) {
    const { reserved } = facts.ask.preview;
    return reserved === undefined ? 'this card has no such choice' : `asked each time: ${reserved}`;
  }
  if (!approving.has(choice)) return null;
  if (facts.unseen > 0) return `${facts.unseen} ${facts.unseen === 1 ? 'line' : 'lines'} not seen: v`;
  if (facts.hidden && (choice === 'session' || choice === 'edits'))
    return 'hidden or look-alike characters: answer this once';
  return null;
}

/**
 * A key on a card that has the focus. Nothing but `once`, `session`, `edits` and `rule` approves, and none of these
 * before the guard is over or together with other letters.
 * @param choice what the key chooses; null for any other printable key
 */
export function pressLetter(card: CardState, choice: CardChoice | null, now: number): Carded {
  if (now < card.guardUntil) return only(card);
  const follows = now - card.printedAt < burstMs;
  const next: CardState = { ...card, printedAt: now };
  if (card.burst !== null || follows) return saying(next, 'typing? Esc first');
  if (choice === null) return only(next);
  return only({ ...next, burst: { choice, at: now + burstMs }, said: null }, { do: 'wake', at: now + burstMs });
}

/** Time has passed: a letter that stood alone takes effect. */
export function tickCard(card: CardState, facts: CardFacts, now: number): Carded {
  const { burst } = card;
  if (burst === null) return only(card);
  // A timer may come a moment early.
  if (now < burst.at) return only(card, { do: 'wake', at: burst.at });
  return choose({ ...card, burst: null }, facts, burst.choice, now);
}

/** Up and Down choose in a fixed order, the harmless ones first; Enter takes what is chosen. */
export function moveChoice(card: CardState, facts: CardFacts, by: 1 | -1, now: number): Carded {
  if (now < card.guardUntil) return only(card);
  if (facts.ask.kind === 'question') return only({ ...card, marked: moveMark(card, facts, by) });
  const list = order.filter((choice) => facts.choices.includes(choice));
  const at = card.selected === null ? (by === 1 ? -1 : 0) : list.indexOf(card.selected);
  return only({ ...card, selected: list[(at + by + list.length) % list.length] ?? null });
}

function moveMark(card: CardState, facts: CardFacts, by: 1 | -1): number | null {
  const count = facts.ask.question?.choices?.length ?? 0;
  if (count === 0) return null;
  return card.marked === null ? (by === 1 ? 0 : count - 1) : (card.marked + by + count) % count;
}

export function markChoice(card: CardState, facts: CardFacts, index: number, now: number): Carded {
  if (now < card.guardUntil || (facts.ask.question?.choices?.[index] ?? null) === null) return only(card);
  return only({ ...card, marked: index });
}

export function takeChoice(card: CardState, facts: CardFacts, now: number): Carded {
  if (now < card.guardUntil) return only(card);
  const words = card.marked === null ? undefined : facts.ask.question?.choices?.[card.marked];
  if (words !== undefined) return answer(card, { outcome: 'answer', text: words });
  return card.selected === null ? only(card) : choose(card, facts, card.selected, now);
}

const answer = (card: CardState, given: CardAnswer): Carded =>
  only(
    { ...card, mode: { at: 'sending' }, said: null },
    { do: 'answer', id: card.id, binding: card.binding, answer: given },
  );

/** Does what a choice says. `later` is for whoever holds the focus. */
export function choose(card: CardState, facts: CardFacts, choice: CardChoice, now: number): Carded {
  if (card.mode.at === 'run-edited') {
    if (choice !== 'once') return only(card);
    const { args } = card.mode;
    return only({ ...card, mode: { at: 'sending' } }, { do: 'edit', id: card.id, binding: card.binding, args });
  }
  if (card.mode.at === 'no-words') {
    return choice === 'deny' ? answer(card, { outcome: 'deny', feedback: null }) : only(card);
  }
  if (card.mode.at !== 'choices') return only(card);
  const why = whyNot(choice, facts);
  if (why !== null) return saying(card, why);
  switch (choice) {
    case 'once':
      return answer(card, { outcome: 'approve', remember: null });
    case 'session':
    case 'edits':
      return answer(card, { outcome: 'approve', remember: choice });
    case 'rule':
      return only(
        { ...guarded(card, now, facts.guardMs), mode: { at: 'rule', proposals: null, chosen: 0, matches: false } },
        { do: 'propose', id: card.id },
      );
    case 'edit': {
      const original = argumentsText(facts.ask);
      return only({ ...card, said: null, mode: { at: 'edit', original, editing: textField(original) } });
    }
    case 'deny':
      return answer(card, { outcome: 'deny', feedback: null });
    case 'deny_feedback':
    case 'answer':
    case 'done':
      return only({ ...card, said: null, mode: { at: 'field', for: choice, editing: emptyEditing } });
    case 'run_again':
    case 'skip':
      return answer(card, { outcome: 'answer', treat_as: choice, text: null });
    case 'explain':
      return only(card, { do: 'explain', id: card.id });
    case 'full':
      return only({ ...guarded(card, now, facts.guardMs), full: !card.full, top: 0, said: null });
    case 'later':
      return only(card);
  }
}

const textField = (text: string): Editing => editingOf(draftOf(text.trimEnd()));

/** Text for the field that is open. Paste lands here and nowhere else. */
export function typeInCard(card: CardState, text: string): Carded {
  const { mode } = card;
  if (mode.at !== 'field' && mode.at !== 'edit') return only(card);
  const room = mode.at === 'edit' || mode.for !== 'deny_feedback' ? text : text.replaceAll(/[\r\n]+/g, ' ');
  const visible = room.replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f]/g, '');
  const limit = mode.at === 'edit' ? 1024 * 1024 : mode.for === 'deny_feedback' ? maxFeedback : maxAnswer;
  if ([...mode.editing.text, ...visible].length > limit)
    return saying(card, `at most ${limit} characters: nothing was put in`);
  return only({ ...card, said: null, mode: { ...mode, editing: typeText(mode.editing, visible) } });
}

export function editInCard(card: CardState, command: EditCommand): Carded {
  const { mode } = card;
  if (mode.at !== 'field' && mode.at !== 'edit') return only(card);
  return only({ ...card, mode: { ...mode, editing: edit(mode.editing, command) } });
}

/** Enter in a field: the words go with their verdict, the arguments are judged. */
export function acceptField(card: CardState, now: number, guardMs: number): Carded {
  const { mode } = card;
  if (mode.at === 'edit') {
    const text = wholeText(mode.editing);
    const read = readArguments(text, mode.original);
    if (!read.ok) return saying(card, read.message);
    return only(
      { ...card, mode: { at: 'sending' }, said: null },
      { do: 'judge-edit', id: card.id, args: read.args, text },
    );
  }
  if (mode.at !== 'field') return only(card);
  const words = wholeText(mode.editing).trim();
  if (mode.for === 'deny_feedback') {
    if (words !== '') return answer(card, { outcome: 'deny', feedback: words });
    return only({ ...guarded(card, now, guardMs), mode: { at: 'no-words' } });
  }
  if (words === '') return saying(card, 'an answer needs words; Esc goes back');
  if (mode.for === 'answer') return answer(card, { outcome: 'answer', text: words });
  return answer(card, { outcome: 'answer', treat_as: 'done', text: words });
}

/** Closes what is open on a card. @returns null when nothing is: Esc then leaves the card for later */
export function closeInCard(card: CardState, now: number, guardMs: number): CardState | null {
  const { mode } = card;
  if (mode.at === 'run-edited') {
    const editing = textField(mode.text);
    return { ...guarded(card, now, guardMs), mode: { at: 'edit', editing, original: '' } };
  }
  if (mode.at !== 'choices' && mode.at !== 'sending')
    return { ...guarded(card, now, guardMs), mode: { at: 'choices' }, said: null };
  return card.full ? { ...guarded(card, now, guardMs), full: false, top: 0, said: null } : null;
}

/** The text of an open field, which is not lost when the card goes. */
export const unsentText = ({ mode }: CardState): string =>
  mode.at === 'field' || mode.at === 'edit' ? wholeText(mode.editing) : '';

/** What the policy says to other arguments (03 §3.5). */
export function editJudged(
  card: CardState,
  verdict: { readonly action: 'allow' | 'approve' | 'deny'; readonly why: string },
  args: Record<string, unknown>,
  text: string,
  now: number,
  guardMs: number,
): Carded {
  if (verdict.action === 'deny') {
    const mode: CardMode = { at: 'edit', editing: textField(text), original: '' };
    return only({ ...card, mode, said: `refused: ${verdict.why}` });
  }
  if (verdict.action === 'allow')
    return only({ ...guarded(card, now, guardMs), mode: { at: 'run-edited', args, text }, said: null });
  return only({ ...card, mode: { at: 'sending' } }, { do: 'edit', id: card.id, binding: card.binding, args });
}

export function ruleKey(card: CardState, key: 'up' | 'down' | 'matches' | 'write', now: number): Carded {
  const { mode } = card;
  if (mode.at !== 'rule' || mode.proposals === null) return only(card);
  const { candidates } = mode.proposals;
  if (key === 'matches') return only({ ...card, mode: { ...mode, matches: !mode.matches } });
  if (key === 'up' || key === 'down') {
    const chosen = Math.max(0, Math.min(candidates.length - 1, mode.chosen + (key === 'up' ? -1 : 1)));
    return only({ ...card, mode: { ...mode, chosen, matches: false } });
  }
  const candidate = candidates[mode.chosen];
  if (candidate === undefined || now < card.guardUntil) return only(card);
  return answer(card, {
    outcome: 'approve',
    remember: 'rule',
    rule: { candidate: mode.chosen, sha256: candidate.sha256 },
  });
}

/** The text as an external editor saved it. */
export function replaceField(card: CardState, text: string): CardState {
  const { mode } = card;
  if (mode.at !== 'edit' && mode.at !== 'field') return card;
  return { ...card, mode: { ...mode, editing: replace(mode.editing, 0, mode.editing.text.length, text.trimEnd()) } };
}

export function scrollCard(card: CardState, facts: CardFacts, pages: 1 | -1): CardState {
  const by = Math.max(1, facts.page - 1) * pages;
  return { ...card, top: Math.max(0, Math.min(facts.lastTop, card.top + by)) };
}
