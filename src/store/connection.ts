import { RuntimeError } from '../schema/errors.ts';
import { busy, isBusy, isUnwritable, storeError } from './failure.ts';
import { type Handle, pragmaOf } from './handle.ts';
import type { Sql, SqlValue } from './sql.ts';
import type { StillThere } from './still-there.ts';

type ConnectionOptions = {
  readonly path: string;
  /** Schema number of this program: when the file's becomes higher, nothing more is written (11 §2.10). */
  readonly schema: number;
  readonly busyTimeoutMs: number;
  /** Whether the file that is open still has its name; null or absent: nobody asks. */
  readonly there?: StillThere | null;
  /** Runs inside the first write transaction, before its body. */
  readonly onFirstWrite: () => void;
};

/** Waiting after the busy timeout (11 §2.8): short where nobody commits, long where others do. */
const patience = { leastMs: 2, mostMs: 18, idleMs: 450, queueMs: 60_000 } as const;

/** The one connection behind `Sql`, with errors as RuntimeErrors. */
export function createSql(handle: Handle, options: ConnectionOptions): Sql {
  const { path, there = null } = options;
  let durability: 'full' | 'normal' = 'normal';
  let writing = false;
  let hasWritten = false;

  const attempt = <T>(body: () => T): T => {
    try {
      if (!writing) there?.beforeRead();
      return body();
    } catch (error) {
      throw storeError(error, path);
    }
  };

  const begin = (): void => {
    try {
      handle.prepare('BEGIN IMMEDIATE').run();
    } catch (error) {
      if (!isBusy(error)) throw storeError(error, path);
      beginAgain();
    }
  };
  /**
   * The timeout has passed once. SQLite's own waiting is not fair: among many writers one may never be the one that looks
   * at the right moment. While others commit, it is a queue and this process goes on trying, at moments of its own; a
   * lock that one process keeps is given up.
   */
  const beginAgain = (): void => {
    handle.exec('PRAGMA busy_timeout = 0');
    try {
      let version = pragmaOf(handle, 'data_version');
      let idle = 0;
      for (let waited = 0; idle < patience.idleMs && waited < patience.queueMs; ) {
        const pause = patience.leastMs + Math.random() * patience.mostMs;
        sleep(pause);
        waited += pause;
        idle += pause;
        try {
          handle.prepare('BEGIN IMMEDIATE').run();
          return;
        } catch (error) {
          if (!isBusy(error)) throw storeError(error, path);
        }
        const now = pragmaOf(handle, 'data_version');
        if (now !== version) idle = 0;
        version = now;
      }
    } finally {
      handle.exec(`PRAGMA busy_timeout = ${options.busyTimeoutMs}`);
    }
    throw busy(path);
  };

  /** @returns false at once when another process holds the lock */
  const beginNow = (): boolean => {
    handle.exec('PRAGMA busy_timeout = 0');
    try {
      handle.prepare('BEGIN IMMEDIATE').run();
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw storeError(error, path);
    } finally {
      handle.exec(`PRAGMA busy_timeout = ${options.busyTimeoutMs}`);
    }
  };

  const refuseNewer = (): void => {
    const found = pragmaOf(handle, 'user_version');
    if (found > options.schema) throw newer(path, found, options.schema);
  };

  const setDurability = (wanted: 'full' | 'normal'): void => {
    if (wanted === durability) return;
    // Has no effect inside a transaction, so it is switched before BEGIN, and only when it changes.
    attempt(() => handle.exec(`PRAGMA synchronous = ${wanted.toUpperCase()}`));
    durability = wanted;
  };

  /** The transaction that has just begun, to its commit. */
  const within = <T>(body: () => T): T => {
    writing = true;
    try {
      refuseNewer();
      there?.beforeWrite();
      if (!hasWritten) options.onFirstWrite();
      const result = body();
      handle.prepare('COMMIT').run();
      hasWritten = true;
      return result;
    } catch (error) {
      // Some failures (a full disk) have rolled back already.
      if (handle.inTransaction) handle.prepare('ROLLBACK').run();
      throw storeError(error, path);
    } finally {
      writing = false;
    }
  };

  return {
    // Rows are what the caller's SELECT makes them; the type parameter is its word for that.
    get: <T>(sql: string, ...params: readonly SqlValue[]) =>
      attempt(() => handle.prepare(sql).get(...params) as T | undefined),
    all: <T>(sql: string, ...params: readonly SqlValue[]) => attempt(() => handle.prepare(sql).all(...params) as T[]),
    column: <T>(sql: string, ...params: readonly SqlValue[]) => attempt(() => handle.pluck(sql).all(...params) as T[]),
    run: (sql, ...params) => attempt(() => handle.prepare(sql).run(...params).changes),

    write(wanted, body) {
      if (writing) {
        if (wanted === 'full' && durability === 'normal') {
          throw new TypeError('a full transaction cannot join a normal one: begin the outer one as full');
        }
        return body();
      }
      setDurability(wanted);
      begin();
      return within(body);
    },

    writeNow(body) {
      if (writing) {
        body();
        return true;
      }
      setDurability('normal');
      try {
        if (!beginNow()) return false;
        within(body);
        return true;
      } catch (error) {
        // Who only looks, such as `doctor`, goes on where nothing can be noted.
        if (isUnwritable(error)) return false;
        throw error;
      }
    },

    dataVersion: () => attempt(() => pragmaOf(handle, 'data_version')),
  };
}

export const newer = (path: string, found: number, known: number): RuntimeError =>
  new RuntimeError(
    'database_newer',
    `The database ${path} has schema ${found}, this program knows ${known}: use the newer program for it.`,
    { data: { path, schema: found, known } },
  );

/** Waits without letting anything else of this thread run, as a lock wait of SQLite does. */
export function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
