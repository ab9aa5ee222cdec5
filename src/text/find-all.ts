/** Up to here the engine's own search is quicker, and never takes long. */
const maxSteps = 2 ** 26;

/**
 * Where a text occurs, from `from` on, without overlaps; the last occurrence begins before `to`. Takes time in
 * proportion to the length of both texts: the engine's own search may take their product.
 */
export function findAll(text: string, find: string, from: number, to: number): readonly number[] {
  const end = Math.min(text.length, to + find.length - 1);
  if (find === '' || from >= end) return [];
  return find.length * (end - from) <= maxSteps ? findShort(text, find, from, to) : findLong(text, find, from, end);
}

function findShort(text: string, find: string, from: number, to: number): readonly number[] {
  const found: number[] = [];
  for (let at = text.indexOf(find, from); at >= 0 && at < to; at = text.indexOf(find, at + find.length)) found.push(at);
  return found;
}

/** By Knuth, Morris and Pratt: no character of the text is looked at from the beginning again. */
function findLong(text: string, find: string, from: number, end: number): readonly number[] {
  const found: number[] = [];
  const shorter = borders(find);
  let known = 0;
  for (let at = from; at < end; at += 1) {
    const code = text.charCodeAt(at);
    while (known > 0 && find.charCodeAt(known) !== code) known = shorter[known - 1] ?? 0;
    if (find.charCodeAt(known) === code) known += 1;
    if (known === find.length) {
      found.push(at + 1 - known);
      known = 0;
    }
  }
  return found;
}

/** For each beginning of a text: how long the longest shorter beginning is that it also ends with. */
function borders(find: string): Int32Array {
  const lengths = new Int32Array(find.length);
  let length = 0;
  for (let at = 1; at < find.length; at += 1) {
    const code = find.charCodeAt(at);
    while (length > 0 && find.charCodeAt(length) !== code) length = lengths[length - 1] ?? 0;
    if (find.charCodeAt(length) === code) length += 1;
    lengths[at] = length;
  }
  return lengths;
}
