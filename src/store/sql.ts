/** What bound parameters may be. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/**
 * The one connection, as the table groups of this room see it. Statements are prepared once and kept. Rows come back
 * as SQLite returns them: the caller names the row type that its own SELECT makes true.
 */
export type Sql = {
  get<T>(sql: string, ...params: readonly SqlValue[]): T | undefined;
  all<T>(sql: string, ...params: readonly SqlValue[]): T[];
  /** The first column of every row: ten thousand rows as objects take twice as long. */
  column<T>(sql: string, ...params: readonly SqlValue[]): T[];
  /** @returns the number of changed rows. */
  run(sql: string, ...params: readonly SqlValue[]): number;
  /**
   * One write transaction (BEGIN IMMEDIATE), short and synchronous (11 §2.8); inside another one it joins it.
   * `full` are the transactions marked F in 11 §2.7. @throws RuntimeError database_busy, storage, database_damaged.
   */
  write<T>(durability: 'full' | 'normal', body: () => T): T;
  /**
   * A `normal` transaction of what may as well be lost, such as a cache: does not wait for another process's lock.
   * @returns false when there was one, or the file takes no writes (read-only, full disk), and nothing was written.
   * @throws RuntimeError database_damaged, database_newer
   */
  writeNow(body: () => void): boolean;
  /** Moves when another connection has committed (PRAGMA data_version, 4 µs). */
  dataVersion(): number;
};
