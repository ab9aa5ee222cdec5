import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { codeOf, messageOf } from '../text/thrown.ts';

/** Name of a data directory, and of the user-level one by default. */
const directoryName = '.reins';

export type FindWorkspace = {
  readonly cwd: string;
  /** `--data-dir` or `REINS_DATA_DIR`, absolute; null = search upward. */
  readonly dataDirFlag: string | null;
  /** `--db` or `REINS_DB`, absolute. */
  readonly dbFlag: string | null;
  /** User-level directory, absolute; it need not exist. */
  readonly reinsHome: string;
  /** The current user; null where the platform has none. */
  readonly uid: number | null;
};

export type Workspace = {
  /** Data directory in use; null when there is none. One that was named need not exist. */
  readonly dataDir: string | null;
  readonly dataDirExists: boolean;
  /** Real path of the directory that holds the data directory, or of the working directory (06 §5.1). */
  readonly root: string;
  /** Real path of the working directory: relative paths of the operator start here. */
  readonly cwd: string;
  readonly dbPath: string;
  /** User-level directory. */
  readonly home: string;
  /** One sentence for each data directory that was passed over. */
  readonly warnings: readonly string[];
  /** The same directories, and what is wrong with each. */
  readonly passedOver: readonly PassedOver[];
};

type PassedOver = { readonly path: string; readonly fault: string };

/** Finds data directory, root and database (06 §5.1 to §5.3). Reads the file system; creates nothing; never throws. */
export function findWorkspace(options: FindWorkspace): Workspace {
  const cwd = realOf(options.cwd);
  const home = realOf(options.reinsHome);
  const passedOver: PassedOver[] = [];
  const dataDir = options.dataDirFlag ?? searchUpward(cwd, home, options.uid, passedOver);
  const dbPath = options.dbFlag ?? join(dataDir ?? home, 'local.db');
  return {
    dataDir,
    dataDirExists: dataDir !== null && statusOf(dataDir) !== null,
    root: dataDir === null ? cwd : realOf(dirname(dataDir)),
    cwd,
    dbPath,
    home,
    warnings: passedOver.map(({ path, fault }) => `The directory ${path} is not used: it ${fault}.`),
    passedOver,
  };
}

function searchUpward(start: string, home: string, uid: number | null, passedOver: PassedOver[]): string | null {
  for (let directory = start; ; directory = dirname(directory)) {
    const candidate = join(directory, directoryName);
    const fault = realOf(candidate) === home ? 'user' : dataDirFault(candidate, uid);
    if (fault === null) return candidate;
    if (fault !== 'user' && fault !== 'missing') passedOver.push({ path: candidate, fault });
    if (dirname(directory) === directory) return null;
  }
}

/** Why a directory that is there is not used as a data directory (11 §1.2.5); `missing` when there is none. */
export function dataDirFault(path: string, uid: number | null): string | null {
  const stats = statusOf(path);
  if (stats === null) return 'missing';
  if (stats.isSymbolicLink()) return 'is a symbolic link';
  if (!stats.isDirectory()) return 'missing';
  if (uid !== null && stats.uid !== uid) return 'belongs to another user';
  if (uid !== null && (stats.mode & 0o002) !== 0) return 'can be written by every user (see chmod o-w, or --data-dir)';
  return null;
}

/** Why a data directory that the operator named cannot serve (06 §5.1); null when it can. Never throws. */
export function namedDataDirFault(path: string): string | null {
  try {
    return statSync(path).isDirectory() ? null : 'is not a directory';
  } catch (error) {
    const code = codeOf(error);
    return code === 'ENOENT' ? 'does not exist' : `cannot be read (${code ?? messageOf(error)})`;
  }
}

/** True when `init` here would write into the user-level directory (06 §5.1). */
export const isUserDirectory = (path: string, home: string): boolean => realOf(path) === home;

export const dataDirIn = (directory: string): string => join(directory, directoryName);

function statusOf(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
}

/** Real path of what exists; of the deepest existing ancestor with the rest appended otherwise. */
export function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realOf(parent), basename(path));
  }
}

/** Where the name itself lies: links on the way are followed, and one that it is itself is not. */
export const realPlaceOf = (path: string): string => join(realOf(dirname(path)), basename(path));
