import { closeSync, constants, lstatSync, openSync, readSync, type Stats } from 'node:fs';
import { RuntimeError } from '../schema/errors.ts';
import { quote } from '../text/quote.ts';
import { codeOf } from '../text/thrown.ts';

/** What SQLite puts behind the name of a database, and the mark of its log (`log-mark.ts`). */
export const companionEndings = ['-wal', '-shm', '-journal', '-mark'] as const;
const played: readonly (typeof companionEndings)[number][] = ['-wal', '-journal'];

/**
 * Judges what lies beside a database before it is opened, since SQLite takes whatever has the name: it plays a log or a
 * journal into the database unasked, and a journal may name any file of the user's, which is removed then. Nothing binds
 * such a file to its database, so it is held against what SQLite makes: the user's own, with the mode of the database,
 * and a journal only while a new file gets its first page.
 * @throws RuntimeError config_invalid, which names the file and what takes it away
 */
export function checkCompanions(path: string, database: Stats): void {
  for (const ending of played) {
    const companion = `${path}${ending}`;
    const stats = lstatSync(companion, { throwIfNoEntry: false });
    const fault = stats === undefined ? null : faultOf(companion, stats, database);
    if (fault === null) continue;
    throw new RuntimeError('config_invalid', `The database ${path} is not used: ${companion} ${fault}.`, {
      data: { path },
      hints: [`mv ${quote(companion)} ${quote(`${companion}.bak`)}`, `ls -l ${quote(path)} ${quote(companion)}`],
    });
  }
}

function faultOf(path: string, stats: Stats, database: Stats): string | null {
  if (stats.isSymbolicLink()) return 'is a symbolic link';
  if (!stats.isFile()) return 'is not a regular file';
  if (stats.uid !== database.uid) return 'belongs to another user';
  if (stats.size === 0) return null;
  // One of a database that others can read is narrowed with it.
  const others = 0o077;
  if ((database.mode & others) === 0 && (stats.mode & others) !== 0) {
    return 'was not made with it: other users can read or write it';
  }
  // SQLite removes it, with all that is in no other file: a log is begun behind the first page of a database.
  if (path.endsWith('-wal') && database.size === 0) return 'holds changes of a database that is empty now';
  if (path.endsWith('-journal') && (database.size > firstPage || namesAnotherFile(path, stats.size))) {
    return 'was not made by Reins, and would be played into it';
  }
  return null;
}

/** A database has one page, of 4 KiB here, when it is switched from a journal to a log. */
const firstPage = 4096;
const magic = 'd9d505f920a163d7';

/** A journal ends with these eight bytes where it names another one, as for a transaction over several databases. */
function namesAnotherFile(path: string, size: number): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    // Another process, which was making the database, has finished with it.
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
  try {
    const end = new Uint8Array(8);
    readSync(descriptor, end, 0, end.length, Math.max(0, size - end.length));
    return Buffer.from(end).toString('hex') === magic;
  } finally {
    closeSync(descriptor);
  }
}
