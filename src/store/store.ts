import { createRequire } from 'node:module';
import { accessSync, constants, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { RuntimeError } from '../schema/errors.ts';
import { codeOf } from '../text/thrown.ts';
import { type Connect, connectForReading, removeUnfilled } from './access.ts';
import { createSql } from './connection.ts';
import { storeError, unbuilt, unopened } from './failure.ts';
import { type Connection, createHandle, type Handle, pragmaOf } from './handle.ts';
import { checkAfterCrash, checkLog, checkWhole, inspect, noteClean, noteWriter, sizeOf } from './inspect.ts';
import { applyMigrations, latest, migrations } from './migrate.ts';
import type { Migration } from './migrations/migration.ts';
import { processOwner } from './owner.ts';
import { checkDatabaseFile, createPrivateFile, machineKey, narrowDatabaseFile } from './private-file.ts';
import type { Sql } from './sql.ts';
import { stillThere, type StillThere } from './still-there.ts';
import { beginLog, initialise, migrate } from './upgrade.ts';
import { quote } from '../text/quote.ts';
import { lookAt, systemReason, writeFault } from '../text/system-reason.ts';

/** True in a build for tests alone; the sources as they stand have none. */
declare const FAIL_POINTS: boolean | undefined;

export type OpenOptions = {
  /** Absolute path of the database file. */
  readonly path: string;
  /**
   * `create` makes the file when it is missing. `existing` refuses a missing one. `read` only reads, and a missing file
   * reads as an empty database, for which nothing is created. `none` does not look at the path: an empty database stands
   * for it.
   */
  readonly mode: 'create' | 'existing' | 'read' | 'none';
  /** User-level directory; holds `machine.key`, which is made when a database is. */
  readonly reinsHome: string;
  /** Directory URL of the installation, where the binary of the package is found; absent: the package finds it. */
  readonly installation?: URL;
  /** Version of the program, noted in a new database. */
  readonly version: string;
  readonly now: () => number;
  /** Receives one sentence for the operator. */
  readonly warn: (line: string) => void;
  /** How long a statement waits for another process's lock, in milliseconds; 5000 unless given. */
  readonly busyTimeoutMs?: number;
  /** Steps of the schema; the program's own unless a test gives others. */
  readonly migrations?: readonly Migration[];
};

export type OpenedStore = {
  readonly sql: Sql;
  readonly path: string;
  readonly schema: number;
  /** True when this call made the file. */
  readonly created: boolean;
  /** Reads the whole file for faults, which takes time with its size. @throws RuntimeError database_damaged */
  check(): void;
  /** Gives free pages back to the file system, at most so many; 0 = all. The file is cut when it is checkpointed. */
  vacuum(pages: number): void;
  /** Closes the connection; further calls do nothing. */
  close(): void;
};

/**
 * Opens the database after everything about it was checked (11 §1.2, §2.1, §2.10, §2.12): file, application, schema
 * number, definitions, origin. Nothing of it is used before, and a refused file stays byte for byte as it was.
 * @throws RuntimeError config_invalid (link, other user, not writable), database_foreign, database_newer,
 *   database_damaged, database_busy, storage, not_found (mode `existing`)
 */
export async function openStore(options: OpenOptions): Promise<OpenedStore> {
  const busyTimeoutMs = options.busyTimeoutMs ?? 5000;
  const connect = connector({ ...options, busyTimeoutMs });
  try {
    return open({ ...options, busyTimeoutMs, migrations: options.migrations ?? migrations }, connect);
  } catch (error) {
    throw storeError(error, options.path);
  }
}

/** Opens connections with the settings that every one of them has. */
export function connector(options: Pick<OpenOptions, 'installation' | 'busyTimeoutMs'>): Connect {
  const binding = bindingOf(options.installation);
  return (source, access) => {
    const handle = connected(source, options.installation, {
      readonly: access === 'read',
      fileMustExist: access !== 'write',
      timeout: options.busyTimeoutMs ?? 5000,
      ...binding,
    });
    try {
      handle.exec(access === 'alone' ? `${aloneSettings}${connectionSettings}` : connectionSettings);
    } catch (error) {
      handle.close();
      throw error;
    }
    return handle;
  };
}

function connected(source: string | Buffer, installation: URL | undefined, settings: Sqlite.Options): Handle {
  try {
    // `Connection` names the members used here; the package's overloads of `prepare` accept every SqlValue list.
    return createHandle(new Sqlite(source, settings) as unknown as Connection);
  } catch (error) {
    throw codeOf(error) === 'ERR_DLOPEN_FAILED' ? unbuilt(installation, error) : error;
  }
}

/**
 * The package's binary by name from the installation: its JavaScript is in the bundle, since ten files that Node looks for
 * one by one take longer than everything else about opening.
 */
function bindingOf(installation: URL | undefined): { readonly nativeBinding?: string } {
  if (installation === undefined) return {};
  const { resolve } = createRequire(new URL('package.json', installation));
  try {
    // The file that the package's own build makes.
    return { nativeBinding: resolve('better-sqlite3/build/Release/better_sqlite3.node') };
  } catch (error) {
    throw unbuilt(installation, error);
  }
}

type Resolved = Required<Omit<OpenOptions, 'installation'>>;

/** Settings of 11 §2.1 that neither read nor change the file. Defensive mode is the package's default. */
const connectionSettings = `PRAGMA trusted_schema = OFF; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON;
PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0; PRAGMA synchronous = NORMAL;`;
/** Stand before the others: the first look at the file decides about its companions. */
const aloneSettings = 'PRAGMA locking_mode = EXCLUSIVE; PRAGMA query_only = ON;';
export const writerSettings = `PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 67108864;`;

function open(options: Resolved, connect: Connect): OpenedStore {
  const { path, mode } = options;
  if (mode === 'none') return emptyStore(options, connect);
  const size = checkDatabaseFile(path);
  if (size === null && mode === 'existing') {
    throw new RuntimeError('not_found', `There is no database ${path}.`, { hints: ['reins init'] });
  }
  // Before any connection: the first look plays a log.
  if (size !== null && size > 0) checkLog(options);
  if (mode === 'read') {
    return size === null || size === 0 ? emptyStore(options, connect) : readStore(options, connect);
  }

  // SQLite would open it for reading, and only the first write would fail.
  if (size !== null) checkWritable(path);
  // With the key comes the user-level directory, where the database may lie.
  if (size === null) machineKey(options.reinsHome, true);
  const created = size === null && makeFile(path);
  // Recovery and the checkpoint of closing would write to a file that is to be refused, so it is looked at first.
  if (sizeOf(`${path}-wal`) > 0) {
    const look = connect(path, 'read');
    try {
      inspect(look, options);
    } finally {
      look.close();
    }
  }
  try {
    return writeStore(options, connect(path, 'write'), connect, created);
  } catch (error) {
    // Named before the file is taken away: how much room was free belongs to it.
    const named = storeError(error, path);
    if (created) removeUnfilled(path, connect);
    throw named;
  }
}

function checkWritable(path: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw unopened(path, `cannot be opened for writing: ${systemReason(error)}`, error);
  }
}

function makeFile(path: string): boolean {
  try {
    return createPrivateFile(path);
  } catch (error) {
    const missing = codeOf(error) === 'ENOENT';
    const why = missing ? `there is no directory ${dirname(path)}` : systemReason(error);
    const code = missing ? 'config_invalid' : writeFault(error);
    throw new RuntimeError(code, `The database ${path} cannot be created: ${why}.`, {
      cause: error,
      hints: missing ? [`mkdir -m 700 ${quote(dirname(path))}`] : [lookAt(error, dirname(path))],
    });
  }
}

function writeStore(options: Resolved, handle: Handle, connect: Connect, created: boolean): OpenedStore {
  try {
    const found = inspect(handle, options);
    narrow(options);
    if (found === 'new') initialise(handle, options);
    else beginLog(handle, options);
    if (found !== 'new' && found < latest(options.migrations)) {
      migrate(handle, options, (source) => connect(source, 'read'));
    }
    handle.exec(writerSettings);
    if (found !== 'new') checkAfterCrash(handle, options.path);
    if (typeof FAIL_POINTS !== 'undefined' && FAIL_POINTS) fillDisk(handle, options.path);
    return opened(options, handle, created);
  } catch (error) {
    handle.close();
    throw error;
  }
}

/** After the file was judged, and before anything is written to it. */
function narrow({ path, warn }: Resolved): void {
  const warning = narrowDatabaseFile(path);
  if (warning !== null) warn(warning);
}

/** Fail point: the file beside the database says by how many pages it may grow before its disk is full. */
function fillDisk(handle: Handle, path: string): void {
  if (sizeOf(`${path}.fail-full`) === 0) return;
  const pages = pragmaOf(handle, 'page_count') + Number(readFileSync(`${path}.fail-full`, 'utf8'));
  handle.exec(`PRAGMA max_page_count = ${pages}`);
}

function readStore(options: Resolved, connect: Connect): OpenedStore {
  const handle = connectForReading(options.path, connect);
  let found: number | 'new';
  try {
    found = inspect(handle, options);
  } catch (error) {
    handle.close();
    throw error;
  }
  if (found === 'new') {
    handle.close();
    return emptyStore(options, connect);
  }
  if (found === latest(options.migrations)) {
    narrow(options);
    return opened(options, handle, false);
  }
  // An older file cannot be read by the statements of this program.
  handle.close();
  return writeStore(options, connect(options.path, 'write'), connect, false);
}

function emptyStore(options: Resolved, connect: Connect): OpenedStore {
  const handle = connect(':memory:', 'write');
  handle.exec('BEGIN');
  applyMigrations(handle, options.migrations, 0);
  handle.exec('COMMIT; PRAGMA query_only = ON');
  return opened(options, handle, false, null);
}

/** @param there null where no file is open */
function opened(
  options: Resolved,
  handle: Handle,
  created: boolean,
  there: StillThere | null = stillThere(options.path),
): OpenedStore {
  const me = processOwner('store');
  let wrote = false;
  let closed = false;
  const sql = createSql(handle, {
    path: options.path,
    schema: latest(options.migrations),
    busyTimeoutMs: options.busyTimeoutMs,
    there,
    onFirstWrite: () => {
      noteWriter(handle, me);
      wrote = true;
    },
  });
  return {
    sql,
    path: options.path,
    schema: latest(options.migrations),
    created,
    check() {
      try {
        checkWhole(handle, options.path);
      } catch (error) {
        throw storeError(error, options.path);
      }
    },
    vacuum(pages) {
      try {
        handle.exec(`PRAGMA incremental_vacuum(${pages})`);
      } catch (error) {
        throw storeError(error, options.path);
      }
    },
    close() {
      if (closed) return;
      closed = true;
      if (wrote) noteClean(handle, me);
      handle.close();
    },
  };
}
