import type { Origin } from '../schema/command.ts';
import { anything } from './origins.ts';
import type { Removal } from './script.ts';

/** Longest value of which every possible rest is kept. */
const maxRests = 64;

/**
 * What is left of a value; null where that is not told: by a pattern that is not known, or with more in it than characters,
 * `?`, and one star at an end. A look from one end to the other, native: a line may hold thousands.
 */
export function remaining(value: string, { operator, pattern }: Removal): string | null {
  if (pattern === null || /[[\\]|.\*./.test(pattern)) return null;
  const begin = operator.startsWith('#');
  const longest = operator.length > 1;
  const fixed = pattern.replaceAll('*', '');
  const [first, last] = [pattern.startsWith('*'), pattern.endsWith('*')];
  if (!first && !last) return withoutEdge(value, fixed, begin);
  if (fixed.includes('?') || (first && last && fixed !== '')) return null;
  if (fixed === '') return longest ? '' : value;
  // The star stands on the far side: `#*a` reaches up to an `a`, `#a*` takes it alone, or all behind it.
  if (begin === last) {
    const edge = withoutEdge(value, fixed, begin);
    return edge !== value && longest ? '' : edge;
  }
  const at = begin === longest ? value.lastIndexOf(fixed) : value.indexOf(fixed);
  if (at === -1) return value;
  return begin ? value.slice(at + fixed.length) : value.slice(0, at);
}

function withoutEdge(value: string, pattern: string, begin: boolean): string {
  const at = begin ? 0 : value.length - pattern.length;
  const edge = value.slice(Math.max(at, 0), at + pattern.length);
  const matches =
    edge.length === pattern.length &&
    (edge === pattern ||
      Array.from(edge, (char, index) => pattern.charAt(index) === '?' || pattern.charAt(index) === char).every(
        Boolean,
      ));
  if (!matches) return value;
  return begin ? value.slice(pattern.length) : value.slice(0, at);
}

/** All that may be left of a value, by a pattern that is not known. */
export function rests(value: string, { operator }: Removal): readonly Origin[] {
  if (value.length > maxRests) return [anything];
  return Array.from({ length: value.length + 1 }, (_, at) => ({
    kind: 'text' as const,
    text: operator.startsWith('#') ? value.slice(at) : value.slice(0, at),
  }));
}
