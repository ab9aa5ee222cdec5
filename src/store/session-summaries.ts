import { isReadable, isSent, sentPayload } from './messages.ts';
import type { Sql } from './sql.ts';

/** A stretch of a session that is to be summed up. */
export type Stretch = {
  readonly sessionId: string;
  /** `seq` of the summary that stands for all before it; null = none does. */
  readonly summary: number | null;
  /** Its last row. */
  readonly to: number;
};

export type SummedRow = { readonly seq: number; readonly payload: string };

/** What a summary of a session is made from (07 §2.9), of one tenant. */
export function createSessionSummaries(sql: Sql, tenant: string) {
  const owned = 'session_id = (SELECT id FROM sessions WHERE id = ? AND tenant_id = ?)';
  return {
    /** The newest summary up to a number; undefined when there is none. */
    newest(sessionId: string, to = Number.MAX_SAFE_INTEGER): SummedRow | undefined {
      return sql.get<SummedRow>(
        `SELECT seq, payload FROM messages WHERE ${owned} AND kind = 'summary' AND seq <= ? AND ${isReadable}
         ORDER BY seq DESC LIMIT 1`,
        sessionId,
        tenant,
        to,
      );
    },

    /** A summary by its number; undefined when it is gone. */
    summary(sessionId: string, seq: number): SummedRow | undefined {
      return sql.get<SummedRow>(
        `SELECT seq, payload FROM messages WHERE ${owned} AND kind = 'summary' AND seq = ?`,
        sessionId,
        tenant,
        seq,
      );
    },

    /** What is sent of a stretch beside the summary before it, in order; system messages are sent in any case (07 §2.4). */
    messages({ sessionId, summary, to }: Stretch): SummedRow[] {
      return sql.all<SummedRow>(
        `SELECT seq, ${sentPayload} AS payload FROM messages
         WHERE ${owned} AND kind = 'message' AND role <> 'system' AND seq <= ? AND ${isSent} AND ${isReadable}
           AND seq > ifnull((SELECT covers_to FROM messages WHERE session_id = ? AND seq = ?), 0)
         ORDER BY seq`,
        sessionId,
        tenant,
        to,
        sessionId,
        summary,
      );
    },

    /**
     * Stores a summary as the first message of a copy, in the place of all that it covers. The caller's transaction has
     * made the session and counts its messages.
     */
    insertFirst(
      sessionId: string,
      summary: { readonly id: string; readonly payload: string; readonly run_id: string },
      at: number,
    ): void {
      sql.run(
        `INSERT INTO messages (session_id, id, seq, covers_to, role, kind, payload, status, run_id, created_at)
         VALUES (?, ?, 1, 1, 'user', 'summary', ?, 'complete', ?, ?)`,
        sessionId,
        summary.id,
        summary.payload,
        summary.run_id,
        at,
      );
    },
  };
}

export type SessionSummaries = ReturnType<typeof createSessionSummaries>;
