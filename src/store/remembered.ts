import type { RememberedChoice } from '../schema/ask.ts';
import type { Sql } from './sql.ts';

/** An approval that holds for identical calls later (03 §9 `session`). */
type RememberedCall = {
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

/** Of its ask; null where that has been pruned. */
type AskWords = { readonly tools: string | null; readonly tool: string | null; readonly summary: string | null };

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
         ORDER BY rowid DESC LIMIT 1`,
        callHash,
        policySha256,
        place.run_id,
        place.session_id,
      );
      return row?.ask_id ?? null;
    },

    /** The choices of a session, newest first, in the words in which they were asked about. */
    of: (sessionId: string): readonly RememberedChoice[] =>
      sql
        .all<Pick<RememberedCall, 'id' | 'call_hash' | 'policy_sha256' | 'ask_id' | 'created_at'> & AskWords>(
          `SELECT r.id, r.call_hash, r.policy_sha256, r.ask_id, r.created_at, a.tools, a.tool, a.summary
           FROM remembered r LEFT JOIN asks a ON a.id = r.ask_id WHERE r.session_id = ? ORDER BY r.created_at DESC, r.id DESC`,
          sessionId,
        )
        .map(({ call_hash, created_at, tools, tool, summary, ...row }) => ({
          ...row,
          created_at: new Date(created_at).toISOString(),
          ...(call_hash.startsWith(editsKey(''))
            ? { kind: 'edits', what: call_hash.slice(editsKey('').length) }
            : { kind: 'call', what: tools === null ? call_hash : `${tools}.${tool} ${summary}` }),
        })),

    /** @param id of one choice; null = all of the session @returns how many are gone */
    forget: (sessionId: string, id: string | null): number =>
      id === null
        ? sql.run('DELETE FROM remembered WHERE session_id = ?', sessionId)
        : sql.run('DELETE FROM remembered WHERE session_id = ? AND id = ?', sessionId, id),
  };
}

export type Remembered = ReturnType<typeof createRemembered>;
