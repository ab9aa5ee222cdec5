import { resolve } from 'node:path';
import type { ErrorCode } from '../schema/errors.ts';
import type { Command } from './command.ts';
import type { Process } from './process.ts';
import type { Failure } from './report-error.ts';
import { globalFlags } from './table/globals.ts';

/** What is said of a name that leads nowhere; of a value that cannot be read the variable is named in the message. */
const nowhere: ReadonlySet<ErrorCode> = new Set([
  'not_found',
  'policy_not_found',
  'model_unavailable',
  'setup_incomplete',
  'setup_unhealthy',
  'config_invalid',
]);

/**
 * The failure with the way to get rid of the variable that it comes from (06 §1.4): who has set one long ago looks in vain
 * for what was typed.
 */
export function withVariableHint(
  failure: Failure,
  path: readonly Command[],
  { argv, cwd, environment }: Pick<Process, 'argv' | 'cwd' | 'environment'>,
): Failure {
  if (!nowhere.has(failure.code)) return failure;
  const isGiven = (name: string) => argv.some((word) => word === `--${name}` || word.startsWith(`--${name}=`));
  const found = [...globalFlags, ...(path.at(-1)?.flags ?? [])].find(({ name, env }) => {
    const value = env === undefined ? '' : (environment[env] ?? '');
    if (value === '' || isGiven(name)) return false;
    const { message } = failure;
    return message.includes(`"${value}"`) || message.includes(` ${resolve(cwd, value)} `);
  });
  return found === undefined ? failure : { ...failure, hints: [`unset ${found.env}`, ...failure.hints].slice(0, 3) };
}
