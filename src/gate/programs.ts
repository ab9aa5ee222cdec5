import { accessSync, type BigIntStats, constants, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { ProgramFact } from '../schema/policy.ts';
import { identityFact, othersMayWrite } from './binaries.ts';
import type { Machine } from './machine.ts';
import { realPath } from './real-path.ts';

type Hit = {
  /** Absolute, as it was looked for. */
  readonly path: string;
  readonly real: string;
  readonly found: BigIntStats;
};

/**
 * Finds the programs that the words of a command stand for, as the executor starts them (02 §9.5, 05 §3.3).
 * @param directories elements of PATH
 * @param root real path of the workspace
 */
export function createPrograms(directories: readonly string[], root: string, { platform }: Pick<Machine, 'platform'>) {
  const byPath = (word: string, cwd: string): ProgramFact | null => {
    const hit = executable(isAbsolute(word) ? word : join(cwd, word), platform);
    return hit === null ? null : fact(word, hit, isAbsolute(word) ? ungrantable(hit, root) : 'relative');
  };
  const byName = (name: string, cwd: string): ProgramFact | null => {
    let passedRelative = false;
    for (const directory of directories) {
      const hit = executable(join(isAbsolute(directory) ? '' : cwd, directory, name), platform);
      if (hit === null) continue;
      if (isAbsolute(directory)) return fact(name, hit, passedRelative ? 'relative' : ungrantable(hit, root));
      // Never executed from, but a shell would be: what is found behind it may not be what was meant.
      passedRelative = true;
    }
    return null;
  };
  const isName = (word: string): boolean => word !== '' && !word.includes('\0') && !word.includes('/');

  return {
    /** A word with a slash is looked for below the directory, a bare name in PATH. Null: no executable file. */
    find(word: string, cwd: string): ProgramFact | null {
      if (word === '' || word.includes('\0')) return null;
      const isPath = word.includes('/') || (platform === 'win32' && word.includes('\\'));
      return isPath ? byPath(word, cwd) : byName(word, cwd);
    },

    /** Whether an empty or relative element of PATH holds such a program, which is never executed. */
    foundRelative: (word: string, cwd: string): boolean =>
      isName(word) &&
      directories.some(
        (directory) => !isAbsolute(directory) && executable(join(cwd, directory, word), platform) !== null,
      ),
  };
}

const fact = (word: string, { path, real, found }: Hit, reason: string | null): ProgramFact => ({
  word,
  real,
  ...(path === real ? {} : { link: path }),
  ...identityFact(found),
  ungrantable: reason,
});

const extensions = ['', '.exe', '.cmd', '.bat'];

/** The regular executable file that a path leads to. */
function executable(path: string, platform: string): Hit | null {
  for (const extension of platform === 'win32' ? extensions : ['']) {
    try {
      // Most directories of PATH have none, which is no exception.
      if (statSync(path + extension, { throwIfNoEntry: false })?.isFile() !== true) continue;
      const real = realPath(path + extension);
      const found = statSync(real, { bigint: true });
      if (!found.isFile()) continue;
      accessSync(real, constants.X_OK);
      return { path: path + extension, real, found };
    } catch {
      // Not there, or not ours to start: the next one.
    }
  }
  return null;
}

/** Why no allowlist may grant this file (02 §9.5), or null. The place of a link to it counts as its own does. */
function ungrantable({ path, real, found }: Hit, root: string): string | null {
  const prefix = root.endsWith('/') ? root : `${root}/`;
  const directories = [...new Set([dirname(real), realPath(dirname(path))])];
  if (directories.some((directory) => `${directory}/`.startsWith(prefix))) return 'program_in_workspace';
  try {
    const modes = directories.map((directory) => statSync(directory, { bigint: true }).mode);
    return [found.mode, ...modes].every((mode) => !othersMayWrite(mode)) ? null : 'unsafe_permissions';
  } catch {
    return 'unsafe_permissions';
  }
}
