import { noTokens, type OpenSession, type State } from './state.ts';

/** What the sessions have spent in this process (10 §3): each has its own count, and has it again when it is opened again. */
export function spentIn(state: State, next: OpenSession | null): Pick<State, 'facts' | 'spent'> {
  const { session, facts, spent } = state;
  if (session === null || session.id === next?.id) return { facts, spent };
  const kept = new Map(spent).set(session.id, facts.tokens);
  return { facts: { ...facts, tokens: kept.get(next?.id ?? '') ?? noTokens }, spent: kept };
}
