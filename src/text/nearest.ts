/**
 * Damerau–Levenshtein distance (optimal string alignment): insert, delete, replace, swap of neighbours.
 * Takes time proportional to the product of both lengths; callers pass words of at most a few dozen characters.
 */
export function distance(a: string, b: string): number {
  const rows: number[][] = [];
  for (let i = 0; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      if (i === 0) {
        row.push(j);
        continue;
      }
      const above = rows[i - 1] ?? [];
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (above[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, (rows[i - 2]?.[j - 2] ?? 0) + 1);
      }
      row.push(best);
    }
    rows.push(row);
  }
  return rows[a.length]?.[b.length] ?? 0;
}

/** The words within `limit` of `word`, nearest first, at most `count`. */
export function nearest(word: string, words: readonly string[], limit: number, count: number): readonly string[] {
  return (
    words
      .filter((candidate) => Math.abs(candidate.length - word.length) <= limit)
      .map((candidate) => ({ candidate, distance: distance(word, candidate) }))
      // As far away as the word is long: the two have nothing in common.
      .filter((entry) => entry.distance <= limit && entry.distance < word.length)
      .sort((left, right) => left.distance - right.distance || (left.candidate < right.candidate ? -1 : 1))
      .slice(0, count)
      .map((entry) => entry.candidate)
  );
}
