import { stamp } from '../text/stamp.ts';
import type { Verdict } from '../schema/ask.ts';
import type { StepError } from '../schema/event.ts';
import { noUsage, type Usage } from '../schema/message.ts';
import type { Evaluation } from '../schema/policy.ts';
import type { PolicyState, RunKind, RunStatus } from '../schema/run.ts';
import type { RunCall } from '../schema/run-record.ts';
import { readJson } from '../text/read-json.ts';
import { noPolicy } from './damaged.ts';
import { wasDenied } from './denied.ts';
import { answerOf, readOutput } from './run-output.ts';
import { type Counters, noCounters } from './runs.ts';
import type { Sql, SqlValue } from './sql.ts';
import { idPart } from '../text/ids.ts';

/** A run with the names of what it belongs to. Times are milliseconds. */
export type RecordedRun = Omit<Row, JsonColumn | 'answer'> & {
  readonly policy: PolicyState;
  readonly options: Readonly<Record<string, unknown>>;
  readonly error: StepError | null;
  readonly output: { readonly type: string; readonly text: string } | null;
  readonly usage: Usage;
  readonly counters: Counters;
  readonly ask_ids: readonly string[];
};

type JsonColumn = 'policy' | 'options' | 'error' | 'output' | 'usage' | 'counters' | 'ask_ids';

type Row = {
  /** In the order in which runs were begun, which a clock that is set back does not change. */
  readonly place: number;
  readonly id: string;
  readonly kind: RunKind;
  readonly status: RunStatus;
  readonly chain_id: string;
  readonly chain_path: string | null;
  readonly chain_sha256: string;
  readonly cwd: string;
  readonly policy: string;
  readonly session_name: string | null;
  readonly plan_name: string | null;
  readonly plan_ordinal: number | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly backend: string | null;
  readonly options: string;
  /** The beginning of it. */
  readonly input: string | null;
  readonly output: string | null;
  /** The text of an output that is a message of the run. */
  readonly answer: string | null;
  readonly error: string | null;
  readonly exit_code: number | null;
  readonly usage: string;
  readonly counters: string;
  readonly ask_ids: string;
  readonly waiting_on: string | null;
  readonly denials: number;
  readonly last_seq: number;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly ended_at: number | null;
  /** When it was stored that it rests, or where it was last. */
  readonly checkpoint_at: number | null;
  /** How often in a row it could not go on, and why it could not the last time (03 §11.6). */
  readonly attempts: number;
  readonly last_error: string | null;
};

export type RunFilter = {
  readonly status: string | null;
  readonly session: string | null;
  /** Name of a plan. */
  readonly plan?: string | undefined;
  /** Only those that come behind the run of this place. */
  readonly behind?: number | undefined;
  readonly limit: number;
};

type CallRow = Omit<RunCall, 'args' | 'decision' | 'verdict' | 'result' | TimeColumn> & {
  readonly args: string;
  readonly record: string;
  readonly verdict: string | null;
  readonly result?: string | null;
} & { readonly [name in TimeColumn]: number | null };
type TimeColumn = 'planned_at' | 'started_at' | 'ended_at';

/** How much of an input a row of a listing can show, in characters. */
const inputChars = 300;
const previewChars = 500;

/** The question of a turn is a message of its session; that of any other run is kept with it. */
const asked = `coalesce(
  (SELECT CASE WHEN json_valid(m.payload) THEN json_extract(m.payload, '$.content') END FROM messages m WHERE m.run_id = r.id AND m.role = 'user' ORDER BY m.seq LIMIT 1),
  CASE WHEN json_valid(r.input) THEN json_extract(r.input, '$.value') END)`;

const columns = `r.rowid AS place, r.id, r.kind, s.status, r.chain_id, r.chain_path, r.chain_sha256, r.cwd, r.policy, r.model, r.provider, r.backend,
  r.options, r.output, ${answerOf('r')} AS answer, r.error, r.exit_code, r.usage, r.counters, r.created_at, r.started_at, r.ended_at,
  (SELECT name FROM sessions WHERE id = r.session_id) AS session_name,
  (SELECT name FROM plans WHERE id = r.plan_id) AS plan_name,
  (SELECT ordinal FROM plan_steps WHERE id = r.plan_step_id) AS plan_ordinal,
  substr(CAST(${asked} AS TEXT), 1, ${inputChars}) AS input,
  (SELECT json_group_array(id) FROM (SELECT id FROM asks WHERE run_id = r.id ORDER BY created_at)) AS ask_ids,
  (SELECT id FROM asks WHERE run_id = r.id AND state = 'pending' ORDER BY created_at LIMIT 1) AS waiting_on,
  (SELECT count(*) FROM tool_calls WHERE run_id = r.id AND ${wasDenied}) AS denials,
  (SELECT coalesce(max(seq), 0) FROM events WHERE run_id = r.id) AS last_seq,
  st.updated_at AS checkpoint_at, coalesce(st.attempts, 0) AS attempts, st.last_error`;

/** A run whose process is gone rests, whether or not its row says so (06 §25). Takes the ids of those as JSON. */
const statuses = `(SELECT id, CASE WHEN id IN (SELECT value FROM json_each(?)) THEN 'interrupted' ELSE status END AS status
  FROM runs WHERE tenant_id = ?) s`;

/** Runs as people look back at them. @param lost ids of runs that nobody drives any more */
export function createRecordedRuns(sql: Sql, tenant: string, lost: () => readonly string[]) {
  const from = `FROM ${statuses} JOIN runs r ON r.id = s.id LEFT JOIN run_state st ON st.run_id = r.id`;
  const scope = (): SqlValue[] => [JSON.stringify(lost()), tenant];
  return {
    /** Newest first, and how many there are in all. */
    list(filter: RunFilter): { readonly runs: RecordedRun[]; readonly total: number } {
      const { status, session, plan, behind } = filter;
      const conditions = [
        ...(status === null ? [] : ['s.status = ?']),
        ...(session === null
          ? []
          : ['r.session_id = (SELECT id FROM sessions WHERE tenant_id = r.tenant_id AND name = ?)']),
        ...(plan === undefined
          ? []
          : ['r.plan_id = (SELECT id FROM plans WHERE tenant_id = r.tenant_id AND name = ?)']),
        ...(behind === undefined ? [] : ['r.rowid < ?']),
      ];
      const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
      const params = [
        ...scope(),
        ...[status, session, plan ?? null].filter((value) => value !== null),
        ...(behind === undefined ? [] : [behind]),
      ];
      const total = sql.get<{ n: number }>(`SELECT count(*) AS n ${from} ${where}`, ...params)?.n ?? 0;
      const rows = sql.all<Row>(
        `SELECT ${columns} ${from} ${where} ORDER BY r.rowid DESC LIMIT ?`,
        ...params,
        filter.limit,
      );
      return { runs: rows.map(read), total };
    },

    get(id: string): RecordedRun | undefined {
      const row = sql.get<Row>(`SELECT ${columns} ${from} WHERE r.id = ?`, ...scope(), id);
      return row === undefined ? undefined : read(row);
    },

    /** A run that has not ended and began with a chain of this path; null when there is none. */
    onChain(path: string): string | null {
      const found = 'SELECT id FROM runs WHERE tenant_id = ? AND chain_path = ? AND ended_at IS NULL LIMIT 1';
      return sql.get<{ id: string }>(found, tenant, path)?.id ?? null;
    },

    /** Ids that are the given one, or begin or end with it behind `run_`, at most 20. */
    candidates(part: string): string[] {
      const text = idPart(part);
      if (text === null) return [];
      return sql.column<string>(
        `SELECT id FROM runs WHERE tenant_id = ? AND (id = ? OR substr(id, 5, ?) = ? OR substr(id, -?) = ?) ORDER BY id LIMIT 20`,
        tenant,
        part,
        text.length,
        text,
        text.length,
        text,
      );
    },

    /** The calls of a run behind a number, in their order, with their results where they are wanted. */
    calls(id: string, results: boolean, behind = -1, limit = -1): RunCall[] {
      return sql
        .all<CallRow>(
          `SELECT c.seq, c.call_id, c.run_id, c.tools, c.tool, c.args, c.call_hash, c.record, c.ask_id, a.verdict, c.state,
             CASE WHEN json_type(c.result) = 'object' THEN json_extract(c.result, '$.error') END AS error,
             substr(CAST(json_extract(c.result, '$') AS TEXT), 1, ${previewChars}) AS result_preview,
             ${results ? 'c.result, ' : ''}c.result_bytes, c.result_sha256, c.output_ref, c.planned_at, c.started_at, c.ended_at
           FROM tool_calls c LEFT JOIN asks a ON a.id = c.ask_id WHERE c.run_id = ? AND c.seq > ? ORDER BY c.seq LIMIT ?`,
          id,
          behind,
          limit,
        )
        .map(readCall);
    },
  };
}

export type RecordedRuns = ReturnType<typeof createRecordedRuns>;

/** What of a damaged row cannot be read is left out; the run is listed all the same. */
const read = ({ answer, ...row }: Row): RecordedRun => ({
  ...row,
  policy: readJson(row.policy, noPolicy),
  options: readJson(row.options, {}),
  error: row.error === null ? null : readJson<RecordedRun['error']>(row.error, null),
  output: readOutput(row.output, answer),
  usage: readJson<RecordedRun['usage'] | null>(row.usage, null) ?? noUsage,
  counters: readJson<RecordedRun['counters'] | null>(row.counters, null) ?? noCounters,
  ask_ids: readJson<RecordedRun['ask_ids']>(row.ask_ids, []),
});

const isoOrNull = (at: number | null): string | null => (at === null ? null : stamp(at));

function readCall({ record, verdict, result, ...row }: CallRow): RunCall {
  const evaluation = readJson<Evaluation | null>(record, null);
  return {
    ...row,
    args: readJson<RunCall['args']>(row.args, {}),
    ...(result === undefined ? {} : { result: result === null ? null : readJson<RunCall['result']>(result, null) }),
    decision:
      evaluation === null
        ? null
        : {
            action: evaluation.action,
            matched_rule: evaluation.matched_rule,
            reason: evaluation.reason,
            detail: evaluation.detail,
            policy: { name: evaluation.policy.name, sha256: evaluation.policy.sha256 },
          },
    verdict: verdict === null ? null : readJson<Verdict | null>(verdict, null),
    planned_at: stamp(row.planned_at ?? 0),
    started_at: isoOrNull(row.started_at),
    ended_at: isoOrNull(row.ended_at),
  };
}
