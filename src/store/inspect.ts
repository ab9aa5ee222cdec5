import { statSync } from 'node:fs';
import { RuntimeError } from '../schema/errors.ts';
import { newer } from './connection.ts';
import { damaged } from './failure.ts';
import { type Handle, pragmaOf } from './handle.ts';
import { isKnownLog } from './log-mark.ts';
import { macOf } from './mac.ts';
import { hasSchema, latest } from './migrate.ts';
import type { Migration } from './migrations/migration.ts';
import { ownerIsDead } from './owner.ts';
import { machineKey } from './private-file.ts';
import { quote } from '../text/quote.ts';
import { unusableHome } from './user-directory.ts';

/** Marks a SQLite file as ours: `REIN` (11 §2). */
export const applicationId = 0x5245494e;
/** A file above this size is not checked on opening after a crash; `doctor` advises it (11 §2.12). */
const quickCheckMaxBytes = 256 * 1024 * 1024;

export type InspectOptions = {
  readonly path: string;
  readonly reinsHome: string;
  readonly migrations: readonly Migration[];
  /** `pass`: who looks decides what to do with a database of another installation; it is refused otherwise. */
  readonly foreign?: 'pass';
};

/**
 * Judges a database without writing to it and without running anything that is in it.
 * @returns its schema number, or `new` for a file without content
 */
export function inspect(handle: Handle, options: InspectOptions): number | 'new' {
  // One look: between two of them another process may have made the schema.
  handle.exec('BEGIN');
  try {
    return judge(handle, options);
  } finally {
    if (handle.inTransaction) handle.exec('COMMIT');
  }
}

function judge(handle: Handle, options: InspectOptions): number | 'new' {
  const { path } = options;
  const application = pragmaOf(handle, 'application_id');
  const version = pragmaOf(handle, 'user_version');
  if (application === 0 && version === 0 && isEmpty(handle)) return 'new';
  if (application !== applicationId) throw damaged(path, 'it is not a Reins database');
  if (version > latest(options.migrations)) throw newer(path, version, latest(options.migrations));
  if (!hasSchema(handle, options.migrations, version)) {
    throw damaged(path, `its tables, indexes or triggers are not those of schema ${version}`);
  }
  if (options.foreign !== 'pass' && !isOurs(handle, options.reinsHome)) {
    // Where no key can be read or made, whose it is cannot be told, and nobody could accept it.
    const home = machineKey(options.reinsHome, false) === null ? unusableHome(options.reinsHome) : null;
    if (home !== null) throw home;
    throw new RuntimeError(
      'database_foreign',
      `The database ${path} was not made by this installation, so nothing in it is used.`,
      {
        data: { path, kind: 'database' },
        hints: ['reins trust', 'reins --db <path of your own>'],
      },
    );
  }
  return version;
}

/** @throws RuntimeError database_foreign where its log was not begun here: SQLite would play it, whatever it holds */
export function checkLog({ path, reinsHome }: Pick<InspectOptions, 'path' | 'reinsHome'>): void {
  if (isKnownLog(path, reinsHome)) return;
  const log = `${path}-wal`;
  throw new RuntimeError(
    'database_foreign',
    `The log ${log} beside the database was not begun by this installation, or was copied, so nothing of it is used.`,
    { data: { path, kind: 'database' }, hints: ['reins trust', `mv ${quote(log)} ${quote(`${log}.bak`)}`] },
  );
}

export const isEmpty = (handle: Handle): boolean =>
  handle.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;

/** A database is ours if `origin_mac` verifies with this machine's key (11 §4.7). */
export function isOurs(handle: Handle, reinsHome: string): boolean {
  const key = machineKey(reinsHome, false);
  const id = meta(handle, 'instance_id');
  const mac = meta(handle, 'origin_mac');
  if (key === null || id === undefined || mac === undefined) return false;
  // Who could measure how long this takes can read the key.
  return macOf(key, id) === mac;
}

const meta = (handle: Handle, key: string): string | undefined =>
  // The one column of the SELECT is `meta.value`, TEXT in a STRICT table.
  handle.pluck('SELECT value FROM meta WHERE key = ?').get(key) as string | undefined;

export const quickCheck = (handle: Handle): string => String(handle.pluck('PRAGMA quick_check(1)').get());

/** Reads the whole file, as `doctor` does (06 §15). @throws RuntimeError database_damaged with the first fault */
export function checkWhole(handle: Handle, path: string): void {
  const verdict = String(handle.pluck('PRAGMA integrity_check(1)').get());
  if (verdict !== 'ok') throw damaged(path, verdict.replace(/\s+/g, ' '));
  const orphan = handle.prepare('PRAGMA foreign_key_check').get();
  if (orphan !== undefined) throw damaged(path, 'a row refers to one that is not there');
}

/** `meta.clean_shutdown` is `1`, or who wrote last without closing yet. One who died while writing calls for a check. */
export function checkAfterCrash(handle: Handle, path: string): void {
  const last = meta(handle, 'clean_shutdown');
  if (last === undefined || last === '1' || !ownerIsDead(last)) return;
  if (sizeOf(path) < quickCheckMaxBytes) {
    const verdict = quickCheck(handle);
    if (verdict !== 'ok') throw damaged(path, `it was damaged when the last process ended (${verdict})`);
  }
  handle.prepare("UPDATE meta SET value = '1' WHERE key = 'clean_shutdown' AND value = ?").run(last);
}

/** Leaves the word of another process alone: when that one dies, a check is due all the same. */
export const noteWriter = (handle: Handle, me: string): unknown =>
  handle.prepare("UPDATE meta SET value = ? WHERE key = 'clean_shutdown' AND value = '1'").run(me);

/** Notes that this writer has closed the database in order. Never throws. @param me as given to `noteWriter` */
export function noteClean(handle: Handle, me: string): void {
  try {
    handle.prepare("UPDATE meta SET value = '1' WHERE key = 'clean_shutdown' AND value = ?").run(me);
  } catch {
    // A full disk or another's lock: the next process checks the file once more, which is all that is lost.
  }
}

/** Bytes of a file, 0 when there is none. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
