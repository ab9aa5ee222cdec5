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
 * Resolves a program word once, as the executor starts it (02 §9.5, 05 §3.3): a word with a slash against the call's
 * directory, a bare name in PATH. Null when there is no executable file.
 * @param directories elements of PATH; empty and relative ones are never executed from, and a hit there refuses a grant
 * @param root real path of the workspace
 */
export function findProgram(
  word: string,
  cwd: string,
  directories: readonly string[],
  root: string,
  { platform }: Pick<Machine, 'platform'>,
): ProgramFact | null {
  if (word === '' || word.includes('\0')) return null;
  if (/\//.test(word) || (platform === 'win32' && word.includes('\\'))) {
    const hit = executable(isAbsolute(word) ? word : join(cwd, word), platform);
    return hit === null ? null : fact(word, hit, isAbsolute(word) ? ungrantable(hit, root) : 'relative');
  }
  let relative = false;
  for (const directory of directories) {
    if (!isAbsolute(directory)) {
      relative ||= executable(join(cwd, directory, word), platform) !== null;
      continue;
    }
    const hit = executable(join(directory, word), platform);
    if (hit !== null) return fact(word, hit, relative ? 'relative' : ungrantable(hit, root));
  }
  return null;
}

/** Whether an empty or relative element of PATH holds such a program, which is never executed. */
export const inRelativeElement = (
  word: string,
  cwd: string,
  directories: readonly string[],
  { platform }: Pick<Machine, 'platform'>,
): boolean =>
  !word.includes('/') &&
  !word.includes('\0') &&
  word !== '' &&
  directories.some((directory) => !isAbsolute(directory) && executable(join(cwd, directory, word), platform) !== null);

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
