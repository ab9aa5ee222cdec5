import { accessSync, constants, readFileSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Inspection } from '../registry/inspection.ts';
import { unusableHome } from '../store/user-directory.ts';
import { quote } from '../text/quote.ts';

/** null when nothing is there, or nothing that may be looked at. */
export const sizeOf = (path: string): number | null => statsOf(path)?.size ?? null;

function statsOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/** The path itself, or the nearest directory above it that exists. */
export function nearest(path: string): string {
  return sizeOf(path) !== null || dirname(path) === path ? path : nearest(dirname(path));
}

/** Whether files can be made in a directory. */
export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Whether a file can be written. */
export function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Why the user's directory cannot be used, with what mends it; null when it can. */
export function homeFault(path: string): Inspection['unwritable']['home'] {
  const fault = unusableHome(path);
  return fault === null ? null : { path, message: fault.message, mend: fault.hints[0] ?? `ls -ld ${quote(path)}` };
}

/** Those of the files that others may read, each with what mends it. */
export function openPermissions(paths: readonly string[]): Inspection['openPermissions'] {
  return paths.flatMap((path) => {
    const stats = statsOf(path);
    if (stats === null || !stats.isFile() || process.platform === 'win32' || (stats.mode & 0o077) === 0) return [];
    return [{ path, message: `${path} can be read by others`, mend: `chmod 600 ${quote(path)}` }];
  });
}

/** File systems that show every file as writable by all, whatever `chmod` says (amendment 24). */
const permissionless: ReadonlySet<string> = new Set([
  '9p',
  'drvfs',
  'exfat',
  'fuseblk',
  'msdos',
  'ntfs',
  'ntfs3',
  'vboxsf',
  'vfat',
]);

/** The mount that a path lies on, if its files cannot have permissions of their own; null otherwise. */
export function permissionlessMount(path: string, mounts: string = readMounts()): string | null {
  const found = mounts
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, point = '']) => path === point || path.startsWith(point === '/' ? '/' : `${point}/`))
    .sort(([, a = ''], [, b = '']) => b.length - a.length)[0];
  return found !== undefined && permissionless.has(found[2] ?? '') ? (found[1] ?? null) : null;
}

function readMounts(): string {
  try {
    return readFileSync('/proc/self/mounts', 'utf8');
  } catch {
    // No such list on this platform: the advice is to change the permissions.
    return '';
  }
}
