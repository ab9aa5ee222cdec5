import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type IgnoreRules, isIgnored, readIgnoreFile } from './ignore-files.ts';
import { fuzzyBest } from './fuzzy.ts';
import { canBeMentioned } from './mention.ts';

/** Paths that can be mentioned, below one directory; directories end in `/`. */
export type MentionIndex = {
  readonly paths: readonly string[];
  /** Hidden and very large files: offered behind the others. */
  readonly last: readonly string[];
  /** The walk ended at a limit: there are more. */
  readonly cut: boolean;
};

const mostEntries = 200_000;
const longestMs = 2000;
const largeBytes = 1024 * 1024;

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
  const queue: { readonly directory: string; readonly rules: readonly IgnoreRules[]; readonly hidden: boolean }[] = [
    { directory: '', rules: [readIgnoreFile(excluded, '')], hidden: false },
  ];
  for (let next = queue.shift(); next !== undefined && !cut; next = queue.shift()) {
    const { directory } = next;
    const entries = await entriesOf(join(root, directory));
    const rules = [...next.rules, ...(await ignoreFiles(root, directory, entries))];
    for (const entry of entries) {
      const isDirectory = entry.isDirectory();
      const path = directory + entry.name;
      if (entry.name === '.git' || (!isDirectory && !(await isFile(entry, join(root, path))))) continue;
      if (!canBeMentioned(entry.name) || isIgnored(rules, path, isDirectory)) continue;
      const hidden = next.hidden || entry.name.startsWith('.');
      if (isDirectory) queue.push({ directory: `${path}/`, rules, hidden });
      const late = hidden || (!isDirectory && (await isLarge(join(root, path))));
      (late ? last : paths).push(isDirectory ? `${path}/` : path);
      cut = paths.length + last.length >= mostEntries;
      if (cut) break;
    }
    cut ||= now() >= end || signal.aborted;
  }
  return { paths, last, cut };
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

async function isLarge(path: string): Promise<boolean> {
  try {
    return (await stat(path)).size > largeBytes;
  } catch {
    return false;
  }
}

/** The paths that fit a query, best first; without one, those that come first. */
export function matchMentions(index: MentionIndex, query: string, count: number): readonly string[] {
  const best = fuzzyBest(query, index.paths, (path) => path, count);
  if (best.length >= count) return best;
  return [...best, ...fuzzyBest(query, index.last, (path) => path, count - best.length)];
}
