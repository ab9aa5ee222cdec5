/**
 * Damerau–Levenshtein distance (optimal string alignment): insert, delete, replace, swap of neighbours, in code points.
 * @param most more edits than this count as one more: the rest of a long text is not looked at
 */
export function distance(a: string, b: string, most = Number.POSITIVE_INFINITY): number {
  const [left, right] = differing(codePoints(a), codePoints(b));
  const width = right.length;
  if (Math.abs(left.length - width) > most) return most + 1;
  let before = new Int32Array(width + 1);
  let above = new Int32Array(width + 1);
  for (let j = 0; j <= width; j += 1) above[j] = j;
  let row = new Int32Array(width + 1);
  let leastAbove = 0;
  for (let i = 1; i <= left.length; i += 1) {
    // Further from the diagonal there are more edits than `most`; those cells are not kept.
    const from = Math.max(1, i - most);
    const to = Math.min(width, i + most);
    let least = from === 1 ? i : most + 1;
    row[from - 1] = least;
    for (let j = from; j <= to; j += 1) {
      let best = (above[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      best = Math.min(best, (row[j - 1] ?? 0) + 1);
      if (j < i + most) best = Math.min(best, (above[j] ?? 0) + 1);
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1])
        best = Math.min(best, (before[j - 2] ?? 0) + 1);
      row[j] = best;
      least = Math.min(least, best);
    }
    // A swap reaches over one row.
    if (least > most && leastAbove > most) return most + 1;
    leastAbove = least;
    [before, above, row] = [above, row, before];
  }
  return Math.min(above[width] ?? 0, most + 1);
}

/** What is left of both without the beginning and the end that they have in common: these cost no edits. */
function differing(a: Int32Array, b: Int32Array): readonly [Int32Array, Int32Array] {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return [a.subarray(start, a.length - end), b.subarray(start, b.length - end)];
}

function codePoints(text: string): Int32Array {
  const points = new Int32Array(text.length);
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const point = text.codePointAt(at) ?? 0;
    points[count] = point;
    count += 1;
    if (point > 0xffff) at += 1;
  }
  return points.subarray(0, count);
}

/** Whether so many edits leave at least half of the longer word as it was: with more, two words have nothing in common. */
export const isNear = (edits: number, a: string, b: string): boolean => edits * 2 <= Math.max(a.length, b.length);

/** The words within `limit` edits of `word` that are near it, nearest first, at most `count`. */
export function nearest(word: string, words: readonly string[], limit: number, count: number): readonly string[] {
  return words
    .map((candidate) => ({ candidate, edits: distance(word, candidate, limit) }))
    .filter(({ candidate, edits }) => edits <= limit && isNear(edits, word, candidate))
    .sort((left, right) => left.edits - right.edits || (left.candidate < right.candidate ? -1 : 1))
    .slice(0, count)
    .map(({ candidate }) => candidate);
}
