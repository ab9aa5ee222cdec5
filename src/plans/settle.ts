import type { Plan } from '../schema/plan.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { LostRuns } from '../runs/lost-runs.ts';
import type { Calls } from '../store/calls.ts';
import type { Feed, Record } from '../store/feed.ts';
import type { StepRow } from '../store/plan-steps.ts';
import type { PlanListRow, Plans } from '../store/plans.ts';
import type { Runs } from '../store/runs.ts';
import type { Mirror } from './mirror.ts';
import { claimOf, planView, summaryOf } from './plan-view.ts';
import { stepEnd } from './step-end.ts';

export type PlanDeps = {
  readonly plans: Plans;
  readonly runs: Pick<Runs, 'ended'>;
  readonly calls: Pick<Calls, 'summaries'>;
  readonly feed: Feed;
  readonly lostRuns: Pick<LostRuns, 'end'>;
  readonly mirror: Mirror;
  readonly tenant: string;
  readonly now: () => number;
};

/** What every change of a plan goes through: the row, its event, the state of the plan, and its mirror file. */
export function createPlanBooks(deps: PlanDeps) {
  const { plans, feed, now } = deps;
  const ref = { run_id: null, session_id: null, mission_id: null, chain_id: '', tenant_id: deps.tenant };

  const changed = (record: Record, plan: Pick<PlanListRow, 'id' | 'name'>, step: Pick<StepRow, 'id'> | null): void => {
    const row = step === null ? undefined : plans.step(step.id);
    const status = row?.status ?? plans.byId(plan.id)?.status ?? 'deleted';
    record(ref, {
      kind: 'plan_changed',
      plan: plan.name,
      status,
      ...(row === undefined ? {} : { ordinal: row.ordinal }),
    });
  };

  /** A plan is completed when every step is completed or skipped, and active again when one is not (07 §3.2). */
  const closeOrOpen = (planId: string): void => {
    const plan = plans.byId(planId);
    if (plan === undefined || plan.status === 'archived') return;
    const status = plan.total > 0 && plan.done === plan.total ? 'completed' : 'active';
    if (status !== plan.status) plans.setStatus(planId, status, now());
    else plans.touch(planId, now());
  };

  const read = (planId: string): Plan | null => {
    const row = plans.byId(planId);
    return row === undefined ? null : planView(row, plans.steps(planId), plans.activeId(), now());
  };

  /** Stores how the ended run of a step went (07 §4.5.6); nothing when somebody else has. */
  const settleStep = (step: StepRow): void => {
    const { run_id } = step;
    feed.commit('full', (record) => {
      const run = run_id === null ? undefined : deps.runs.ended(run_id);
      const plan = plans.byId(step.plan_id);
      if (plan === undefined) return;
      const latest = plans.step(step.id) ?? step;
      const lost = { status: 'cancelled', text: '', error: null } as const;
      const calls = run_id === null ? [] : deps.calls.summaries(run_id);
      const change = stepEnd({ ...(run ?? lost), calls }, summaryOf(latest), now());
      const late =
        change.status === 'completed' && latest.summary === null && latest.summary_error === null
          ? { summary_error: 'the process ended before the step was summarised' }
          : {};
      if (!plans.change(step.id, ['running', 'waiting'], { ...change, ...late }, run_id)) return;
      plans.settled(step.id);
      closeOrOpen(step.plan_id);
      changed(record, plan, step);
    });
  };

  return {
    read,
    changed,
    closeOrOpen,
    settleStep,

    /** Takes in what happened to runs of the plan while nobody was there to do it (07 §4.10.4). */
    reconcile(planId: string): void {
      for (const step of plans.steps(planId)) {
        if (claimOf(step, now()) !== 'ended') continue;
        // Nobody is left to read what a summariser of it would say.
        for (const id of step.run_id === null ? [] : plans.openSummaries(step.run_id)) {
          deps.lostRuns.end(id, { status: 'interrupted' });
        }
        settleStep(step);
      }
    },

    /** Writes the mirror file as the plan stands now. */
    async mirrored(plan: Pick<PlanListRow, 'id' | 'name'>): Promise<void> {
      await deps.mirror.write(plan.name, () => read(plan.id));
    },
  };
}

export type PlanBooks = ReturnType<typeof createPlanBooks>;

/** 07 §4.10.6. */
export const changedMeanwhile = (): RuntimeError => new RuntimeError('in_use', 'the step changed meanwhile');
