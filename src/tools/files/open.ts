import { closeSync, constants, existsSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { lookAlike, withCodes } from '../../text/look-alike.ts';
import { codeOf } from '../../text/thrown.ts';
import { fail, ioFailure, type ToolFailure } from '../failure.ts';
import { nearNames } from '../near.ts';
import type { Identity, PathFacts } from './root.ts';

/** Linux: a descriptor that only names a directory; needs no permission to list it. */
const O_PATH = 0o10000000;
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

const blockBytes = 1024 * 1024;
/** 05 §4.8: files above this are not even read in parts. */
export const maxStreamBytes = 1024 ** 3;

/** A directory held open: paths below `base` cannot be led elsewhere by renaming what is above it. */
export type Anchor = { readonly base: string; close(): void };

/** Opens the directory that was checked; another one in its place is `path_changed` (05 §4.1.5). */
export function openAnchor(path: string, identity: Identity, given: string): Anchor | ToolFailure {
  const changed = (): ToolFailure =>
    fail('path_changed', `The directory of "${given}" was replaced after it was checked. Call again.`);
  const descriptors = process.platform === 'linux' && existsSync('/proc/self/fd');
  if (!descriptors) {
    const now = statSync(path, { bigint: true, throwIfNoEntry: false });
    return now !== undefined && same(now, identity) ? { base: path, close: () => {} } : changed();
  }
  let fd: number;
  try {
    fd = openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    const code = codeOf(error);
    return code === 'ENOENT' || code === 'ENOTDIR' ? changed() : ioFailure(error, `The directory of "${given}"`);
  }
  if (same(fstatSync(fd, { bigint: true }), identity))
    return { base: `/proc/self/fd/${fd}`, close: () => closeSync(fd) };
  closeSync(fd);
  return changed();
}

const same = (a: Identity, b: Identity): boolean => a.dev === b.dev && a.ino === b.ino;

/** What file tools do not read or write, by the kind of the target (05 §4.1.6); nothing is opened. */
export function kindFault(facts: PathFacts): ToolFailure | null {
  if (facts.stat === null) return notFound(facts);
  if (facts.stat.isFile()) return null;
  return facts.stat.isDirectory()
    ? fail('is_directory', `"${facts.given}" is a directory. Use list_dir for it.`)
    : fail('not_regular', `"${facts.given}" is not a regular file, so it is not opened.`);
}

/** @param mayName whether a name of the same directory may be told; at most 3 similar ones are (05 §4.1.7), without it none */
export function notFound(facts: PathFacts, mayName?: (path: string) => boolean): ToolFailure {
  const isTold = (name: string) => mayName?.(join(facts.parent.path, name)) === true;
  const beside = mayName === undefined || facts.missing.length > 0 ? [] : namesBeside(facts);
  const similar = nearNames(facts.name, beside, 3).filter(isTold);
  // Read as text, a name of other bytes is the one that was given.
  if (similar.includes(facts.name)) {
    const message = `The name of "${facts.given}" is not UTF-8, so no path can name it here. Rename it first, with a program.`;
    return fail('bad_path', message);
  }
  const twin = beside.find((name) => lookAlike(name) === lookAlike(facts.name) && isTold(name));
  if (twin !== undefined) {
    const message = `"${withCodes(facts.given)}" does not exist. A name that looks the same does: write it as "${withCodes(twin)}", with the codes as escapes.`;
    return fail('not_found', message, { similar: [twin] });
  }
  const near = similar.length === 0 ? '' : ` Similar names: ${similar.join(', ')}.`;
  return fail('not_found', `"${facts.given}" does not exist.${near}`, { similar });
}

function namesBeside(facts: PathFacts): readonly string[] {
  try {
    return readdirSync(facts.parent.path).slice(0, 10_000);
  } catch {
    return [];
  }
}

/** A regular file opened for reading, without following a link, and the very one that was checked. */
export function openChecked(facts: PathFacts): { readonly fd: number; readonly size: number } | ToolFailure {
  const anchor = openAnchor(facts.parent.path, facts.parent, facts.given);
  if ('ok' in anchor) return anchor;
  try {
    return openRegular(join(anchor.base, facts.name), facts.given, facts.stat);
  } finally {
    anchor.close();
  }
}

/** @param identity the file that it must be; null: any regular file */
export function openRegular(
  path: string,
  given: string,
  identity: Identity | null,
): { readonly fd: number; readonly size: number } | ToolFailure {
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    return codeOf(error) === 'ENOENT'
      ? fail('path_changed', `"${given}" is gone since it was checked. Call again.`)
      : ioFailure(error, `"${given}"`);
  }
  const stat = fstatSync(fd, { bigint: true });
  if (stat.isFile() && (identity === null || same(stat, identity))) return { fd, size: Number(stat.size) };
  closeSync(fd);
  return stat.isFile()
    ? fail('path_changed', `"${given}" was replaced after it was checked. Call again.`)
    : fail('not_regular', `"${given}" is not a regular file, so it is not opened.`);
}

/** Reads a file in blocks of 1 MiB; between two of them other work gets its turn. The block is reused. */
export async function* blocks(fd: number): AsyncGenerator<Buffer> {
  const block = Buffer.allocUnsafe(blockBytes);
  for (;;) {
    const count = readSync(fd, block);
    if (count === 0) return;
    yield block.subarray(0, count);
    if (count === blockBytes) await nextTurn();
  }
}

/** The whole file, or null as soon as it is longer than `max` bytes. */
export async function readWhole(fd: number, size: number, max: number): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let total = 0;
  if (size > max) return null;
  if (size < blockBytes) {
    // The usual case in one call; one more byte shows whether it has grown.
    const block = Buffer.allocUnsafe(size + 1);
    const count = readSync(fd, block, 0, size + 1, 0);
    if (count <= size) return block.subarray(0, count);
    parts.push(block);
    total = count;
  }
  for (let at = total; ; ) {
    const block = Buffer.allocUnsafe(blockBytes);
    const count = readSync(fd, block, 0, blockBytes, at);
    if (count === 0) return Buffer.concat(parts);
    at += count;
    total += count;
    if (total > max) return null;
    parts.push(block.subarray(0, count));
    await nextTurn();
  }
}
