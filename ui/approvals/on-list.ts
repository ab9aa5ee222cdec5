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

/** A row of the list: an ask, or the first of those that are alike. */
export type Entry = { readonly ask: Ask; readonly alike: readonly Ask[] };

/** The rows of the list that are shown, in order. Grouped: asks of one tool under one rule stand in one row. */
export function entries(state: ApprovalsState): readonly Entry[] {
  const asks = listed(state);
  if (!state.grouped) return asks.map((ask) => ({ ask, alike: [ask] }));
  const groups = new Map<string, Ask[]>();
  for (const ask of asks) {
    const key = `${ask.tools}.${ask.tool} ${ask.record.matched_rule}`;
    groups.set(key, [...(groups.get(key) ?? []), ask]);
  }
  return [...groups.values()].flatMap((alike) => (alike[0] === undefined ? [] : [{ ask: alike[0], alike }]));
}

/** Keys of the list go to a row that is shown: where the chosen one has gone, the one in its place is chosen. */
export function withChosen(state: ApprovalsState, before: ApprovalsState): ApprovalsState {
  const rows = entries(state);
  if (rows.some(({ ask }) => ask.id === state.selected)) return state;
  const at = entries(before).findIndex(({ ask }) => ask.id === before.selected);
  const group = rows.find(({ alike }) => alike.some(({ id }) => id === state.selected));
  const next = group ?? rows[Math.max(0, Math.min(at, rows.length - 1))];
  return { ...state, selected: next?.ask.id ?? null };
}

/** Asks that are shown, in order. */
function listed(state: ApprovalsState): readonly Ask[] {
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
  if (state.history !== null) return historyCommand(state, state.history.length, id, view);
  if (id.startsWith('field.')) return filterCommand(state, id.slice('field.'.length), view);
  const rows = entries(state);
  const at = rows.findIndex(({ ask }) => ask.id === state.selected);
  const to = (index: number): Approved =>
    only({ ...state, selected: rows[Math.max(0, Math.min(rows.length - 1, index))]?.ask.id ?? null });
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
      const chosen = (rows[at]?.alike ?? []).map((each) => each.id);
      const marked = chosen.every((each) => state.marked.has(each))
        ? [...state.marked].filter((each) => !chosen.includes(each))
        : [...state.marked, ...chosen];
      return only({ ...state, marked: new Set(marked) });
    }
    case 'approvals.select-all':
      return only({ ...state, marked: new Set(rows.flatMap(({ alike }) => alike.map((each) => each.id))) });
    case 'approvals.clear':
      // What is selected goes first, then what narrows the list.
      return state.marked.size > 0
        ? only({ ...state, marked: new Set() })
        : only({ ...state, filter: { ...state.filter, editing: emptyEditing } });
    case 'approvals.deny':
      return state.marked.size === 0
        ? only({ ...state, said: 'select with Space first: only what is selected can be denied here' })
        : only({ ...state, denying: { ids: [...state.marked], guardUntil: view.now + view.guardMs } });
    case 'approvals.group':
      return only({ ...state, grouped: !state.grouped });
    case 'approvals.history':
      return only(state, { do: 'load-history', whole: true });
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

/** What was answered, in place of the list: it is moved over and closed. */
function historyCommand(state: ApprovalsState, count: number, id: string, { place }: ApprovalsView): Approved {
  const room = Math.max(1, place.rows - 1);
  const steps: Readonly<Record<string, number>> = {
    'approvals.up': -1,
    'approvals.down': 1,
    'approvals.page-up': -room,
    'approvals.page-down': room,
    'approvals.top': -count,
    'approvals.bottom': count,
  };
  if (id === 'approvals.history' || id === 'approvals.clear') return only({ ...state, history: null, historyTop: 0 });
  const to = Math.min(state.historyTop + (steps[id] ?? 0), count - room);
  return only({ ...state, historyTop: Math.max(0, to) });
}

/** A key that has nothing to do in the filter is one of the list. */
const ofList: Readonly<Record<string, string>> = {
  up: 'approvals.up',
  down: 'approvals.down',
  'line-start': 'approvals.top',
  'line-end': 'approvals.bottom',
};

function filterCommand(state: ApprovalsState, name: string, view: ApprovalsView): Approved {
  const { filter } = state;
  const outer = ofList[name];
  const still = isEdit(name) && edit(filter.editing, name).caret === filter.editing.caret;
  if (outer !== undefined && (still || !isEdit(name))) return listCommand(state, outer, view);
  if (name === 'accept') return only({ ...state, filter: { ...filter, typing: false } });
  if (name === 'close') return only({ ...state, filter: { ...filter, typing: false, editing: emptyEditing } });
  return isEdit(name) ? only({ ...state, filter: { ...filter, editing: edit(filter.editing, name) } }) : only(state);
}
