import { usage } from '../schema/errors.ts';

/**
 * A map out of a repeated flag. The last of two would count in silence, and the first was meant for something as well.
 * @param same what makes two names one, as of headers their letters in any case
 * @throws RuntimeError usage
 */
export function pairs<T>(
  flag: string,
  given: readonly (readonly [name: string, value: T])[],
  same = (name: string): string => name,
): Record<string, T> {
  const seen = new Set<string>();
  for (const [name] of given) {
    if (seen.has(same(name))) throw usage(`--${flag}: "${name}" is given twice`);
    seen.add(same(name));
  }
  return Object.fromEntries(given);
}
