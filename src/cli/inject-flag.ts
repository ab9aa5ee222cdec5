import { RuntimeError } from '../schema/errors.ts';
import { pairs } from './pairs.ts';

/** `--inject k=v`, repeated, split at the first `=`; a single empty one clears the map. @throws RuntimeError usage */
export function injectFlag(given: readonly string[]): Record<string, string> {
  if (given.length === 1 && given[0] === '') return {};
  return pairs(
    'inject',
    given.map((text): [string, string] => {
      const at = text.indexOf('=');
      // What stands there may be a secret: it is not repeated.
      if (at < 1) throw new RuntimeError('usage', '--inject takes key=value');
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}
