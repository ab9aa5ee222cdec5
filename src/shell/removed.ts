import type { Origin } from '../schema/command.ts';
import { wildcard } from '../text/wildcard.ts';
import { anything } from './origins.ts';
import type { Removal } from './script.ts';

/** Longest value of which every possible rest is kept. */
const maxRests = 64;
const maxValue = 512;

/** What is left of a value; null where the pattern is not known, or it is too much to look at. */
export function remaining(value: string, { operator, pattern }: Removal): string | null {
  const matches = pattern === null || value.length > maxValue ? null : wildcard(pattern);
  if (matches === null) return null;
  const begin = operator.startsWith('#');
  // From the shortest piece to the longest, or the other way round.
  for (let step = 0; step <= value.length; step += 1) {
    const length = operator.length === 1 ? step : value.length - step;
    const at = begin ? length : value.length - length;
    const [first, last] = [value.slice(0, at), value.slice(at)];
    if (matches(begin ? first : last)) return begin ? last : first;
  }
  return value;
}

/** All that may be left of a value, by a pattern that is not known. */
export function rests(value: string, { operator }: Removal): readonly Origin[] {
  if (value.length > maxRests) return [anything];
  return Array.from({ length: value.length + 1 }, (_, at) => ({
    kind: 'text' as const,
    text: operator.startsWith('#') ? value.slice(at) : value.slice(0, at),
  }));
}
