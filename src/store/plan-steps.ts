import type { AskKind } from '../schema/ask.ts';
import type { FailureClass, StepStatus } from '../schema/plan.ts';
import type { RunStatus } from '../schema/run.ts';
import { putSetting } from './settings.ts';
import type { Sql, SqlValue } from './sql.ts';

/** Times are milliseconds; JSON columns are text. */
export type StepRow = {
  readonly id: string;
  readonly plan_id: string;
  readonly ordinal: number;
  readonly description: string;
  readonly status: StepStatus;
  readonly run_id: string | null;
  readonly attempts: number;
  readonly result_text: string | null;
  readonly summary: string | null;
  readonly summary_error: string | null;
  readonly failure_class: FailureClass | null;
  readonly failure_text: string | null;
  readonly last_failure_summary: string | null;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly replaces: string | null;
  readonly note: string | null;
  /** Of its run: how it stands, who drives it, and its open question. */
  readonly run_status: RunStatus | null;
  readonly run_ended_at: number | null;
  readonly lease_owner: string | null;
  readonly lease_until: number | null;
  readonly ask_id: string | null;
  readonly ask_kind: AskKind | null;
  /** The process that takes in the outcome of its ended run. */
  readonly settling: string | null;
};

/** What a change of a step may set. */
export type StepChange = Partial<
  Pick<
    StepRow,
    | 'status'
    | 'description'
    | 'run_id'
    | 'result_text'
    | 'summary'
    | 'summary_error'
    | 'failure_class'
    | 'failure_text'
    | 'last_failure_summary'
    | 'finished_at'
    | 'note'
  >
>;

type NewStep = Pick<StepRow, 'id' | 'ordinal' | 'description' | 'status' | 'replaces' | 'note'>;

const settlingKey = (stepId: string): string => `plan.settling.${stepId}`;

const firstAsk = "FROM asks a WHERE a.run_id = s.run_id AND a.state = 'pending' ORDER BY a.created_at LIMIT 1";
const joined = `SELECT s.*, r.status AS run_status, r.ended_at AS run_ended_at, st.lease_owner, st.lease_until,
    (SELECT a.id ${firstAsk}) AS ask_id, (SELECT a.kind ${firstAsk}) AS ask_kind,
    (SELECT json_extract(k.value, '$') FROM kv k JOIN plans p ON p.id = s.plan_id
      WHERE k.tenant_id = p.tenant_id AND k.key = 'plan.settling.' || s.id) AS settling
  FROM plan_steps s LEFT JOIN runs r ON r.id = s.run_id LEFT JOIN run_state st ON st.run_id = s.run_id`;

/** Steps of plans. Writes belong in the caller's transaction; each change names the states that it expects (07 §4.10). */
export function createPlanSteps(sql: Sql, tenant: string) {
  return {
    steps(planId: string): StepRow[] {
      return sql.all<StepRow>(`${joined} WHERE s.plan_id = ? ORDER BY s.ordinal`, planId);
    },

    step(id: string): StepRow | undefined {
      return sql.get<StepRow>(`${joined} WHERE s.id = ?`, id);
    },

    /** The step that this run was started for and that still counts on it. */
    stepOfRun(runId: string): StepRow | undefined {
      return sql.get<StepRow>(
        `${joined} WHERE s.run_id = ? AND s.id = (SELECT plan_step_id FROM runs WHERE id = ?)`,
        runId,
        runId,
      );
    },

    insertStep(planId: string, step: NewStep): void {
      sql.run(
        `INSERT INTO plan_steps (id, plan_id, ordinal, description, status, attempts, replaces, note) VALUES (?, ?, ?, ?, ?, 0, ?, ?)`,
        step.id,
        planId,
        step.ordinal,
        step.description,
        step.status,
        step.replaces,
        step.note,
      );
    },

    /**
     * Claims a step for a run (07 §4.5.1): it must be the lowest pending one of its plan, and no step may be failed,
     * waiting or claimed. @returns false when that is no longer so
     */
    claim(stepId: string, runId: string, now: number): boolean {
      return (
        sql.run(
          `UPDATE plan_steps SET status = 'running', run_id = ?, attempts = attempts + 1, started_at = ?, finished_at = NULL,
             result_text = NULL, summary = NULL, summary_error = NULL, failure_class = NULL, failure_text = NULL
           WHERE id = ? AND status = 'pending'
             AND ordinal = (SELECT min(o.ordinal) FROM plan_steps o WHERE o.plan_id = plan_steps.plan_id AND o.status = 'pending')
             AND NOT EXISTS (SELECT 1 FROM plan_steps o WHERE o.plan_id = plan_steps.plan_id
               AND o.status IN ('failed', 'running', 'waiting'))`,
          runId,
          now,
          stepId,
        ) === 1
      );
    },

    /**
     * Changes a step that is in one of the states, and still on the run when one is named.
     * @returns false when it has changed meanwhile
     */
    change(id: string, from: readonly StepStatus[], set: StepChange, runId: string | null = null): boolean {
      const columns = Object.keys(set);
      const values: SqlValue[] = Object.values(set);
      const onRun = runId === null ? '' : 'AND run_id = ?';
      return (
        sql.run(
          `UPDATE plan_steps SET ${columns.map((column) => `${column} = ?`).join(', ')}
           WHERE id = ? AND status IN (${from.map(() => '?').join(', ')}) ${onRun}`,
          ...values,
          id,
          ...from,
          ...(runId === null ? [] : [runId]),
        ) === 1
      );
    },

    /** Stores what the summariser found out about the step (05 §8). @returns false when the step is on another run */
    setSummary(id: string, runId: string, set: Pick<StepChange, 'summary' | 'summary_error' | 'result_text'>): boolean {
      return this.change(id, ['running'], set, runId);
    },

    /** A step whose run rests for a question waits; one whose run goes on is running (07 §3.3). */
    rests(runId: string): void {
      sql.run("UPDATE plan_steps SET status = 'waiting' WHERE run_id = ? AND status = 'running'", runId);
    },

    goesOn(runId: string): void {
      sql.run("UPDATE plan_steps SET status = 'running' WHERE run_id = ? AND status = 'waiting'", runId);
    },

    /** The owner takes in the outcome of the step's ended run: until it has, or is gone, nobody else does. */
    settles(runId: string, owner: string, now: number): void {
      const step = sql.get<{ id: string }>("SELECT id FROM plan_steps WHERE run_id = ? AND status = 'running'", runId);
      if (step !== undefined) putSetting(sql, tenant, settlingKey(step.id), JSON.stringify(owner), now);
    },

    settled(stepId: string): void {
      sql.run('DELETE FROM kv WHERE tenant_id = ? AND key = ?', tenant, settlingKey(stepId));
    },

    removePending(planId: string): number {
      return sql.run("DELETE FROM plan_steps WHERE plan_id = ? AND status = 'pending'", planId);
    },

    /** Moves the steps behind an ordinal; through negative numbers, since ordinals are unique. */
    shift(planId: string, behind: number, by: number): void {
      sql.run('UPDATE plan_steps SET ordinal = -(ordinal + ?) WHERE plan_id = ? AND ordinal > ?', by, planId, behind);
      sql.run('UPDATE plan_steps SET ordinal = -ordinal WHERE plan_id = ? AND ordinal < 0', planId);
    },

    /** Summarisers of a step's run that have not ended. */
    openSummaries(runId: string): string[] {
      return sql.column<string>(
        `SELECT s.id FROM runs s JOIN runs r ON r.mission_id = s.mission_id
         WHERE r.id = ? AND s.parent_run_id = r.id AND s.kind = 'step_summary' AND s.ended_at IS NULL`,
        runId,
      );
    },
  };
}
