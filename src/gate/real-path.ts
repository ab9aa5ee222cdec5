import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, parse, sep } from 'node:path';

const maxLinks = 40;

/**
 * The real path of an absolute path: links resolved one component after the other, `..` applied to the real directory,
 * links without a target followed to where they would lead, and what does not exist appended. Linear in the components;
 * never throws: a loop, or what may not be looked at, stays as it is written.
 */
export function realPath(path: string): string {
  try {
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return realpathSync.native(path);
  } catch {
    // A loop, or a directory that is closed to us: as far as it can be seen.
  }
  return walk(path);
}

/** The same with a memory of what was resolved, for many names below few directories. */
export function createRealPath(): (path: string) => string {
  const known = new Map<string, string>();
  return (path) => {
    const old = known.get(path);
    if (old !== undefined) return old;
    const found = belowKnown(path, known) ?? realPath(path);
    known.set(path, found);
    return found;
  };
}

/** A name that does not exist, in a directory that was resolved before. */
function belowKnown(path: string, known: ReadonlyMap<string, string>): string | null {
  const slash = path.lastIndexOf('/');
  const name = path.slice(slash + 1);
  const directory = known.get(path.slice(0, slash));
  if (directory === undefined || name === '' || name === '.' || name === '..') return null;
  return linkTarget(path) === 'missing' ? `${directory.endsWith('/') ? '' : directory}/${name}` : null;
}

/** For what the system cannot resolve as a whole. */
function walk(path: string): string {
  const { root } = parse(path);
  let at = root;
  let links = 0;
  let exists = true;
  const rest = componentsOf(path.slice(root.length)).reverse();
  for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
    if (name === '..') {
      at = dirname(at);
      exists = true;
      continue;
    }
    const next = at.endsWith(sep) ? at + name : at + sep + name;
    const target = exists && links < maxLinks ? linkTarget(next) : null;
    if (target === 'missing') exists = false;
    if (target === null || target === 'missing') {
      at = next;
      continue;
    }
    links += 1;
    if (isAbsolute(target.to)) at = parse(target.to).root;
    rest.push(...componentsOf(isAbsolute(target.to) ? target.to.slice(at.length) : target.to).reverse());
  }
  return at;
}

const componentsOf = (path: string): string[] =>
  path.split(sep === '\\' ? /[\\/]/ : '/').filter((name) => name !== '' && name !== '.');

/** Where a link leads; null for anything else that exists. */
function linkTarget(path: string): { readonly to: string } | 'missing' | null {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return 'missing';
    return found.isSymbolicLink() ? { to: readlinkSync(path) } : null;
  } catch {
    return 'missing';
  }
}
