import { createHash } from 'node:crypto';
import { canonicalJson } from '../text/canonical-json.ts';
import type { Sql } from './sql.ts';

/** Types of audit rows (03 §14, 11 §2.5) that exist so far. */
export type AuditType =
  | 'decision'
  | 'ask'
  | 'verdict'
  | 'effect'
  | 'compute'
  | 'policy_changed'
  | 'trust'
  | 'registry_changed'
  | 'config_changed'
  | 'internal_error'
  | 'self_approval_attempt';

export type AuditEntry = {
  readonly type: AuditType;
  readonly tenant_id: string;
  readonly run_id: string | null;
  readonly session_id: string | null;
  /** Masked; canonicalised here. */
  readonly body: unknown;
};

const genesis = '0'.repeat(64);

/** The hash-chained log (03 §14): each row holds the hash of the one before. Append inside the caller's transaction. */
export function createAudit(sql: Sql) {
  return {
    append(entry: AuditEntry, at: number): void {
      const last = sql.get<{ seq: number; hash: string }>('SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1');
      const seq = (last?.seq ?? 0) + 1;
      const prev_hash = last?.hash ?? genesis;
      const body = canonicalJson(entry.body);
      const { type, tenant_id, run_id, session_id } = entry;
      const hash = createHash('sha256')
        .update(canonicalJson({ seq, at, type, tenant_id, run_id, session_id, body: JSON.parse(body), prev_hash }))
        .digest('hex');
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
    },
  };
}

export type Audit = ReturnType<typeof createAudit>;
