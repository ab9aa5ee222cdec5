import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isTemporary } from './commit.ts';
import { walk } from './walk.ts';

const dayMs = 24 * 60 * 60 * 1000;
const maxFound = 20;
const maxDepth = 16;
/** A large tree is looked at in part. */
const maxMs = 500;

/**
 * Files of more than a day ago that changes of files left behind when the process was killed in the middle of one
 * (05 §4.6.2), relative to `root`; at most 20. Looks for half a second at most. Never rejects.
 */
export async function leftOver(root: string, now: number): Promise<readonly string[]> {
  const found: string[] = [];
  const signal = AbortSignal.timeout(maxMs);
  await walk(root, {
    depth: maxDepth,
    signal,
    visit({ path, name, kind, at }) {
      if (kind !== 'file' || !isTemporary(name)) return undefined;
      const stat = lstatSync(at, { throwIfNoEntry: false });
      if (stat !== undefined && now - stat.mtimeMs > dayMs) found.push(path);
      return found.length < maxFound ? undefined : 'stop';
    },
  });
  return found.map((path) => join(root, path));
}
