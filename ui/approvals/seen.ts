/** What was on the screen: pieces of one long text, apart from one another and in order. */
export type Seen = readonly (readonly [from: number, to: number])[];

/** The pieces together with some more. */
export function withPieces(seen: Seen, more: Seen): Seen {
  const all = [...seen, ...more].sort((one, other) => one[0] - other[0]);
  const out: [number, number][] = [];
  for (const [from, to] of all) {
    const last = out.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else out.push([from, to]);
  }
  return out;
}

/** Whether all of a piece was seen. */
export const holds = (seen: Seen, from: number, to: number): boolean =>
  seen.some(([start, end]) => start <= from && to <= end);
