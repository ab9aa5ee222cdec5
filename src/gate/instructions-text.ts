import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';

/** Longer ones are no document, and given to nobody (11 §1.2.6): that they changed is told by their size. */
const mostBytes = 1024 * 1024;

/** Tells the text of a file by its hash: one `stat` for each look, and the file is read only when that tells of a change. */
export function createTextLook() {
  const known = new Map<string, { readonly identity: string; readonly sha256: string | null }>();
  return (path: string): string | null => {
    try {
      const found = statSync(path, { bigint: true, throwIfNoEntry: false });
      if (found === undefined || !found.isFile()) return null;
      const identity = [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(':');
      const before = known.get(path);
      if (before?.identity === identity) return before.sha256;
      const sha256 = found.size > mostBytes ? `larger:${identity}` : sha256Of(readFileSync(path));
      known.set(path, { identity, sha256 });
      return sha256;
    } catch {
      // Not to be read by us: a model is given nothing of it either, and what it is once it can be read is a change.
      return null;
    }
  };
}

const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
