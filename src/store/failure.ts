import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RuntimeError } from '../schema/errors.ts';
import { codeOf } from '../text/thrown.ts';
import { newestBackup } from './backup.ts';
import { quote } from '../text/quote.ts';
import { systemReason } from '../text/system-reason.ts';

/**
 * What a failed statement means to the rest of the program (11 §2.8, §2.12). Constraint violations and mistakes in SQL
 * come back unchanged: they are the caller's or a bug. Never throws.
 */
export function storeError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (error instanceof RuntimeError || code === null || !code.startsWith('SQLITE_')) return error;
  const cause = { cause: error };
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return busy(path, error);
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return damaged(path, systemReason(error), error);
  if (code === 'SQLITE_FULL' || code.startsWith('SQLITE_IOERR')) {
    const free = freeBytes(path);
    // Where not one page is free, a write of any kind fails, and the kind says nothing (11 §2.12).
    const full = code === 'SQLITE_FULL' || (free !== null && free < 4096);
    const what = full ? 'the disk or the file is full' : systemReason(error);
    return new RuntimeError(
      'storage',
      `The database ${path} cannot be written: ${what}${free === null ? '' : ` (${free} bytes free)`}.`,
      { ...cause, data: { path, free_bytes: free }, hints: [`df -h ${quote(dirname(path))}`] },
    );
  }
  if (code.startsWith('SQLITE_READONLY') || code.startsWith('SQLITE_CANTOPEN') || code === 'SQLITE_PERM') {
    return unopened(path, `cannot be opened for writing: ${systemReason(error)}`, error);
  }
  return error;
}

/** Another connection holds the lock. */
export const isBusy = (error: unknown): boolean => codeOf(error)?.startsWith('SQLITE_BUSY') === true;

/** What `storeError` made of a file that takes no writes: it is read-only, or its disk is full or fails. */
export const isUnwritable = (error: unknown): boolean =>
  error instanceof RuntimeError && /^SQLITE_(READONLY|CANTOPEN|PERM|FULL|IOERR)/.test(codeOf(error.cause) ?? '');

/** Does a write that needs a name of its own. @throws what `taken` makes of the failure when another has that name */
export function orTaken<T>(taken: (cause: unknown) => RuntimeError, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw codeOf(error) === 'SQLITE_CONSTRAINT_UNIQUE' ? taken(error) : error;
  }
}

/** A file that the system does not give to this process. */
export const unopened = (path: string, what: string, cause: unknown): RuntimeError =>
  new RuntimeError('config_invalid', `The database ${path} ${what}.`, {
    cause,
    data: { path },
    hints: [`ls -ld ${quote(dirname(path))} ${quote(path)}`, 'reins doctor'],
  });

/** Scripts of packages were not run when this was installed, or another Node has come since. @param installation `dist/` */
export function unbuilt(installation: URL | undefined, cause: unknown): RuntimeError {
  const place = installation === undefined ? '' : `cd ${quote(fileURLToPath(new URL('..', installation)))} && `;
  return new RuntimeError(
    'config_invalid',
    `The package better-sqlite3 is not built for Node ${process.versions.node}.`,
    {
      cause,
      hints: [`${place}npm rebuild better-sqlite3 bcrypt`],
    },
  );
}

export const busy = (path: string, cause?: unknown): RuntimeError =>
  new RuntimeError('database_busy', `The database ${path} is locked by another process; try again when it has ended.`, {
    cause,
    data: { path },
  });

/** One line that names file, newest backup and `reins doctor` (11 §2.12). The file stays as it is. */
export function damaged(path: string, what: string, cause?: unknown): RuntimeError {
  const backup = newestBackup(path);
  const saved = backup === null ? 'there is no backup' : `the newest backup is ${backup}`;
  return new RuntimeError('database_damaged', `The database ${path} is not used: ${what}; ${saved}.`, {
    cause,
    data: { path, backup },
    hints: ['reins doctor'],
  });
}

/** Free bytes of the file system that holds the path; null where it cannot be told. */
function freeBytes(path: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize;
  } catch {
    return null;
  }
}
