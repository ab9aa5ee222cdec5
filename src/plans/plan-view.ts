import { verdictFor } from '../schema/ask.ts';
import type { Plan, PlanHead, PlanStep, StepSummary } from '../schema/plan.ts';
import type { Driver } from '../schema/run.ts';
import { driverOf, ownerIsDead } from '../store/owner.ts';
import type { StepRow } from '../store/plan-steps.ts';
import type { PlanListRow } from '../store/plans.ts';
import { isDriven } from '../store/runs.ts';
import { readJson } from '../text/read-json.ts';
import { planFlag } from '../view/plan-lines.ts';

const iso = (at: number): string => new Date(at).toISOString();
const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at));

/** A plan as lists show it (07 §3.1). */
export const headView = (row: PlanListRow, activeId: string | null): PlanHead => ({
  id: row.id,
  name: row.name,
  active: row.id === activeId,
  goal: row.goal,
  status: row.status,
  done: row.done,
  total: row.total,
  workspace: row.workspace,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
  completed_at: isoOrNull(row.completed_at),
});

/** How the claim of a step stands (07 §4.10). */
export type Claim =
  /** Nobody works on it. */
  | 'none'
  /** A process drives its run, or takes in how it ended. */
  | 'live'
  /** Its run rests for a question. */
  | 'waiting'
  /** Its run rests, and nobody drives it. */
  | 'dead'
  /** Its run has ended, and nobody is there to take that in. */
  | 'ended';

/** Who works on a step. @param now in milliseconds, as leases are judged by it */
export function claimOf(step: StepRow, now: number): Claim {
  if (step.status !== 'running' && step.status !== 'waiting') return 'none';
  if (step.run_status === null || step.run_ended_at !== null) {
    return step.settling !== null && !ownerIsDead(step.settling) ? 'live' : 'ended';
  }
  if (isDriven(step, now)) return 'live';
  return step.status === 'waiting' ? 'waiting' : 'dead';
}

export function stepView(row: StepRow, now: number): PlanStep {
  const claim = claimOf(row, now);
  return {
    id: row.id,
    ordinal: row.ordinal,
    description: row.description,
    status: row.status,
    interrupted: claim === 'dead' || claim === 'ended',
    run_id: row.run_id,
    attempts: row.attempts,
    result_text: row.result_text,
    summary: summaryOf(row),
    summary_error: row.summary_error,
    failure_class: row.failure_class,
    failure_text: row.failure_text,
    last_failure_summary: row.last_failure_summary,
    started_at: isoOrNull(row.started_at),
    finished_at: isoOrNull(row.finished_at),
    ask_id: claim === 'none' ? null : row.ask_id,
    ask_kind: claim === 'none' ? null : row.ask_kind,
    note: row.note,
    run_by: claim === 'live' ? holderOf(row) : null,
  };
}

/** The command that answers the open question of its run, to be typed as it stands; null without one. */
export const respondCommand = ({ ask_id, ask_kind }: Pick<StepRow, 'ask_id' | 'ask_kind'>): string | null =>
  ask_id === null ? null : `reins approvals respond ${ask_id} ${verdictFor(ask_kind ?? 'permission')}`;

/** What frees a step whose run rests: its answer, or, where that was given or came too late, going on with it. */
export const waysOn = (plan: Pick<PlanHead, 'name' | 'active'>, step: StepRow): readonly string[] => [
  respondCommand(step) ?? `reins plan next${planFlag(plan)}`,
  `reins plan skip ${step.ordinal}${planFlag(plan)}`,
];

/** The process that holds the claim, as its lease names it; null where it names none. */
export const holderOf = ({ lease_owner, settling }: Pick<StepRow, 'lease_owner' | 'settling'>): Driver | null =>
  driverOf(lease_owner ?? settling ?? '');

/** Written by `plan_summary.persist`, which checks it. */
export const summaryOf = (row: Pick<StepRow, 'summary'>): StepSummary | null =>
  row.summary === null ? null : readJson<StepSummary | null>(row.summary, null);

export const planView = (row: PlanListRow, steps: readonly StepRow[], activeId: string | null, now: number): Plan => ({
  ...headView(row, activeId),
  steps: steps.map((step) => stepView(step, now)),
});
