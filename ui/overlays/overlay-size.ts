/** Columns of an overlay with its borders (10 §2.1). */
export const overlayWidth = (columns: number): number =>
  columns < 80 ? columns - 2 : columns < 100 ? 78 : Math.min(columns - 10, 110);

/**
 * Rows for what scrolls.
 * @param head rows that stay at the top; a rule follows them
 * @param rows of what scrolls, in all
 * @param body rows of the pane below
 * @param below rows that stay at the bottom; a rule stands before them
 */
export function roomOf(head: number, rows: number, body: number, below = 0): number {
  const most = Math.max(6, body) - 2 - (head === 0 ? 0 : head + 1) - (below === 0 ? 0 : below + 1);
  return Math.max(1, Math.min(most, Math.max(rows, 4)));
}
