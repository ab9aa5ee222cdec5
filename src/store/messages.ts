import { RuntimeError } from '../schema/errors.ts';
import type { Sql, SqlValue } from './sql.ts';

export type MessageKind = 'message' | 'summary' | 'note';
export type MessageStatus = 'complete' | 'partial' | 'failed';

/** A message to be stored. `payload` is message JSON (04 §6.3) as text; of a summary: as it is sent to a model. */
export type NewMessage = {
  readonly id: string;
  readonly role: string;
  readonly kind: MessageKind;
  readonly payload: string;
  readonly status: MessageStatus;
  readonly run_id: string | null;
  /** JSON text or null. */
  readonly error: string | null;
  readonly tokens_in: number | null;
  readonly tokens_out: number | null;
  readonly created_at: number;
  /** `seq` of the last row that a summary covers. */
  readonly covers_to?: number;
};

export type MessageRow = Omit<NewMessage, 'covers_to'> & { readonly seq: number; readonly covers_to: number | null };

/** A message that arrives: what a model has thought and said of it so far. */
export type Said = { readonly text: string; readonly thinking: string };

/** Id of the row that holds a message while it arrives. */
export const partialId = (runId: string): string => `partial-${runId}`;

/** Most messages of one session (11 §11). */
export const maxMessages = 100_000;

export const messageColumns = `id, seq, covers_to, role, kind, payload, status, run_id, error, tokens_in, tokens_out, created_at`;
/** What may still change of a message that is stored, in the order of the columns. */
const contentOf = (message: NewMessage): readonly SqlValue[] => [
  message.role,
  message.kind,
  message.payload,
  message.status,
  message.run_id,
  message.error,
  message.tokens_in,
  message.tokens_out,
];
/** Reads one member of a payload; null for a row that is not JSON, which must not stop a list (07 §1.3). */
export const member = (path: string): string =>
  `CASE WHEN json_valid(payload) THEN json_extract(payload, '${path}') END`;
/** Calls and their results, and what was only thought: people see them when they ask for them (07 §2.8). */
const isToolTraffic = `(role = 'tool' OR (role = 'assistant' AND kind = 'message' AND ${member('$.content')} = ''
  AND (status = 'partial' OR ${member('$.tool_calls')} IS NOT NULL)))`;
/** Of the messages, what is sent to a model: everything but replies that hold no text (07 §2.3.3). */
export const isSent = `(status = 'complete' OR ${member('$.content')} <> '')`;
/** Text of 10 MiB, which is the most that is taken in, is shorter than this however it is escaped in practice. */
export const maxPayloadBytes = 32 * 1024 * 1024;
/** A row whose payload is no message, or none that we wrote, is shown as unreadable and never sent (11 §2.12). */
export const isReadable = `octet_length(payload) <= ${maxPayloadBytes} AND json_valid(payload) AND json_type(payload, '$.content') = 'text'
  AND json_extract(payload, '$.role') = role AND json_type(payload, '$.id') = 'text'
  AND kind IN ('message', 'summary', 'note') AND status IN ('complete', 'partial', 'failed')
  AND CASE ifnull(json_type(payload, '$.tool_calls'), 'null') WHEN 'null' THEN 1 WHEN 'array' THEN NOT EXISTS (
    SELECT 1 FROM json_each(payload, '$.tool_calls') c WHERE CASE WHEN c.type <> 'object' THEN 1
      ELSE json_type(c.value, '$.id') IS NOT 'text' OR json_type(c.value, '$.function.name') IS NOT 'text'
        OR json_type(c.value, '$.function.arguments') IS NOT 'text' END) ELSE 0 END`;
/** Text that only arrived in part says so and calls nothing: its calls were never complete. */
export const sentPayload = `CASE status WHEN 'partial'
  THEN json_set(json_remove(payload, '$.tool_calls'), '$.interrupted', json('true')) ELSE payload END`;

/** The messages of one tenant's sessions (11 §2.3): stored, listed, and put together as a model gets them. */
export function createMessages(sql: Sql, tenant: string) {
  const owned = 'session_id = (SELECT id FROM sessions WHERE id = ? AND tenant_id = ?)';

  const insertMessage = (sessionId: string, message: NewMessage): number => {
    const counted = sql.run(
      `UPDATE sessions SET message_count = message_count + 1, last_message_at = max(ifnull(last_message_at, 0), ?)
       WHERE id = ? AND tenant_id = ? AND message_count < ?`,
      message.created_at,
      sessionId,
      tenant,
      maxMessages,
    );
    if (counted === 0) throw notCounted(sessionId);
    const row = sql.get<{ seq: number }>(
      `INSERT INTO messages (session_id, seq, ${messageColumns.replace(' seq,', '')})
       VALUES (?, (SELECT coalesce(max(seq), 0) + 1 FROM messages WHERE session_id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       RETURNING seq`,
      sessionId,
      sessionId,
      message.id,
      message.covers_to ?? null,
      ...contentOf(message),
      message.created_at,
    );
    if (row === undefined) throw new Error('an INSERT with RETURNING gave no row');
    return row.seq;
  };
  const notCounted = (sessionId: string): RuntimeError => {
    const there = sql.get('SELECT 1 FROM sessions WHERE id = ? AND tenant_id = ?', sessionId, tenant) !== undefined;
    return there
      ? new RuntimeError(
          'storage',
          `The session holds ${maxMessages} messages, which is the most; go on in a copy of it.`,
          {
            hints: ['reins session fork --summary', 'reins session new'],
          },
        )
      : new RuntimeError('not_found', `There is no session ${sessionId}.`);
  };

  /**
   * The first row that is sent when the last `trim` of them are wanted (07 §2.4), never inside a unit; null when there
   * are fewer, so that all of them and the summary before them are sent.
   */
  const cutOf = (sessionId: string, trim: number, from: number, turnFrom: number): number | null => {
    const rows = sql.all<{ seq: number; role: string }>(
      `SELECT seq, role FROM messages WHERE ${owned} AND seq >= ? AND seq < ? AND role <> 'system' AND kind = 'message'
         AND ${isSent} ORDER BY seq DESC LIMIT ?`,
      sessionId,
      tenant,
      from,
      turnFrom,
      trim,
    );
    if (rows.length < trim) return null;
    const starts = rows.toReversed().find((row) => row.role !== 'tool');
    if (starts !== undefined) return starts.seq;
    // All of them are results of one message with calls: that unit is sent whole.
    const unit = sql.get<{ seq: number | null }>(
      `SELECT max(seq) AS seq FROM messages WHERE ${owned} AND seq >= ? AND seq < ? AND role NOT IN ('tool', 'system')
         AND kind = 'message' AND ${isSent}`,
      sessionId,
      tenant,
      from,
      turnFrom,
    );
    return unit?.seq ?? from;
  };

  return {
    /**
     * Adds a message as the last of its session. A user's message is durable when this returns (11 §2.7); others may be
     * lost by a power failure unless the caller's transaction is a full one.
     * @returns its `seq`. @throws RuntimeError not_found, storage at 100,000 messages
     */
    appendMessage(sessionId: string, message: NewMessage): number {
      return sql.write(message.role === 'user' && message.kind === 'message' ? 'full' : 'normal', () =>
        insertMessage(sessionId, message),
      );
    },

    /**
     * Stores a message that may be there already: the row with the id `replaces` (the message's own unless given) is
     * overwritten in its place, else the message is appended.
     * @returns its `seq`
     */
    putMessage(sessionId: string, message: NewMessage, replaces: string = message.id): number {
      return sql.write('normal', () => {
        const row = sql.get<{ seq: number }>(
          `UPDATE messages SET id = ?, role = ?, kind = ?, payload = ?, status = ?, run_id = ?, error = ?, tokens_in = ?,
             tokens_out = ? WHERE id = ? AND ${owned} RETURNING seq`,
          message.id,
          ...contentOf(message),
          replaces,
          sessionId,
          tenant,
        );
        return row?.seq ?? insertMessage(sessionId, message);
      });
    },

    /**
     * Messages in order. `tail` and `head` count messages of this list, not of the session; without `tools` it leaves out
     * results and messages that only call tools.
     */
    messages(
      sessionId: string,
      want: { readonly tools: boolean; readonly head?: number; readonly tail?: number },
    ): MessageRow[] {
      const where = `${owned}${want.tools ? '' : ` AND NOT ifnull(${isToolTraffic}, 0)`}`;
      const select = `SELECT ${messageColumns} FROM messages WHERE ${where} ORDER BY seq`;
      const params: readonly SqlValue[] = [sessionId, tenant];
      if (want.tail !== undefined) {
        return sql.all<MessageRow>(`${select} DESC LIMIT ?`, ...params, want.tail).reverse();
      }
      return sql.all<MessageRow>(`${select} LIMIT ?`, ...params, want.head ?? -1);
    },

    /** Payloads of the complete messages that a run has added, in order; unreadable rows are left out. */
    ofRun(sessionId: string, runId: string): string[] {
      return sql
        .all<{ payload: string }>(
          `SELECT payload FROM messages WHERE ${owned} AND run_id = ? AND kind = 'message' AND status = 'complete'
             AND ${isReadable} ORDER BY seq`,
          sessionId,
          tenant,
          runId,
        )
        .map((row) => row.payload);
    },

    /** What is stored of the message that a run is saying (07 §2.3.4); null when nothing is, or it cannot be read. */
    partial(runId: string): Said | null {
      const row = sql.get<Said>(
        `SELECT json_extract(payload, '$.content') AS text,
           CASE json_type(payload, '$.thinking') WHEN 'text' THEN json_extract(payload, '$.thinking') ELSE '' END AS thinking
         FROM messages WHERE id = ? AND status = 'partial' AND ${isReadable}`,
        partialId(runId),
      );
      return row ?? null;
    },

    /** Where the newest summary stands and what it covers; null without one. */
    newestSummary(sessionId: string): { readonly seq: number; readonly covers_to: number } | null {
      return (
        sql.get<{ seq: number; covers_to: number }>(
          `SELECT seq, ifnull(covers_to, 0) AS covers_to FROM messages WHERE ${owned} AND kind = 'summary' AND ${isReadable}
           ORDER BY seq DESC LIMIT 1`,
          sessionId,
          tenant,
        ) ?? null
      );
    },

    /** `seq` of the user's message that a run answers; null when it is gone. */
    turnOf(sessionId: string, runId: string): number | null {
      return (
        sql.get<{ seq: number | null }>(
          `SELECT min(seq) AS seq FROM messages WHERE ${owned} AND run_id = ? AND role = 'user' AND kind = 'message'`,
          sessionId,
          tenant,
          runId,
        )?.seq ?? null
      );
    },

    /** Removes messages that a run has added, by the ids in their payloads, and what was noted of it. */
    takeBack(sessionId: string, runId: string, messageIds: readonly string[]): void {
      sql.write('normal', () => {
        const removed = sql.run(
          `DELETE FROM messages WHERE ${owned} AND run_id = ? AND role <> 'user' AND (kind = 'note' OR status = 'partial' OR ${member('$.id')} IN
             (SELECT value FROM json_each(?)))`,
          sessionId,
          tenant,
          runId,
          JSON.stringify(messageIds),
        );
        sql.run('UPDATE sessions SET message_count = message_count - ? WHERE id = ?', removed, sessionId);
      });
    },

    /**
     * The stored conversation as JSON array text of messages (07 §2.3.3): the newest summary and what it does not cover,
     * without notes and without replies that hold no text. Payloads are joined as they are, by SQLite: ten thousand strings
     * that are joined here are collected as rubbish at once, which takes longer than reading them.
     * @param trim send at most this many of them, system messages not counted; 0 = all (07 §2.4)
     * @param turnFrom rows from this `seq` on belong to the new turn: always sent, never counted
     * @param turnTo rows behind this `seq` are left out: a run that is resumed adds its own
     */
    historyText(
      sessionId: string,
      trim = 0,
      turnFrom = Number.MAX_SAFE_INTEGER,
      turnTo = Number.MAX_SAFE_INTEGER,
    ): string {
      const summary = sql.get<{ text: string; covers_to: number | null }>(
        `SELECT payload AS text, covers_to FROM messages
         WHERE ${owned} AND kind = 'summary' AND seq < ? AND ${isReadable} ORDER BY seq DESC LIMIT 1`,
        sessionId,
        tenant,
        turnFrom,
      );
      const from = (summary?.covers_to ?? 0) + 1;
      const cut = trim > 0 ? cutOf(sessionId, trim, from, turnFrom) : null;
      // An ORDER BY in group_concat itself would sort what the index has in order; SQLite keeps that of a subquery for it.
      const joined = sql.get<{ text: string | null }>(
        `SELECT group_concat(payload, ',') AS text FROM (SELECT ${sentPayload} AS payload FROM messages
           WHERE ${owned} AND kind = 'message' AND (seq >= ? OR role = 'system') AND seq <= ? AND ${isSent}
             AND ${isReadable} ORDER BY seq)`,
        sessionId,
        tenant,
        cut ?? from,
        turnTo,
      );
      // The summary is stored after the rows that it does not cover; in a request it comes first.
      const texts = [cut === null ? summary?.text : null, joined?.text];
      return `[${texts.filter((text) => typeof text === 'string').join(',')}]`;
    },
  };
}
