import { RuntimeError } from '../schema/errors.ts';
import { noSuch } from '../text/ids.ts';

/**
 * The run that a part of an id names.
 * @param found ids that it may stand for @throws RuntimeError not_found, ambiguous_id
 */
export function runNamed(part: string, found: readonly string[]): string {
  const [id] = found;
  if (id === undefined) throw new RuntimeError('not_found', noSuch('run', part), { hints: ['reins state list'] });
  if (found.includes(part)) return part;
  if (found.length > 1) throw new RuntimeError('ambiguous_id', `"${part}" names several runs: ${found.join(', ')}`);
  return id;
}
