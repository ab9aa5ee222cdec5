import { closeSync, constants, type Dirent, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

export type Entry = {
  /** Relative to where the walk began, with `/`. */
  readonly path: string;
  readonly name: string;
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  /** A path that leads to the entry through directories which the walk holds open. */
  readonly at: string;
};

export type WalkOptions = {
  /** 1: the entries of the directory itself. */
  readonly depth: number;
  readonly signal: AbortSignal;
  /** Called for every entry in byte order of the paths, directories with their `/`. `stop` ends the walk. */
  visit(entry: Entry): Promise<'stop' | undefined> | 'stop' | undefined;
};

/** Named, but not entered (05 §4.8). */
const skipped: ReadonlySet<string> = new Set(['.git', '.hg', 'node_modules', '.venv', '__pycache__']);
/** Deeper trees than any that people make; every level holds one descriptor. */
export const maxDepth = 64;
const sliceMs = 10;

export type Walked = {
  readonly kind: 'done' | 'stopped' | 'aborted';
  readonly unreadable: number;
  /** Directories that lie too deep to be entered, whatever depth is wanted. */
  readonly tooDeep: number;
};

/**
 * Walks a directory that is held open, never through a link, and never out of it by a directory that is moved
 * meanwhile. Other work gets its turn every 10 ms. Never rejects for what the file system does.
 */
export async function walk(base: string, { depth, signal, visit }: WalkOptions): Promise<Walked> {
  let unreadable = 0;
  let tooDeep = 0;
  let pausedAt = performance.now();

  const enter = async (directory: string, prefix: string, level: number): Promise<Walked['kind']> => {
    const entries = entriesOf(directory);
    if (entries === null) {
      unreadable += 1;
      return 'done';
    }
    for (const { name, kind } of entries) {
      if (performance.now() - pausedAt > sliceMs) {
        await nextTurn();
        pausedAt = performance.now();
      }
      if (signal.aborted) return 'aborted';
      const at = join(directory, name);
      const path = prefix + name;
      if ((await visit({ path, name, kind, at })) === 'stop') return 'stopped';
      if (kind !== 'directory' || level >= depth || skipped.has(name)) {
        if (kind === 'directory' && level >= maxDepth && !skipped.has(name)) tooDeep += 1;
        continue;
      }
      const ended = await below(at, `${path}/`, level + 1);
      if (ended !== 'done') return ended;
    }
    return 'done';
  };

  const below = async (at: string, prefix: string, level: number): Promise<Walked['kind']> => {
    if (process.platform !== 'linux') return enter(at, prefix, level);
    let fd: number;
    try {
      fd = openSync(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    } catch {
      unreadable += 1;
      return 'done';
    }
    try {
      return await enter(`/proc/self/fd/${fd}`, prefix, level);
    } finally {
      closeSync(fd);
    }
  };

  const kind = await enter(base, '', 1);
  return { kind, unreadable, tooDeep };
}

type Named = { readonly name: string; readonly kind: Entry['kind'] };

function entriesOf(directory: string): readonly Named[] | null {
  let entries: Dirent[];
  try {
    entries = readdirSync(directory, { withFileTypes: true });
  } catch {
    return null;
  }
  const keyed = entries.map((entry) => {
    const kind = kindOf(entry);
    return { name: entry.name, kind, key: kind === 'directory' ? `${entry.name}/` : entry.name };
  });
  return keyed.sort((a, b) => compareBytes(a.key, b.key));
}

function kindOf(entry: Dirent): Entry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

/** Order of the UTF-8 bytes; that of UTF-16 units differs only where there are surrogates. */
function compareBytes(a: string, b: string): number {
  if (/[\ud800-\udfff]/.test(a) || /[\ud800-\udfff]/.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}
