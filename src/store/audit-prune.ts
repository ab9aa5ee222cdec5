import type { Audit } from './audit.ts';
import { createAuditLog } from './audit-log.ts';
import type { Sql } from './sql.ts';

export type PruneDeps = {
  readonly sql: Sql;
  readonly audit: Audit;
  readonly tenant: string;
  readonly now: () => number;
};

/**
 * Removes the head of the log behind an anchor row (03 §14): what remains begins with a row whose number and hash before
 * it the anchor names, so that `verify` knows that nothing else is gone.
 * @param before milliseconds since the epoch; rows up to the first one at or after it go
 * @returns how many rows were removed; of a log without such rows nothing is written
 */
export function pruneAudit(deps: PruneDeps, before: number, by: string): number {
  const { sql, audit } = deps;
  return sql.write('full', () => {
    const last = sql.get<{ seq: number }>(
      `SELECT coalesce((SELECT min(seq) - 1 FROM audit WHERE at >= ?), (SELECT max(seq) FROM audit), 0) AS seq`,
      before,
    );
    const end = last?.seq ?? 0;
    const pruned = sql.get<{ hash: string }>('SELECT hash FROM audit WHERE seq = ?', end);
    if (pruned === undefined) return 0;
    const restored = createAuditLog(sql, deps.tenant).restored(end);
    audit.append(
      {
        type: 'anchor',
        tenant_id: deps.tenant,
        run_id: null,
        session_id: null,
        body: {
          first_seq: end + 1,
          first_prev_hash: pruned.hash,
          pruned_hash: pruned.hash,
          by,
          // What they explain may still be noted with higher numbers than those that go.
          ...(restored.length === 0 ? {} : { restored }),
        },
      },
      deps.now(),
    );
    // The log is append-only but for this: its guard is taken off and put back within the transaction (11 §2.5).
    const guard = sql.get<{ sql: string }>("SELECT sql FROM sqlite_schema WHERE name = 'audit_no_delete'");
    sql.run('DROP TRIGGER audit_no_delete');
    const removed = sql.run('DELETE FROM audit WHERE seq <= ?', end);
    if (guard !== undefined) sql.run(guard.sql);
    return removed;
  });
}
