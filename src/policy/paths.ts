import type { PolicyHost } from '../schema/policy.ts';
import { foldCase } from '../text/fold-case.ts';
import { below, type GlobPlaces } from './glob.ts';

/** A path argument under both its names (02 §7.2), comparable: cleaned, NFC, folded where the file system folds. */
export type PathValue = {
  readonly given: string;
  readonly lexical: string;
  /** The real path; looked up when first asked for. */
  real(): string;
  /** The real path as the host gave it, for further questions to the host. */
  found(): string;
  /** Whether it names another file in each process. */
  perProcess(): boolean;
};

/** What a process opens, where it is, and what it holds. */
const ofProcess = /^\/+proc\/+([^/]*)\/+(?:task\/+[^/]+\/+)?(?:cwd|root|fd|exe|environ|mem|map_files)(?:\/|$)/;
/** Of one that only the shell can tell: `$$`, `$PPID`. */
const ofSomeProcess = (path: string): boolean => ofProcess.exec(path)?.[1]?.includes('$') === true;

const drive = /^[A-Za-z]:(\/|$)/;

/** A drive is a root where there are drives; elsewhere `C:` is a name like another, and a path behind it a relative one. */
const isAbsolute = (path: string, host: PolicyHost): boolean =>
  path.startsWith('/') || (host.platform === 'win32' && drive.test(path));

/** Removes `.`, `..`, doubled and trailing slashes from an absolute path; `..` never leaves the root. */
function cleanPath(path: string): string {
  if (!/\/\/|\/\.|\/$/.test(path)) return path;
  const parts: string[] = [];
  const root = drive.test(path) ? path.slice(0, 2) : '';
  for (const part of path.slice(root.length).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.length === 0 && root !== '' ? root : `${root}/${parts.join('/')}`;
}

/** Text that every normalisation leaves as it is: most paths, and asking costs a tenth of normalising. */
const ascii = /^[\0-\x7f]*$/;

/** A path text as it is compared with others: NFC, and folded where the file system of the workspace folds. */
export function comparable(path: string, host: PolicyHost): string {
  const given = host.platform === 'win32' ? path.replaceAll('\\', '/') : path;
  const text = ascii.test(given) ? given : given.normalize('NFC');
  return host.caseInsensitivePaths ? foldCase(text) : text;
}

/** The absolute path that a text names, `.` and `..` still in it: `~/` is the home directory, the rest lies in `base`. */
function absolutePath(text: string, base: string, host: PolicyHost): string {
  const value = host.platform === 'win32' ? text.replaceAll('\\', '/') : text;
  if (value.startsWith('~/')) return `${host.home}${value.slice(1)}`;
  return isAbsolute(value, host) ? value : `${base}/${value}`;
}

/** Reads a path argument; relative ones lie in the call's directory. */
export function pathValue(text: string, host: PolicyHost): PathValue {
  const absolute = absolutePath(text, host.cwd, host);
  const lexical = comparable(cleanPath(absolute), host);
  let found: string | null = null;
  let real: string | null = null;
  return {
    given: text,
    lexical,
    found() {
      found ??= host.realPath(absolute);
      return found;
    },
    real() {
      real ??= comparable(this.found(), host);
      return real;
    },
    perProcess() {
      if (ofSomeProcess(absolute)) return true;
      // Most paths have neither links nor a way back, and need no look at each of their names.
      const plain = !absolute.includes('..') && !/^\/+(proc|dev)\//.test(absolute) && this.real() === lexical;
      return !plain && host.perProcess(absolute);
    },
  };
}

/**
 * Reads the argument that names the directory of a shell call: from the root on (05 §3.1), where every other path of the
 * call lies in that directory. Where it leads is where the call is.
 */
export function directoryValue(text: string, host: PolicyHost): PathValue {
  return {
    ...pathValue(host.cwd, host),
    given: text,
    lexical: comparable(cleanPath(absolutePath(text, host.workspace, host)), host),
  };
}

/** A directory operand: absolute, `~/..`, or below each of the workspace's names. */
export function directoriesOf(operand: string, places: GlobPlaces, host: PolicyHost): readonly string[] {
  const bases = isAbsolute(operand, host) || operand.startsWith('~/') ? [''] : places.workspaces;
  return bases.map((base) => comparable(cleanPath(absolutePath(operand, base, host)), host));
}

/** The roots that patterns are anchored at, comparable. */
export function placesOf(host: PolicyHost): GlobPlaces {
  const given = comparable(cleanPath(host.workspace), host);
  const resolved = comparable(host.realPath(host.workspace), host);
  return {
    workspaces: given === resolved ? [given] : [given, resolved],
    home: comparable(cleanPath(host.home), host),
    fold: host.caseInsensitivePaths,
  };
}

export const isWithin = (path: string, directory: string): boolean => below(path, directory) !== null;
