import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type IgnoreRules, isIgnored, readIgnoreFile } from './ignore-files.ts';
import { fuzzyBest } from './fuzzy.ts';
import { canBeMentioned } from './mention.ts';

/** Paths that can be mentioned, below one directory; directories end in `/`. */
export type MentionIndex = {
  readonly paths: readonly string[];
  /** Hidden files: offered behind the others. */
  readonly last: readonly string[];
  /** The walk ended at a limit: there are more. */
  readonly cut: boolean;
};

const mostEntries = 200_000;
const longestMs = 2000;
/** Directories that are read side by side. */
const atOnce = 16;

/**
 * Walks the workspace for paths to mention (10 §6.4): nothing that ignore files name, no link into the
 * void, no device, no `.git`.
 * @param excluded further rules, of git's own excludes
 * @param now milliseconds of a steady clock: a pass ends after two seconds
 */
export async function scanMentions(
  root: string,
  excluded: string,
  now: () => number,
  signal: AbortSignal,
): Promise<MentionIndex> {
  const paths: string[] = [];
  const last: string[] = [];
  const end = now() + longestMs;
  let cut = false;
  const queue: Directory[] = [{ path: '', rules: [readIgnoreFile(excluded, '')], hidden: false }];
  while (queue.length > 0 && !cut) {
    const read = await Promise.all(queue.splice(0, atOnce).map((directory) => readDirectory(root, directory)));
    for (const { entries, rules, ...directory } of read) {
      for (const { name, isDirectory } of entries) {
        const path = directory.path + name;
        if (!canBeMentioned(name) || isIgnored(rules, path, isDirectory)) continue;
        const hidden = directory.hidden || name.startsWith('.');
        if (isDirectory) queue.push({ path: `${path}/`, rules, hidden });
        (hidden ? last : paths).push(isDirectory ? `${path}/` : path);
        cut ||= paths.length + last.length >= mostEntries;
        if (cut) break;
      }
    }
    cut ||= now() >= end || signal.aborted;
  }
  return { paths, last, cut };
}

type Directory = { readonly path: string; readonly rules: readonly IgnoreRules[]; readonly hidden: boolean };

/** What of a directory may be named, and the rules for it; of one that cannot be read nothing. */
async function readDirectory(root: string, directory: Directory) {
  const { path, hidden } = directory;
  const found = await entriesOf(join(root, path));
  const rules = [...directory.rules, ...(await ignoreFiles(root, path, found))];
  const entries: { readonly name: string; readonly isDirectory: boolean }[] = [];
  for (const entry of found) {
    const { name } = entry;
    const isDirectory = entry.isDirectory();
    if (name !== '.git' && (isDirectory || (await isFile(entry, join(root, path, name)))))
      entries.push({ name, isDirectory });
  }
  return { path, hidden, entries, rules };
}

/** In the order of names. A directory that cannot be read has no entries. */
async function entriesOf(directory: string): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch {
    return [];
  }
}

async function ignoreFiles(root: string, base: string, entries: readonly Dirent[]): Promise<readonly IgnoreRules[]> {
  const found: IgnoreRules[] = [];
  for (const name of ['.gitignore', '.ignore']) {
    if (!entries.some((entry) => entry.name === name && entry.isFile())) continue;
    const text = await readFile(join(root, base, name), 'utf8').catch(() => '');
    found.push(readIgnoreFile(text, base));
  }
  return found;
}

/** A link counts as the file that it leads to; one that leads nowhere, or to a directory, is none. */
async function isFile(entry: Dirent, path: string): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isFile();
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

/** The paths that fit a query, best first; without one, those that come first. */
export function matchMentions(index: MentionIndex, query: string, count: number): readonly string[] {
  const best = fuzzyBest(query, index.paths, (path) => path, count);
  if (best.length >= count) return best;
  return [...best, ...fuzzyBest(query, index.last, (path) => path, count - best.length)];
}
