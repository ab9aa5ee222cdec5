import type { CardChoice } from '../../src/view/ask-card.ts';
import { argumentsText } from '../../src/view/asked-arguments.ts';
import { emptyEditing } from '../composer/editing.ts';
import { type CardFacts, type CardState, type Carded, answer, only, saying, guarded } from './card-state.ts';
import { plural } from '../../src/view/format.ts';
import { textField } from './card-fields.ts';

/** A letter waits so long for another one: a sentence begun while a card took the focus answers nothing (10 §7.3.5). */
const burstMs = 150;
/** Who comes back to a program that did nothing for so long does not remember a letter. */
const stoodStillMs = 1000;

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

/** Choices that answer later calls too. */
const lasting: ReadonlySet<CardChoice> = new Set(['session', 'edits', 'rule']);

/** How much was not seen yet, and how to get there. */
export const unseenWords = (unseen: number, full: boolean): string =>
  `${plural(unseen, 'line')} not seen: ${full ? 'Space' : 'v'}`;

/** Why a choice cannot be taken now; null when it can. @param full the card is viewed whole: what is unseen is a page away */
export function whyNot(choice: CardChoice, facts: CardFacts, full = false): string | null {
  if (!facts.choices.includes(choice)) {
    const { preview, policy } = facts.ask;
    const { reserved } = preview;
    if (policy.state === 'invalid' && lasting.has(choice)) return 'the policy is invalid: answer this once';
    return reserved === undefined ? 'this card has no such choice' : `asked each time: ${reserved}`;
  }
  if (!approving.has(choice)) return null;
  if (facts.unseen > 0) return unseenWords(facts.unseen, full);
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
  // Whoever meant it would wait for an answer that nothing gives.
  if (now < card.guardUntil)
    return choice === null ? only(card) : only({ ...card, said: 'too soon: nothing was answered, press it again' });
  const follows = now - card.printedAt < burstMs;
  const next: CardState = { ...card, printedAt: now };
  if (card.burst !== null || follows) return saying(next, 'typing? Esc first');
  if (choice === null) return only(next);
  return only({ ...next, burst: { choice, at: now + burstMs }, said: null }, { do: 'wake', at: now + burstMs });
}

/** Time has passed: a letter that stood alone takes effect, unless it was pressed before the program was stopped. */
export function tickCard(card: CardState, facts: CardFacts, now: number): Carded {
  const { burst } = card;
  if (burst === null) return only(card);
  // A timer may come a moment early.
  if (now < burst.at) return only(card, { do: 'wake', at: burst.at });
  if (now - burst.at > stoodStillMs) return saying(card, 'the program stood still: nothing was answered');
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
  const why = whyNot(choice, facts, card.full);
  if (why !== null) return saying(card, why);
  switch (choice) {
    case 'once':
      return answer(card, { outcome: 'approve', remember: null });
    case 'session':
    case 'edits':
      return answer(card, { outcome: 'approve', remember: choice });
    case 'rule':
      return only(
        {
          ...guarded(card, now, facts.guardMs),
          top: 0,
          mode: { at: 'rule', proposals: null, chosen: 0, matches: false },
        },
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

export function ruleKey(card: CardState, key: 'up' | 'down' | 'matches' | 'write', now: number): Carded {
  const { mode } = card;
  if (mode.at !== 'rule' || mode.proposals === null) return only(card);
  const { candidates } = mode.proposals;
  if (key === 'matches') return only({ ...card, mode: { ...mode, matches: !mode.matches } });
  if (key === 'up' || key === 'down') {
    const chosen = Math.max(0, Math.min(candidates.length - 1, mode.chosen + (key === 'up' ? -1 : 1)));
    return only({ ...card, top: 0, mode: { ...mode, chosen, matches: false } });
  }
  const candidate = candidates[mode.chosen];
  if (candidate === undefined || now < card.guardUntil) return only(card);
  return answer(card, {
    outcome: 'approve',
    remember: 'rule',
    rule: { candidate: mode.chosen, sha256: candidate.sha256 },
  });
}
