import type { Item } from '../../src/view/items.ts';
import type { OpenSession, State } from '../state.ts';
import type { Far, Page, PageWish } from './pages.ts';

/** Items that stay in memory while the end is in view; the store has the others (10 §5.2). */
const mostItems = 2000;
/** More than `mostItems` by this is not cut yet, so that it is not done with every event. */
const slack = 400;
/** Items of a stretch far from the end, about. */
const mostFar = 1000;

type Stretched = Pick<State, 'items' | 'far'>;

/** The items that can be scrolled to without reading: those at the end, or a stretch far from it. */
export const shownItems = ({ items, far }: Stretched): readonly Item[] => far?.items ?? items;

/** The page that a view near an edge of what is in memory needs next; null = none. @param rows of the view */
export function wishOf(state: State, rows: number): PageWish | null {
  const { session, far, anchor } = state;
  if (session === null || session.loading || anchor === null) return null;
  const items = shownItems(state);
  const index = items.findIndex((item) => item.id === anchor.id);
  const before = far === null ? session.before : far.before;
  if (index <= nearTop && before !== null) return { toward: 'older', before };
  if (far !== null && session.before !== null && items.length - index <= rows)
    return { toward: 'newer', after: far.after, until: session.before };
  return null;
}

/** Items from the oldest in memory at which older ones are fetched. */
const nearTop = 3;

/** A page has been read: it is put where it was wanted, or left when the view has gone elsewhere meanwhile. */
export function withPage(state: State, session: string, wish: PageWish, page: Page): State {
  if (state.session === null || state.session.id !== session) return state;
  const open: OpenSession = { ...state.session, loading: false };
  const idle: State = { ...state, session: open };
  const { far } = state;
  switch (wish.toward) {
    case 'older':
      if (wish.before !== (far === null ? open.before : far.before)) return idle;
      if (far !== null) return { ...idle, far: shortened(withOlder(far, page), 'end') };
      return joined(idle, page);
    case 'newer':
      if (wish.after !== far?.after) return idle;
      return met({ ...idle, far: { ...far, items: [...far.items, ...page.items], after: page.after } });
    case 'place': {
      if (state.going !== wish.place) return idle;
      const id = wish.place.item ?? page.items[0]?.id;
      if (id === undefined) return { ...idle, going: null };
      // Another page may have come in between that has some of them.
      const here = new Set(state.items.map((item) => item.id));
      const items = page.items.filter((item) => !here.has(item.id));
      return met({ ...idle, going: null, anchor: { id, line: 0 }, far: { ...page, items } });
    }
  }
}

const withOlder = (far: Far, page: Page): Far => ({
  ...far,
  items: [...page.items, ...far.items],
  before: page.before,
});

/** What is before the items at the end is in front of them now. */
function joined(state: State, page: Omit<Page, 'after'>): State {
  const { session, paused } = state;
  if (session === null) return state;
  return bounded({
    ...state,
    items: [...page.items, ...state.items],
    session: { ...session, before: page.before },
    paused: paused === null ? null : { ...paused, items: paused.items + page.items.length },
  });
}

/** A stretch that has come to the items at the end is one with them; else the part out of view is let go. */
function met(state: State): State {
  const { far, session } = state;
  if (far === null || session === null) return state;
  if (session.before === null) return { ...state, far: null };
  if (far.after + 1 >= session.before) return joined({ ...state, far: null }, far);
  return { ...state, far: shortened(far, 'start') };
}

function shortened(far: Far, side: 'start' | 'end'): Far {
  if (far.items.length <= mostFar + slack) return far;
  const cut = cutAt(far.items, side === 'end' ? mostFar : far.items.length - mostFar);
  if (cut === null) return far;
  return side === 'end'
    ? { ...far, items: far.items.slice(0, cut.index), after: cut.seq - 1 }
    : { ...far, items: far.items.slice(cut.index), before: cut.seq };
}

/** Lets go what is far behind the end, or far from the view where that is paused: the store gives it back. */
export function bounded(state: State): State {
  const { items, anchor, session, far, paused } = state;
  if (session === null || state.search !== null || items.length <= mostItems + slack) return state;
  const cut = cutAt(items, items.length - mostItems);
  if (cut === null) return state;
  const rest: State = {
    ...state,
    items: items.slice(cut.index),
    session: { ...session, before: cut.seq },
    paused: paused === null ? null : { ...paused, items: Math.max(1, paused.items - cut.index) },
  };
  const at = far !== null || anchor === null ? -1 : items.findIndex((item) => item.id === anchor.id);
  if (at < 0 || at >= cut.index) return rest;
  if (items.length <= 2 * mostItems) return state;
  const first = at <= mostFar / 2 ? null : cutAt(items, at - mostFar / 2);
  const last = cutAt(items, Math.min(at + mostFar / 2, cut.index)) ?? cut;
  const from =
    first === null || first.index > at
      ? { index: 0, before: session.before }
      : { index: first.index, before: first.seq };
  return { ...rest, far: { items: items.slice(from.index, last.index), before: from.before, after: last.seq - 1 } };
}

/** The next place where what stands before it is exactly the messages before a number. */
function cutAt(items: readonly Item[], from: number): { readonly index: number; readonly seq: number } | null {
  for (let index = Math.max(1, from); index < items.length; index += 1) {
    const item = items[index];
    if ((item?.kind !== 'user' && item?.kind !== 'assistant') || item.seq === null) continue;
    // Reasoning and the text behind it are one message.
    const thought = item.kind === 'assistant' && items[index - 1]?.kind === 'reasoning';
    return { index: thought ? index - 1 : index, seq: item.seq };
  }
  return null;
}
