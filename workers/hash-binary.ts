import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { HashResult } from '../src/schema/protocol.ts';
import { codeOf, messageOf } from '../src/text/thrown.ts';

export type HashJob = { readonly path: string };

const blockBytes = 1024 * 1024;

/** Hashes one regular file and says which file that was. Never rejects: what cannot be hashed is `unreadable`. */
export default async function hashBinary({ path }: HashJob): Promise<HashResult> {
  let file: number;
  try {
    // Non-blocking, so that a FIFO does not hold the thread; it is refused below.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return unreadable(path, error);
  }
  try {
    return hashOpen(path, file);
  } catch (error) {
    return unreadable(path, error);
  } finally {
    closeSync(file);
  }
}

function hashOpen(path: string, file: number): HashResult {
  const before = fstatSync(file, { bigint: true });
  if (!before.isFile()) return { kind: 'unreadable', message: `${path} is not a regular file` };
  const hash = createHash('sha256');
  const block = Buffer.allocUnsafe(blockBytes);
  for (let count = readSync(file, block); count > 0; count = readSync(file, block))
    hash.update(block.subarray(0, count));
  const after = fstatSync(file, { bigint: true });
  // A digest of bytes that changed meanwhile belongs to no state of the file.
  if (after.ctimeNs !== before.ctimeNs || after.mtimeNs !== before.mtimeNs || after.size !== before.size) {
    return { kind: 'unreadable', message: `${path} changed while it was read` };
  }
  return {
    kind: 'hash',
    sha256: hash.digest('hex'),
    dev: String(before.dev),
    ino: String(before.ino),
    size: String(before.size),
    mtime_ns: String(before.mtimeNs),
    ctime_ns: String(before.ctimeNs),
  };
}

function unreadable(path: string, error: unknown): HashResult {
  return { kind: 'unreadable', message: `${path} could not be read: ${codeOf(error) ?? messageOf(error)}` };
}
