import type { Verdict } from '../schema/ask.ts';
import type { Evaluation } from '../schema/policy.ts';
import type { CallRecord } from '../schema/session.ts';
import { readJson } from '../text/read-json.ts';
import type { Sql } from './sql.ts';

type RecordRow = Pick<CallRecord, 'tools' | 'tool' | 'state' | 'ask_id' | 'duration_ms'> & {
  readonly call_id: string;
  readonly record: string;
  /** Of the ask. */
  readonly ask_state: string | null;
  readonly verdict: string | null;
};

/** What was decided about calls of a run, by call id: those that are on record. */
export function callRecords(sql: Sql, runId: string, callIds: readonly string[]): ReadonlyMap<string, CallRecord> {
  const rows = sql.all<RecordRow>(
    `SELECT c.call_id, c.tools, c.tool, c.record, c.state, c.ask_id, a.state AS ask_state, a.verdict, c.ended_at - c.started_at AS duration_ms
     FROM tool_calls c LEFT JOIN asks a ON a.id = c.ask_id
     WHERE c.run_id = ? AND c.call_id IN (SELECT value FROM json_each(?)) ORDER BY c.seq`,
    runId,
    JSON.stringify(callIds),
  );
  return new Map(rows.map((row) => [row.call_id, readRecord(row)]));
}

/** What of a damaged row cannot be read is left out. */
function readRecord({ tools, tool, record, state, ask_id, ask_state, verdict, duration_ms }: RecordRow): CallRecord {
  const judged = readJson<Evaluation | null>(record, null);
  const given = verdict === null ? null : readJson<Verdict | null>(verdict, null);
  return {
    tools,
    tool,
    decision:
      judged === null
        ? null
        : {
            action: judged.action,
            matched_rule: judged.matched_rule,
            reason: judged.reason,
            detail: judged.detail,
            policy: judged.policy.name,
          },
    ask_id,
    verdict:
      given === null || ask_state === null
        ? null
        : {
            verdict: ask_state,
            ...(given.treat_as === undefined ? {} : { treat_as: given.treat_as }),
            by: given.by,
            at: given.at,
          },
    state,
    duration_ms,
  };
}
