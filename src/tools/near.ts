import { distance, isNear } from '../text/nearest.ts';

type Found = { readonly name: string; readonly edits: number };

/** The names that differ least from `wanted`, nearest first; one that is a part of the other is near. Pure. */
export function nearNames(wanted: string, names: Iterable<string>, max: number): readonly string[] {
  const text = wanted.toLowerCase().slice(0, 100);
  const limit = Math.max(2, Math.floor(text.length / 3));
  let found: readonly Found[] = [];
  for (const name of names) {
    const other = name.toLowerCase().slice(0, 100);
    const contains = text.length > 2 && other.length > 2 && (other.includes(text) || text.includes(other));
    // What is further away than all that were found need not be known exactly.
    const most = found.length < max ? limit : (found.at(-1)?.edits ?? limit);
    const edits = contains ? 1 : distance(text, other, most);
    if (edits <= most && (contains || isNear(edits, text, other)))
      found = [...found, { name, edits }].sort(byDistance).slice(0, max);
  }
  return found.map((one) => one.name);
}

const byDistance = (a: Found, b: Found): number => a.edits - b.edits || (a.name < b.name ? -1 : 1);
