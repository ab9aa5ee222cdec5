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

/** Whether a real path is a directory or below it; both as `realPath` gives them. */
export const isInside = (path: string, root: string): boolean =>
  path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`);

/** What one call sees of the file system: every name is looked at once. */
export type Sight = {
  /** As `realPath`. */
  realPath(path: string): string;
  /** Device and inode of what a real path names, null when nothing is there. */
  identityOf(real: string): string | null;
};

type Place = { readonly real: string; readonly exists: boolean };
type Entry = { readonly identity: string; readonly link: boolean };

/** Longest path that is resolved name by name (05 §4.1). */
const maxSegments = 255;
/** Longer ones name nothing on any system. */
const maxPathLength = 4096;

export function createSight(): Sight {
  const places = new Map<string, Place>();
  const entries = new Map<string, Entry | null>();
  /** Paths that are resolved as a whole. */
  const others = new Map<string, string>();

  const look = (real: string): Entry | null => {
    const known = entries.get(real);
    if (known !== undefined) return known;
    const entry = entryAt(real);
    entries.set(real, entry);
    return entry;
  };
  const resolve = (path: string): Place => {
    const known = places.get(path);
    if (known !== undefined) return known;
    const place = below(path);
    places.set(path, place);
    return place;
  };
  const below = (path: string): Place => {
    const slash = path.lastIndexOf('/');
    if (slash === -1 || path === '/') return { real: path, exists: true };
    const parent = resolve(slash === 0 ? '/' : path.slice(0, slash));
    const name = path.slice(slash + 1);
    if (name === '' || name === '.') return parent;
    const real = parent.real.endsWith('/') ? parent.real + name : `${parent.real}/${name}`;
    const entry = parent.exists ? look(real) : null;
    return { real: entry?.link === true ? realPath(real) : real, exists: entry !== null };
  };

  return {
    realPath(path) {
      const plain =
        sep === '/' && !/(^|\/)\.\.(\/|$)/.test(path) && path.split('/', maxSegments + 1).length <= maxSegments;
      if (plain) return resolve(path).real;
      const real = others.get(path) ?? realPath(path);
      others.set(path, real);
      return real;
    },
    identityOf: (real) => look(real)?.identity ?? null,
  };
}

function entryAt(path: string): Entry | null {
  if (path.length > maxPathLength) return null;
  try {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? null : { identity: `${found.dev}:${found.ino}`, link: found.isSymbolicLink() };
  } catch {
    return null;
  }
}

/** Links that the kernel answers for whoever asks. */
const ownProcess = /^\/proc\/(thread-)?self$/;

/**
 * Whether an absolute path leads through the directory of the process that opens it: what it names here, and in a child
 * that has another directory, are two files. Linear in the components; never throws.
 */
export function leadsThroughProcess(path: string): boolean {
  let through = false;
  walk(path, (place) => {
    through ||= ownProcess.test(place);
  });
  return through;
}

/** For what the system cannot resolve as a whole. @param pass is told each place on the way */
function walk(path: string, pass: (place: string) => void = () => {}): string {
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
    pass(next);
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
