import { createHash, randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf } from '../../text/thrown.ts';
import { fail, ioFailure, isFailure, type ToolFailure } from '../failure.ts';
import { type Anchor, openAnchor, openRegular, readWhole } from './open.ts';
import type { FileState } from '../tool.ts';
import type { PathFacts } from './root.ts';

/** The state of a file that a change was made for; null: it does not exist. */
export type Preimage = FileState | null;

export type Committed = { readonly ok: true; readonly notes: Readonly<Record<string, unknown>> };

const flush = promisify(fsync);
const maxPreimageBytes = 100 * 1024 * 1024;

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Reads what is there now, through the directory that was checked. One that is closed to writing is a failure. */
export const readPreimage = (path: PathFacts): Promise<Preimage | ToolFailure> => readWith(path, protectedFault);

/** The same, and one that is closed to writing is read, too. */
export const readState = (path: PathFacts): Promise<Preimage | ToolFailure> => readWith(path, () => null);

async function readWith(path: PathFacts, faultOf: typeof protectedFault): Promise<Preimage | ToolFailure> {
  if (path.stat === null) return null;
  const anchor = openAnchor(path.parent.path, path.parent, path.given);
  if (isFailure(anchor)) return anchor;
  try {
    const at = join(anchor.base, path.name);
    return faultOf(at, path.given) ?? (await preimageAt(at, path.given, path.stat));
  } finally {
    anchor.close();
  }
}

/** A file that its owner has closed to writing: what takes its place would not ask it. */
export function protectedFault(at: string, given: string): ToolFailure | null {
  try {
    accessSync(at, constants.W_OK);
    return null;
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'EACCES' && code !== 'EPERM' && code !== 'EROFS') return null;
    const message = `"${given}" is write-protected (${code}), so it is not changed. Make it writable first, if that is meant.`;
    return fail('io_error', message, { code });
  }
}

async function preimageAt(at: string, given: string, identity: PathFacts['stat']): Promise<Preimage | ToolFailure> {
  const opened = openRegular(at, given, identity);
  if (isFailure(opened)) return opened;
  try {
    const { mode, uid, gid, nlink } = fstatSync(opened.fd);
    const bytes = await readWhole(opened.fd, opened.size, maxPreimageBytes);
    if (bytes === null) {
      return fail(
        'too_large',
        `"${given}" has ${opened.size} bytes; files above ${maxPreimageBytes} are not changed.`,
        {
          bytes: opened.size,
          max_bytes: maxPreimageBytes,
        },
      );
    }
    return { bytes, sha256: sha256Of(bytes), mode: mode & 0o7777, uid, gid, links: nlink };
  } catch (error) {
    return ioFailure(error, `"${given}"`);
  } finally {
    closeSync(opened.fd);
  }
}

/**
 * Puts new content in the place of the old one in a single step (05 §4.6): whoever looks, and a crash at any point,
 * finds the whole old or the whole new file. The pre-image is compared immediately before.
 * @param ready called when nothing but the step itself is left
 */
export async function commitFile(
  path: PathFacts,
  before: Preimage,
  after: Buffer,
  ready: () => void = () => {},
): Promise<Committed | ToolFailure> {
  const opened = openAnchor(path.parent.path, path.parent, path.given);
  if (isFailure(opened)) return opened;
  let anchor: Anchor = opened;
  try {
    for (const name of path.missing) {
      const next = enterNew(anchor, name, path.given);
      if (isFailure(next)) return next;
      anchor.close();
      anchor = next;
    }
    return await replace(anchor, path, before, after, ready);
  } catch (error) {
    return ioFailure(error, `"${path.given}"`);
  } finally {
    anchor.close();
  }
}

/** Makes one missing directory and goes into it; what has appeared there meanwhile must be a directory, not a link. */
function enterNew(anchor: Anchor, name: string, given: string): Anchor | ToolFailure {
  const path = join(anchor.base, name);
  try {
    mkdirSync(path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  const stat = lstatSync(path, { bigint: true });
  if (!stat.isDirectory()) return fail('path_changed', `A directory of "${given}" became something else. Call again.`);
  return openAnchor(path, stat, given);
}

/** Takes a file away that is still what it was looked at as, in the directory that was checked. */
export async function removeFile(path: PathFacts, before: NonNullable<Preimage>): Promise<Committed | ToolFailure> {
  const anchor = openAnchor(path.parent.path, path.parent, path.given);
  if (isFailure(anchor)) return anchor;
  try {
    const target = join(anchor.base, path.name);
    const changed = await preimageFault(target, path, before);
    if (changed !== null) return changed;
    rmSync(target);
    await flushDirectory(anchor.base);
    return { ok: true, notes: {} };
  } catch (error) {
    return ioFailure(error, `"${path.given}"`);
  } finally {
    anchor.close();
  }
}

async function replace(
  anchor: Anchor,
  path: PathFacts,
  before: Preimage,
  after: Buffer,
  ready: () => void,
): Promise<Committed | ToolFailure> {
  const target = join(anchor.base, path.name);
  const temporary = join(anchor.base, temporaryName(path.name));
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const fd = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  let renamed = false;
  try {
    let notes: Readonly<Record<string, unknown>>;
    try {
      for (let at = 0; at < after.length; ) at += writeSync(fd, after, at);
      notes = keepAttributes(fd, before);
      await flush(fd);
    } finally {
      closeSync(fd);
    }
    const changed = await preimageFault(target, path, before);
    if (changed !== null) return changed;
    ready();
    renameSync(temporary, target);
    renamed = true;
    await flushDirectory(anchor.base);
    return { ok: true, notes };
  } finally {
    if (!renamed) rmSync(temporary, { force: true });
  }
}

/** Whether a name is one that a change gives the file which it writes first. */
export const isTemporary = (name: string): boolean => /^\..*\.reins-[0-9a-f]{8}$/.test(name);

export const newFileMode = (): number => 0o666 & ~process.umask();

/** A name beside the target; long names are shortened so that the addition fits. */
function temporaryName(name: string): string {
  const short = Buffer.from(name)
    .subarray(0, 200)
    .toString('utf8')
    .replace(/\ufffd+$/, '');
  return `.${short}.reins-${randomBytes(4).toString('hex')}`;
}

/** Mode and owner of the old file; what the system does not allow to keep is stated (05 §4.6.3). */
function keepAttributes(fd: number, before: Preimage): Readonly<Record<string, unknown>> {
  if (before === null) {
    fchmodSync(fd, newFileMode());
    return {};
  }
  const notes: Record<string, unknown> = {};
  const own = fstatSync(fd);
  if (own.uid !== before.uid || own.gid !== before.gid) {
    try {
      fchownSync(fd, before.uid, before.gid);
    } catch {
      notes['owner_kept'] = false;
    }
  }
  // After the owner: a change of owner clears the set-id bits.
  fchmodSync(fd, before.mode);
  if (before.links > 1) notes['hard_link_broken'] = true;
  return notes;
}

/** 05 §4.6.1: the file is what the change was made for, or nothing is written. */
async function preimageFault(target: string, path: PathFacts, before: Preimage): Promise<ToolFailure | null> {
  const changed = (): ToolFailure =>
    fail(
      'changed_since_approval',
      `"${path.given}" changed after this call was prepared; nothing was written. Read it again and make a new call.`,
    );
  if (before === null) return lstatSync(target, { throwIfNoEntry: false }) === undefined ? null : changed();
  const now = await preimageAt(target, path.given, null);
  if (now === null || isFailure(now)) return changed();
  return now.sha256 === before.sha256 && now.mode === before.mode ? null : changed();
}

async function flushDirectory(base: string): Promise<void> {
  try {
    const fd = openSync(base, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      await flush(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // A directory that cannot be read cannot be flushed; the new file itself is on the disk.
  }
}
