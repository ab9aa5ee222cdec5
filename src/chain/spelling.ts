/**
 * The name that was probably meant: at most two edits away, or the same for four fifths of the longer one (a wrong
 * ending, as in `chat_complete`). Null when there is none.
 */
export function nearest(word: string, names: readonly string[]): string | null {
  if (word === '' || word.length > 128) return null;
  let best: string | null = null;
  let least = 3;
  for (const name of names) {
    const edits = distance(word, name);
    if (edits < least) {
      best = name;
      least = edits;
    }
  }
  return best ?? names.find((name) => sameStart(word, name)) ?? null;
}

function sameStart(a: string, b: string): boolean {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length * 5 >= Math.max(a.length, b.length) * 4;
}

/** Levenshtein distance; anything above two counts as three. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return Math.min(3, row[b.length] ?? 3);
}
