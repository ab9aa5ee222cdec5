import { type Line, textOf } from '../src/view/line.ts';
import { blocksOf } from './chat-lines.ts';
import { isTooSmall } from './layout.ts';
import { remeasured, type Ruler } from './move.ts';
import { paneParts, planBlocks } from './plan/plan-lines.ts';
import type { State } from './state.ts';
import type { Anchor, Blocks } from './transcript/viewport.ts';

/** What can be scrolled, laid out as on a screen of so many columns. */
type Laid = (columns: number) => Blocks;

/**
 * The same text stands at the top at another width (10 §5.2): a row of a long answer is another row of it there. The
 * way back is exact, over any number of sizes: the row at which somebody has stopped is kept beside.
 */
export function rewrapped(before: State, after: State, ruler: Ruler): State {
  const { columns } = before.size;
  if (columns === after.size.columns) return remeasured(before, after, ruler);
  const sized = (width: number): State => ({ ...after, size: { ...after.size, columns: width } });
  const chat: Laid = (width) => blocksOf(sized(width), ruler.cache, ruler.glyphs);
  const plan: Laid = (width) =>
    planBlocks(sized(width), ruler.cache, ruler.glyphs, paneParts(sized(width)).right.columns);
  const at = (anchor: Anchor | null, laid: Laid): Anchor | null =>
    anchor === null ? null : sameText(anchor, laid, columns, after);
  const moved = {
    ...after,
    anchor: at(after.anchor, chat),
    plan: { ...after.plan, anchor: at(after.plan.anchor, plan) },
  };
  return remeasured(before, moved, ruler);
}

function sameText({ id, line, from }: Anchor, laid: Laid, columns: number, to: State): Anchor {
  const stood = from ?? { line, columns };
  // What is not drawn is not laid out.
  if (isTooSmall(to) || stood.columns === to.size.columns) return { id, line: stood.line, from: stood };
  const old = linesOf(laid(stood.columns), id);
  const now = linesOf(laid(to.size.columns), id);
  if (old === null || now === null) return { id, line: stood.line, from: stood };
  return { id, line: rowOf(now, placeOf(old, stood.line)), from: stood };
}

const linesOf = (blocks: Blocks, id: string): readonly Line[] | null => {
  const index = blocks.indexOf(id);
  return index < 0 ? null : blocks.linesOf(index);
};

/** Signs of a row without its blanks: those at its ends come and go with the width. */
const signsOf = (line: Line): number => textOf(line).replaceAll(' ', '').length;

type TextPlace = {
  /** How much of all signs stands above, 0 to 1. */
  readonly above: number;
  /** The row itself is an empty one. */
  readonly empty: boolean;
};

function placeOf(lines: readonly Line[], row: number): TextPlace {
  const signs = lines.map(signsOf);
  const all = signs.reduce((sum, each) => sum + each, 0);
  const above = signs.slice(0, row).reduce((sum, each) => sum + each, 0);
  return { above: all === 0 ? 0 : above / all, empty: signs[row] === 0 };
}

/** The row that holds the place; of empty ones before it the last, where the place was empty too. */
function rowOf(lines: readonly Line[], { above, empty }: TextPlace): number {
  const signs = lines.map(signsOf);
  // Half a sign: what was divided comes back a little less.
  const wanted = above * signs.reduce((sum, each) => sum + each, 0) + 0.5;
  let row = 0;
  let passed = 0;
  for (const [index, count] of signs.entries()) {
    if (passed > wanted) break;
    row = index;
    passed += count;
  }
  return empty && signs[row] !== 0 && row > 0 && signs[row - 1] === 0 ? row - 1 : row;
}
