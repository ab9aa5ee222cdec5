/** Durations, sizes and widths as people read them. */

import { clusters, sumOfClusters } from '../text/clusters.ts';

const steps: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
];

/** `3m ago`, `2d ago`, `just now`. @param ms how long ago; a future time counts as now */
export function formatAge(ms: number): string {
  const short = formatShort(ms);
  return short === '0s' ? 'just now' : `${short} ago`;
}

/** A sentence with the times in it told as ages: `from 3h ago`. What is still to come stays as it is. */
export const tellTimes = (text: string, now: number): string =>
  text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (at) =>
    Date.parse(at) > now ? at : formatAge(now - Date.parse(at)),
  );

/** One unit, rounded down: `7d`, `5s`. */
export function formatShort(ms: number): string {
  for (const [unit, size] of steps) if (ms >= size) return `${Math.floor(ms / size)}${unit}`;
  return '0s';
}

/** Time left of a deadline (10 §7.2): `6d 23h`, `1h 05m`, `04:59`; `expired` at or below 0. */
export function formatRemaining(ms: number): string {
  if (ms <= 0) return 'expired';
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const two = (value: number) => String(value).padStart(2, '0');
  if (hours >= 24) return `${Math.floor(hours / 24)}d ${hours % 24}h`;
  if (hours >= 1) return `${hours}h ${two(minutes % 60)}m`;
  return `${two(minutes)}:${two(seconds % 60)}`;
}

/** Duration of a step (06 §8.3): `12µs` below 1 ms, `40ms` below 1 s, else `1.20s`. */
export function formatStepDuration(ms: number): string {
  if (ms < 1) return `${Math.round(ms * 1000)}µs`;
  if (ms < 1000) return `${Math.round(ms)}ms`;
  return `${(ms / 1000).toFixed(2)}s`;
}

/** How long something took: `40ms`, `5.1s`, `4m 12s`, `1h 05m`, `2d 3h`. */
export function formatSpan(ms: number): string {
  // Two times of day, and the clock was set back in between.
  if (ms < 0) return '0ms';
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)}m ${Math.floor((ms % 60_000) / 1000)}s`;
  return formatRemaining(ms);
}

/** How long a run took. What an interrupted one did behind its last checkpoint before its process ended, nobody saw. */
export const runSpan = ({ status, duration_ms }: { readonly status: string; readonly duration_ms: number }): string =>
  `${status === 'interrupted' ? 'at least ' : ''}${formatSpan(duration_ms)}`;

/** A count with its thousands apart: `12,345`. `toLocaleString` loads the rules of a language, 16 ms in the browser. */
export const formatCount = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');

/** Decimal units: `812 B`, `4.7 GB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  for (const unit of ['B', 'kB', 'MB', 'GB']) {
    if (value < 1000) return unit === 'B' ? `${value} B` : `${value.toFixed(1)} ${unit}`;
    value /= 1000;
  }
  return `${value.toFixed(1)} TB`;
}

/** The time of day where the reader is, `14:03:59`. */
export const formatClock = (at: string): string => new Date(at).toTimeString().slice(0, 8);

/** `1 message`, `2 messages`. */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Lines of a text; one break at its end begins no further one. */
export const countLines = (text: string): number => text.replace(/\n$/, '').split('\n').length;

/** One column each, in every combination: what is written here and in most of Europe, and the marks of `escape.ts`. */
const narrow = /^[\x20-\x7e\xa1-\xac\xae-\xff\u2010-\u2027\u2190-\u2193\u21e5\u23ce\u2400-\u2426\u27e8\u27e9]*$/;

/**
 * A function that gives the columns of a text. The package that knows wide characters is loaded only when one of
 * `texts` may hold one: that takes 25 ms, and every card has a `·` in its title.
 */
export async function measure(texts: Iterable<string>): Promise<(text: string) => number> {
  for (const text of texts) {
    if (narrow.test(text)) continue;
    const { default: stringWidth } = await import('string-width');
    return (whole) => sumOfClusters(whole, (part) => (narrow.test(part) ? part.length : stringWidth(part)));
  }
  return (text) => text.length;
}

/** Cuts a text to at most `columns`, ending in `…` when something was cut. A cluster is never cut in half. */
export function cut(text: string, columns: number, width: (text: string) => number): string {
  if (width(text) <= columns) return text;
  let out = '';
  let used = 0;
  for (const segment of clusters(text)) {
    const size = width(segment);
    if (used + size > columns - 1) break;
    out += segment;
    used += size;
  }
  return `${out}…`;
}

/** The text in pieces of at most `columns`, in order and complete. A cluster is never cut in half. */
export function wrap(text: string, columns: number, width: (text: string) => number): readonly string[] {
  if (width(text) <= columns) return [text];
  const out: string[] = [];
  let line = '';
  let used = 0;
  for (const segment of clusters(text)) {
    const size = width(segment);
    if (used + size > columns && line !== '') {
      out.push(line);
      line = '';
      used = 0;
    }
    line += segment;
    used += size;
  }
  return [...out, line];
}

/**
 * As `wrap`, but broken behind a blank where one stands in the second half of a row. Every character is still there, in
 * order: a blank ends its row.
 */
export function wrapWords(text: string, columns: number, width: (text: string) => number): readonly string[] {
  if (width(text) <= columns) return [text];
  const out: string[] = [];
  let line = '';
  let used = 0;
  let word = { from: 0, used: 0 };
  for (const segment of clusters(text)) {
    const size = width(segment);
    if (used + size > columns && line !== '') {
      const cut = word.used * 2 >= columns ? word : { from: line.length, used };
      out.push(line.slice(0, cut.from));
      line = line.slice(cut.from);
      used -= cut.used;
      word = { from: 0, used: 0 };
    }
    line += segment;
    used += size;
    if (segment === ' ') word = { from: line.length, used };
  }
  return [...out, line];
}

/** A whole number of seconds as a person says it: `90 s`, `15 min`, `1 h`, `7 d`. */
export function formatSeconds(seconds: number): string {
  const units: readonly (readonly [string, number])[] = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
  ];
  const unit = units.find(([, size]) => seconds >= size && seconds % size === 0);
  return unit === undefined ? `${seconds} s` : `${seconds / unit[1]} ${unit[0]}`;
}
