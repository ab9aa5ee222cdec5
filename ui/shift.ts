/** Rows `top` to `bottom`, both from 0, stand `by` rows further up; negative: further down. */
export type Shift = { readonly top: number; readonly bottom: number; readonly by: number };

/** Further than this the rows have changed anyway. */
const mostRows = 12;
/** Fewer rows are as well written again. */
const leastKept = 5;

/**
 * Whether most of what is new is the old further up or down, as when a text grows at its end: a terminal moves rows by
 * itself for a few bytes.
 */
export function shiftBetween(before: readonly string[], after: readonly string[]): Shift | null {
  let top = 0;
  const last = Math.min(before.length, after.length) - 1;
  while (top <= last && before[top] === after[top]) top += 1;
  let bottom = last;
  while (bottom > top && before[bottom] === after[bottom]) bottom -= 1;
  if (bottom - top < leastKept) return null;
  for (let by = 1; by <= Math.min(mostRows, bottom - top - leastKept); by += 1) {
    for (const signed of [by, -by]) {
      if (kept(before, after, top, bottom, signed) >= Math.max(leastKept, (bottom - top + 1 - by) * 0.7))
        return { top, bottom, by: signed };
    }
  }
  return null;
}

function kept(before: readonly string[], after: readonly string[], top: number, bottom: number, by: number): number {
  let count = 0;
  for (let row = Math.max(top, top - by); row <= Math.min(bottom, bottom - by); row += 1) {
    if (after[row] === before[row + by]) count += 1;
  }
  return count;
}

/** The rows as the terminal shows them after the shift. */
export function shifted(rows: readonly string[], { top, bottom, by }: Shift): string[] {
  return rows.map((row, index) => {
    if (index < top || index > bottom) return row;
    const from = index + by;
    return from < top || from > bottom ? '' : (rows[from] ?? '');
  });
}
