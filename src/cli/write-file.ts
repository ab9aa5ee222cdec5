import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import { quote } from '../text/quote.ts';
import { systemReason } from '../text/system-reason.ts';
import { codeOf } from '../text/thrown.ts';
import type { Flags } from './parse.ts';

/** The file that `--out` names; null where it is not given, or `-`, which is stdout to everyone who types it. */
export function outFile(flags: Flags): string | null {
  const out = flags.text('out');
  return out === '-' ? null : out;
}

/**
 * Makes a file of the operator's own, mode 0600: under another name first and moved into place whole, so that nobody ever
 * reads a part of it and a failure leaves what was there.
 * @param taken thrown when the name is taken and `force` is false; it says what the command offers then
 * @throws RuntimeError in_use or `taken`, usage where it cannot be written, storage where there is no room for it
 */
export async function writeWhole(
  path: string,
  force: boolean,
  pieces: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  taken: RuntimeError = new RuntimeError('in_use', `${path} exists; --force overwrites it`),
): Promise<void> {
  const there = kindOf(path);
  if (there === 'other') throw cannot(path, 'it is no regular file');
  if (there === 'file' && !force) throw taken;
  const temporary = join(dirname(path), `.${basename(path).slice(0, 60)}.reins-tmp-${randomBytes(6).toString('hex')}`);
  let descriptor: number;
  try {
    descriptor = openSync(temporary, 'wx', 0o600);
  } catch (error) {
    throw failed(path, error);
  }
  try {
    try {
      removeLeftOver(dirname(path), fstatSync(descriptor));
      for await (const piece of pieces) attempt(path, () => writeFileSync(descriptor, piece));
      attempt(path, () => fsyncSync(descriptor));
    } finally {
      closeSync(descriptor);
    }
    if (force) attempt(path, () => renameSync(temporary, path));
    else placeNew(temporary, path, taken);
  } finally {
    // Gone already after a rename.
    rmSync(temporary, { force: true });
  }
}

const leftOver = /^\..*\.reins-tmp-[0-9a-f]{12}$/;
/** Whoever still writes to a file has changed it since. */
const leftOverMs = 60 * 60 * 1000;

/**
 * Removes what a writer that was killed has left in a directory. Never throws.
 * @param fresh of a file that was made there just now: whose it is, and what time it is there
 */
function removeLeftOver(directory: string, fresh: Stats): void {
  try {
    for (const name of readdirSync(directory).filter((name) => leftOver.test(name))) {
      const stats = lstatSync(join(directory, name));
      const isOurs = stats.isFile() && stats.uid === fresh.uid && (stats.mode & 0o777) === 0o600;
      if (isOurs && fresh.mtimeMs - stats.mtimeMs > leftOverMs) rmSync(join(directory, name), { force: true });
    }
  } catch {
    // It may be written to and not read; or another process has removed the file first.
  }
}

/** A link is made only where no name is, so of two writers one is told. Some file systems have none. */
function placeNew(temporary: string, path: string, taken: RuntimeError): void {
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || kindOf(path) !== 'none') throw taken;
    attempt(path, () => renameSync(temporary, path));
  }
}

function kindOf(path: string): 'none' | 'file' | 'other' {
  const stats = attempt(path, () => lstatSync(path, { throwIfNoEntry: false }));
  if (stats === undefined) return 'none';
  return stats.isFile() ? 'file' : 'other';
}

function attempt<T>(path: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    throw failed(path, error);
  }
}

/** No room is no fault of the name that was given. */
const withoutRoom: ReadonlySet<string | null> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO']);

function failed(path: string, error: unknown): RuntimeError {
  if (!withoutRoom.has(codeOf(error))) return cannot(path, systemReason(error));
  return new RuntimeError('storage', `The file ${path} cannot be written: ${systemReason(error)}.`, {
    cause: error,
    hints: [`df -h ${quote(dirname(path))}`],
  });
}

const cannot = (path: string, why: string): RuntimeError =>
  new RuntimeError('usage', `--out: ${path} cannot be written: ${why}`);
