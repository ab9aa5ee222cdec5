import type { Batch } from '../../src/view/batch.ts';
import type { Line } from '../../src/view/line.ts';

/** The row that stands at the top: a line of an item, the empty one before it counted in. */
export type Anchor = {
  readonly id: string;
  readonly line: number;
  /** Where it stood before the screen became as wide as it is: what was not moved comes back to the same row. */
  readonly from?: { readonly line: number; readonly columns: number };
};

/** Blocks of rows by their index; only those that are asked for are laid out. */
export type Blocks = {
  readonly count: number;
  idOf(index: number): string;
  /** -1 when it is not there any more. */
  indexOf(id: string): number;
  linesOf(index: number): readonly Line[];
  /** The batch whose one line stands for the block; the blocks of its other calls have none. */
  foldOf(index: number): Batch | null;
};

export type Row = { readonly line: Line; readonly index: number };

type Place = { readonly index: number; readonly line: number };

/** The place of the first of the last `rows` rows. */
export function endPlace(blocks: Blocks, rows: number): Place {
  let left = rows;
  for (let index = blocks.count - 1; index >= 0; index -= 1) {
    const { length } = blocks.linesOf(index);
    if (length >= left) return { index, line: length - left };
    left -= length;
  }
  return { index: 0, line: 0 };
}

const placeOf = (blocks: Blocks, anchor: Anchor): Place | null => {
  const index = blocks.indexOf(anchor.id);
  if (index < 0) return null;
  return { index, line: Math.min(anchor.line, Math.max(0, blocks.linesOf(index).length - 1)) };
};

const after = (a: Place, b: Place): boolean => a.index > b.index || (a.index === b.index && a.line >= b.line);

/** The rows in view, from the anchor or so that the last one is the end. At most `rows`, fewer when there are no more. */
export function rowsInView(blocks: Blocks, anchor: Anchor | null, rows: number): readonly Row[] {
  const start = (anchor === null ? null : placeOf(blocks, anchor)) ?? endPlace(blocks, rows);
  const out: Row[] = [];
  for (let index = start.index; index < blocks.count && out.length < rows; index += 1) {
    const lines = blocks.linesOf(index);
    for (let line = index === start.index ? start.line : 0; line < lines.length && out.length < rows; line += 1) {
      out.push({ line: lines[line] ?? [], index });
    }
  }
  return out;
}

/** The anchor after a move by `delta` rows; null when that shows the end. */
export function moved(blocks: Blocks, anchor: Anchor | null, delta: number, rows: number): Anchor | null {
  const end = endPlace(blocks, rows);
  let { index, line } = (anchor === null ? null : placeOf(blocks, anchor)) ?? end;
  line += delta;
  while (line < 0 && index > 0) {
    index -= 1;
    line += blocks.linesOf(index).length;
  }
  line = Math.max(0, line);
  while (index < blocks.count && line >= blocks.linesOf(index).length) {
    line -= blocks.linesOf(index).length;
    index += 1;
  }
  if (index >= blocks.count || after({ index, line }, end)) return null;
  return { id: blocks.idOf(index), line };
}

/** The anchor that shows a whole item, or its beginning; unchanged when it is in view already. */
export function revealed(blocks: Blocks, anchor: Anchor | null, id: string, rows: number): Anchor | null {
  const index = blocks.indexOf(id);
  if (index < 0) return anchor;
  const start = (anchor === null ? null : placeOf(blocks, anchor)) ?? endPlace(blocks, rows);
  const size = blocks.linesOf(index).length;
  let above = -start.line;
  if (index >= start.index) {
    for (let each = start.index; each < index && above <= rows; each += 1) above += blocks.linesOf(each).length;
    if (above >= 0 && above + Math.min(size, rows) <= rows) return anchor;
  }
  // An item above the view comes to its top, with what belongs to it below.
  const top = index < start.index ? 0 : Math.max(0, Math.min(rows - size, Math.floor(rows / 3)));
  return moved(blocks, { id, line: 0 }, -top, rows);
}

/** The anchor that has a row of an item in view, at a third of it; unchanged where it is in view already. */
export function withRow(blocks: Blocks, anchor: Anchor | null, row: Anchor, rows: number): Anchor | null {
  const index = blocks.indexOf(row.id);
  const start = (anchor === null ? null : placeOf(blocks, anchor)) ?? endPlace(blocks, rows);
  let above = row.line - start.line;
  for (let each = start.index; each < index && above < rows; each += 1) above += blocks.linesOf(each).length;
  if (index >= start.index && above >= 0 && above < rows) return anchor;
  return moved(blocks, row, -Math.floor(rows / 3), rows);
}

/** The place at the top as an anchor, where the view follows the end. */
export function fixedAnchor(blocks: Blocks, anchor: Anchor | null, rows: number): Anchor | null {
  if (anchor !== null || blocks.count === 0) return anchor;
  const { index, line } = endPlace(blocks, rows);
  return { id: blocks.idOf(index), line };
}
