import type { Sql } from './sql.ts';

/** The number of rows of every table, by its name. */
export function countRows(sql: Sql): Readonly<Record<string, number>> {
  const tables = sql.all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
  );
  return Object.fromEntries(
    // A name of our own schema: a database with another one is not opened.
    tables.map(({ name }) => [name, sql.get<{ n: number }>(`SELECT count(*) AS n FROM "${name}"`)?.n ?? 0]),
  );
}
