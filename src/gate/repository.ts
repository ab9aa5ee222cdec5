import {
  accessSync,
  constants,
  type Dirent,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { objectNameBytes } from '../policy/git.ts';
import type { Repository } from '../schema/policy.ts';
import { changedFiles, indexedNames, namesOutside } from './git-index.ts';
import { isInside, realPath } from './real-path.ts';

/** Largest configuration file that is read (02 §9.8). */
const maxBytes = 1_048_576;

/**
 * The repository that git would find from a directory, and its own configuration: by the `.git` directory or file and
 * `commondir`, or a directory that is itself a bare one. Null when there is none. Never throws: what cannot be looked
 * at counts as unreadable.
 * @param root real path of the workspace
 */
export function findRepository(cwd: string, root: string): Repository | null {
  for (let at = realPath(cwd); ; at = dirname(at)) {
    const directory = gitDirectory(at);
    if (directory !== null) return readRepository(at, directory, root);
    if (dirname(at) === at) return null;
  }
}

/** The git directory of a working tree, or the directory itself when it is bare; null when it is neither. */
export function gitDirectory(at: string): string | null {
  const dotGit = join(at, '.git');
  try {
    const found = statSync(dotGit, { throwIfNoEntry: false });
    if (found?.isDirectory() === true) return dotGit;
    if (found !== undefined || lstatSync(dotGit, { throwIfNoEntry: false }) !== undefined) {
      const target = /^gitdir:[ \t]*([^\n]*?)[\r\n]*$/.exec(readText(dotGit) ?? '')?.[1];
      // A `.git` that leads nowhere stands for a repository that cannot be read.
      return target === undefined || target === '' ? dotGit : isAbsolute(target) ? target : join(at, target);
    }
    const bare = ['HEAD', 'objects', 'refs'].every((name) => lstatSync(join(at, name), { throwIfNoEntry: false }));
    return bare ? at : null;
  } catch {
    return dotGit;
  }
}

/** @param top where the working tree begins, if it has one */
function readRepository(top: string, directory: string, root: string): Repository {
  const { own, common, pointer } = partsOf(directory);
  const outside = [own, common].some((path) => !isInside(path, root) || leadsOut(path, [own, common], root));
  const unreadable = pointer === null || !isRepository(own, common);
  const configs = outside ? [] : configsOf(own, common);
  const hashBytes = objectNameBytes(configs);
  return {
    outside,
    configs: unreadable ? [...configs, { path: own, text: null }] : configs,
    ...(!outside && namesOutside(own, hashBytes) && { namesOutside: true as const }),
    changed: (like) => changedFiles(top, own, hashBytes, like),
  };
}

/** Where the files of a working tree's git directory are, and those that it shares; the pointer is what names the latter. */
function partsOf(directory: string): {
  readonly own: string;
  readonly common: string;
  readonly pointer: string | null | undefined;
} {
  const own = realPath(directory);
  const pointer = readText(join(own, 'commondir'));
  const named = pointer?.trim() ?? '';
  return { own, common: named === '' ? own : realPath(isAbsolute(named) ? named : join(own, named)), pointer };
}

/** What a repository's own configuration files hold; a text is null when it cannot be read. */
function configsOf(own: string, common: string): Repository['configs'] {
  const paths = new Set([join(common, 'config'), join(common, 'config.worktree'), join(own, 'config.worktree')]);
  return [...paths].flatMap((path) => {
    const text = readText(path);
    return text === undefined ? [] : [{ path, text }];
  });
}

/** Names of all files that git knows in a working tree; null where that cannot be told. @param directory see gitDirectory */
export function namesIn(directory: string): readonly string[] | null {
  const { own, common } = partsOf(directory);
  return indexedNames(own, objectNameBytes(configsOf(own, common)));
}

/**
 * Whether git takes the directory for a repository. It passes by one that it does not, and uses what it finds further up:
 * whose configuration that is, is not looked for here.
 */
function isRepository(own: string, common: string): boolean {
  try {
    for (const name of ['objects', 'refs']) accessSync(join(common, name), constants.X_OK);
    const head = join(own, 'HEAD');
    if (lstatSync(head).isSymbolicLink()) return readlinkSync(head).startsWith('refs/');
    return /^(ref:\s*refs\/|[0-9a-f]{40})/i.test(readText(head) ?? '');
  } catch {
    return false;
  }
}

/**
 * Whether a part of a git directory is elsewhere: by a link, or by a file that names more object directories. `git` tells
 * what it cannot read of its own files, what stands in those about an operation that is under way (`rebase-merge`), and
 * shows every object that it finds. A link stays in the git directory: what else the workspace holds may be kept secret.
 */
function leadsOut(directory: string, whole: readonly string[], root: string): boolean {
  const objects = join(directory, 'objects');
  const places = placesIn(directory);
  if (places === null) return true;
  for (const place of [...places, objects, join(objects, 'info')]) {
    for (const entry of linksOf(place)) {
      const target = realPath(join(place, entry));
      if (!whole.some((path) => isInside(target, path))) return true;
    }
  }
  const lists = ['alternates', 'http-alternates'].map((name) => readText(join(objects, 'info', name)));
  // What cannot be read may name any place.
  if (lists.includes(null)) return true;
  const named = lists
    .flatMap((text) => (text ?? '').split('\n'))
    .filter((line) => line !== '' && !line.startsWith('#'));
  // Such a directory may have a list of its own.
  return named.some((line) => {
    const path = realPath(isAbsolute(line) ? line : join(objects, line));
    return !isInside(path, root) || (readText(join(path, 'info', 'alternates')) ?? '') !== '';
  });
}

/** Large ones, of whose files git tells nothing; objects are looked at by themselves, and hooks are never run. */
const untold: ReadonlySet<string> = new Set('annex hooks lfs logs modules objects refs rr-cache svn'.split(' '));
const mostPlaces = 256;

/**
 * A git directory and the directories in it from which git tells what files hold: what a rebase was about, where another
 * working tree is. Null where there are too many to look at.
 */
function placesIn(directory: string): readonly string[] | null {
  const places = [directory];
  for (const place of places) {
    const inner = entriesOf(place).filter(
      (entry) => entry.isDirectory() && !(place === directory && untold.has(entry.name)),
    );
    if (places.length + inner.length > mostPlaces) return null;
    places.push(...inner.map(({ name }) => join(place, name)));
  }
  return places;
}

const linksOf = (directory: string): readonly string[] =>
  entriesOf(directory)
    .filter((entry) => entry.isSymbolicLink() && entry.name !== 'hooks')
    .map(({ name }) => name);

function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Undefined when there is no such file; null when it is too large, no file, or may not be read. */
export function readText(path: string): string | null | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return lstatSync(path, { throwIfNoEntry: false }) === undefined ? undefined : null;
    return found.isFile() && found.size <= maxBytes ? readFileSync(path, 'utf8') : null;
  } catch {
    return null;
  }
}
