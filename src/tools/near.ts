import { distance, isNear } from '../text/nearest.ts';

/** The names that differ least from `wanted`, nearest first; one that is a part of the other is near. Pure. */
export function nearNames(wanted: string, names: Iterable<string>, max: number): readonly string[] {
  const text = wanted.toLowerCase().slice(0, 100);
  const limit = Math.max(2, Math.floor(text.length / 3));
  const found: { readonly name: string; readonly edits: number }[] = [];
  for (const name of names) {
    const other = name.toLowerCase().slice(0, 100);
    const contains = text.length > 2 && other.length > 2 && (other.includes(text) || text.includes(other));
    const edits = contains ? 1 : distance(text, other, limit);
    if (contains || (edits <= limit && isNear(edits, text, other))) found.push({ name, edits });
  }
  found.sort((a, b) => a.edits - b.edits || (a.name < b.name ? -1 : 1));
  return found.slice(0, max).map((one) => one.name);
}
