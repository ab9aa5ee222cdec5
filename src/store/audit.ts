import { createHash } from 'node:crypto';
import type { AuditRow } from '../schema/audit.ts';
import type { AuditType } from '../schema/audit-types.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import type { Sql } from './sql.ts';

type AuditEntry = {
  readonly type: AuditType;
  readonly tenant_id: string;
  readonly run_id: string | null;
  readonly session_id: string | null;
  /** Masked; canonicalised here. */
  readonly body: unknown;
};

/** What stands before the first row. */
export const genesis = '0'.repeat(64);

/**
 * The hash of a row (03 §14): of its canonical JSON, in which `at` and `body` come first. `body` is canonical text already,
 * so it is taken as it is and not written a second time.
 */
export const auditHash = ({ at, ...rest }: Omit<AuditRow, 'body' | 'hash'>, body: string): string =>
  createHash('sha256')
    .update(`{"at":${canonicalJson(at)},"body":${body},${canonicalJson(rest).slice(1)}`)
    .digest('hex');

/** The hash-chained log (03 §14): each row holds the hash of the one before. Append inside the caller's transaction. */
export function createAudit(sql: Sql, onAppend: () => void = () => {}) {
  return {
    /** Number of the last row; 0 where there is none. */
    last: (): number => sql.get<{ seq: number | null }>('SELECT max(seq) AS seq FROM audit')?.seq ?? 0,

    append(entry: AuditEntry, at: number): void {
      const last = sql.get<{ seq: number; hash: string }>('SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1');
      const seq = (last?.seq ?? 0) + 1;
      const prev_hash = last?.hash ?? genesis;
      const body = canonicalJson(entry.body);
      const { type, tenant_id, run_id, session_id } = entry;
      const hash = auditHash({ seq, at, type, tenant_id, run_id, session_id, prev_hash }, body);
      sql.run(
        'INSERT INTO audit (seq, at, type, tenant_id, run_id, session_id, body, prev_hash, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
        seq,
        at,
        type,
        tenant_id,
        run_id,
        session_id,
        body,
        prev_hash,
        hash,
      );
      onAppend();
    },
  };
}

export type Audit = ReturnType<typeof createAudit>;
