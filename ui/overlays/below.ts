import type { KeyContext } from '../keys/commands.ts';
import type { State } from '../state.ts';

/** Where keys would be looked up if no overlay were open. */
export function contextsBelow(state: Pick<State, 'reading' | 'pane'>): readonly KeyContext[] {
  if (state.reading !== null) return ['reading', 'global'];
  return state.pane === 'chat' ? ['composer', 'global'] : ['approvals', 'global'];
}
