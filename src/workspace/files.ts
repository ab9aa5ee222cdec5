import { createHash, randomBytes } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import { syncDirectory } from '../store/private-file.ts';
import { lookAt, systemReason, writeFault } from '../text/system-reason.ts';
import { codeOf } from '../text/thrown.ts';
import { isDocumentName } from '../schema/document-name.ts';

declare const FAIL_POINTS: boolean | undefined;

/** Largest policy or chain (11 §1.2.6). */
const maxDocumentBytes = 1024 * 1024;
/** A temporary of a writer that died is removed after this time (11 §1.2.2). */
const leftoverMs = 60 * 60 * 1000;

/** Where a document was found: the layers of 11 §1.3, or a path that the operator typed. */
export type DocumentPlace = 'project' | 'user' | 'file';

/** Codes of 02 §3. */
export type DocumentFault = 'missing' | 'unreadable' | 'unsafe_permissions' | 'too_large';

export type DocumentFile =
  | {
      readonly ok: true;
      readonly path: string;
      readonly bytes: Uint8Array;
      /** Of exactly these bytes: what was hashed is what is used. */
      readonly sha256: string;
      /** Device, inode, size, mtime and ctime: differs when the file is another one (02 §4). */
      readonly identity: string;
      /** Sentences that do not keep the document from being used. */
      readonly warnings: readonly string[];
    }
  | {
      readonly ok: false;
      readonly path: string;
      readonly fault: DocumentFault;
      readonly message: string;
      readonly identity: string;
    };

/**
 * Reads a document once, whole, without following what a project could plant (11 §1.2.5, §1.2.6). Never throws and never
 * waits on a FIFO or device.
 * @param uid the current user; null skips the checks of owner and mode
 */
export function readDocument(path: string, place: DocumentPlace, uid: number | null): DocumentFile {
  const fail = (fault: DocumentFault, message: string, identity = ''): DocumentFile => ({
    ok: false,
    path,
    fault,
    message,
    identity,
  });
  // A link of the project's could name any file of the user's; the user's own directory may well be full of them.
  const noFollow = place === 'project' ? constants.O_NOFOLLOW : 0;
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | noFollow);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return fail('missing', 'there is no such file');
    if (code === 'ELOOP' && place === 'project')
      return fail('unsafe_permissions', 'it is a symbolic link', identityOf(path));
    return fail('unreadable', `it cannot be opened: ${systemReason(error)}`, identityOf(path));
  }
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    const identity = identityText(stats);
    if (stats.isDirectory()) return fail('unreadable', 'it is a directory', identity);
    if (!stats.isFile()) return fail('unreadable', 'it is not a regular file', identity);
    const unsafe = uid === null ? null : unsafePermissions(path, stats, uid);
    if (unsafe !== null) return fail('unsafe_permissions', unsafe, identity);
    if (stats.size > maxDocumentBytes) return fail('too_large', 'it is larger than 1 MiB', identity);
    const bytes = readWhole(descriptor, Number(stats.size));
    if (bytes === null) return fail('unreadable', 'it changed while it was read', identity);
    const warnings =
      uid !== null && (Number(stats.mode) & 0o020) !== 0 ? [`The file ${path} can be written by its group.`] : [];
    return { ok: true, path, bytes, sha256: sha256Of(bytes), identity, warnings };
  } catch (error) {
    return fail('unreadable', systemReason(error));
  } finally {
    closeSync(descriptor);
  }
}

export const sha256Of = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

/** Identity of what a path names now, links followed; empty when there is nothing. One stat call. Never throws. */
export function identityOf(path: string): string {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? '' : identityText(stats);
  } catch {
    // Below a file, a link that leads in a circle, a directory that may not be searched: nothing can be read there.
    return '';
  }
}

/**
 * Whether a name exists, also as a broken link or where it may not be looked at: then it does not fall through to the
 * next layer (02 §4). Never throws.
 */
export function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return codeOf(error) !== 'ENOTDIR';
  }
}

const identityText = (stats: BigIntStats): string =>
  [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':');

function unsafePermissions(path: string, stats: BigIntStats, uid: number): string | null {
  if ((Number(stats.mode) & 0o002) !== 0) return 'every user may write to it (chmod o-w)';
  if (Number(stats.uid) !== uid && stats.uid !== 0n) return 'it belongs to another user';
  const directory = statSync(dirname(path)).mode;
  // Whoever may write to the directory may replace the file; the sticky bit keeps others' files in place.
  if ((directory & 0o002) !== 0 && (directory & 0o1000) === 0) {
    return `every user may write to its directory ${dirname(path)} (chmod o-w)`;
  }
  return null;
}

/** Reads to the end; null when there is more than the size that was looked at. */
function readWhole(descriptor: number, size: number): Uint8Array | null {
  const buffer = new Uint8Array(size + 1);
  let length = 0;
  while (length < buffer.length) {
    const read = readSync(descriptor, buffer, length, buffer.length - length, null);
    if (read === 0) return buffer.slice(0, length);
    length += read;
  }
  return null;
}

export type FileToWrite = { readonly path: string; readonly text: string | Uint8Array; readonly mode: number };

/**
 * Replaces or creates a file of ours: temporary in the same directory, flushed, renamed, directory flushed (11 §1.2.2).
 * A reader sees the old content or the new. @throws RuntimeError storage; the temporary is removed
 */
export function writeAtomic(path: string, text: string | Uint8Array, mode: number): void {
  writeTogether([{ path, text, mode }]);
}

/**
 * Several such files, in order: none takes its name before all of them have found room.
 * @throws RuntimeError storage or config_invalid, which name the file; no temporary is left
 */
export function writeTogether(files: readonly FileToWrite[]): void {
  const temporaries = new Map<string, string>();
  let current = '';
  try {
    for (const file of files) {
      current = file.path;
      const temporary = `${file.path}.tmp-${randomBytes(6).toString('hex')}`;
      temporaries.set(file.path, temporary);
      writeFlushed(temporary, file);
    }
    for (const [path, temporary] of temporaries) {
      current = path;
      if (typeof FAIL_POINTS !== 'undefined' && FAIL_POINTS) dieBeforeRename(path);
      renameSync(temporary, path);
      temporaries.delete(path);
    }
  } catch (error) {
    for (const temporary of temporaries.values()) rmSync(temporary, { force: true });
    throw new RuntimeError(writeFault(error), `The file ${current} cannot be written: ${systemReason(error)}.`, {
      cause: error,
      hints: [lookAt(error, dirname(current))],
    });
  }
  for (const directory of new Set(files.map(({ path }) => dirname(path)))) syncDirectory(directory);
}

function writeFlushed(path: string, { text, mode }: FileToWrite): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const descriptor = openSync(path, flags, 0o600);
  try {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
    fchmodSync(descriptor, mode);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Fail point: where a file beside says so, the process dies with the temporary written and the old content in place. */
function dieBeforeRename(path: string): void {
  if (exists(`${path}.fail-rename`)) process.kill(process.pid, 'SIGKILL');
}

/** Removes what writers that died left in a directory of ours more than an hour ago. Never throws. */
export function removeLeftovers(directory: string, now: number): void {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return;
  }
  for (const name of names) {
    if (!/\.tmp-[0-9a-f]{12}$/.test(name)) continue;
    const path = join(directory, name);
    try {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats?.isFile() === true && now - stats.mtimeMs > leftoverMs) rmSync(path, { force: true });
    } catch {
      // A directory that is read-only by now keeps what lies in it.
    }
  }
}

/** The policy that a request over HTTP names, which is never a path. @throws RuntimeError invalid_parameter */
export function requestedPolicy(name: string | undefined): string | undefined {
  if (name === undefined || isDocumentName(name)) return name;
  const message = 'A policy is named by small letters, digits, "_" and "-".';
  throw new RuntimeError('invalid_parameter', message, { data: { param: 'policy' } });
}

/** Whether the operator's word is a path and not a name (02 §4). */
export const isDocumentPath = (word: string): boolean => word.includes('/') || word.endsWith('.json');

export type Layer = { readonly place: 'project' | 'user'; readonly directory: string };

/** The writable layers in the order of 11 §1.3; the built-in one comes after them. */
export const layersOf = (workspace: { readonly dataDir: string | null; readonly home: string }): readonly Layer[] => [
  ...(workspace.dataDir === null ? [] : [{ place: 'project', directory: workspace.dataDir } as const]),
  { place: 'user', directory: workspace.home },
];

/** The first layer that has the file, whatever it is; null when none has. */
export function findDocument(
  layers: readonly Layer[],
  file: string,
): { place: 'project' | 'user'; path: string } | null {
  for (const { place, directory } of layers) {
    const path = join(directory, basename(file));
    if (exists(path)) return { place, path };
  }
  return null;
}

/** Names of the JSON files directly in a directory, sorted; empty when it cannot be read. */
export function listJson(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith('.json'))
      .sort();
  } catch {
    return [];
  }
}
