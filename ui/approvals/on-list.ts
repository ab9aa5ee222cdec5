import type { Ask } from '../../src/schema/ask.ts';
import { edit, emptyEditing, typeText, isEdit } from '../composer/editing.ts';
import {
  type ApprovalsAction,
  type ApprovalsState,
  type ApprovalsView,
  type Approved,
  focus,
  only,
} from './approvals-state.ts';

/** The rows of the list that are shown, in order. */
export function listed(state: ApprovalsState): readonly Ask[] {
  const wanted = state.filter.editing.text.toLowerCase();
  if (wanted === '') return state.asks;
  const text = (ask: Ask): string =>
    state.filter.by === 'tool'
      ? `${ask.tools}.${ask.tool}`
      : `${ask.tools}.${ask.tool} ${ask.summary} ${ask.session_name ?? ''} ${ask.id}`;
  return state.asks.filter((ask) => text(ask).toLowerCase().includes(wanted));
}

export function onList(state: ApprovalsState, action: ApprovalsAction, view: ApprovalsView): Approved {
  if (action.type === 'text' || action.type === 'paste') {
    if (!state.filter.typing) return only(state);
    const editing = typeText(state.filter.editing, action.text.replaceAll(/[\u0000-\u001f\u007f]+/g, ' '));
    return only({ ...state, filter: { ...state.filter, editing } });
  }
  return action.type === 'command' ? listCommand({ ...state, said: null }, action.id, view) : only(state);
}

function listCommand(state: ApprovalsState, id: string, view: ApprovalsView): Approved {
  if (state.denying !== null) return denyCommand(state, state.denying, id, view);
  if (id.startsWith('field.')) return filterCommand(state, id.slice('field.'.length));
  const rows = listed(state);
  const at = rows.findIndex((ask) => ask.id === state.selected);
  const to = (index: number): Approved =>
    only({ ...state, selected: rows[Math.max(0, Math.min(rows.length - 1, index))]?.id ?? null });
  switch (id) {
    case 'approvals.up':
      return to(at - 1);
    case 'approvals.down':
      return to(at + 1);
    case 'approvals.page-up':
      return to(at - 10);
    case 'approvals.page-down':
      return to(at + 10);
    case 'approvals.top':
      return to(0);
    case 'approvals.bottom':
      return to(rows.length - 1);
    case 'approvals.open':
      return state.selected === null ? only(state) : focus(state, state.selected, view);
    case 'approvals.select': {
      if (state.selected === null) return only(state);
      const marked = new Set(state.marked);
      if (!marked.delete(state.selected)) marked.add(state.selected);
      return only({ ...state, marked });
    }
    case 'approvals.select-all':
      return only({ ...state, marked: new Set(rows.map((ask) => ask.id)) });
    case 'approvals.clear':
      return only({ ...state, marked: new Set() });
    case 'approvals.deny':
      return state.marked.size === 0
        ? only({ ...state, said: 'select with Space first: only what is selected can be denied here' })
        : only({ ...state, denying: { ids: [...state.marked], guardUntil: view.now + view.guardMs } });
    case 'approvals.group':
      return only({ ...state, grouped: !state.grouped });
    case 'approvals.history':
      return state.history === null ? only(state, { do: 'load-history' }) : only({ ...state, history: null });
    case 'approvals.filter':
    case 'approvals.filter-tool':
      return only({
        ...state,
        filter: { ...state.filter, typing: true, by: id === 'approvals.filter' ? 'text' : 'tool' },
      });
    default:
      return only(state);
  }
}

function denyCommand(
  state: ApprovalsState,
  denying: NonNullable<ApprovalsState['denying']>,
  id: string,
  view: ApprovalsView,
): Approved {
  if (id === 'question.no' || id === 'overlay.close') return only({ ...state, denying: null });
  if (id !== 'question.yes' || view.now < denying.guardUntil) return only(state);
  const asks = state.asks
    .filter((ask) => denying.ids.includes(ask.id))
    .map(({ id: one, binding }) => ({ id: one, binding }));
  return only({ ...state, denying: null, marked: new Set() }, { do: 'deny-all', asks });
}

function filterCommand(state: ApprovalsState, name: string): Approved {
  const { filter } = state;
  if (name === 'accept') return only({ ...state, filter: { ...filter, typing: false } });
  if (name === 'close') return only({ ...state, filter: { ...filter, typing: false, editing: emptyEditing } });
  return isEdit(name) ? only({ ...state, filter: { ...filter, editing: edit(filter.editing, name) } }) : only(state);
}
