import { randomBytes, randomUUID } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import { createAudit } from './audit.ts';
import { backUp, DamagedCopy } from './backup.ts';
import { createSql, sleep } from './connection.ts';
import { damaged, isBusy, storeError } from './failure.ts';
import { type Handle, pragmaOf } from './handle.ts';
import { applicationId, type InspectOptions, quickCheck } from './inspect.ts';
import { markLog } from './log-mark.ts';
import { macOf } from './mac.ts';
import { applyMigrations, hasSchema, latest } from './migrate.ts';
import { machineKey } from './private-file.ts';
import { quote } from '../text/quote.ts';
import { systemReason } from '../text/system-reason.ts';

type UpgradeOptions = InspectOptions & { readonly version: string; readonly now: () => number };

/** Makes the schema in an empty file, once, whoever comes first. */
export function initialise(handle: Handle, options: UpgradeOptions): void {
  const key = machineKey(options.reinsHome, true);
  if (key === null) throw new RuntimeError('internal', 'The machine key was made and is missing.');
  // Must be set while the file has no page.
  handle.exec('PRAGMA auto_vacuum = INCREMENTAL');
  beginLog(handle, options);
  exclusive(handle, () => {
    // Another process may have been first.
    if (pragmaOf(handle, 'user_version') !== 0) return;
    handle.exec(`PRAGMA application_id = ${applicationId}`);
    applyMigrations(handle, options.migrations, 0);
    const id = randomUUID();
    const insert = handle.prepare('INSERT INTO meta (key, value) VALUES (?, ?)');
    insert.run('instance_id', id);
    insert.run('origin_mac', macOf(key, id));
    insert.run('created_at', String(options.now()));
    insert.run('created_by', options.version);
    // Rises with every password that is stored (09 §4.4).
    insert.run('credential_epoch', '0');
    insert.run('clean_shutdown', '1');
    const secret = 'INSERT INTO auth_secret (id, secret, created_at) VALUES (1, ?, ?)';
    handle.prepare(secret).run(randomBytes(32), options.now());
  });
}

/**
 * Brings an older schema up to date: backup, then all pending steps, under one exclusive transaction that re-reads the
 * schema number, so that of several processes one migrates and makes the one backup (11 §2.10).
 */
export function migrate(handle: Handle, options: UpgradeOptions, connect: (path: string) => Handle): void {
  const { path } = options;
  // A backup that was put in its place has no log, and without one a writer keeps everybody from reading, the copier too.
  ensureWal(handle, path);
  exclusive(handle, () => {
    const from = pragmaOf(handle, 'user_version');
    if (from >= latest(options.migrations)) return;
    let backup: string;
    try {
      // Another connection copies: VACUUM cannot run inside this transaction, and readers are not held up by it.
      backup = backUp(path, from, options.now(), {
        copyInto: (target) => using(connect(path), (reader) => reader.prepare('VACUUM INTO ?').run(target)),
        check: (target) => using(connect(target), quickCheck),
      });
    } catch (error) {
      throw notBackedUp(path, error);
    }
    applyMigrations(handle, options.migrations, from);
    const version = latest(options.migrations);
    if (!hasSchema(handle, options.migrations, version)) {
      throw damaged(path, `the upgrade to schema ${version} gave other tables than expected and was undone`);
    }
    const sql = createSql(handle, { path, schema: version, busyTimeoutMs: 0, onFirstWrite: () => {} });
    const body = { from, to: version, by: options.version, backup: basename(backup) };
    const entry = { type: 'migrated', tenant_id: wholeFileTenant, run_id: null, session_id: null, body } as const;
    createAudit(sql).append(entry, options.now());
  });
}

/** Without a copy nothing is upgraded (11 §2.10). That alone says nothing against the database, which must not be replaced. */
function notBackedUp(path: string, error: unknown): RuntimeError {
  const failure = storeError(error, path);
  if (failure instanceof DamagedCopy || (failure instanceof RuntimeError && failure.code === 'database_damaged')) {
    return damaged(
      path,
      `its backup before the upgrade failed, so it was not upgraded (${systemReason(error)})`,
      error,
    );
  }
  const why = `its backup could not be made: ${systemReason(error)}`;
  return new RuntimeError('config_invalid', `The database ${path} is as it was and waits for its upgrade; ${why}.`, {
    cause: error,
    data: { path },
    hints: [`df -h ${quote(dirname(path))}`, `ls -ld ${quote(dirname(path))}`],
  });
}

/** What concerns the whole file is noted under the tenant that every installation has. */
export const wholeFileTenant = '00000000-0000-0000-0000-000000000001';

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

/** Has everything that follows on this connection written into a log that is marked as ours. @throws as its two halves */
export function beginLog(handle: Handle, { path, reinsHome }: InspectOptions): void {
  ensureWal(handle, path);
  // The first look makes the log.
  pragmaOf(handle, 'user_version');
  markLog(path, reinsHome);
}

/** @throws RuntimeError config_invalid where the file system cannot do it. */
export function ensureWal(handle: Handle, path: string): void {
  const set = switchToWal(handle);
  if (set !== 'wal') {
    throw new RuntimeError(
      'config_invalid',
      `The database ${path} cannot use write-ahead logging (it uses ${String(set)}), as on some network file systems; name a local path with --db.`,
    );
  }
}

/**
 * A file that is in use while it is switched for the first time answers "busy" at once, without the busy timeout: other
 * processes are creating it too. Tried again for as long as that timeout would have waited.
 */
function switchToWal(handle: Handle): unknown {
  for (let tries = 1; ; tries += 1) {
    try {
      return handle.pluck('PRAGMA journal_mode = WAL').get();
    } catch (error) {
      if (!isBusy(error) || tries === 250) throw error;
      sleep(20);
    }
  }
}
