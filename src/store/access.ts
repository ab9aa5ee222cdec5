import { readFileSync, rmSync } from 'node:fs';
import { codeOf } from '../text/thrown.ts';
import { unopened } from './failure.ts';
import type { Handle } from './handle.ts';
import { isEmpty, sizeOf } from './inspect.ts';
import { systemReason } from '../text/system-reason.ts';

/**
 * Opens a path, or the bytes of a database to be read from memory. `alone` reads a file that nobody else may use
 * meanwhile, for which SQLite keeps in memory what would stand in the companion files.
 */
export type Connect = (source: string | Buffer, access: 'read' | 'write' | 'alone') => Handle;

/**
 * Reading needs the two companion files, too. Where they cannot be made (read-only directory), the bytes of the database
 * are read into memory; where there is no room for them, the file is read alone.
 */
export function connectForReading(path: string, connect: Connect): Handle {
  try {
    return connect(path, 'read');
  } catch (error) {
    if (isWithoutRoom(error)) return connect(path, 'alone');
    if (!isWithoutCompanions(error) || sizeOf(`${path}-wal`) > 0) throw error;
    const bytes = bytesOf(path);
    // File format 2 means WAL, which a database in memory cannot have; 1 is the same file without it.
    bytes[18] = 1;
    bytes[19] = 1;
    return connect(bytes, 'write');
  }
}

/** A directory that this user may not write answers with another code than a file system that nobody may. */
const isWithoutCompanions = (error: unknown): boolean => {
  const code = codeOf(error) ?? '';
  return code === 'SQLITE_CANTOPEN' || code.startsWith('SQLITE_READONLY');
};

/** @throws RuntimeError config_invalid */
function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw unopened(path, `cannot be read: ${systemReason(error)}`, error);
  }
}

const isWithoutRoom = (error: unknown): boolean => {
  const code = codeOf(error) ?? '';
  return code === 'SQLITE_FULL' || code.startsWith('SQLITE_IOERR_SHM') || code === 'SQLITE_IOERR_WRITE';
};

/** Takes away a file that this process made and could not fill (full disk), unless another process has taken it up. */
export function removeUnfilled(path: string, connect: Connect): void {
  try {
    const handle = connect(path, 'alone');
    try {
      lock(handle);
      if (isEmpty(handle)) for (const end of ['', '-wal', '-shm', '-mark']) rmSync(`${path}${end}`, { force: true });
    } finally {
      handle.close();
    }
  } catch {
    // In use, or gone: it is as good as any file without content, and what went wrong before is what is reported.
  }
}

/** @throws when another process uses the file */
function lock(handle: Handle): void {
  try {
    handle.exec('PRAGMA query_only = OFF; BEGIN EXCLUSIVE');
  } catch (error) {
    // The lock was had; the first page of an empty file, which is written with it, found no room.
    if (!isWithoutRoom(error)) throw error;
  }
}
