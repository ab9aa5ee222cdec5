import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Largest index that is read. */
const maxBytes = 67_108_864;

/**
 * Whether an index of a git directory names a file outside of the working tree, or cannot be read. `git` looks at a name when
 * it adds it, and never again: `git diff` would show that file.
 * @param hashBytes length of an object name
 */
export function namesOutside(directory: string, hashBytes: number): boolean {
  try {
    const files = readdirSync(directory).filter((name) => name === 'index' || name.startsWith('sharedindex.'));
    return files.some((name) => {
      const path = join(directory, name);
      const found = statSync(path);
      return !found.isFile() || found.size > maxBytes || leadsOut(readFileSync(path), hashBytes);
    });
  } catch {
    return true;
  }
}

/** The names of an index one after the other, each as `git` reads it: by its length, with a zero behind it. */
function leadsOut(index: Buffer, hashBytes: number): boolean {
  if (index.length < 12 || index.toString('latin1', 0, 4) !== 'DIRC') return true;
  const version = index.readUInt32BE(4);
  if (version < 2 || version > 4) return true;
  let at = 12;
  let before = '';
  for (let count = index.readUInt32BE(8); count > 0; count -= 1) {
    const start = at;
    at += 40 + hashBytes;
    if (at + 4 > index.length) return true;
    const flags = index.readUInt16BE(at);
    at += (flags & extended) === 0 ? 2 : 4;
    let kept = '';
    if (version === 4) {
      const left = varint(index, at);
      if (left === null || left.value > before.length) return true;
      kept = before.slice(0, before.length - left.value);
      at = left.end;
    }
    const end = index.indexOf(0, at);
    if (end === -1) return true;
    // As bytes: a name needs no encoding.
    const name = kept + index.toString('latin1', at, end);
    if (Math.min(name.length, longest) !== (flags & longest)) return true;
    if (unsound.test(name)) return true;
    at = version === 4 ? end + 1 : start + ((end - start + 8) & ~7);
    before = name;
  }
  return false;
}

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
