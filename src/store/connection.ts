import { RuntimeError } from '../schema/errors.ts';
import { busy, isBusy, storeError } from './failure.ts';
import type { Sql, SqlValue } from './sql.ts';

type Statement = {
  get(...params: readonly SqlValue[]): unknown;
  all(...params: readonly SqlValue[]): unknown[];
  run(...params: readonly SqlValue[]): { readonly changes: number };
  pluck(): Statement;
};

/** What this room uses of a SQLite connection; `store.ts` alone knows the package that makes one. */
export type Handle = {
  prepare(sql: string): Statement;
  exec(sql: string): unknown;
  pragma(text: string, options?: { simple: boolean }): unknown;
  close(): unknown;
  readonly inTransaction: boolean;
};

type ConnectionOptions = {
  readonly path: string;
  /** Schema number of this program: when the file's becomes higher, nothing more is written (11 §2.10). */
  readonly schema: number;
  readonly busyTimeoutMs: number;
  /** Runs inside the first write transaction, before its body. */
  readonly onFirstWrite: () => void;
};

/** Waiting after the busy timeout (11 §2.8): short where nobody commits, long where others do. */
const patience = { leastMs: 2, mostMs: 18, idleMs: 450, queueMs: 60_000 } as const;

/** The one connection behind `Sql`: statements prepared when first used, errors as RuntimeErrors. */
export function createSql(handle: Handle, options: ConnectionOptions): Sql {
  const { path } = options;
  const statements = new Map<string, Statement>();
  let durability: 'full' | 'normal' = 'normal';
  let writing = false;
  let hasWritten = false;

  const statement = (sql: string): Statement => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const made = handle.prepare(sql);
    statements.set(sql, made);
    return made;
  };
  const attempt = <T>(body: () => T): T => {
    try {
      return body();
    } catch (error) {
      throw storeError(error, path);
    }
  };
  /** The statement whose rows are their first column. */
  const plucked = (sql: string): Statement => {
    const key = `pluck ${sql}`;
    const known = statements.get(key);
    if (known !== undefined) return known;
    const made = handle.prepare(sql).pluck();
    statements.set(key, made);
    return made;
  };
  /** Number pragmas, read through kept statements: `handle.pragma` would compile each time. */
  const number = (name: string): number => Number(plucked(`PRAGMA ${name}`).get());

  const begin = (): void => {
    try {
      statement('BEGIN IMMEDIATE').run();
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
    handle.pragma('busy_timeout = 0');
    try {
      let version = number('data_version');
      let idle = 0;
      for (let waited = 0; idle < patience.idleMs && waited < patience.queueMs; ) {
        const pause = patience.leastMs + Math.random() * patience.mostMs;
        sleep(pause);
        waited += pause;
        idle += pause;
        try {
          statement('BEGIN IMMEDIATE').run();
          return;
        } catch (error) {
          if (!isBusy(error)) throw storeError(error, path);
        }
        const now = number('data_version');
        if (now !== version) idle = 0;
        version = now;
      }
    } finally {
      handle.pragma(`busy_timeout = ${options.busyTimeoutMs}`);
    }
    throw busy(path);
  };

  /** @returns false at once when another process holds the lock */
  const beginNow = (): boolean => {
    handle.pragma('busy_timeout = 0');
    try {
      statement('BEGIN IMMEDIATE').run();
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw storeError(error, path);
    } finally {
      handle.pragma(`busy_timeout = ${options.busyTimeoutMs}`);
    }
  };

  const refuseNewer = (): void => {
    const found = number('user_version');
    if (found > options.schema) throw newer(path, found, options.schema);
  };

  const setDurability = (wanted: 'full' | 'normal'): void => {
    if (wanted === durability) return;
    // Has no effect inside a transaction, so it is switched before BEGIN, and only when it changes.
    attempt(() => handle.pragma(`synchronous = ${wanted.toUpperCase()}`));
    durability = wanted;
  };

  /** The transaction that has just begun, to its commit. */
  const within = <T>(body: () => T): T => {
    writing = true;
    try {
      refuseNewer();
      if (!hasWritten) options.onFirstWrite();
      const result = body();
      statement('COMMIT').run();
      hasWritten = true;
      return result;
    } catch (error) {
      // Some failures (a full disk) have rolled back already.
      if (handle.inTransaction) statement('ROLLBACK').run();
      throw storeError(error, path);
    } finally {
      writing = false;
    }
  };

  return {
    // Rows are what the caller's SELECT makes them; the type parameter is its word for that.
    get: <T>(sql: string, ...params: readonly SqlValue[]) =>
      attempt(() => statement(sql).get(...params) as T | undefined),
    all: <T>(sql: string, ...params: readonly SqlValue[]) => attempt(() => statement(sql).all(...params) as T[]),
    column: <T>(sql: string, ...params: readonly SqlValue[]) => attempt(() => plucked(sql).all(...params) as T[]),
    run: (sql, ...params) => attempt(() => statement(sql).run(...params).changes),

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
      if (!beginNow()) return false;
      within(body);
      return true;
    },

    dataVersion: () => attempt(() => number('data_version')),
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
