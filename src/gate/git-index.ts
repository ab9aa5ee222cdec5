import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Largest index that is read. */
const maxIndexBytes = 67_108_864;
/** Largest file that is read to see whether it was changed. */
const maxComparedBytes = 1_048_576n;

/** A file that git knows: its name, one character for each byte, and where its entry begins. */
type IndexEntry = { readonly name: string; readonly at: number };

/**
 * Whether an index of a git directory names a file outside of the working tree, or cannot be read. `git` looks at a name when
 * it adds it, and never again: `git diff` would show that file.
 * @param hashBytes length of an object name
 */
export function namesOutside(directory: string, hashBytes: number): boolean {
  return indexedNames(directory, hashBytes)?.some((name) => unsound.test(name)) ?? true;
}

/** Names of all files that git knows, one character for each byte; null where an index cannot be read. */
export function indexedNames(directory: string, hashBytes: number): readonly string[] | null {
  try {
    return indexesOf(directory).flatMap(({ path }) =>
      Array.from(entriesOf(readFileSync(path), hashBytes), ({ name }) => name),
    );
  } catch {
    return null;
  }
}

/**
 * Files that git knows and that may hold something else than when it looked at them last, by the same signs as it goes by:
 * size, time of change, and where that does not tell, what the file holds. Empty where an index cannot be read.
 * @param top directory of the working tree
 * @param like only names in which this is found
 */
export function changedFiles(top: string, directory: string, hashBytes: number, like: RegExp): readonly string[] {
  try {
    return indexesOf(directory).flatMap(({ path, writtenAt }) => {
      const changed: string[] = [];
      const index = readFileSync(path);
      for (const { name, at } of entriesOf(index, hashBytes)) {
        if (!like.test(name)) continue;
        const file = join(top, Buffer.from(name, 'latin1').toString());
        if (isChanged(file, index.subarray(at, at + 40 + hashBytes), writtenAt)) changed.push(file);
      }
      return changed;
    });
  } catch {
    return [];
  }
}

/**
 * Whether a file may be another one than its entry tells of: by when it was changed, by how many bytes it has, and by the
 * name of its object. One that was changed as the index was written, or later, may have the same signs.
 */
function isChanged(path: string, entry: Buffer, writtenAt: bigint): boolean {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return false;
  if (Number(found.size & 0xffffffffn) !== entry.readUInt32BE(36)) return true;
  const changedAt = BigInt(entry.readUInt32BE(8)) * 1_000_000_000n + BigInt(entry.readUInt32BE(12));
  return (found.mtimeNs !== changedAt || changedAt >= writtenAt) && !holds(path, found, entry.toString('hex', 40));
}

/** Whether a file holds the object as it stands, without filters. */
function holds(path: string, found: BigIntStats, object: string): boolean {
  if (!found.isFile() || found.size > maxComparedBytes) return false;
  const algorithm = object.length === 40 ? 'sha1' : 'sha256';
  return createHash(algorithm).update(`blob ${found.size}\0`).update(readFileSync(path)).digest('hex') === object;
}

/** @throws Error where one is no file, or too large */
function indexesOf(directory: string): readonly { readonly path: string; readonly writtenAt: bigint }[] {
  const files = readdirSync(directory).filter((name) => name === 'index' || name.startsWith('sharedindex.'));
  return files.map((name) => {
    const path = join(directory, name);
    const found = statSync(path, { bigint: true });
    if (!found.isFile() || found.size > maxIndexBytes) throw new Error(`${name} is not read`);
    return { path, writtenAt: found.mtimeNs };
  });
}

/** One after the other, each as `git` reads it: by the length of its name, with a zero behind it. @throws Error malformed */
function* entriesOf(index: Buffer, hashBytes: number): Generator<IndexEntry> {
  if (index.length < 12 || index.toString('latin1', 0, 4) !== 'DIRC') throw malformed();
  const version = index.readUInt32BE(4);
  if (version < 2 || version > 4) throw malformed();
  let at = 12;
  let before = '';
  for (let count = index.readUInt32BE(8); count > 0; count -= 1) {
    const start = at;
    at += 40 + hashBytes;
    if (at + 4 > index.length) throw malformed();
    const flags = index.readUInt16BE(at);
    at += (flags & extended) === 0 ? 2 : 4;
    let kept = '';
    if (version === 4) {
      const left = varint(index, at);
      if (left === null || left.value > before.length) throw malformed();
      kept = before.slice(0, before.length - left.value);
      at = left.end;
    }
    const end = index.indexOf(0, at);
    if (end === -1) throw malformed();
    // As bytes: a name needs no encoding.
    const name = kept + index.toString('latin1', at, end);
    if (Math.min(name.length, longest) !== (flags & longest)) throw malformed();
    at = version === 4 ? end + 1 : start + ((end - start + 8) & ~7);
    before = name;
    yield { name, at: start };
  }
}

const malformed = (): Error => new Error('the index is malformed');

/** Absolute, or with a part that leads up, or into a git directory: `git` adds none of these. */
const unsound = /^\/|(?:^|\/)(?:\.\.|\.git)(?:\/|$)/i;
const extended = 0x4000;
const longest = 0xfff;

/** How much of the name before is left out, in groups of seven bits. */
function varint(index: Buffer, from: number): { readonly value: number; readonly end: number } | null {
  let value = 0;
  for (let at = from; at < Math.min(index.length, from + 5); at += 1) {
    const byte = index.readUInt8(at);
    value = value * 128 + (byte & 127);
    if ((byte & 128) === 0) return { value, end: at + 1 };
    value += 1;
  }
  return null;
}
