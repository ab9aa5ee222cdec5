/**
 * Damerau–Levenshtein distance (optimal string alignment): insert, delete, replace, swap of neighbours, in code points.
 * @param most more edits than this count as one more: the rest of a long text is not looked at
 */
export function distance(a: string, b: string, most = Number.POSITIVE_INFINITY): number {
  const [left, right] = [[...a], [...b]];
  if (Math.abs(left.length - right.length) > most) return most + 1;
  let before: readonly number[] = [];
  let above: readonly number[] = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [i, char] of left.entries()) {
    const row = [i + 1];
    for (const [j, other] of right.entries()) {
      const replaced = (above[j] ?? 0) + (char === other ? 0 : 1);
      let best = Math.min((above[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1, replaced);
      if (i > 0 && j > 0 && char === right[j - 1] && left[i - 1] === other)
        best = Math.min(best, (before[j - 1] ?? 0) + 1);
      row.push(best);
    }
    if (Math.min(...row) > most && Math.min(...above) > most) return most + 1;
    [before, above] = [above, row];
  }
  return Math.min(above[right.length] ?? 0, most + 1);
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
