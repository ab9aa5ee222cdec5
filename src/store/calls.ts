import type { Evaluation } from '../schema/policy.ts';
import type { CallRecord } from '../schema/session.ts';
import { callRecords } from './call-records.ts';
import { wasDenied } from './denied.ts';
import { readOwner } from './owner.ts';
import type { Sql } from './sql.ts';

export type CallState = 'planned' | 'started' | 'done' | 'failed' | 'unknown' | 'skipped';

/** One tool call of a run: the effect of 03 §1.3, and the whole of what was decided about it. */
export type NewCall = {
  readonly run_id: string;
  readonly call_id: string;
  readonly batch: number;
  readonly tools: string;
  readonly tool: string;
  /** Final arguments, masked. */
  readonly args: unknown;
  readonly call_hash: string;
  readonly record: Evaluation | null;
  readonly state: 'planned' | 'started' | 'skipped';
  readonly at: number;
};

type CallEnd = {
  readonly state: 'done' | 'failed' | 'unknown' | 'skipped';
  /** As given to the model. */
  readonly result: unknown;
  readonly result_bytes: number;
  readonly result_sha256: string;
  readonly output_ref: string | null;
  readonly at: number;
};

/** What is on record of a call of a run that is resumed. */
export type KnownCall = {
  readonly seq: number;
  readonly tools: string;
  readonly tool: string;
  /** Masked. */
  readonly args: unknown;
  readonly call_hash: string;
  readonly record: Evaluation;
  readonly state: CallState;
  readonly ask_id: string | null;
  /** What the operator put in the place of its own arguments; null when nobody did. */
  readonly changed: Readonly<Record<string, unknown>> | null;
  /** Milliseconds since the epoch; null for one that never started. */
  readonly started_at: number | null;
  /** As given to the model; undefined when nothing was. */
  readonly result: unknown;
  readonly output_ref: string | null;
};

type KnownRow = Omit<KnownCall, 'args' | 'record' | 'result' | 'changed'> & {
  readonly changed: string | null;
  readonly call_id: string;
  readonly args: string;
  readonly record: string;
  readonly result: string | null;
};

/**
 * A process that a call has started and that may be going on. The child of a call that has begun just now is not on
 * record: then it is the process that drives the run, from which the child descends.
 */
export type RunningChild = {
  readonly run_id: string;
  readonly call_id: string;
  readonly pid: number;
  /** Null where the platform does not tell. */
  readonly pid_start: string | null;
};

/** Tool calls. A call becomes `started` or ends only under the lease of its run (03 §11.2). */
export function createCalls(sql: Sql) {
  return {
    /** @returns the call's number in its run, from 1. */
    insert(call: NewCall): number {
      const row = sql.get<{ seq: number }>(
        `INSERT INTO tool_calls (run_id, seq, call_id, batch, tools, tool, args, call_hash, record, ask_id, state, pid, pid_start,
           result, result_bytes, result_sha256, output_ref, planned_at, started_at, ended_at)
         VALUES (?, (SELECT coalesce(max(seq), 0) + 1 FROM tool_calls WHERE run_id = ?), ?, ?, ?, ?, ?, ?, ?, NULL, ?, NULL, NULL,
           NULL, NULL, NULL, NULL, ?, ?, NULL) RETURNING seq`,
        call.run_id,
        call.run_id,
        call.call_id,
        call.batch,
        call.tools,
        call.tool,
        JSON.stringify(call.args ?? null),
        call.call_hash,
        JSON.stringify(call.record),
        call.state,
        call.at,
        call.state === 'started' ? call.at : null,
      );
      if (row === undefined) throw new Error('an INSERT with RETURNING gave no row');
      return row.seq;
    },

    has: (runId: string, callId: string): boolean =>
      sql.get('SELECT 1 FROM tool_calls WHERE run_id = ? AND call_id = ?', runId, callId) !== undefined,

    setAsk(runId: string, seq: number, askId: string): void {
      sql.run('UPDATE tool_calls SET ask_id = ? WHERE run_id = ? AND seq = ?', askId, runId, seq);
    },

    /** Gives a planned call its new arguments (03 §3.5). */
    change(runId: string, seq: number, call: Pick<NewCall, 'args' | 'call_hash' | 'record'>): void {
      sql.run(
        "UPDATE tool_calls SET args = ?, call_hash = ?, record = ? WHERE run_id = ? AND seq = ? AND state = 'planned'",
        JSON.stringify(call.args ?? null),
        call.call_hash,
        JSON.stringify(call.record),
        runId,
        seq,
      );
    },

    /**
     * Compare-and-set from `planned`, or from `unknown` for a call that a person lets run again.
     * @returns false when it was in neither state or the lease is another's
     */
    start(runId: string, seq: number, owner: string, record: Evaluation, at: number): boolean {
      return (
        sql.run(
          `UPDATE tool_calls SET state = 'started', started_at = ?, record = ?
           WHERE run_id = ? AND seq = ? AND state IN ('planned', 'unknown')
             AND EXISTS (SELECT 1 FROM run_state s WHERE s.run_id = tool_calls.run_id AND s.lease_owner = ?)`,
          at,
          JSON.stringify(record),
          runId,
          seq,
          owner,
        ) === 1
      );
    },

    setPid(runId: string, seq: number, pid: number, pidStart: string | null): void {
      sql.run('UPDATE tool_calls SET pid = ?, pid_start = ? WHERE run_id = ? AND seq = ?', pid, pidStart, runId, seq);
    },

    /**
     * The processes of calls that have not ended, of runs that somebody drives. This is asked at every start, so the join
     * goes from the few runs to their calls: SQLite itself would read every call that was ever made.
     */
    running: (): readonly RunningChild[] =>
      sql
        .all<Omit<RunningChild, 'pid'> & { readonly pid: number | null; readonly lease_owner: string }>(
          `SELECT c.run_id, c.call_id, c.pid, c.pid_start, s.lease_owner
           FROM run_state s CROSS JOIN tool_calls c ON c.run_id = s.run_id
           WHERE s.lease_owner IS NOT NULL AND c.state = 'started'
             AND (c.pid IS NOT NULL OR json_extract(c.record, '$.exec') IS NOT NULL)`,
        )
        .flatMap(({ pid, lease_owner, ...call }) => {
          if (pid !== null) return { ...call, pid };
          const owner = readOwner(lease_owner);
          return owner === null ? [] : { ...call, pid: owner.pid, pid_start: owner.start };
        }),

    /** @returns false when the lease is another's: then the outcome is not this process's to record. */
    end(runId: string, seq: number, owner: string, end: CallEnd): boolean {
      return (
        sql.run(
          `UPDATE tool_calls SET state = ?, result = ?, result_bytes = ?, result_sha256 = ?, output_ref = ?, ended_at = ?
           WHERE run_id = ? AND seq = ?
             AND EXISTS (SELECT 1 FROM run_state s WHERE s.run_id = tool_calls.run_id AND s.lease_owner = ?)`,
          end.state,
          JSON.stringify(end.result ?? null),
          end.result_bytes,
          end.result_sha256,
          end.output_ref,
          end.at,
          runId,
          seq,
          owner,
        ) === 1
      );
    },

    /**
     * For a run that is taken up again, in the transaction that takes its lease (03 §11.5): nobody knows the outcome of a
     * call that was found started. Readers are planned once more, because it does no harm to execute them again.
     * @returns the ids of calls whose outcome is unknown now
     */
    reopen(runId: string, readers: readonly { readonly tools: string; readonly tool: string }[]): readonly string[] {
      for (const { tools, tool } of readers) {
        sql.run(
          `UPDATE tool_calls SET state = 'planned', started_at = NULL, pid = NULL, pid_start = NULL
           WHERE run_id = ? AND state = 'started' AND tools = ? AND tool = ?`,
          runId,
          tools,
          tool,
        );
      }
      return sql
        .all<{ call_id: string }>(
          "UPDATE tool_calls SET state = 'unknown' WHERE run_id = ? AND state = 'started' RETURNING call_id",
          runId,
        )
        .map((row) => row.call_id);
    },

    /** Calls that started, or may have, and that nobody has settled. */
    unsettled(runId: string): readonly { readonly tools: string; readonly tool: string }[] {
      return sql.all(
        `SELECT tools, tool FROM tool_calls
         WHERE run_id = ? AND (state = 'started' OR (state = 'unknown' AND result IS NULL)) ORDER BY seq`,
        runId,
      );
    },

    /** The calls of a run by call id, as a resumed run meets them. */
    known(runId: string): ReadonlyMap<string, KnownCall> {
      const rows = sql.all<KnownRow>(
        `SELECT call_id, seq, tools, tool, args, call_hash, record, state, ask_id, started_at, result, output_ref,
           (SELECT json_extract(a.verdict, '$.edited.args') FROM asks a
            WHERE a.run_id = c.run_id AND a.call_id = c.call_id AND json_extract(a.verdict, '$.edited') IS NOT NULL
            ORDER BY a.rowid DESC LIMIT 1) AS changed
         FROM tool_calls c WHERE run_id = ? ORDER BY seq`,
        runId,
      );
      return new Map(
        rows.map(({ call_id, ...row }) => [
          call_id,
          {
            ...row,
            args: JSON.parse(row.args) as unknown,
            record: JSON.parse(row.record) as Evaluation,
            changed: row.changed === null ? null : (JSON.parse(row.changed) as Readonly<Record<string, unknown>>),
            result: row.result === null ? undefined : (JSON.parse(row.result) as unknown),
          },
        ]),
      );
    },

    /** Whether a file tool of this run has left a file of this name and content behind since then. */
    hasLeft: (runId: string, file: { readonly path: string; readonly sha256: string }, since: number): boolean =>
      sql.get(
        `SELECT 1 FROM tool_calls WHERE run_id = ? AND tools = 'local_fs' AND state = 'done' AND ended_at >= ?
           AND json_extract(args, '$.path') = ? AND json_extract(result, '$.new_sha256') = ? LIMIT 1`,
        runId,
        since,
        file.path,
        file.sha256,
      ) !== undefined,

    /** Calls of a run that are being executed. */
    startedOf: (runId: string): number =>
      sql.get<{ n: number }>("SELECT count(*) AS n FROM tool_calls WHERE run_id = ? AND state = 'started'", runId)?.n ??
      0,

    /** A run ends with calls open: one that never started is skipped, one without an outcome is unknown (03 §1.3). */
    settleOpen(runId: string, at: number): void {
      sql.run(
        `UPDATE tool_calls SET state = CASE state WHEN 'planned' THEN 'skipped' ELSE 'unknown' END, ended_at = ?
         WHERE run_id = ? AND state IN ('planned', 'started')`,
        at,
        runId,
      );
    },

    /** Whether an identical call was denied earlier in this run without a person's feedback since (04 §14.5). */
    deniedBefore(runId: string, callHash: string): boolean {
      return (
        sql.get(
          `SELECT 1 FROM tool_calls c LEFT JOIN asks a ON a.id = c.ask_id
           WHERE c.run_id = ? AND c.call_hash = ? AND c.state = 'skipped'
             AND json_extract(c.result, '$.error') = 'denied'
             AND (a.id IS NULL OR json_extract(a.verdict, '$.feedback') IS NULL) LIMIT 1`,
          runId,
          callHash,
        ) !== undefined
      );
    },

    records: (runId: string, callIds: readonly string[]): ReadonlyMap<string, CallRecord> =>
      callRecords(sql, runId, callIds),

    /** What is recorded of the calls of a run as given to the model, by call id; null where nothing is. */
    results(runId: string): ReadonlyMap<string, { readonly state: CallState; readonly result: unknown }> {
      const rows = sql.all<{ call_id: string; state: CallState; result: string | null }>(
        'SELECT call_id, state, result FROM tool_calls WHERE run_id = ? ORDER BY seq',
        runId,
      );
      return new Map(
        rows.map(({ call_id, state, result }) => [
          call_id,
          { state, result: result === null ? null : (JSON.parse(result) as unknown) },
        ]),
      );
    },

    /** Calls of a run that were denied, in order, and by whom. */
    denials(runId: string): {
      readonly tools: string;
      readonly tool: string;
      readonly call_id: string;
      readonly args: unknown;
      readonly by: string;
      readonly record: Evaluation | null;
    }[] {
      return sql
        .all<{ tools: string; tool: string; call_id: string; args: string; by: string | null; record: string }>(
          `SELECT tools, tool, call_id, args, json_extract(result, '$.by') AS by, record FROM tool_calls
           WHERE run_id = ? AND ${wasDenied}
           ORDER BY seq`,
          runId,
        )
        .map((row) => ({
          ...row,
          args: JSON.parse(row.args),
          by: row.by ?? 'policy',
          record: JSON.parse(row.record) as Evaluation | null,
        }));
    },

    /** The calls of a run in order, as `<tools>.<tool> (<state>)`. */
    summaries(runId: string): string[] {
      return sql.column<string>(
        "SELECT tools || '.' || tool || ' (' || state || ')' FROM tool_calls WHERE run_id = ? ORDER BY seq",
        runId,
      );
    },

    /** Calls that were let through to execution. */
    executed(runId: string): number {
      return (
        sql.get<{ n: number }>(
          'SELECT count(*) AS n FROM tool_calls WHERE run_id = ? AND started_at IS NOT NULL',
          runId,
        )?.n ?? 0
      );
    },
  };
}

export type Calls = ReturnType<typeof createCalls>;
