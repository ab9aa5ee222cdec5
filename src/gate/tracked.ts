import { dirname, relative } from 'node:path';
import { gitDirectory, namesIn } from './repository.ts';

/** Where a working tree begins, and the files that git knows in it; null where that cannot be told. */
type Tree = { readonly top: string; readonly names: readonly string[] | null };

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
    const tree = own !== null ? { top: directory, names: namesIn(own) } : parent === directory ? null : treeAt(parent);
    trees.set(directory, tree);
    return tree;
  };
  return (real) => {
    const tree = treeAt(dirname(real));
    if (tree === null) return false;
    if (tree.names === null) return true;
    // As bytes: what an index holds need not be UTF-8.
    const path = Buffer.from(relative(tree.top, real)).toString('latin1');
    return tree.names.some((name) => name === path || name.startsWith(`${path}/`));
  };
}
