import { nearest } from '../text/nearest.ts';

/**
 * The name that was probably meant: at most two edits away, the same but for capitals, or the same for four
 * fifths of the longer one (a wrong ending, as in `chat_complete`). Null when there is none.
 */
export function meantName(word: string, names: readonly string[]): string | null {
  if (word === '' || word.length > 128) return null;
  const same = names.find((name) => name.toLowerCase() === word.toLowerCase());
  return same ?? nearest(word, names, 2, 1)[0] ?? names.find((name) => sameStart(word, name)) ?? null;
}

/** The same as the end of a message. Among hundreds of names a near one is a guess, and looking for it takes long. */
export function meantAmong(word: string, names: ReadonlySet<string>): string {
  const meant = names.size > 50 ? null : meantName(word, [...names]);
  return meant === null ? '' : `; did you mean ${meant}?`;
}

function sameStart(a: string, b: string): boolean {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length * 5 >= Math.max(a.length, b.length) * 4;
}
