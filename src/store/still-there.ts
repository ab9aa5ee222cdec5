import { statSync } from 'node:fs';
import { RuntimeError } from '../schema/errors.ts';
import { codeOf } from '../text/thrown.ts';

/** Reads alone need not look more often than this, in milliseconds. */
const lookEveryMs = 1000;

export type StillThere = {
  /** For a write, which nobody could find again. @throws RuntimeError database_damaged */
  beforeWrite(): void;
  /** The same, at most once a second: what is read from a file that is gone may no longer be true. */
  beforeRead(): void;
};

/**
 * Holds the path against the file that is open there. A file that was removed (`git clean`), or that another one has
 * taken the place of, takes every write of who has it open, and keeps none (11 §2.12).
 */
export function stillThere(path: string, elapsed: () => number = monotonicMs): StillThere {
  const opened = identityOf(path);
  let looked = elapsed();
  const look = (): void => {
    const found = identityOf(path);
    if (found === opened || found === 'unknown') return;
    const what = found === null ? 'was removed or moved' : 'was replaced by another one';
    throw new RuntimeError(
      'database_damaged',
      `The database ${path} ${what} while this process had it open, so nothing more is written: start it again.`,
      { data: { path } },
    );
  };
  return {
    beforeWrite: look,
    beforeRead() {
      const now = elapsed();
      if (now - looked < lookEveryMs) return;
      looked = now;
      look();
    },
  };
}

/** Not by `performance`, whose module every command would load for this alone (1 ms). */
const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Null when there is none. */
function identityOf(path: string): string | null {
  try {
    const stats = statSync(path, { bigint: true });
    return `${stats.dev}:${stats.ino}`;
  } catch (error) {
    // A directory that may not be searched any more, or a file system that does not answer, says nothing of the file.
    return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR' ? null : 'unknown';
  }
}
