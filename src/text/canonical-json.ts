/**
 * The canonical form of a JSON value (RFC 8785): members sorted by UTF-16 code units, no blanks, shortest numbers.
 * Members that are `undefined` are left out, as JSON does. An unpaired surrogate is written as its `\u` escape.
 * @throws TypeError for what JSON cannot carry: NaN, infinities, bigints, functions, symbols
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value === 'object') {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
  }
  throw new TypeError(`a ${typeof value} has no JSON form`);
}
