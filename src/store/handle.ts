import type { SqlValue } from './sql.ts';

export type Statement = {
  get(...params: readonly SqlValue[]): unknown;
  all(...params: readonly SqlValue[]): unknown[];
  run(...params: readonly SqlValue[]): { readonly changes: number };
};

/** What is used of a connection of the package. Not its `pragma`, which leaves a statement behind at every call. */
export type Connection = {
  prepare(sql: string): Statement & { pluck(): Statement };
  exec(sql: string): unknown;
  close(): unknown;
  readonly inTransaction: boolean;
};

/** A SQLite connection as this room uses it; `store.ts` alone knows the package that makes one. */
export type Handle = {
  /** The statement of a text; made when it is first asked for, and kept. */
  prepare(sql: string): Statement;
  /** The same, whose rows are their first column. */
  pluck(sql: string): Statement;
  /** Runs statements that nobody reads the rows of, among them the pragmas that set something. */
  exec(sql: string): unknown;
  close(): unknown;
  readonly inTransaction: boolean;
};

/**
 * What must never be collected: connections and their statements. An addon that was built against the headers of Node 24.19
 * or later takes a hook back when one of its objects is, and Node ends the process where a collection has no context to find
 * that hook by (`RemoveEnvironmentCleanupHook`, SIGABRT). Little is left of a connection that was closed.
 */
const kept: unknown[] = [];

export function createHandle(connection: Connection): Handle {
  const whole = new Map<string, Statement>();
  const plucked = new Map<string, Statement>();
  kept.push(connection, whole, plucked);
  const make = (sql: string): Statement => {
    const statement = connection.prepare(sql);
    whole.set(sql, statement);
    return statement;
  };
  const makePlucked = (sql: string): Statement => {
    const statement = connection.prepare(sql).pluck();
    plucked.set(sql, statement);
    return statement;
  };
  return {
    prepare: (sql) => whole.get(sql) ?? make(sql),
    pluck: (sql) => plucked.get(sql) ?? makePlucked(sql),
    exec: (sql) => connection.exec(sql),
    close: () => connection.close(),
    get inTransaction() {
      return connection.inTransaction;
    },
  };
}

/** The number that a pragma tells. */
export const pragmaOf = (handle: Handle, name: string): number => Number(handle.pluck(`PRAGMA ${name}`).get());
