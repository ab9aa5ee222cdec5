import { type BigIntStats, statSync } from 'node:fs';
import type { FileIdentity } from '../src/schema/policy.ts';

/** What a path names now; null for nothing, and for what may not be looked at. Never throws. */
export function lookAt(path: string): BigIntStats | null {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

/** Whether a regular file is still the one that was judged. */
export const isSame = (identity: FileIdentity, now: BigIntStats | null): boolean =>
  now?.isFile() === true &&
  String(now.dev) === identity.dev &&
  String(now.ino) === identity.ino &&
  String(now.size) === identity.size &&
  String(now.mtimeNs) === identity.mtime_ns &&
  String(now.ctimeNs) === identity.ctime_ns;
