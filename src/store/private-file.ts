import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import { quote } from '../text/quote.ts';
import { lookAt, systemReason, writeFault } from '../text/system-reason.ts';
import { codeOf } from '../text/thrown.ts';
import { checkCompanions, companionEndings } from './companions.ts';
import { ensureUserDirectory } from './user-directory.ts';

/** Creates an empty file with mode 0600 whatever the umask (11 §1.2.1). @returns false when something is there. */
export function createPrivateFile(path: string): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW | constants.O_RDWR, 0o600);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    fchmodSync(descriptor, 0o600);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  syncDirectory(dirname(path));
  return true;
}

/** Makes a rename or a new name durable. Some file systems cannot; that is not an error. */
export function syncDirectory(path: string): void {
  try {
    const descriptor = openSync(path, constants.O_RDONLY);
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Directories cannot be synchronised here (some network and foreign file systems).
  }
}

/**
 * The 32 bytes that prove where a database was made (11 §1.1). Made once: the first process wins, all read the same.
 * @param create false returns null when there is none
 * @throws RuntimeError config_invalid when it is a link, not the user's, or readable by others (11 §1.2.4)
 */
export function machineKey(reinsHome: string, create: boolean): Uint8Array | null {
  const path = join(reinsHome, 'machine.key');
  const bytes = create ? ensurePrivateFile(path, () => randomBytes(32)) : readPrivateFile(path);
  if (bytes !== null && bytes.length !== 32) {
    // Another key is made then, and what was made with this one is shown before it is used.
    throw refused(path, 'does not hold 32 bytes', `mv ${quote(path)} ${quote(`${path}.bak`)}`);
  }
  return bytes;
}

/**
 * The content of a small file that only the user may read, made by whoever comes first.
 * @throws RuntimeError config_invalid as `readPrivateFile`; config_invalid or storage when it cannot be made
 */
export function ensurePrivateFile(path: string, make: () => Uint8Array): Uint8Array {
  const there = readPrivateFile(path);
  if (there !== null) return there;
  ensureUserDirectory(dirname(path));
  const temporary = `${path}.tmp-${randomBytes(6).toString('hex')}`;
  try {
    createPrivateFile(temporary);
    const descriptor = openSync(temporary, constants.O_WRONLY | constants.O_NOFOLLOW);
    try {
      writeSync(descriptor, make());
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    // A link appears with its whole content and never replaces the file of another process.
    linkSync(temporary, path);
    syncDirectory(dirname(path));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') {
      throw new RuntimeError(writeFault(error), `The file ${path} cannot be created: ${systemReason(error)}.`, {
        cause: error,
        // Only files of the user-level directory are made here.
        hints: [lookAt(error, dirname(path)), 'export REINS_HOME=<directory>'],
      });
    }
  } finally {
    rmSync(temporary, { force: true });
  }
  const made = readPrivateFile(path);
  if (made === null) throw new RuntimeError('config_invalid', `The file ${path} was removed while it was made.`);
  return made;
}

const maxPrivateBytes = 64 * 1024;

/**
 * Reads a file whose content is a secret (11 §1.2.4). Null when there is none.
 * @throws RuntimeError config_invalid when it is a link, no regular file, another user's, or readable by others
 */
export function readPrivateFile(path: string): Uint8Array | null {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    if (codeOf(error) === 'ELOOP') throw refused(path, 'is a symbolic link');
    throw new RuntimeError('config_invalid', `The file ${path} cannot be read: ${systemReason(error)}.`, {
      cause: error,
      hints: [lookAt(error, dirname(path), path)],
    });
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw refused(path, 'is not a regular file');
    if (!isOurs(stats.uid)) throw refused(path, 'belongs to another user');
    if ((stats.mode & 0o077) !== 0) {
      throw new RuntimeError('config_invalid', `The file ${path} can be read or written by other users.`, {
        hints: [`chmod 600 ${quote(path)}`],
      });
    }
    if (stats.size > maxPrivateBytes) throw refused(path, 'is too large');
    const bytes = new Uint8Array(stats.size);
    const length = readSync(descriptor, bytes);
    return bytes.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Judges an existing database file before it is opened (11 §1.2.4). By name only: closing a descriptor of it would drop
 * the locks of every connection that this process has to it.
 * @returns its size in bytes; null when there is no file
 * @throws RuntimeError config_invalid for a link, a thing that is no file, or another user's, and for such companions
 */
export function checkDatabaseFile(path: string): number | null {
  let stats: ReturnType<typeof lstatSync>;
  try {
    stats = lstatSync(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    const why = codeOf(error) === 'ENOTDIR' ? `${dirname(path)} is not a directory` : systemReason(error);
    throw new RuntimeError('config_invalid', `The database ${path} cannot be opened: ${why}.`, {
      cause: error,
      hints: [`ls -ld ${quote(dirname(path))}`],
    });
  }
  if (stats.isSymbolicLink()) throw refusedDatabase(path, 'is a symbolic link');
  if (stats.isDirectory()) throw refusedDatabase(path, 'is a directory');
  if (!stats.isFile()) throw refusedDatabase(path, 'is not a regular file');
  if (!isOurs(stats.uid)) throw refusedDatabase(path, 'belongs to another user');
  checkCompanions(path, stats);
  return stats.size;
}

/**
 * Takes a database and its companions, which SQLite makes with its mode, from everybody else (11 §1.2.4). Only for one
 * that is used: a file that is refused may be anything, and stays as it is.
 * @returns the warning to show when others could read it; null when they could not
 */
export function narrowDatabaseFile(path: string): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || (stats.mode & 0o077) === 0) return null;
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  try {
    // By name, as above. The database last: a companion that is wider than it is taken for another's.
    for (const each of [...companionEndings.map((ending) => path + ending), path]) {
      if (lstatSync(each, { throwIfNoEntry: false })?.isFile() === true) chmodSync(each, 0o600);
    }
  } catch {
    return `The database ${path} has mode ${mode}, which cannot be changed to 0600.`;
  }
  return `The database ${path} had mode ${mode}; it was set to 0600.`;
}

const isOurs = (uid: number): boolean => process.getuid === undefined || process.getuid() === uid;

const refused = (path: string, what: string, hint = `ls -ld ${quote(path)}`): RuntimeError =>
  new RuntimeError('config_invalid', `The file ${path} is not used: it ${what}.`, { hints: [hint] });

const refusedDatabase = (path: string, what: string): RuntimeError =>
  new RuntimeError('config_invalid', `The database ${path} is not used: it ${what}.`, {
    hints: ['reins --db <path of a file>', 'reins doctor'],
  });
