import type { Command } from './command.ts';
import type { Failure } from './report-error.ts';
import { globalFlags } from './table/globals.ts';

/**
 * The failure with a command that lists what is accepted, where a mistake on the command line brought no hint of its own
 * (06 §2.3). Every message about a value begins with its source: a flag or a variable.
 */
export function withUsageHint(failure: Failure, path: readonly Command[]): Failure {
  if (failure.code !== 'usage' || failure.hints.length > 0) return failure;
  const [, flag, variable] = /^(?:--(?:no-)?([a-z][a-z-]*)|([A-Z]+_[A-Z_]+)\b)/.exec(failure.message) ?? [];
  const isOwn = path.at(-1)?.flags?.some(({ name }) => name === flag) === true;
  const isGlobal = !isOwn && globalFlags.some(({ name }) => name === flag);
  const help = ['reins', ...path.map(({ name }) => name), '--help'].join(' ');
  return { ...failure, hints: [variable === undefined ? (isGlobal ? 'reins help flags' : help) : 'reins help env'] };
}
