import type { Item } from '../src/view/items.ts';
import { textOf } from '../src/view/line.ts';
import { edit, type EditCommand, emptyEditing, typeText } from './composer/editing.ts';
import { holds } from './hits.ts';
import { searchedText } from './item-text.ts';
import { type Ruler, toStored } from './move.ts';
import { type Change, type Hit, only, type Search, type State } from './state.ts';
import { atAnchor, holding, itemsInView, newestItems, reveal, transcriptView } from './transcript-view.ts';
import { rowsInView } from './transcript/viewport.ts';

/** A search of the open session (10 §5.6). With a text it begins at once, else the field has the keys. */
export function startSearch(state: State, ruler: Ruler, text: string | null): Change {
  if (itemsInView(state).length === 0) return only(state);
  const editing = text === null ? emptyEditing : typeText(emptyEditing, text);
  const search: Search = {
    editing,
    query: '',
    typing: text === null,
    hits: [],
    at: -1,
    opened: state.search?.opened ?? null,
    origin: { anchor: state.pane === 'plan' ? state.plan.anchor : state.anchor, far: state.far },
  };
  const reading = state.reading ?? { selected: itemsInView(state).at(-1)?.id ?? null };
  const begun: State = { ...state, reading, search };
  return text === null ? only(begun) : searched(begun, ruler);
}

/** A command or a text while the field of the search has the keys. */
export function searchField(state: State, ruler: Ruler, id: string | null, text: string): Change {
  const { search } = state;
  if (search === null) return only(state);
  if (id === 'field.close')
    return only(
      atAnchor({ ...closed(state), search: null, going: null, far: search.origin.far }, ruler, search.origin.anchor),
    );
  if (id === 'field.accept') return only({ ...state, search: { ...search, typing: false } });
  if (id === 'field.up' || id === 'field.down') return nextHit(state, ruler, id === 'field.up' ? -1 : 1);
  const command = id?.slice('field.'.length);
  const editing =
    command === undefined
      ? typeText(search.editing, text)
      : fieldEdits.has(command)
        ? edit(search.editing, command as EditCommand)
        : search.editing;
  return searched({ ...state, search: { ...search, editing } }, ruler);
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

/** Looks again, since the query is another one: here at once, and in what is stored before that page by page. */
function searched(state: State, ruler: Ruler): Change {
  const { search, session } = state;
  if (search === null) return only(state);
  const query = search.editing.text.trim();
  const hits = query === '' ? [] : hitsOf(newestItems(state), query);
  const at = newestInView(state, ruler, hits);
  const shown = showHit({ ...state, search: { ...search, query, hits, at } }, ruler);
  const before = state.pane === 'plan' ? null : (session?.before ?? null);
  if (before === null) return shown;
  return { ...shown, effects: [...shown.effects, query === '' ? { do: 'end-find' } : { do: 'find', query, before }] };
}

/** Hits in older messages: they stand before those that are known. */
export function found(state: State, ruler: Ruler, query: string, older: readonly Hit[]): Change {
  const { search } = state;
  if (search === null || search.query !== query || older.length === 0) return only(state);
  const hits = [...older, ...search.hits];
  const first = search.hits.length === 0;
  const next = { ...state, search: { ...search, hits, at: first ? hits.length - 1 : search.at + older.length } };
  return first ? showHit(next, ruler) : only(next);
}

/** Messages have come, or others are in memory: the hit in view stays the one it was. */
export function searchAgain(state: State): State {
  const { search } = state;
  if (search === null || search.query === '') return state;
  const here = hitsOf(newestItems(state), search.query);
  const ids = new Set(here.map(({ id }) => id));
  const hits = [...search.hits.filter(({ id, after }) => after !== null && !ids.has(id)), ...here];
  const current = search.hits[search.at]?.id;
  const at = current === undefined ? hits.length - 1 : hits.findIndex(({ id }) => id === current);
  return { ...state, search: { ...search, hits, at } };
}

export function nextHit(state: State, ruler: Ruler, by: 1 | -1): Change {
  const { search } = state;
  if (search === null || search.hits.length === 0) return only(state);
  const at = (search.at + by + search.hits.length) % search.hits.length;
  return showHit({ ...state, search: { ...search, at } }, ruler);
}

/** The newest hit that is not below the view; the newest of all when there is none. */
function newestInView(state: State, ruler: Ruler, hits: readonly Hit[]): number {
  if (state.pane !== 'plan' && (state.anchor === null || state.far !== null)) return hits.length - 1;
  const { blocks, anchor, rows } = transcriptView(state, ruler);
  const last = rowsInView(blocks, anchor, rows).at(-1)?.index ?? 0;
  const above = new Set(Array.from({ length: last + 1 }, (_, index) => blocks.idOf(index)));
  const at = hits.findLastIndex(({ id }) => above.has(id));
  return at < 0 ? hits.length - 1 : at;
}

/** Shows the hit that was chosen, wherever it stands. */
function showHit(state: State, ruler: Ruler): Change {
  const hit = state.search?.hits[state.search.at];
  if (hit === undefined) return only(state);
  const chosen: State = { ...state, reading: { selected: hit.id } };
  const has = (items: readonly Item[]): boolean => items.some(({ id }) => id === hit.id);
  if (has(itemsInView(state))) return revealHit({ ...chosen, going: null }, ruler, hit.id);
  if (state.pane !== 'plan' && has(state.items))
    return revealHit({ ...chosen, far: null, anchor: null, going: null }, ruler, hit.id);
  return hit.after === null ? only(chosen) : toStored(chosen, { item: hit.id, after: hit.after });
}

/** The page of stored messages that the hit is in was read. */
export function landed({ going, search }: State, read: Change, ruler: Ruler): Change {
  const hit = search?.hits[search.at]?.id;
  if (hit === undefined || going?.item !== hit || read.state.going !== null) return read;
  const shown = revealHit(read.state, ruler, hit);
  return { state: shown.state, effects: [...read.effects, ...shown.effects] };
}

/** Shows the row of an item that holds what is looked for; one that is closed is opened where no row in view has it. */
function revealHit(given: State, ruler: Ruler, id: string): Change {
  const state = holding(given, ruler, closed);
  const { search } = state;
  if (search === null) return reveal(state, ruler, id);
  const isHit = holds(search.query);
  const rowIn = (shown: State): number => {
    const { blocks } = transcriptView(shown, ruler);
    const index = blocks.indexOf(id);
    return blocks.foldOf(index) === null ? blocks.linesOf(index).findIndex((line) => isHit(textOf(line))) : -1;
  };
  const row = rowIn(state);
  if (row >= 0) return reveal(state, ruler, id, row);
  const opened = holding(state, ruler, (it) => ({
    ...it,
    toggled: new Set([...it.toggled, id]),
    search: { ...search, opened: id },
  }));
  const inside = state.toggled.has(id) ? -1 : rowIn(opened);
  return inside < 0 ? reveal(state, ruler, id) : reveal(opened, ruler, id, inside);
}

/** Without what the hit before had opened. */
function closed(state: State): State {
  const { search } = state;
  if (search === null || search.opened === null) return state;
  const toggled = new Set([...state.toggled].filter((id) => id !== search.opened));
  return { ...state, toggled, search: { ...search, opened: null } };
}

/** Items that hold the text, in order. */
function hitsOf(items: readonly Item[], query: string): readonly Hit[] {
  const isHit = holds(query);
  return items.filter((item) => isHit(searchedText(item))).map(({ id }) => ({ id, after: null }));
}
