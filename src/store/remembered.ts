import type { Sql } from './sql.ts';

/** An approval that holds for identical calls later (03 §9 `session`). */
export type RememberedCall = {
  readonly id: string;
  /** Null: for the run alone. */
  readonly session_id: string | null;
  readonly run_id: string | null;
  /** Of the identical calls; for edits of a workspace, `editsKey` of its root. */
  readonly call_hash: string;
  readonly policy_sha256: string;
  readonly ask_id: string;
  readonly created_at: number;
};

/** What stands in place of a call's hash where all edits below a root were approved. */
export const editsKey = (root: string): string => `edits:${root}`;

/** Remembered approvals. A session takes its own with it when it is deleted. Writes belong in the caller's transaction. */
export function createRemembered(sql: Sql) {
  return {
    add(row: RememberedCall): void {
      sql.run(
        `INSERT INTO remembered (id, session_id, run_id, call_hash, policy_sha256, ask_id, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
        row.id,
        row.session_id,
        row.run_id,
        row.call_hash,
        row.policy_sha256,
        row.ask_id,
        row.created_at,
      );
    },

    /** The ask by which this very call was let through in the session, or in a run that has none; null when none was. */
    askOf(place: Pick<RememberedCall, 'session_id' | 'run_id'>, callHash: string, policySha256: string): string | null {
      const row = sql.get<{ ask_id: string }>(
        `SELECT ask_id FROM remembered WHERE call_hash = ? AND policy_sha256 = ?
           AND CASE WHEN session_id IS NULL THEN run_id = ? ELSE session_id = ? END
         ORDER BY created_at DESC LIMIT 1`,
        callHash,
        policySha256,
        place.run_id,
        place.session_id,
      );
      return row?.ask_id ?? null;
    },

    /** @returns how many choices of the session are gone */
    forget: (sessionId: string): number => sql.run('DELETE FROM remembered WHERE session_id = ?', sessionId),
  };
}

export type Remembered = ReturnType<typeof createRemembered>;
