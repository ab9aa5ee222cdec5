import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { RuntimeError } from '../schema/errors.ts';
import { backUp } from './backup.ts';
import { createSql, type Handle, newer } from './connection.ts';
import { damaged, storeError } from './failure.ts';
import { applyMigrations, expectedDigest, latest, migrations, schemaDigest } from './migrate.ts';
import type { Migration } from './migrations/migration.ts';
import { ownerIsDead, processOwner } from './owner.ts';
import { checkDatabaseFile, createPrivateFile, machineKey, reason } from './private-file.ts';
import type { Sql } from './sql.ts';

/** Marks a SQLite file as ours: `REIN` (11 §2). */
const applicationId = 0x5245494e;
/** A file above this size is not checked on opening after a crash; `doctor` advises it (11 §2.12). */
const quickCheckMaxBytes = 256 * 1024 * 1024;

export type OpenOptions = {
  /** Absolute path of the database file. */
  readonly path: string;
  /**
   * `create` makes the file when it is missing. `existing` refuses a missing one. `read` only reads, and a missing file
   * reads as an empty database, for which nothing is created.
   */
  readonly mode: 'create' | 'existing' | 'read';
  /** User-level directory; holds `machine.key`, which is made when a database is. */
  readonly reinsHome: string;
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
  const { default: Sqlite } = await import('better-sqlite3');
  const busyTimeoutMs = options.busyTimeoutMs ?? 5000;
  const connect: Connect = (source, readonly) => {
    // `Handle` names the members used here; the package's overloads of `prepare` accept every SqlValue list.
    const handle = new Sqlite(source, {
      readonly,
      fileMustExist: readonly,
      timeout: busyTimeoutMs,
    }) as unknown as Handle;
    handle.exec(connectionSettings);
    return handle;
  };
  try {
    return open({ ...options, busyTimeoutMs, migrations: options.migrations ?? migrations }, connect);
  } catch (error) {
    throw storeError(error, options.path);
  }
}

/** A path, or the bytes of a database to be read from memory. */
type Connect = (source: string | Buffer, readonly: boolean) => Handle;
type Resolved = Required<OpenOptions>;

/** Settings of 11 §2.1 that neither read nor change the file. Defensive mode is the package's default. */
const connectionSettings = `PRAGMA trusted_schema = OFF; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON;
PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0; PRAGMA synchronous = NORMAL;`;
const writerSettings = `PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 67108864;`;

function open(options: Resolved, connect: Connect): OpenedStore {
  const { path, mode } = options;
  const file = checkDatabaseFile(path);
  if (file !== null && file.warning !== null) options.warn(file.warning);
  if (file === null && mode === 'existing') {
    throw new RuntimeError('not_found', `There is no database ${path}.`, { hints: ['reins init'] });
  }
  if (mode === 'read')
    return file === null || file.size === 0 ? emptyStore(options, connect) : readStore(options, connect);

  // With the key comes the user-level directory, where the database may lie.
  if (file === null) machineKey(options.reinsHome, true);
  const created = file === null && makeFile(path);
  // Recovery and the checkpoint of closing would write to a file that is to be refused, so it is looked at first.
  if (sizeOf(`${path}-wal`) > 0) {
    const look = connect(path, true);
    try {
      inspect(look, options);
    } finally {
      look.close();
    }
  }
  return writeStore(options, connect(path, false), connect, created);
}

function makeFile(path: string): boolean {
  try {
    return createPrivateFile(path);
  } catch (error) {
    throw new RuntimeError('config_invalid', `The database ${path} cannot be created: ${reason(error)}.`, {
      cause: error,
    });
  }
}

function writeStore(options: Resolved, handle: Handle, connect: Connect, created: boolean): OpenedStore {
  try {
    const found = inspect(handle, options);
    if (found === 'new') initialise(handle, options);
    else if (found < latest(options.migrations)) migrate(handle, options, connect);
    useWal(handle, options.path);
    handle.exec(writerSettings);
    if (found !== 'new') checkAfterCrash(handle, options.path);
    return opened(options, handle, created);
  } catch (error) {
    handle.close();
    throw error;
  }
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
  if (found === latest(options.migrations)) return opened(options, handle, false);
  // An older file cannot be read by the statements of this program.
  handle.close();
  return writeStore(options, connect(options.path, false), connect, false);
}

/** Where no companion file can be made beside the database (read-only directory), its bytes are read into memory. */
function connectForReading(path: string, connect: Connect): Handle {
  const handle = connect(path, true);
  try {
    handle.pragma('user_version');
    return handle;
  } catch (error) {
    handle.close();
    if (!(error instanceof Error && 'code' in error && error.code === 'SQLITE_CANTOPEN') || sizeOf(`${path}-wal`) > 0) {
      throw error;
    }
    const bytes = readFileSync(path);
    // File format 2 means WAL, which a database in memory cannot have; 1 is the same file without it.
    bytes[18] = 1;
    bytes[19] = 1;
    return connect(bytes, false);
  }
}

function emptyStore(options: Resolved, connect: Connect): OpenedStore {
  const handle = connect(':memory:', false);
  handle.exec('BEGIN');
  applyMigrations(handle, options.migrations, 0);
  handle.exec('COMMIT; PRAGMA query_only = ON');
  return opened(options, handle, false);
}

function opened(options: Resolved, handle: Handle, created: boolean): OpenedStore {
  const me = processOwner('store');
  let wrote = false;
  let closed = false;
  const sql = createSql(handle, {
    path: options.path,
    schema: latest(options.migrations),
    busyTimeoutMs: options.busyTimeoutMs,
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
    close() {
      if (closed) return;
      closed = true;
      if (wrote) noteClean(handle, me);
      handle.close();
    },
  };
}

/**
 * Judges a database without writing to it and without running anything that is in it.
 * @returns its schema number, or `new` for a file without content
 */
function inspect(handle: Handle, options: Resolved): number | 'new' {
  const { path } = options;
  const application = Number(handle.pragma('application_id', { simple: true }));
  const version = Number(handle.pragma('user_version', { simple: true }));
  if (application === 0 && version === 0 && isEmpty(handle)) return 'new';
  if (application !== applicationId) throw damaged(path, 'it is not a Reins database');
  if (version > latest(options.migrations)) throw newer(path, version, latest(options.migrations));
  const digest = expectedDigest(options.migrations, version);
  if (digest === undefined || schemaDigest(handle) !== digest) {
    throw damaged(path, `its tables, indexes or triggers are not those of schema ${version}`);
  }
  if (!isOurs(handle, options.reinsHome)) {
    throw new RuntimeError(
      'database_foreign',
      `The database ${path} was not made by this installation, so nothing in it is used.`,
      { data: { path, kind: 'database' }, hints: ['reins --db <path of your own>', `mv ${path} ${path}.foreign`] },
    );
  }
  return version;
}

const isEmpty = (handle: Handle): boolean => handle.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;

/** A database is ours if `origin_mac` verifies with this machine's key (11 §4.7). */
function isOurs(handle: Handle, reinsHome: string): boolean {
  const key = machineKey(reinsHome, false);
  const id = meta(handle, 'instance_id');
  const mac = meta(handle, 'origin_mac');
  if (key === null || id === undefined || mac === undefined) return false;
  const expected = Buffer.from(originMac(key, id));
  const given = Buffer.from(mac);
  return expected.length === given.length && timingSafeEqual(expected, given);
}

const originMac = (key: Uint8Array, instanceId: string): string =>
  createHmac('sha256', key).update(instanceId).digest('hex');

const meta = (handle: Handle, key: string): string | undefined =>
  // The one column of the SELECT is `meta.value`, TEXT in a STRICT table.
  handle.prepare('SELECT value FROM meta WHERE key = ?').pluck().get(key) as string | undefined;

function initialise(handle: Handle, options: Resolved): void {
  const key = machineKey(options.reinsHome, true);
  if (key === null) throw new RuntimeError('internal', 'The machine key was made and is missing.');
  // Must be set while the file has no page.
  handle.pragma('auto_vacuum = INCREMENTAL');
  useWal(handle, options.path);
  exclusive(handle, () => {
    // Another process may have been first.
    if (Number(handle.pragma('user_version', { simple: true })) !== 0) return;
    handle.pragma(`application_id = ${applicationId}`);
    applyMigrations(handle, options.migrations, 0);
    const id = randomUUID();
    const insert = handle.prepare('INSERT INTO meta (key, value) VALUES (?, ?)');
    insert.run('instance_id', id);
    insert.run('origin_mac', originMac(key, id));
    insert.run('created_at', String(options.now()));
    insert.run('created_by', options.version);
    insert.run('credential_epoch', '1');
    insert.run('clean_shutdown', '1');
  });
}

/**
 * Brings an older schema up to date: backup, then all pending steps, under one exclusive transaction that re-reads the
 * schema number, so that of several processes one migrates and makes the one backup (11 §2.10).
 */
function migrate(handle: Handle, options: Resolved, connect: Connect): void {
  const { path } = options;
  exclusive(handle, () => {
    const from = Number(handle.pragma('user_version', { simple: true }));
    if (from >= latest(options.migrations)) return;
    try {
      // Another connection copies: VACUUM cannot run inside this transaction, and readers are not held up by it.
      backUp(path, from, options.now(), {
        copyInto: (target) => using(connect(path, true), (reader) => reader.prepare('VACUUM INTO ?').run(target)),
        check: (target) => using(connect(target, true), quickCheck),
      });
    } catch (error) {
      throw damaged(path, `its backup before the upgrade failed, so it was not upgraded (${reason(error)})`, error);
    }
    applyMigrations(handle, options.migrations, from);
    const version = latest(options.migrations);
    if (schemaDigest(handle) !== expectedDigest(options.migrations, version)) {
      throw damaged(path, `the upgrade to schema ${version} gave other tables than expected and was undone`);
    }
  });
}

function using<T>(handle: Handle, body: (handle: Handle) => T): T {
  try {
    return body(handle);
  } finally {
    handle.close();
  }
}

function exclusive(handle: Handle, body: () => void): void {
  handle.exec('BEGIN EXCLUSIVE');
  try {
    body();
    handle.exec('COMMIT');
  } catch (error) {
    if (handle.inTransaction) handle.exec('ROLLBACK');
    throw error;
  }
}

function useWal(handle: Handle, path: string): void {
  const set = handle.pragma('journal_mode = WAL', { simple: true });
  if (set !== 'wal') {
    throw new RuntimeError(
      'config_invalid',
      `The database ${path} cannot use write-ahead logging (it uses ${String(set)}), as on some network file systems; name a local path with --db.`,
    );
  }
}

const quickCheck = (handle: Handle): string => String(handle.prepare('PRAGMA quick_check(1)').pluck().get());

/** `meta.clean_shutdown` is `1`, or who wrote last without closing yet. One who died while writing calls for a check. */
function checkAfterCrash(handle: Handle, path: string): void {
  const last = meta(handle, 'clean_shutdown');
  if (last === undefined || last === '1' || !ownerIsDead(last)) return;
  if (sizeOf(path) < quickCheckMaxBytes) {
    const verdict = quickCheck(handle);
    if (verdict !== 'ok') throw damaged(path, `it was damaged when the last process ended (${verdict})`);
  }
  handle.prepare("UPDATE meta SET value = '1' WHERE key = 'clean_shutdown' AND value = ?").run(last);
}

/** Leaves the word of another process alone: when that one dies, a check is due all the same. */
const noteWriter = (handle: Handle, me: string): unknown =>
  handle.prepare("UPDATE meta SET value = ? WHERE key = 'clean_shutdown' AND value = '1'").run(me);

function noteClean(handle: Handle, me: string): void {
  try {
    handle.prepare("UPDATE meta SET value = '1' WHERE key = 'clean_shutdown' AND value = ?").run(me);
  } catch {
    // A full disk or another's lock: the next process checks the file once more, which is all that is lost.
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
