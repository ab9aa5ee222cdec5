import type { Migration } from './migration.ts';

/**
 * Schema 3: a row of the audit log is not replaced either. Unless a connection asks for it, SQLite fires no delete trigger
 * for the row that a `REPLACE` removes.
 */
export const auditNoReplace: Migration = {
  version: 3,
  statements: [
    `CREATE TRIGGER audit_no_replace BEFORE INSERT ON audit WHEN EXISTS (SELECT 1 FROM audit WHERE seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'audit rows are append-only'); END`,
  ],
  digest: '4d7729257e2845983094d0fdb3b129b5c0bd26cfcdefc6c1b1ac45bc57ab770a',
};
