import { activityOf, asksFirst, type State } from './state.ts';

/** The title of the terminal: chrome only, at most 60 characters (10 §3). */
export function titleOf(state: State): string {
  const active = activityOf(state);
  if (state.asks.length > 0 && active?.waiting_since != null) return `(${state.asks.length}) reins: waiting for you`;
  if (asksFirst(state)) return 'reins: waiting for you';
  if (active !== null) return 'reins: working';
  return `reins${state.session === null ? '' : `: ${state.session.name.replaceAll(/[^\w .-]/g, '')}`}`.slice(0, 60);
}
