import { stamp } from '../text/stamp.ts';
import type { Ask, AskKind, AskState, Preview, Verdict } from '../schema/ask.ts';
import type { Evaluation } from '../schema/policy.ts';
import type { PolicyState } from '../schema/run.ts';
import { readJson } from '../text/read-json.ts';
import { noPolicy } from './damaged.ts';
import type { Sql, SqlValue } from './sql.ts';
import { idPart } from '../text/ids.ts';

/** A question as it is written down: the columns of an ask that it has from the start. */
export type NewAsk = Pick<
  Ask,
  | 'id'
  | 'kind'
  | 'session_id'
  /** Null for a budget that a turn asks for. */
  | 'call_id'
  | 'tools'
  | 'tool'
  | 'args'
  | 'summary'
  | 'preview'
  | 'question'
  | 'cwd'
  | 'record'
  | 'policy'
  | 'call_hash'
  | 'binding'
  | 'preimage'
  | 'timeout_s'
  | 'on_timeout'
> & {
  readonly tenant_id: string;
  readonly run_id: string;
  readonly mission_id: string;
  readonly chain_id: string;
  readonly task_id: string;
  /** Milliseconds since the epoch. */
  readonly expires_at: number | null;
  readonly created_at: number;
};

/** The columns that hold another form than the ask: JSON as text, times as milliseconds. */
export type AskRow = Omit<Ask, 'args' | JsonColumn | TimeColumn> & { readonly args: string } & {
  readonly [name in JsonColumn]: null extends Ask[name] ? string | null : string;
} & { readonly [name in TimeColumn]: null extends Ask[name] ? number | null : number };
type JsonColumn = 'preview' | 'question' | 'record' | 'policy' | 'preimage' | 'verdict';
type TimeColumn = 'expires_at' | 'created_at' | 'updated_at' | 'resolved_at';

/** A verdict on its way into the row. */
type Resolution = {
  readonly id: string;
  readonly state: Exclude<AskState, 'pending'>;
  readonly verdict: Verdict;
  /** What the verdict is about; null takes whatever the row holds. */
  readonly binding: string | null;
  /** Milliseconds since the epoch; an expiry stands from its deadline on, everything else before it. */
  readonly now: number;
  /** Most verdicts of agents for asks of this kind in the mission (03 §7.5); null for everybody else. */
  readonly cap: number | null;
};

/** What another policy makes of an ask that is open. */
export type Rebound = {
  readonly policy: PolicyState;
  readonly record: Evaluation;
  readonly binding: string;
};

export type AskFilter = {
  /** `resolved`: whatever is no longer pending. */
  readonly state: AskState | 'all' | 'resolved';
  readonly kind: string | null;
  readonly session_id: string | null;
  readonly mission_id: string | null;
  /** `operator`, `agent` or `system`. */
  readonly by: string | null;
  readonly limit: number;
};

/** Later than every deadline. */
const never = Number.MAX_SAFE_INTEGER;
const byDeadline = 'expires_at NULLS LAST, created_at';
const newestFirst = 'resolved_at DESC, created_at DESC';
const orders: Readonly<Record<string, string>> = {
  pending: byDeadline,
  all: `state <> 'pending', CASE WHEN state = 'pending' THEN ifnull(expires_at, ${never}) ELSE -resolved_at END, created_at`,
};

const noRecord: Evaluation = {
  action: 'approve',
  matched_rule: null,
  reason: 'internal_error',
  timeout_s: 0,
  on_timeout: null,
  policy: noPolicy,
  detail: 'the row of this ask cannot be read',
  note: null,
  trust: [],
  exec: null,
};

/** An ask whose row is damaged is `unreadable`: it is listed, and nobody can say yes to it. */
export const readAsk = (row: AskRow): Ask => {
  let isWhole = true;
  const read = <T>(text: string, otherwise: T): T => {
    const value = readJson<T | typeof unread>(text, unread);
    if (value !== unread) return value as T;
    isWhole = false;
    return otherwise;
  };
  const ask: Ask = {
    ...row,
    args: read<unknown>(row.args, {}),
    preview: read<Preview>(row.preview, {}),
    question: row.question === null ? null : read<Ask['question']>(row.question, null),
    record: read(row.record, noRecord),
    policy: read(row.policy, noPolicy),
    preimage: row.preimage === null ? null : read<Ask['preimage']>(row.preimage, null),
    verdict: row.verdict === null ? null : read<Verdict | null>(row.verdict, null),
    expires_at: row.expires_at === null ? null : stamp(row.expires_at),
    created_at: stamp(row.created_at),
    updated_at: stamp(row.updated_at),
    resolved_at: row.resolved_at === null ? null : stamp(row.resolved_at),
  };
  return isWhole ? ask : { ...ask, unreadable: true, summary: '[unreadable ask]' };
};

const unread = Symbol('unread');

export const askColumns = `id, kind, state, run_id, session_id, mission_id, chain_id, task_id, call_id, tools, tool, args, summary, preview,
  question, cwd, record, policy, call_hash, binding, preimage, timeout_s, on_timeout, expires_at, created_at, updated_at,
  resolved_at, verdict, superseded_by, step_no, (SELECT name FROM plans WHERE plans.id = asks.plan_id) AS plan_name, (SELECT name FROM sessions WHERE sessions.id = asks.session_id) AS session_name`;

/** Verdicts of agents: `wait` writes none, and those of people never count (03 §7.5). */
const agentVerdicts = (mission: string, kind: string): string =>
  `FROM asks given WHERE given.mission_id = ${mission} AND given.kind = ${kind}
     AND substr(json_extract(given.verdict, '$.by'), 1, 6) = 'agent:'`;

/** Asks: the row is the only authority (03). Writes belong in the caller's transaction. */
export function createAsks(sql: Sql, tenant: string) {
  return {
    insert(ask: NewAsk): void {
      sql.run(
        `INSERT INTO asks (id, tenant_id, kind, state, run_id, session_id, plan_id, step_no, mission_id, chain_id, task_id, call_id,
           tools, tool, args, args_blob, summary, preview, question, cwd, record, policy, call_hash, binding, preimage, timeout_s,
           on_timeout, expires_at, created_at, updated_at, resolved_at, verdict, delivered_at, superseded_by)
         VALUES (?, ?, ?, 'pending', ?, ?, (SELECT plan_id FROM runs WHERE id = ?),
           (SELECT s.ordinal FROM plan_steps s JOIN runs r ON r.plan_step_id = s.id WHERE r.id = ?), ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
           NULL, NULL, NULL, NULL)`,
        ask.id,
        ask.tenant_id,
        ask.kind,
        ask.run_id,
        ask.session_id,
        ask.run_id,
        ask.run_id,
        ask.mission_id,
        ask.chain_id,
        ask.task_id,
        ask.call_id,
        ask.tools,
        ask.tool,
        JSON.stringify(ask.args ?? null),
        ask.summary,
        JSON.stringify(ask.preview),
        ask.question === null ? null : JSON.stringify(ask.question),
        ask.cwd,
        JSON.stringify(ask.record),
        JSON.stringify(ask.policy),
        ask.call_hash,
        ask.binding,
        ask.preimage === null ? null : JSON.stringify(ask.preimage),
        ask.timeout_s,
        ask.on_timeout,
        ask.expires_at,
        ask.created_at,
        ask.created_at,
      );
    },

    /** The one statement that decides (03 §5). @returns true when this verdict stands */
    resolve({ id, state, verdict, binding, now, cap }: Resolution): boolean {
      const alive = state === 'expired' ? 'expires_at <= ?' : '(expires_at IS NULL OR expires_at > ?)';
      return (
        sql.run(
          `UPDATE asks SET state = ?, verdict = ?, resolved_at = ?, updated_at = ?
           WHERE id = ? AND tenant_id = ? AND state = 'pending' AND ${alive} AND (? IS NULL OR binding = ?)
             AND (? IS NULL OR (SELECT count(*) ${agentVerdicts('asks.mission_id', 'asks.kind')}) < ?)`,
          state,
          JSON.stringify(verdict),
          now,
          now,
          id,
          tenant,
          now,
          binding,
          binding,
          cap,
          cap,
        ) === 1
      );
    },

    /** How many asks of this kind agents have answered in a mission (03 §7.5). */
    agentVerdicts(missionId: string, kind: AskKind): number {
      const row = sql.get<{ n: number }>(`SELECT count(*) AS n ${agentVerdicts('?', '?')}`, missionId, kind);
      return row?.n ?? 0;
    },

    /** Shows what an agent does about an ask (03 §7.7). @returns false when the ask is over */
    setAdjudicator(id: string, adjudicator: NonNullable<Preview['adjudicator']>, now: number): boolean {
      return (
        sql.run(
          `UPDATE asks SET preview = json_set(preview, '$.adjudicator', json(?)), updated_at = ?
           WHERE id = ? AND tenant_id = ? AND state = 'pending'`,
          JSON.stringify(adjudicator),
          now,
          id,
          tenant,
        ) === 1
      );
    },

    /** Puts an open ask under another policy, unless somebody did so first. @returns whether this did */
    rebind(ask: Pick<Ask, 'id' | 'binding'>, { policy, record, binding }: Rebound, now: number): boolean {
      return (
        sql.run(
          `UPDATE asks SET policy = ?, record = ?, binding = ?, updated_at = ?,
             preview = json_set(preview, '$.policy_changed', json('true'))
           WHERE id = ? AND tenant_id = ? AND state = 'pending' AND binding = ?`,
          JSON.stringify(policy),
          JSON.stringify(record),
          binding,
          now,
          ask.id,
          tenant,
          ask.binding,
        ) === 1
      );
    },

    delivered(id: string, now: number): void {
      sql.run('UPDATE asks SET delivered_at = ? WHERE id = ? AND delivered_at IS NULL', now, id);
    },

    /** Whether the run has taken the verdict. */
    isDelivered(id: string): boolean {
      return sql.get('SELECT 1 FROM asks WHERE id = ? AND delivered_at IS NOT NULL', id) !== undefined;
    },

    supersede(id: string, by: string): void {
      sql.run('UPDATE asks SET superseded_by = ? WHERE id = ?', by, id);
    },

    get(id: string): Ask | undefined {
      const row = sql.get<AskRow>(`SELECT ${askColumns} FROM asks WHERE id = ? AND tenant_id = ?`, id, tenant);
      return row === undefined ? undefined : readAsk(row);
    },

    /**
     * Ids that begin or end with the given characters after `ask_` (03 §1.1), at most 20. Looked for in the index of ids,
     * which is a hundredth of the table; the `+` keeps the index of tenants, which lies beside the table, out of it.
     */
    candidates(part: string): string[] {
      const text = idPart(part);
      if (text === null) return [];
      return sql
        .all<{ id: string }>(
          `SELECT id FROM asks WHERE +tenant_id = ?
             AND id IN (SELECT id FROM asks WHERE substr(id, 5, ?) = ? OR substr(id, -?) = ?) ORDER BY id LIMIT 20`,
          tenant,
          text.length,
          text,
          text.length,
          text,
        )
        .map((row) => row.id);
    },

    /** Pending asks whose deadline has passed, oldest deadline first, at most 200 (03 §2). */
    due(now: number): Ask[] {
      return sql
        .all<AskRow>(
          `SELECT ${askColumns} FROM asks WHERE state = 'pending' AND expires_at <= ? AND tenant_id = ? ORDER BY expires_at LIMIT 200`,
          now,
          tenant,
        )
        .map(readAsk);
    },

    /** Open asks first, soonest deadline first, those without one last; then the others, the newest verdict first. */
    list(filter: AskFilter): { asks: Ask[]; total: number } {
      const conditions = ['tenant_id = ?'];
      const params: SqlValue[] = [tenant];
      const add = (condition: string, value: SqlValue): void => {
        conditions.push(condition);
        params.push(value);
      };
      if (filter.state === 'resolved') add('state <> ?', 'pending');
      else if (filter.state !== 'all') add('state = ?', filter.state);
      if (filter.kind !== null) add('kind = ?', filter.kind);
      if (filter.session_id !== null) add('session_id = ?', filter.session_id);
      if (filter.mission_id !== null) add('mission_id = ?', filter.mission_id);
      if (filter.by !== null) add("substr(json_extract(verdict, '$.by'), 1, ?) = ?", filter.by.length + 1);
      if (filter.by !== null) params.push(`${filter.by}:`);
      const where = conditions.join(' AND ');
      const total = sql.get<{ n: number }>(`SELECT count(*) AS n FROM asks WHERE ${where}`, ...params)?.n ?? 0;
      const rows = sql.all<AskRow>(
        `SELECT ${askColumns} FROM asks WHERE ${where} ORDER BY ${orders[filter.state] ?? newestFirst} LIMIT ?`,
        ...params,
        filter.limit,
      );
      return { asks: rows.map(readAsk), total };
    },

    ofRun(runId: string): Ask[] {
      return sql.all<AskRow>(`SELECT ${askColumns} FROM asks WHERE run_id = ? ORDER BY created_at`, runId).map(readAsk);
    },

    pendingOfRun(runId: string): string[] {
      return sql
        .all<{ id: string }>("SELECT id FROM asks WHERE run_id = ? AND state = 'pending'", runId)
        .map((row) => row.id);
    },

    /** How many other calls of a run, the same as this one, were asked about (03 §8 `repeat n`). */
    askedBefore(runId: string, callHash: string, callId: string | null): number {
      // Its calls have an index by hash; asks have none.
      const asked = `SELECT count(*) AS n FROM tool_calls
        WHERE call_hash = ? AND run_id = ? AND call_id IS NOT ? AND ask_id IS NOT NULL`;
      return sql.get<{ n: number }>(asked, callHash, runId, callId)?.n ?? 0;
    },
  };
}

export type Asks = ReturnType<typeof createAsks>;
