import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { maxIndexBytes } from './git-index.ts';
import { gitDirectory } from './repository.ts';

/** Where a working tree begins, and its index; null where that cannot be read. */
type Tree = { readonly top: string; readonly index: Buffer | null };

/**
 * Tells whether git may know a file: whether the index of the repository around it lists it, or a file below it. What
 * cannot be read may list anything. Each index is read once; never throws.
 */
export function createTracked(): (real: string) => boolean {
  const trees = new Map<string, Tree | null>();
  const treeAt = (directory: string): Tree | null => {
    const known = trees.get(directory);
    if (known !== undefined) return known;
    const own = gitDirectory(directory);
    const parent = dirname(directory);
    const tree =
      own !== null ? { top: directory, index: readIndex(own) } : parent === directory ? null : treeAt(parent);
    trees.set(directory, tree);
    return tree;
  };
  return (real) => {
    const tree = treeAt(dirname(real));
    if (tree === null) return false;
    return tree.index === null || lists(tree.index, relative(tree.top, real));
  };
}

/** Null where it cannot be read as it stands: too large, with names that leave out what they share, or in two files. */
function readIndex(directory: string): Buffer | null {
  try {
    const path = join(directory, 'index');
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return Buffer.alloc(0);
    if (!found.isFile() || found.size > maxIndexBytes) return null;
    const index = readFileSync(path);
    const plain = index.subarray(0, 4).toString('latin1') === 'DIRC' && index.readUInt32BE(4) < 4;
    return plain && !readdirSync(directory).some((name) => name.startsWith('sharedindex.')) ? index : null;
  } catch {
    return null;
  }
}

/** Its length stands before a name, in a number of twelve bits, with another number between them in some versions. */
function lists(index: Buffer, path: string): boolean {
  const name = Buffer.from(`${path}\0`);
  const length = Math.min(name.length - 1, 0xfff);
  for (let at = index.indexOf(name); at !== -1; at = index.indexOf(name, at + 1)) {
    if ([2, 4].some((back) => at >= back && (index.readUInt16BE(at - back) & 0xfff) === length)) return true;
  }
  return index.includes(`${path}/`);
}
