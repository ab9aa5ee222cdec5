import { close, closeSync, constants, fsync, lstatSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import { lookAt, systemReason, writeFault } from '../text/system-reason.ts';
import { codeOf } from '../text/thrown.ts';
import { macOf } from './mac.ts';
import { machineKey } from './private-file.ts';

const fileOf = (path: string): string => `${path}-mark`;
/** Hexadecimal digits of a mark, which is the whole file. */
const markBytes = 64;

/**
 * Whether the log beside a database holds nothing, or was begun by this installation. SQLite plays any log that has the
 * name, and one that a checkout puts there may replace every page of a database that is ours.
 */
export function isKnownLog(path: string, reinsHome: string): boolean {
  for (let log = logOf(path); ; ) {
    if (log === null || log.size === 0n) return true;
    const key = machineKey(reinsHome, false);
    if (key !== null && readMark(path) === markFor(key, log)) return true;
    // Between the two looks, who had it open may have closed it, and the next begun another.
    const now = logOf(path);
    if (now !== null && now.id === log.id) return false;
    log = now;
  }
}

/**
 * Notes that the log which a connection has just opened is ours; before anything is written into it, so that a kill leaves
 * no log without its mark. The log stays the same file for as long as a connection is open.
 * @throws RuntimeError config_invalid or storage when the mark cannot be written
 */
export function markLog(path: string, reinsHome: string): void {
  const log = logOf(path);
  const key = machineKey(reinsHome, false);
  if (log === null || key === null) return;
  const mark = markFor(key, log);
  if (readMark(path) !== mark) writeMark(fileOf(path), mark);
}

type Log = { readonly size: bigint; readonly id: string };

/** A number of a file is given away again, so the time of its birth belongs to it; that of a device changes at a restart. */
function logOf(path: string): Log | null {
  const stats = lstatSync(`${path}-wal`, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : { size: stats.size, id: `${stats.ino}:${stats.birthtimeNs}` };
}

const markFor = (key: Uint8Array, { id }: Log): string => macOf(key, `log:${id}`);

/** Empty where there is none that can be read. */
function readMark(path: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(fileOf(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return '';
  }
  try {
    const bytes = Buffer.alloc(markBytes);
    return bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, markBytes, 0));
  } catch {
    return '';
  } finally {
    closeSync(descriptor);
  }
}

/** In place: it is only read beside a log that holds something, and this one is still empty or marked alike. */
function writeMark(path: string, mark: string): void {
  const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
  try {
    const descriptor = openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    try {
      writeSync(descriptor, mark, 0, 'latin1');
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    // Not waited for: a loss of power before it ends leaves a log that a person is asked about, and nothing worse.
    fsync(descriptor, () => close(descriptor));
  } catch (error) {
    const isLink = codeOf(error) === 'ELOOP';
    const code = isLink ? 'config_invalid' : writeFault(error);
    const why = isLink ? 'it is a symbolic link' : systemReason(error);
    throw new RuntimeError(code, `The file ${path} cannot be written: ${why}.`, {
      cause: error,
      hints: [lookAt(error, dirname(path), path)],
    });
  }
}
