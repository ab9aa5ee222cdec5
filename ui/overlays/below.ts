import type { KeyContext } from '../keys/commands.ts';
import { cardContexts, listContexts } from '../approvals/approvals-state.ts';
import { composerContexts } from '../composer/composer-state.ts';
import type { State } from '../state.ts';

/** Where keys would be looked up if no overlay were open. */
export function contextsBelow(
  state: Pick<State, 'reading' | 'search' | 'pane' | 'approvals' | 'composer' | 'plan'>,
): readonly KeyContext[] {
  const card = cardContexts(state.approvals);
  if (card !== null) return card;
  if (state.search?.typing === true) return ['field', 'reading', 'global'];
  if (state.reading !== null) return ['reading', 'global'];
  if (state.pane === 'plan') return state.plan.field === null ? ['plan', 'global'] : ['field', 'plan', 'global'];
  return state.pane === 'chat' ? [...composerContexts(state.composer), 'global'] : listContexts(state.approvals);
}
