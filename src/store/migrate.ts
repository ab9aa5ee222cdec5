import { createHash } from 'node:crypto';
import type { Handle } from './handle.ts';
import { initial } from './migrations/0001-initial.ts';
import { messageSearch } from './migrations/0002-message-search.ts';
import { auditNoReplace } from './migrations/0003-audit-no-replace.ts';
import type { Migration } from './migrations/migration.ts';

export const migrations: readonly Migration[] = [initial, messageSearch, auditNoReplace];

/** @returns the schema number that the last of these migrations makes. */
export const latest = (steps: readonly Migration[]): number => steps.at(-1)?.version ?? 0;

/**
 * The definitions of the newest schema, as `definitionsOf` reads them, put in when the program is built; the sources as
 * they stand have none.
 */
declare const REINS_DEFINITIONS: string | undefined;

/** Names and definitions in `sqlite_schema`. Reading them runs nothing: no trigger fires and no view is expanded. */
export function definitionsOf(database: Handle): string {
  const rows = database
    .pluck(
      `SELECT type || char(0) || name || char(0) || tbl_name || char(0) || ifnull(sql, '')
       FROM sqlite_schema ORDER BY type, name`,
    )
    .all();
  return rows.join('\n');
}

export const digestOf = (definitions: string): string => createHash('sha256').update(definitions).digest('hex');

/**
 * Whether the definitions are those of a schema number, by their SHA-256 (11 §2.1); false for a number that was never made.
 * Those of the newest schema are compared as they are: equal texts have equal digests, and a listing has no other use for
 * `node:crypto`, which takes longer to load than to open a database.
 */
export function hasSchema(database: Handle, steps: readonly Migration[], version: number): boolean {
  const expected = steps.find((step) => step.version === version)?.digest;
  const found = definitionsOf(database);
  if (expected === migrations.at(-1)?.digest && typeof REINS_DEFINITIONS === 'string' && found === REINS_DEFINITIONS) {
    return true;
  }
  return digestOf(found) === expected;
}

/** Runs every step above `from`, each with its `user_version`. The caller holds the exclusive transaction. */
export function applyMigrations(database: Handle, steps: readonly Migration[], from: number): void {
  for (const step of steps) {
    if (step.version <= from) continue;
    for (const statement of step.statements) database.exec(statement);
    database.exec(`PRAGMA user_version = ${step.version}`);
  }
}
