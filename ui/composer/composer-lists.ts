import { replace } from './editing.ts';
import { searched } from './history.ts';
import { type Composed, type ComposerState, type ComposerView, edited, only, replaced } from './composer-state.ts';
import { send } from './composer-queue.ts';

export function completionCommand(state: ComposerState, id: string, view: ComposerView): Composed {
  const list = state.completion;
  if (list === null) return only(state);
  const { length } = list.items;
  if (id === 'completion.up') return only({ ...state, chosen: (state.chosen + length - 1) % length });
  if (id === 'completion.down') return only({ ...state, chosen: (state.chosen + 1) % length });
  if (id === 'completion.close') return only({ ...state, dismissed: state.editing.text.slice(0, list.from) });
  const item = list.items[state.chosen];
  if (item === undefined) return only(state);
  // A word that is there already needs no completing: what else the command takes may be left out.
  const isThere = item.insert === state.editing.text.slice(list.from, list.to);
  const open = list.kind === 'file' && item.insert.endsWith('/');
  // A file that a message mentions is no command: more words follow it.
  const runsFile = isThere && !open && /^\/(?!\/)/.test(state.editing.text);
  const runs =
    id === 'completion.run' && (list.kind === 'file' ? runsFile : item.whole || (list.kind === 'argument' && isThere));
  const text = runs || open ? item.insert : `${item.insert} `;
  const editing = replace(state.editing, list.from, list.to, text);
  const taken = {
    ...edited(state, editing),
    completion: null,
    dismissed: open ? null : editing.text.slice(0, list.from),
  };
  return runs ? send(taken, view) : only(taken);
}

const mostFound = 50;

/** What a search shows, newest first. */
export const found = ({ history, search }: ComposerState): readonly string[] =>
  search === null ? [] : searched(history, search.query, mostFound);

export function searchFor(state: ComposerState, query: string): ComposerState {
  return state.search === null ? state : { ...state, search: { ...state.search, query, chosen: 0 } };
}

export function searchCommand(
  state: ComposerState,
  search: NonNullable<ComposerState['search']>,
  id: string,
): Composed {
  const entries = found(state);
  const move = (by: number): Composed => {
    const chosen = Math.max(0, Math.min(entries.length - 1, search.chosen + by));
    return only({ ...state, search: { ...search, chosen } });
  };
  switch (id) {
    case 'completion.up':
    case 'composer.up':
      return move(-1);
    case 'completion.down':
    case 'composer.down':
    case 'composer.history-search':
      return move(1);
    case 'completion.close':
      return only({ ...edited(state, search.kept), search: null });
    case 'completion.accept':
    case 'completion.run':
    case 'composer.send': {
      const text = entries[search.chosen];
      const editing = text === undefined ? search.kept : replaced(search.kept, text);
      return only({ ...edited(state, editing), search: null });
    }
    case 'composer.backspace':
      return only(searchFor(state, [...search.query].slice(0, -1).join('')));
    case 'composer.delete-to-start':
      return only(searchFor(state, ''));
    default:
      return only(state);
  }
}
