import { blocksOf, newestBlocks } from './chat-lines.ts';
import { layoutOf } from './layout.ts';
import { type Change, only, type State } from './state.ts';
import type { Glyphs } from '../src/view/escape.ts';
import type { LineCache } from './transcript/line-cache.ts';
import type { PageWish, Place } from './transcript/pages.ts';
import { shownItems, wishOf } from './transcript/stretch.ts';
import { type Anchor, fixedAnchor, moved } from './transcript/viewport.ts';

/** What a move has to know of the screen: how long items are. */
export type Ruler = { readonly cache: LineCache; readonly glyphs: Glyphs };

/** Moves the view by rows; at the end it follows again (10 §5.4). */
export function scroll(state: State, ruler: Ruler, delta: number): Change {
  const rows = layoutOf(state).body;
  const blocks = blocksOf(state, ruler.cache, ruler.glyphs);
  if (blocks.count === 0) return only(state);
  const anchor = moved(blocks, state.anchor, delta, rows);
  return withMore(paused(state, ruler, anchor));
}

/** Sets the top row, and notes what stood at the end when the view stopped following. */
export function paused(state: State, ruler: Ruler, anchor: Anchor | null): State {
  if (anchor === null) {
    if (state.far === null) return { ...state, ...atEnd };
    // The end of a stretch is not the end of the session.
    const rows = layoutOf(state).body;
    return { ...state, anchor: fixedAnchor(blocksOf(state, ruler.cache, ruler.glyphs), null, rows) };
  }
  if (state.paused !== null) return { ...state, anchor };
  const blocks = newestBlocks(state, ruler.cache, ruler.glyphs);
  return {
    ...state,
    anchor,
    paused: { items: blocks.count, lines: blocks.count === 0 ? 0 : blocks.linesOf(blocks.count - 1).length },
  };
}

/** A paused view after the rows of its items have changed their number: no row is new for that. */
export function remeasured(before: State, after: State, ruler: Ruler): State {
  const { paused } = before;
  if (paused === null || paused.items === 0 || after.paused !== paused) return after;
  const last = (state: State) => newestBlocks(state, ruler.cache, ruler.glyphs).linesOf(paused.items - 1).length;
  const came = last(before) - paused.lines;
  return { ...after, paused: { ...paused, lines: Math.max(0, last(after) - came) } };
}

/** Messages are fetched before somebody stands in front of the first, or behind the last that is in memory. */
export function withMore(state: State): Change {
  const wish = wishOf(state, state.size.rows);
  return wish === null ? only(state) : loading(state, wish);
}

const loading = (state: State, wish: PageWish): Change =>
  only(state.session === null ? state : { ...state, session: { ...state.session, loading: true } }, {
    do: 'load-page',
    wish,
  });

/** The first line of the session: what is not in memory is read, and nothing in between. */
export function toTop(state: State, ruler: Ruler): Change {
  const first = shownItems(state)[0];
  if (first === undefined) return only(state);
  const top = paused(state, ruler, { id: first.id, line: 0 });
  const before = state.far === null ? (state.session?.before ?? null) : state.far.before;
  return before === null ? only(top) : toStored(top, { item: null, after: 0 });
}

/** An item of a stored page, as soon as that is read. */
export function toStored(state: State, place: Place): Change {
  const until = state.session?.before ?? null;
  return until === null ? only(state) : loading({ ...state, going: place }, { toward: 'place', place, until });
}

/** What follows the end again. */
export const atEnd = { anchor: null, paused: null, far: null, going: null } as const;
export const toEnd = (state: State): State => ({ ...state, ...atEnd });
