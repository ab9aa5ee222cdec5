import { type Command, type Flag, takesValue } from './command.ts';
import { commands, findCommand, flagsOf } from './table.ts';
import { flagText } from './values.ts';

/** How far a command line that may not be whole or right was understood. */
export type Walk = {
  readonly path: readonly Command[];
  /** What stands behind the command. */
  readonly positionals: readonly string[];
  /** A flag that waits for its value. */
  readonly open: Flag | null;
};

/** A tolerant reading of words: what is not known is passed over. Never throws. */
export function walk(words: readonly string[]): Walk {
  const path: Command[] = [];
  const positionals: string[] = [];
  let open: Flag | null = null;
  for (const word of words) {
    if (open !== null) open = null;
    else if (word.startsWith('--')) {
      const flag = flagsOf(path.at(-1) ?? null).find((entry) => flagText(entry) === word);
      open = flag !== undefined && takesValue(flag) ? flag : null;
    } else if (!word.startsWith('-')) {
      const found: Command | undefined = findCommand(word, path.length === 0 ? commands : (path[0]?.commands ?? []));
      if (found !== undefined && path.length < 2 && positionals.length === 0) path.push(found);
      else positionals.push(word);
    }
  }
  return { path, positionals, open };
}
