import { usage } from '../schema/errors.ts';
import { isUrl } from '../text/parse-url.ts';
import { parseDuration, parseSize } from '../text/quantities.ts';
import type { Flag } from './command.ts';

const dayMs = 86_400_000;

/** A time in milliseconds since the epoch: `30d`, `2w`, a duration, an ISO date or time that is not in the future. */
export function parseSince(text: string, now: number): number | null {
  const long = /^(\d+(?:\.\d+)?)([dw])$/.exec(text);
  if (long !== null) return now - Number(long[1]) * (long[2] === 'w' ? 7 * dayMs : dayMs);
  const duration = /^\d+$/.test(text) ? null : parseDuration(text);
  if (duration !== null) return now - duration;
  if (!/^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) || time > now ? null : time;
}

/** How a flag is written in messages and help. */
export const flagText = (flag: Flag): string => `--${flag.negative === true ? 'no-' : ''}${flag.name}`;

/** What the reader of a value needs of the world. */
export type ValueSite = { readonly now: number; absolute(path: string): string };

/**
 * Reads one value by its flag's kind. `source` names where it came from: a flag, a variable, a config key.
 * @returns a number for durations (ms), sizes, ints and since (ms since the epoch), else text
 * @throws RuntimeError usage, which names the source and the accepted forms
 */
export function readValue(flag: Flag, text: string, source: string, site: ValueSite): string | number {
  switch (flag.kind) {
    case 'duration': {
      const value = parseDuration(text);
      if (value === null || (value === 0 && flag.zero !== true)) {
        throw usage(
          `${source}: "${text}" is not a duration (500ms, 90s, 5m, 1h30m${flag.zero === true ? '; 0 means none' : ''})`,
        );
      }
      return value;
    }
    case 'since': {
      const value = parseSince(text, site.now);
      if (value === null) throw usage(`${source}: "${text}" is not a past time (30d, 2w, 12h, 2026-01-31)`);
      return value;
    }
    case 'size': {
      const value = parseSize(text);
      if (value === null) throw usage(`${source}: "${text}" is not a number of tokens (32768, 32k, 1m)`);
      return value;
    }
    case 'int':
      return readInt(flag, text, source);
    case 'enum':
      if (flag.words?.includes(text) === true) return text;
      throw usage(`${source}: "${text}" is not one of ${(flag.words ?? []).join(', ')}`);
    case 'path':
      if (text === '-' && flag.stdout === true) return text;
      if (text === '') throw usage(`${source} needs a path`);
      return readPath(text, source, site);
    case 'boolean':
      if (text === 'true' || text === 'false') return text;
      throw usage(`${source} is true or false, not "${text}"`);
    case 'string':
    case 'list':
    case 'optional':
      return text;
  }
}

/** @throws RuntimeError usage for a URL, which would be a relative path */
export function readPath(text: string, source: string, site: Pick<ValueSite, 'absolute'>): string {
  if (isUrl(text)) throw usage(`${source}: "${text}" is a URL, and a path is needed`);
  return site.absolute(text);
}

function readInt(flag: Flag, text: string, source: string): number {
  const value = Number(text);
  const least = flag.min ?? Number.MIN_SAFE_INTEGER;
  const most = flag.max ?? Number.MAX_SAFE_INTEGER;
  if (/^-?\d+$/.test(text) && value >= least && value <= most) return value;
  const from = flag.min === undefined ? '' : ` from ${flag.min}`;
  const to = flag.max === undefined ? '' : ` to ${flag.max}`;
  throw usage(`${source}: "${text}" is not a whole number${from}${to}`);
}
