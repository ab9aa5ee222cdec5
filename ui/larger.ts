import type { State } from './state.ts';

/** What is said where a screen is too small for what a key does. */
export const makeLarger = 'make the terminal larger';

/** The screen has another size: the word about the former one is answered, on the card as on the hint line. */
export function resized(state: State, size: State['size']): State {
  const { card } = state.approvals;
  return {
    ...state,
    size,
    said: state.said?.text === makeLarger ? null : state.said,
    approvals: card?.said === makeLarger ? { ...state.approvals, card: { ...card, said: null } } : state.approvals,
  };
}
