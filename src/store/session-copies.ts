import { isReadable, type MessageRow, member, messageColumns } from './messages.ts';
import type { Sql } from './sql.ts';

/** The message that a unit begins with, as far as a copy is to be cut behind it. */
type UnitHead = {
  readonly seq: number;
  readonly run_id: string | null;
  readonly status: string;
  /** JSON array of the ids of its calls; null without calls. */
  readonly calls: string | null;
};

/** The columns of a copy; what is no JSON stays what nobody can read, in a form that may be written. */
const copied = messageColumns
  .replace('id, ', '')
  .replace('payload', "CASE WHEN json_valid(payload) THEN payload ELSE 'null' END");

/** Sessions read whole and copied (07 §2.8), of one tenant. */
export function createSessionCopies(sql: Sql, tenant: string) {
  const owned = 'session_id = (SELECT id FROM sessions WHERE id = ? AND tenant_id = ?)';
  const content = (row: string): string => member('$.content').replaceAll('payload', `${row}.payload`);
  /** Text that arrived in part, of which the whole is stored further down. */
  const isSuperseded = `m.status = 'partial' AND EXISTS (SELECT 1 FROM messages c
    WHERE c.session_id = m.session_id AND c.run_id = m.run_id AND c.seq > m.seq AND c.role = 'assistant'
      AND c.status = 'complete' AND substr(${content('c')}, 1, length(${content('m')})) = ${content('m')})`;

  /** @returns whether the unit that begins at `head` is not whole at `end` */
  const isCut = (sessionId: string, head: UnitHead, end: number, openRuns: readonly string[]): boolean => {
    const goesOn = head.run_id !== null && openRuns.includes(head.run_id);
    if (head.calls === null) return goesOn && head.status === 'partial';
    const wanted: unknown = JSON.parse(head.calls);
    const answered = sql.column<string | null>(
      `SELECT ${member('$.tool_call_id')} FROM messages WHERE ${owned} AND seq > ? AND seq <= ? AND role = 'tool'`,
      sessionId,
      tenant,
      head.seq,
      end,
    );
    if (!Array.isArray(wanted) || wanted.every((id) => answered.includes(id))) return false;
    // Where no result is stored behind the cut and none will come, the unit has no other end.
    const next = sql.get<{ role: string }>(
      `SELECT role FROM messages WHERE ${owned} AND seq > ? AND kind = 'message' ORDER BY seq LIMIT 1`,
      sessionId,
      tenant,
      end,
    );
    return goesOn || next?.role === 'tool';
  };

  return {
    /** Sessions with messages that cannot be read (07 §1.3), and how many, at most 5. All messages are looked at. */
    damaged(): { readonly name: string; readonly messages: number }[] {
      return sql.all(
        `SELECT s.name, count(*) AS messages FROM messages m JOIN sessions s ON s.id = m.session_id
         WHERE s.tenant_id = ? AND CASE WHEN json_valid(payload) THEN ifnull(${isReadable}, 0) = 0 ELSE 1 END GROUP BY s.id ORDER BY s.name LIMIT 5`,
        tenant,
      );
    },

    /** `seq` of the last message; 0 when there is none. */
    lastSeq(sessionId: string): number {
      return (
        sql.get<{ seq: number | null }>(`SELECT max(seq) AS seq FROM messages WHERE ${owned}`, sessionId, tenant)
          ?.seq ?? 0
      );
    },

    /**
     * The last `seq` up to `at` with which a unit ends: calls are never parted from their results, nor copied while the
     * run that made them has not answered all of them.
     */
    unitBorder(sessionId: string, at: number, openRuns: readonly string[]): number {
      for (let end = at; ; ) {
        const head = sql.get<UnitHead>(
          `SELECT seq, run_id, status, CASE WHEN json_valid(payload) AND json_array_length(payload, '$.tool_calls') > 0
             THEN (SELECT json_group_array(json_extract(value, '$.id')) FROM json_each(payload, '$.tool_calls')) END AS calls
           FROM messages WHERE ${owned} AND seq <= ? AND kind = 'message' AND role <> 'tool' ORDER BY seq DESC LIMIT 1`,
          sessionId,
          tenant,
          end,
        );
        if (head === undefined || !isCut(sessionId, head, end, openRuns)) return end;
        end = head.seq - 1;
      }
    },

    /**
     * Copies the messages up to `to` under ids of their own with the same numbers, so that what a summary covers stays
     * covered. With `after` the copy has a summary of its own as message 1: up to there only system messages are copied, and
     * no older summary; all are numbered on from it (07 §2.1). The caller's transaction has made the new session.
     * @returns how many it has then
     */
    copyMessages(from: string, into: string, to: number, after = 0): number {
      const seq = after === 0 ? 'seq' : '(1 + row_number() OVER (ORDER BY seq))';
      sql.run(
        `INSERT INTO messages (session_id, ${messageColumns})
         SELECT ?, ? || '-' || ${seq}, ${copied.replace('seq', seq)} FROM messages
         WHERE ${owned} AND seq <= ? AND (? = 0 OR role = 'system' OR (seq > ? AND kind <> 'summary'))`,
        into,
        into,
        from,
        tenant,
        to,
        after,
        after,
      );
      const counted = sql.get<{ n: number }>(
        `UPDATE sessions SET message_count = (SELECT count(*) FROM messages WHERE session_id = sessions.id),
           last_message_at = (SELECT max(created_at) FROM messages WHERE session_id = sessions.id)
         WHERE id = ? AND tenant_id = ? RETURNING message_count AS n`,
        into,
        tenant,
      );
      return counted?.n ?? 0;
    },

    /** Messages behind a number, in order, without what was stored of them while they arrived. */
    page(sessionId: string, after: number, limit: number, to = Number.MAX_SAFE_INTEGER): MessageRow[] {
      return sql.all<MessageRow>(
        `SELECT ${messageColumns} FROM messages m WHERE ${owned} AND seq > ? AND seq <= ? AND NOT ifnull(${isSuperseded}, 0)
         ORDER BY seq LIMIT ?`,
        sessionId,
        tenant,
        after,
        to,
        limit,
      );
    },

    /**
     * Where a page of messages ends that are together not larger than `mostBytes`; it holds one at least.
     * @returns null where the next `limit` are not larger
     */
    pageEnd(sessionId: string, after: number, limit: number, mostBytes: number): number | null {
      const sizes = sql.all<{ seq: number; bytes: number }>(
        `SELECT seq, octet_length(payload) AS bytes FROM messages WHERE ${owned} AND seq > ? ORDER BY seq LIMIT ?`,
        sessionId,
        tenant,
        after,
        limit,
      );
      let total = 0;
      let end: number | null = null;
      for (const { seq, bytes } of sizes) {
        total += bytes;
        if (total > mostBytes && end !== null) return end;
        end = seq;
      }
      return null;
    },

    /** Messages before a number, newest first; otherwise as `page`. */
    pageBack(sessionId: string, before: number, limit: number): MessageRow[] {
      return sql.all<MessageRow>(
        `SELECT ${messageColumns} FROM messages m WHERE ${owned} AND seq < ? AND NOT ifnull(${isSuperseded}, 0)
         ORDER BY seq DESC LIMIT ?`,
        sessionId,
        tenant,
        before,
        limit,
      );
    },
  };
}

export type SessionCopies = ReturnType<typeof createSessionCopies>;
