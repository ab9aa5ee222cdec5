const units: readonly (readonly [name: string, ms: number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

/** A time that is left, in words: `6 days 23 hours`, `9 minutes 58 seconds`, `no time`. */
export function spokenTime(ms: number): string {
  const first = units.findIndex(([, size]) => ms >= size);
  if (first < 0) return 'no time';
  const words: string[] = [];
  let left = ms;
  for (const [name, size] of units.slice(first, first + 2)) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) words.push(`${count} ${name}${count === 1 ? '' : 's'}`);
  }
  return words.join(' ');
}
