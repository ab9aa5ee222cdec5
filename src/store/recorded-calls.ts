import type { Evaluation } from '../schema/policy.ts';
import type { Sql, SqlValue } from './sql.ts';

/** A call that was judged, with what became of the question about it. */
export type RecordedCall = {
  readonly run_id: string;
  readonly call_id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly tools: string;
  readonly tool: string;
  /** Final arguments, masked. */
  readonly args: unknown;
  readonly call_hash: string;
  readonly record: Evaluation;
  /** Workspace root of its run. */
  readonly workspace: string;
  readonly ask: {
    readonly id: string;
    readonly state: string;
    readonly by: string | null;
    readonly cwd: string;
  } | null;
};

export type CallFilter = {
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly session_id: string | null;
  readonly tools: string | null;
  /** Whole id of a run. */
  readonly run_id?: string | null | undefined;
};

type Row = Omit<RecordedCall, 'args' | 'record' | 'ask'> & {
  readonly place: number;
  readonly args: string;
  readonly record: string;
  readonly ask_id: string | null;
  readonly ask_state: string | null;
  readonly ask_by: string | null;
  readonly ask_cwd: string | null;
};

const pageSize = 500;

/** Calls as they were judged, newest first, read in pages: nothing holds more of them than one page. */
export function createRecordedCalls(sql: Sql, tenant: string) {
  return {
    *pages(filter: CallFilter, limit: number): Generator<readonly RecordedCall[]> {
      let left = limit;
      let before = Number.MAX_SAFE_INTEGER;
      while (left > 0) {
        const rows = page(sql, tenant, filter, before, Math.min(left, pageSize));
        if (rows.length === 0) return;
        yield rows.map(read);
        left -= rows.length;
        before = rows.at(-1)?.place ?? 0;
      }
    },
  };
}

export type RecordedCalls = ReturnType<typeof createRecordedCalls>;

function page(sql: Sql, tenant: string, filter: CallFilter, before: number, limit: number): Row[] {
  const conditions = [
    'c.rowid < ?',
    'r.tenant_id = ?',
    'c.planned_at >= ?',
    // A call that was refused before anybody decided has no record.
    "c.record <> 'null'",
    // One that no rule gates says nothing about a policy (05 §8).
    "json_extract(c.record, '$.reason') <> 'internal'",
    ...(filter.session_id === null ? [] : ['r.session_id = ?']),
    ...(filter.tools === null ? [] : ['c.tools = ?']),
    ...(filter.run_id == null ? [] : ['c.run_id = ?']),
  ];
  const params: SqlValue[] = [before, tenant, filter.since];
  for (const value of [filter.session_id, filter.tools, filter.run_id]) if (value != null) params.push(value);
  return sql.all<Row>(
    `SELECT c.rowid AS place, c.run_id, c.call_id, c.planned_at AS at, c.tools, c.tool, c.args, c.call_hash, c.record,
       r.workspace, a.id AS ask_id, a.state AS ask_state, json_extract(a.verdict, '$.by') AS ask_by, a.cwd AS ask_cwd
     FROM tool_calls c JOIN runs r ON r.id = c.run_id LEFT JOIN asks a ON a.id = c.ask_id
     WHERE ${conditions.join(' AND ')} ORDER BY c.rowid DESC LIMIT ?`,
    ...params,
    limit,
  );
}

function read({ place: _place, ask_id, ask_state, ask_by, ask_cwd, args, record, ...row }: Row): RecordedCall {
  const ask = ask_id === null ? null : { id: ask_id, state: ask_state ?? '', by: ask_by, cwd: ask_cwd ?? '' };
  return { ...row, args: JSON.parse(args), record: asJudged(JSON.parse(record) as Evaluation), ask };
}

/** What was remembered had been asked about: the policy itself lets nobody through unasked. */
const asJudged = (record: Evaluation): Evaluation =>
  record.reason === 'remembered' ? { ...record, action: 'approve' } : record;
