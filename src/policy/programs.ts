import { launcherOf } from '../shell/launchers.ts';
import { builtins } from '../shell/programs.ts';
import { tableOf } from './option-tables.ts';

export { isInterpreter } from '../shell/programs.ts';

/** Programs that the policy knows by name (02 §9.5, §9.7). Names are basenames without extension. */

/** A launcher in every shape; `docker` and its like are launchers with some subcommands only. */
export const isLauncher = (name: string): boolean => launcherOf(name)?.subcommands.length === 0;
/** No entry can grant these. */
export const isNeverGranted = (name: string): boolean =>
  builtins.has(name) || tableOf(name, undefined)?.grant === 'never';
