import { readFileSync, statfsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { type AppOptions, userDirectories } from '../app-options.ts';

/** Facts of this machine and user that rooms get as values. */
export type Machine = {
  readonly home: string;
  /** User-level directory: `REINS_HOME`, else `~/.reins`. */
  readonly reinsHome: string;
  /** null where the platform has no user ids. */
  readonly uid: number | null;
  readonly userName: string | null;
};

export function readMachine(options: Pick<AppOptions, 'environment' | 'cwd'>): Machine {
  return {
    ...userDirectories(options),
    uid: process.getuid?.() ?? null,
    userName: nameOfUser(),
  };
}

function nameOfUser(): string | null {
  try {
    return userInfo().username;
  } catch {
    // A user id without an entry has no name.
    return null;
  }
}

/** Free bytes where the path lies; unlimited where the system does not say. */
export function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Start time of a process in clock ticks; null when it is gone or the platform does not tell. */
export function pidStart(pid: number): string | null {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
