const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/**
 * Milliseconds of a duration such as `500ms`, `90s`, `5m`, `1h30m`, `0.5h`; `0` is zero. Null for anything else: bare
 * numbers, days, negatives, the empty text (06 §1.4).
 */
export function parseDuration(text: string): number | null {
  if (text === '0') return 0;
  if (text.length > 64 || !/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text)) return null;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    total += Number(amount) * (unitMs[unit ?? ''] ?? Number.NaN);
  }
  // What is more than nothing does not become nothing, which would be no limit.
  return Number.isFinite(total) ? Math.max(Math.round(total), total > 0 ? 1 : 0) : null;
}

/** A whole number of tokens: `32768`, `32k` (x1000), `1m` (x1 000 000). Null for anything else (06 §1.4). */
export function parseSize(text: string): number | null {
  const [, amount, unit] = /^(\d{1,15})([km]?)$/.exec(text) ?? [];
  if (amount === undefined) return null;
  const size = Number(amount) * (unit === 'k' ? 1000 : unit === 'm' ? 1_000_000 : 1);
  return Number.isSafeInteger(size) ? size : null;
}

/** The longest time that a timer holds: a longer one would be over at once. */
export const longestTimerMs = 2 ** 31 - 1;
