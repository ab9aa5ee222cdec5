import { blocksOf } from './chat-lines.ts';
import { layoutOf } from './layout.ts';
import { type Change, only, type State } from './state.ts';
import type { Glyphs } from '../src/view/escape.ts';
import type { LineCache } from './transcript/line-cache.ts';
import { type Anchor, fixedAnchor, moved, revealed } from './transcript/viewport.ts';

/** What a move has to know of the screen: how long items are. */
export type Ruler = { readonly cache: LineCache; readonly glyphs: Glyphs };

/** Rows from the oldest that is loaded at which older messages are fetched. */
const nearTop = 3;

/** Moves the view by rows; at the end it follows again (10 §5.4). */
export function scroll(state: State, ruler: Ruler, delta: number): Change {
  const rows = layoutOf(state).body;
  const blocks = blocksOf(state, ruler.cache, ruler.glyphs);
  if (blocks.count === 0) return only(state);
  const anchor = moved(blocks, state.anchor, delta, rows);
  return withOlder(paused(state, ruler, anchor));
}

/** Sets the top row, and notes what stood at the end when the view stopped following. */
export function paused(state: State, ruler: Ruler, anchor: Anchor | null): State {
  if (anchor === null) return { ...state, anchor: null, paused: null };
  if (state.paused !== null) return { ...state, anchor };
  const blocks = blocksOf(state, ruler.cache, ruler.glyphs);
  return {
    ...state,
    anchor,
    paused: { items: blocks.count, lines: blocks.count === 0 ? 0 : blocks.linesOf(blocks.count - 1).length },
  };
}

/** Older messages are fetched before somebody stands in front of the first one. */
export function withOlder(state: State): Change {
  const { session, anchor } = state;
  if (session === null || session.before === null || session.loading || anchor === null) return only(state);
  const index = state.items.findIndex((item) => item.id === anchor.id);
  if (index > nearTop) return only(state);
  return only(
    { ...state, session: { ...session, loading: true } },
    { do: 'load-older', session: session.id, before: session.before },
  );
}

/** The first line of the session: what is not loaded yet is read first. */
export function toTop(state: State, ruler: Ruler): Change {
  const first = state.items[0];
  if (first === undefined) return only(state);
  const top = paused(state, ruler, { id: first.id, line: 0 });
  return state.session === null || state.session.before === null
    ? only(top)
    : only({ ...top, goingUp: true }, { do: 'load-all' });
}

export const toEnd = (state: State): State => ({ ...state, anchor: null, paused: null });

/** Moves the view only as far as it takes to show an item. */
export function reveal(state: State, ruler: Ruler, id: string): Change {
  const blocks = blocksOf(state, ruler.cache, ruler.glyphs);
  return withOlder(paused(state, ruler, revealed(blocks, state.anchor, id, layoutOf(state).body)));
}

/** Keeps the row at the top where it is while something above or in view changes its height. */
export function holding(state: State, ruler: Ruler, change: (state: State) => State): State {
  const blocks = blocksOf(state, ruler.cache, ruler.glyphs);
  const anchor = fixedAnchor(blocks, state.anchor, layoutOf(state).body);
  return change(paused(state, ruler, anchor));
}
