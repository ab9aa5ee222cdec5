import { assign, number, object, string, validate } from 'superstruct';
import type { Known } from './shape.ts';

/** A row of the audit log as stored, its body read (03 §14). `at` is milliseconds since the epoch. */
export type AuditRow = {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly tenant_id: string;
  readonly run_id: string | null;
  readonly session_id: string | null;
  readonly body: Readonly<Record<string, unknown>>;
  readonly prev_hash: string;
  readonly hash: string;
};

/** Which rows of the log are wanted; null = all. */
export type AuditFilter = {
  /** Milliseconds since the epoch. */
  readonly since: number | null;
  readonly until?: number | undefined;
  /** Run id, or its last characters. */
  readonly run: string | null;
  readonly type: string | null;
  /** Tool provider. */
  readonly tools: string | null;
};

/** What a look at the whole chain found (09, `/api/audit/verify`). */
export type AuditCheck = {
  readonly ok: boolean;
  /** Every entry follows from the one before; of a broken log: only what was noted elsewhere is not in it. */
  readonly follows: boolean;
  readonly entries: number;
  readonly first_seq: number | null;
  readonly last_seq: number | null;
  /** Hash of the last row; of an empty log 64 zeros. */
  readonly head: string;
  /** How many heads of it were noted outside the database: without any, a cut end is not seen. */
  readonly noted: number;
  /** Where copies of the database lie that go on under its name; what was noted of them is not held against it. */
  readonly copies: readonly string[];
  /** Where it breaks first. */
  readonly break: { readonly seq: number; readonly reason: string } | null;
  /** Heads that were noted, are not in it, and that no entry explains. */
  readonly lost: AuditLoss | null;
  /** What its entries say of backups that were put back, oldest first. */
  readonly restored: readonly AuditRestored[];
};

/** Heads of a log that were noted outside the database and are not in it. */
const AuditLoss = object({
  heads: number(),
  /** Numbers of the first and the last of them. */
  from_seq: number(),
  to_seq: number(),
  /** Hash of the last one. */
  old_head: string(),
  /** When the newest was noted; milliseconds since the epoch. */
  noted_until: number(),
});
export type AuditLoss = Known<typeof AuditLoss>;

/** An entry in which the operator says that a backup was put in the place of the database: what is missing since then. */
const AuditRestored = assign(object({ seq: number(), at: number(), hash: string() }), AuditLoss);
export type AuditRestored = Known<typeof AuditRestored>;

/** What an entry says of it, without whoever said it, which the entry has. */
export function restoredFrom(said: unknown): readonly AuditRestored[] {
  const [, restored] = validate(said, AuditRestored, { coerce: true, mask: true });
  return restored === undefined ? [] : [restored];
}
