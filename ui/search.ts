import type { Item } from '../src/view/items.ts';
import { edit, type EditCommand, emptyEditing, typeText } from './composer/editing.ts';
import { paused, reveal, type Ruler } from './move.ts';
import { textOfItem } from './item-text.ts';
import { type Change, only, type Search, type State } from './state.ts';

/** Most characters of one item that are searched. */
const mostOfItem = 65_536;

/** A search of the open session (10 §5.6). With a text it begins at once, else the field has the keys. */
export function startSearch(state: State, ruler: Ruler, text: string | null): Change {
  if (state.items.length === 0) return only(state);
  const editing = text === null ? emptyEditing : typeText(emptyEditing, text);
  const search: Search = { editing, query: '', typing: text === null, hits: [], at: -1, origin: state.anchor };
  const reading = state.reading ?? { selected: state.items.at(-1)?.id ?? null };
  const begun: State = { ...state, pane: 'chat', reading, search };
  return text === null ? only(begun, { do: 'load-all' }) : searched(begun, ruler, true);
}

/** A command or a text while the field of the search has the keys. */
export function searchField(state: State, ruler: Ruler, id: string | null, text: string): Change {
  const { search } = state;
  if (search === null) return only(state);
  if (id === 'field.close') return only(paused({ ...state, search: null }, ruler, search.origin));
  if (id === 'field.accept') return only({ ...state, search: { ...search, typing: false } });
  if (id === 'field.up' || id === 'field.down') return nextHit(state, ruler, id === 'field.up' ? -1 : 1);
  const command = id?.slice('field.'.length);
  const editing =
    command === undefined
      ? typeText(search.editing, text)
      : fieldEdits.has(command)
        ? edit(search.editing, command as EditCommand)
        : search.editing;
  return searched({ ...state, search: { ...search, editing } }, ruler, false);
}

const fieldEdits: ReadonlySet<string> = new Set<EditCommand>([
  'left',
  'right',
  'line-start',
  'line-end',
  'backspace',
  'delete',
  'delete-word-left',
  'delete-to-start',
  'delete-to-end',
  'yank',
]);

/** Looks again: the query is another one, or older messages have come. */
export function searched(state: State, ruler: Ruler, load: boolean): Change {
  const { search } = state;
  if (search === null) return only(state);
  const query = search.editing.text.trim();
  const hits = query === '' ? [] : hitsOf(state.items, query);
  const found: State = { ...state, search: { ...search, query, hits, at: hits.length - 1 } };
  const last = hits.at(-1);
  const shown = last === undefined ? only(found) : reveal({ ...found, reading: { selected: last } }, ruler, last);
  return load ? { ...shown, effects: [...shown.effects, { do: 'load-all' }] } : shown;
}

/** More messages are there: the hit in view stays the one it was. */
export function searchAgain(state: State): State {
  const { search } = state;
  if (search === null || search.query === '') return state;
  const hits = hitsOf(state.items, search.query);
  const current = search.hits[search.at];
  return { ...state, search: { ...search, hits, at: current === undefined ? hits.length - 1 : hits.indexOf(current) } };
}

export function nextHit(state: State, ruler: Ruler, by: 1 | -1): Change {
  const { search } = state;
  if (search === null || search.hits.length === 0) return only(state);
  const at = (search.at + by + search.hits.length) % search.hits.length;
  const id = search.hits[at] ?? '';
  return reveal({ ...state, search: { ...search, at }, reading: { selected: id } }, ruler, id);
}

/** Ids of the items that hold the text; case counts only where the query has a capital. */
function hitsOf(items: readonly Item[], query: string): readonly string[] {
  const exact = /\p{Lu}/u.test(query);
  const wanted = exact ? query : query.toLowerCase();
  return items
    .filter((item) => {
      const text = textOfItem(item).slice(0, mostOfItem);
      return (exact ? text : text.toLowerCase()).includes(wanted);
    })
    .map(({ id }) => id);
}
