import type { Key } from '../keys/key.ts';
import { type Change, only, type State } from '../state.ts';
import { saying } from '../sending.ts';

/** A letter takes effect when no other one has come for so long. */
const aloneMs = 250;
/** Who types is taken to type on until nothing has come for so long. */
const typingMs = 1000;
/** A letter that is so late was pressed before the program was stopped. */
const stoodStillMs = 2000;

/** What starts runs or changes steps at once. The others open a field, a list or a view, where Esc leads back. */
const acting: ReadonlySet<string> = new Set(
  ['next', 'auto', 'retry', 'skip', 'explore', 'delete'].map((each) => `plan.${each}`),
);

const isBare = ({ pane, plan, overlays, approvals, reading, search }: State): boolean =>
  pane === 'plan' &&
  plan.field === null &&
  overlays.length === 0 &&
  approvals.card === null &&
  reading === null &&
  search === null;

/**
 * A letter in the plan pane, where somebody may type a message without seeing that the composer is not there: a sentence
 * must not skip steps and start others. One that stands alone is carried out.
 * @param id the command of the key; null = it has none
 * @returns null where the key is carried out as any other
 */
export function planLetter(state: State, id: string | null, key: Key, now: number): Change | null {
  if (key.text === '' || key.ctrl || key.alt || !isBare(state)) return null;
  const { letter, typedAt } = state.plan;
  if (id === null || letter !== null || now - typedAt < typingMs) {
    const typing = { ...state, plan: { ...state.plan, letter: null, typedAt: now } };
    return only(saying(typing, 'typing? the plan has the keys here: F2 goes to the chat', now));
  }
  if (!acting.has(id)) return null;
  const at = now + aloneMs;
  return only({ ...state, plan: { ...state.plan, letter: { id, at } } }, { do: 'plan-letter', at });
}

/** The letter that stood alone until now, whose command is to be carried out; null when there is none. */
export function takeLetter(state: State, now: number): { readonly state: State; readonly id: string | null } | null {
  const { letter } = state.plan;
  if (letter === null) return null;
  const taken = { ...state, plan: { ...state.plan, letter: null } };
  return { state: taken, id: isBare(state) && now - letter.at < stoodStillMs ? letter.id : null };
}
