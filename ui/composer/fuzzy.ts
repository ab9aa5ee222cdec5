/** Fuzzy matching for mentions, commands and history: every character of the query in order, best places first. */

type Scored<T> = { readonly item: T; readonly score: number };

const isBoundary = (text: string, at: number): boolean =>
  at === 0 ||
  /[/\\._\- ]/.test(text.charAt(at - 1)) ||
  (/[a-z]/.test(text.charAt(at - 1)) && /[A-Z]/.test(text.charAt(at)));

/**
 * How well a query fits a text: higher is better, null = not at all. Case counts only where the query has a capital.
 * Takes time proportional to the text.
 */
function fuzzyScore(query: string, text: string): number | null {
  if (query === '') return 0;
  const strict = query !== query.toLowerCase();
  const hay = strict ? text : text.toLowerCase();
  const name = text.lastIndexOf('/') + 1;
  const whole = hay.indexOf(query, name);
  if (whole >= 0)
    return 1000 - (whole - name) - (text.length - query.length) * 0.1 + (isBoundary(text, whole) ? 100 : 0);
  // Backwards from the end, so that the name of a file counts before its directories.
  let at = hay.length;
  let score = 0;
  let previous = -2;
  for (let index = query.length - 1; index >= 0; index -= 1) {
    at = hay.lastIndexOf(query.charAt(index), at - 1);
    if (at < 0 || (at === 0 && index > 0)) return null;
    if (at === previous - 1) score += 8;
    if (isBoundary(text, at)) score += 6;
    if (at >= name) score += 2;
    previous = at;
  }
  return score - text.length * 0.05;
}

/** The best `count` of many, best first; of equal ones the first given. */
export function fuzzyBest<T>(
  query: string,
  items: readonly T[],
  textOf: (item: T) => string,
  count: number,
): readonly T[] {
  const best: Scored<T>[] = [];
  for (const item of items) {
    const score = fuzzyScore(query, textOf(item));
    if (score === null) continue;
    const worst = best.at(-1);
    if (best.length >= count && worst !== undefined && score <= worst.score) continue;
    let place = best.length;
    while (place > 0 && (best[place - 1]?.score ?? 0) < score) place -= 1;
    best.splice(place, 0, { item, score });
    if (best.length > count) best.pop();
  }
  return best.map(({ item }) => item);
}
