import { readFileSync, statSync } from 'node:fs';

/** Keys and themes are written by hand. */
const mostBytes = 1024 * 1024;

/**
 * Reads a small file of the operator's own. A device or a pipe in its place is never waited for.
 * @returns null when there is none. @throws Error with what keeps it from being read
 */
export function readOwnFile(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (!found.isFile()) throw new Error('is not a regular file');
  if (found.size > mostBytes) throw new Error('has more than 1 MiB');
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`, { cause: error });
  }
}
