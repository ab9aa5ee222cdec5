/** The names that differ least from `wanted`, nearest first. Pure. */
export function nearNames(wanted: string, names: Iterable<string>, max: number): readonly string[] {
  const text = wanted.toLowerCase().slice(0, 100);
  const limit = Math.max(2, Math.floor(text.length / 3));
  const found: { readonly name: string; readonly distance: number }[] = [];
  for (const name of names) {
    const other = name.toLowerCase().slice(0, 100);
    const contains = text.length > 2 && other.length > 2 && (other.includes(text) || text.includes(other));
    const distance = contains ? 1 : editDistance(text, other, limit);
    if (distance <= limit) found.push({ name, distance });
  }
  found.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  return found.slice(0, max).map((one) => one.name);
}

/** Edits between two short texts; a number above `limit` once it is certain that there are more. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1] ? 0 : 1;
      const value = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + same,
      );
      current.push(value);
      if (value < least) least = value;
    }
    if (least > limit) return limit + 1;
    previous = current;
  }
  return previous[b.length] ?? limit + 1;
}
