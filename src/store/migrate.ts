import { createHash } from 'node:crypto';
import type { Handle } from './connection.ts';
import { initial } from './migrations/0001-initial.ts';
import { messageSearch } from './migrations/0002-message-search.ts';
import type { Migration } from './migrations/migration.ts';

export const migrations: readonly Migration[] = [initial, messageSearch];

/** @returns the schema number that the last of these migrations makes. */
export const latest = (steps: readonly Migration[]): number => steps.at(-1)?.version ?? 0;

/**
 * SHA-256 over names and definitions in `sqlite_schema` (11 §2.1). Reading them runs nothing: no trigger fires and no
 * view is expanded. Costs about 0.1 ms.
 */
export function schemaDigest(database: Handle): string {
  const rows = database
    .prepare(
      `SELECT type || char(0) || name || char(0) || tbl_name || char(0) || ifnull(sql, '')
       FROM sqlite_schema ORDER BY type, name`,
    )
    .pluck()
    .all();
  return createHash('sha256').update(rows.join('\n')).digest('hex');
}

/** The digest that a database of this schema number must have; undefined for a number that was never made. */
export const expectedDigest = (steps: readonly Migration[], version: number): string | undefined =>
  steps.find((step) => step.version === version)?.digest;

/** Runs every step above `from`, each with its `user_version`. The caller holds the exclusive transaction. */
export function applyMigrations(database: Handle, steps: readonly Migration[], from: number): void {
  for (const step of steps) {
    if (step.version <= from) continue;
    for (const statement of step.statements) database.exec(statement);
    database.pragma(`user_version = ${step.version}`);
  }
}
