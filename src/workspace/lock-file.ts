import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import { ownerIsDead, processOwner } from '../store/owner.ts';
import { ensureUserDirectory } from '../store/user-directory.ts';
import { quote } from '../text/quote.ts';
import { lookAt, systemReason, writeFault } from '../text/system-reason.ts';
import { codeOf } from '../text/thrown.ts';

/** 11 §4.2, 02 §14.7. */
const lockWaitMs = 5_000;
const lockPollMs = 20;
/** An advisory lock is held for the time of one small write; an older one belongs to nobody. */
const lockStaleMs = 30_000;

/** The turn of whoever changes a policy, whichever file it is: all of one user take the same lock. As `lockFile`. */
export function lockPolicies(home: string, now: () => number): Promise<() => void> {
  ensureUserDirectory(home);
  return lockFile(join(home, 'policy.lock'), now);
}

/**
 * Takes an advisory lock file for the time of one small write.
 * @returns the function that gives it back.
 * @throws RuntimeError in_use after 5 s; config_invalid or storage when it cannot be made
 */
export async function lockFile(path: string, now: () => number): Promise<() => void> {
  const owner = `${processOwner('file')} ${randomBytes(4).toString('hex')}`;
  const deadline = now() + lockWaitMs;
  while (!tryLock(path, owner)) {
    if (breakStale(path, now)) continue;
    if (now() >= deadline) {
      throw new RuntimeError('in_use', `The file ${path} is held by another process; try again.`, {
        hints: [`rm ${quote(path)}`],
      });
    }
    await new Promise((resolve) => setTimeout(resolve, lockPollMs));
  }
  return () => rmSync(path, { force: true });
}

/** A name that is swept with other temporaries when its writer dies. */
const besides = (path: string): string => `${path}.tmp-${randomBytes(6).toString('hex')}`;

function tryLock(path: string, owner: string): boolean {
  // Written first and linked then: a lock that can be seen always names its owner.
  const mine = besides(path);
  try {
    const descriptor = openSync(mine, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      writeSync(descriptor, owner);
    } finally {
      closeSync(descriptor);
    }
    linkSync(mine, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw new RuntimeError(writeFault(error), `The file ${path} cannot be made: ${systemReason(error)}.`, {
      cause: error,
      hints: [lookAt(error, dirname(path))],
    });
  } finally {
    rmSync(mine, { force: true });
  }
}

/** Moves away the lock of an owner that is gone. @returns whether it is worth trying again at once. */
function breakStale(path: string, now: () => number): boolean {
  const held = readLock(path);
  if (held === null) return true;
  if (!ownerIsDead(held.owner) && now() - held.since < lockStaleMs) return false;
  const aside = besides(path);
  try {
    renameSync(path, aside);
    // Somebody else may have broken it first and taken a new one, which is given back.
    if (readLock(aside)?.owner !== held.owner) linkSync(aside, path);
  } catch {
    // Another process was quicker; or it may not be moved away, which must not be tried for ever.
    return false;
  } finally {
    rmSync(aside, { force: true });
  }
  return true;
}

/**
 * Who holds the lock, and since when; null when it is gone.
 * @throws RuntimeError config_invalid for what no process of ours has made: it is no lock, and it would never go
 */
function readLock(path: string): { readonly owner: string; readonly since: number } | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (!stats.isFile()) {
    throw new RuntimeError('config_invalid', `The file ${path} cannot be locked: it is not a regular file.`, {
      hints: [`ls -ld ${quote(path)}`],
    });
  }
  try {
    return { owner: readFileSync(path, 'utf8'), since: stats.mtimeMs };
  } catch (error) {
    // Of another user, as a program leaves it that was started as root: only its age tells that nobody holds it.
    return codeOf(error) === 'ENOENT' ? null : { owner: '', since: stats.mtimeMs };
  }
}
