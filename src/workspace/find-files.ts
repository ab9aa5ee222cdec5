import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export type FoundFile = { readonly path: string; readonly size: number; readonly kind: 'file' | 'directory' };

/** Names that a person never means: version control, dependencies, and what holds secrets or controls this program. */
const leftOut: ReadonlySet<string> = new Set([
  '.git',
  '.hg',
  '.svn',
  'node_modules',
  '.reins',
  '.ssh',
  '.aws',
  '.gnupg',
  '.kube',
  '.docker',
  '.netrc',
  '.npmrc',
  '.pypirc',
]);
const isSecret = (name: string): boolean =>
  leftOut.has(name) || /^\.env($|\.)/.test(name) || /\.(pem|key|p12)$/.test(name);

/** Entries that are looked at; a larger tree is searched in part. */
const mostEntries = 50_000;

/**
 * Paths below a root whose text holds all words of a query, shortest first (09 §6.2 `@file`). Links are not followed;
 * what the root's `.gitignore` names by a plain pattern is passed over. Never throws.
 * @param own places of this program, wherever below the root its operator has put them
 */
export function findFiles(
  root: string,
  query: string,
  limit: number,
  own: readonly string[] = [],
): readonly FoundFile[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const ignored = ignoredBy(root);
  const isOwn = (path: string): boolean => own.includes(join(root, path).replace(/-(?:wal|shm|journal)$/, ''));
  const found: { path: string; kind: FoundFile['kind'] }[] = [];
  const waiting = [''];
  for (let seen = 0; waiting.length > 0 && seen < mostEntries; ) {
    const directory = waiting.shift() ?? '';
    for (const entry of entriesOf(join(root, directory))) {
      seen += 1;
      const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
      if (isSecret(entry.name) || isOwn(path) || ignored(path, entry.name)) continue;
      const kind = entry.isDirectory() ? 'directory' : entry.isFile() ? 'file' : null;
      if (kind === null) continue;
      if (kind === 'directory') waiting.push(path);
      const lower = path.toLowerCase();
      if (words.every((word) => lower.includes(word))) found.push({ path, kind });
    }
  }
  found.sort((one, other) => one.path.length - other.path.length || (one.path < other.path ? -1 : 1));
  return found
    .slice(0, limit)
    .map(({ path, kind }) => ({ path, kind, size: kind === 'file' ? sizeOf(root, path) : 0 }));
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

function sizeOf(root: string, path: string): number {
  return statSync(join(root, path), { throwIfNoEntry: false })?.size ?? 0;
}

/** Plain patterns of the root's `.gitignore`: names, paths and `*.ext`. Others ignore nothing here. */
function ignoredBy(root: string): (path: string, name: string) => boolean {
  let text: string;
  try {
    text = readFileSync(join(root, '.gitignore'), 'utf8');
  } catch {
    return () => false;
  }
  const lines = text.split('\n').map((line) => line.trim().replace(/\/$/, ''));
  const plain = new Set(
    lines.filter((line) => /^\/?[\w.@+-]+(\/[\w.@+-]+)*$/.test(line)).map((line) => line.replace(/^\//, '')),
  );
  const endings = lines.filter((line) => /^\*\.[\w.]+$/.test(line)).map((line) => line.slice(1));
  return (path, name) => plain.has(name) || plain.has(path) || endings.some((ending) => name.endsWith(ending));
}
