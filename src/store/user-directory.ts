import { accessSync, chmodSync, constants, lstatSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import { quote } from '../text/quote.ts';
import { systemReason } from '../text/system-reason.ts';

/** Makes the user-level directory with mode 0700 when it is missing, parents included. @throws RuntimeError config_invalid */
export function ensureUserDirectory(path: string): void {
  try {
    if (mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(path, 0o700);
  } catch (error) {
    throw unusableHome(path) ?? unusable(path, systemReason(error), `ls -ld ${quote(dirname(path))}`, error);
  }
}

/**
 * Why the user-level directory can be neither written nor made (06 §5.2), with what mends it; null when it can. Leaves
 * nothing behind.
 */
export function unusableHome(path: string): RuntimeError | null {
  const name = quote(path);
  if (isLinkToNothing(path)) return unusable(path, 'it is a link to nothing', `ls -ld ${name}`);
  const place = nearest(path);
  const isThere = place === path;
  if (!statSync(place).isDirectory()) {
    return unusable(path, isThere ? 'it is not a directory' : `${place} is not a directory`, `ls -ld ${quote(place)}`);
  }
  try {
    accessSync(place, constants.R_OK | constants.W_OK | constants.X_OK);
    // Permissions are not the whole of it: a system's own directories give root every one, and take no file.
    rmdirSync(mkdtempSync(join(place, '.reins-')));
    return null;
  } catch (error) {
    const where = isThere ? '' : `it cannot be made in ${place}: `;
    return unusable(
      path,
      `${where}${systemReason(error)}`,
      isThere ? `chmod u+rwx ${name}` : `ls -ld ${quote(place)}`,
      error,
    );
  }
}

const unusable = (path: string, why: string, mend: string, cause?: unknown): RuntimeError =>
  new RuntimeError('config_invalid', `The user-level directory ${path} cannot be used: ${why}.`, {
    cause,
    data: { path },
    hints: [mend, 'export REINS_HOME=<directory>'],
  });

function isLinkToNothing(path: string): boolean {
  try {
    return !exists(path) && (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false);
  } catch {
    // Below a file: nothing has this name.
    return false;
  }
}

/** The path itself, or the nearest one above it that exists. */
function nearest(path: string): string {
  return exists(path) || dirname(path) === path ? path : nearest(dirname(path));
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Below a file, or below a directory that may not be searched.
    return false;
  }
}
