import type { Item } from '../src/view/items.ts';
import { blocksOf, standingOf } from './chat-lines.ts';
import { layoutOf } from './layout.ts';
import { paused, remeasured, type Ruler, withMore } from './move.ts';
import { paneParts, planAnchor, planBlocks, stepItems, stepRows } from './plan/plan-lines.ts';
import { type Change, only, type State } from './state.ts';
import { shownItems } from './transcript/stretch.ts';
import { type Anchor, type Blocks, fixedAnchor, revealed, withRow } from './transcript/viewport.ts';

/** The transcript that reading mode is in: of the session, or of the step in the plan pane (10 §5.5, §8). */
export type TranscriptView = {
  readonly items: readonly Item[];
  readonly blocks: Blocks;
  readonly anchor: Anchor | null;
  readonly rows: number;
};

/** The items that are looked through; of a session those at its end. */
export const newestItems = (state: State): readonly Item[] => (state.pane === 'plan' ? stepItems(state) : state.items);

export const itemsInView = (state: State): readonly Item[] =>
  state.pane === 'plan' ? stepItems(state) : shownItems(state);

export function transcriptView(state: State, { cache, glyphs }: Ruler): TranscriptView {
  const items = itemsInView(state);
  if (state.pane !== 'plan')
    return { items, blocks: blocksOf(state, cache, glyphs), anchor: state.anchor, rows: layoutOf(state).body };
  const { columns } = paneParts(state).right;
  return { items, blocks: planBlocks(state, cache, glyphs, columns), anchor: planAnchor(state), rows: stepRows(state) };
}

/** The view with another row at its top; null = its end. */
export const atAnchor = (state: State, ruler: Ruler, anchor: Anchor | null): State =>
  state.pane === 'plan' ? { ...state, plan: { ...state.plan, anchor } } : paused(state, ruler, anchor);

/** Moves the view only as far as it takes to show an item. @param row of it, that is to be in view */
export function reveal(state: State, ruler: Ruler, id: string, row = 0): Change {
  const { blocks, anchor, rows } = transcriptView(state, ruler);
  const shown = blocks.idOf(standingOf(blocks, blocks.indexOf(id)));
  const whole = revealed(blocks, anchor, shown, rows);
  const next = atAnchor(state, ruler, row === 0 ? whole : withRow(blocks, whole, { id: shown, line: row }, rows));
  return state.pane === 'plan' ? only(next) : withMore(next);
}

/** Keeps the row at the top where it is while something above or in view changes its height. */
export function holding(state: State, ruler: Ruler, change: (state: State) => State): State {
  const { blocks, anchor, rows } = transcriptView(state, ruler);
  const held = atAnchor(state, ruler, fixedAnchor(blocks, anchor, rows));
  return remeasured(held, change(held), ruler);
}
