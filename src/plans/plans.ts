import { RuntimeError } from '../schema/errors.ts';
import type { Plan, PlanHead } from '../schema/plan.ts';
import type { StepRow } from '../store/plan-steps.ts';
import type { PlanListRow, Plans } from '../store/plans.ts';
import { stepWaits } from '../view/plan-lines.ts';
import { findPlan, findStep } from './find-plan.ts';
import type { Mirror } from './mirror.ts';
import { type Claim, claimOf, headView, holderOf, planView, summaryOf, waysOn } from './plan-view.ts';
import { changedMeanwhile, type PlanBooks } from './settle.ts';
import type { Feed } from '../store/feed.ts';

export type PlanOperationDeps = {
  readonly plans: Plans;
  readonly books: PlanBooks;
  readonly mirror: Mirror;
  readonly feed: Feed;
  readonly now: () => number;
  /** False where nothing can be written: then what is stored is shown as it is. */
  readonly writable: boolean;
  /** Ends a run, live or resting, with its open asks; resolves when its row says so. */
  readonly cancelRun: (runId: string, reason: string) => Promise<void>;
};

type Named = { readonly plan: string | null };
type StepInput = Named & { readonly ordinal: number };

/** Plans without running anything (07 §3): what their operations do to rows and mirror files. */
export function createPlanOperations(deps: PlanOperationDeps) {
  const { plans, books, feed, now } = deps;

  const viewOf = (id: string): Plan => {
    const plan = books.read(id);
    if (plan === null) throw new RuntimeError('not_found', 'The plan was deleted meanwhile.');
    return plan;
  };
  const caughtUp = (row: PlanListRow): PlanListRow => {
    if (!deps.writable) return row;
    books.reconcile(row.id);
    return plans.byId(row.id) ?? row;
  };
  const find = (name: string | null): PlanListRow => caughtUp(findPlan(plans, name));

  /** The steps that somebody works on, or whose run rests for a question. */
  const busy = (planId: string): readonly StepRow[] =>
    plans.steps(planId).filter((step) => {
      const claim = claimOf(step, now());
      return claim === 'live' || claim === 'waiting';
    });

  /** @throws RuntimeError in_use for a plan with a live or waiting step, unless its run may be cancelled */
  const freed = async (plan: PlanListRow, force: boolean, what: string): Promise<void> => {
    for (const step of busy(plan.id)) {
      if (!force) throw hasStep(plan, step, what);
      if (step.run_id !== null) await ended(step.run_id, `plan ${what}`);
    }
    books.reconcile(plan.id);
    if (!force) return;
    // The process that had the step takes in how it ended.
    for (let waited = 0; waited < mostMs && busy(plan.id).length > 0; waited += lookEveryMs) {
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
  };

  /** Ends the run of a step, or, where that has ended by itself, the one that sums it up. */
  const ended = async (runId: string, reason: string): Promise<void> => {
    for (const id of [runId, ...plans.openSummaries(runId)]) {
      await deps.cancelRun(id, reason).catch((error: unknown) => {
        if (!(error instanceof RuntimeError) || error.code !== 'run_not_active') throw error;
      });
    }
  };

  const removed = async (plan: PlanListRow): Promise<void> => {
    const written = feed.commit('full', (record) => {
      const [step] = busy(plan.id);
      if (step !== undefined) throw hasStep(plan, step, 'deleted');
      const last = deps.mirror.written(plan);
      if (plans.delete(plan.id)) books.changed(record, plan, null);
      return last;
    });
    await deps.mirror.remove(plan, written);
  };

  /** An interrupted run is given up before its step takes another way (07 §3.3). */
  const givenUp = async (plan: PlanListRow, step: StepRow, what: string): Promise<StepRow> => {
    if (step.run_id === null) return step;
    await deps.cancelRun(step.run_id, `step ${what}`);
    books.reconcile(plan.id);
    return plans.step(step.id) ?? step;
  };

  return {
    async listPlans(input: { readonly status: string | null }): Promise<readonly PlanHead[]> {
      const activeId = plans.activeId();
      return plans
        .list()
        .map((row) => headView(row, activeId))
        .filter(({ status }) => input.status === null || status === input.status);
    },

    /** Without a name the active plan. */
    async showPlan(input: Named): Promise<Plan> {
      const row = find(input.plan);
      return planView(row, plans.steps(row.id), plans.activeId(), now());
    },

    /** An archived plan becomes active again, or completed when nothing of it is open. */
    async switchPlan(input: { readonly plan: string }): Promise<Plan> {
      const row = find(input.plan);
      feed.commit('full', (record) => {
        if (row.status === 'archived') {
          plans.setStatus(row.id, 'active', now());
          books.closeOrOpen(row.id);
        }
        plans.setActive(row.id, now());
        books.changed(record, row, null);
      });
      await books.mirrored(row);
      return viewOf(row.id);
    },

    /** Puts a plan aside. @throws RuntimeError in_use */
    async archivePlan(input: Named & { readonly force: boolean }): Promise<Plan> {
      const row = find(input.plan);
      await freed(row, input.force, 'archived');
      feed.commit('full', (record) => {
        plans.setStatus(row.id, 'archived', now());
        plans.leaveActive(row.id);
        books.changed(record, row, null);
      });
      await books.mirrored(row);
      return viewOf(row.id);
    },

    async deletePlan(input: { readonly plan: string; readonly force: boolean }): Promise<{ readonly name: string }> {
      const row = find(input.plan);
      await freed(row, input.force, 'deleted');
      await removed(row);
      return { name: row.name };
    },

    /** Deletes the plans that are completed or archived. @returns their names */
    async cleanPlans(input: { readonly force: boolean }): Promise<{ readonly names: readonly string[] }> {
      const done = plans.list().filter(({ status }) => status !== 'active');
      for (const plan of done) await freed(plan, input.force, 'deleted');
      for (const plan of done) await removed(plan);
      return { names: done.map(({ name }) => name) };
    },

    /** Puts a step back to pending (07 §3.3); it does not run. @throws RuntimeError in_use, not_found */
    async retryStep(
      input: StepInput,
    ): Promise<{ readonly plan: Plan; readonly warning: string | null; readonly was_pending: boolean }> {
      const plan = find(input.plan);
      let step = findStep(plans, plan, input.ordinal);
      const claim = claimOf(step, now());
      if (claim === 'live' || claim === 'waiting') throw stepBusy(headView(plan, plans.activeId()), step, claim);
      if (claim === 'dead') step = await givenUp(plan, step, 'retried');
      if (step.status === 'pending') return { plan: viewOf(plan.id), warning: null, was_pending: claim === 'none' };
      const later = plans
        .steps(plan.id)
        .some((other) => other.ordinal > step.ordinal && other.status === 'completed' && step.status === 'completed');
      // What went wrong with the summary says nothing of the step, and a step that was skipped keeps what it had.
      const before = step.failure_text ?? summaryText(step) ?? step.result_text ?? step.last_failure_summary;
      feed.commit('full', (record) => {
        const set = {
          status: 'pending',
          last_failure_summary: before,
          result_text: null,
          summary: null,
          summary_error: null,
          failure_class: null,
          failure_text: null,
          note: null,
        } as const;
        if (!plans.change(step.id, [step.status], set)) throw changedMeanwhile();
        books.closeOrOpen(plan.id);
        books.changed(record, plan, step);
      });
      await books.mirrored(plan);
      const warning = later ? `step ${step.ordinal} was completed, and later steps were completed after it` : null;
      return { plan: viewOf(plan.id), warning, was_pending: false };
    },

    /** Leaves a step out (07 §3.3). @throws RuntimeError in_use, not_found */
    async skipStep(input: StepInput): Promise<Plan> {
      const plan = find(input.plan);
      let step = findStep(plans, plan, input.ordinal);
      const claim = claimOf(step, now());
      if (claim === 'live') throw stepBusy(headView(plan, plans.activeId()), step, claim);
      if (step.status === 'completed' || step.status === 'skipped') {
        throw new RuntimeError('in_use', `Step ${step.ordinal} is ${step.status}: it cannot be skipped.`);
      }
      if (claim === 'dead' || claim === 'waiting') step = await givenUp(plan, step, 'skipped');
      feed.commit('full', (record) => {
        if (!plans.change(step.id, [step.status], { status: 'skipped', finished_at: now() })) throw changedMeanwhile();
        books.closeOrOpen(plan.id);
        books.changed(record, plan, step);
      });
      await books.mirrored(plan);
      return viewOf(plan.id);
    },
  };
}

/** A run that was cancelled ends within 5 s (03 §11). */
const mostMs = 5000;
const lookEveryMs = 50;

export type PlanOperations = ReturnType<typeof createPlanOperations>;

const summaryText = (step: StepRow): string | null => summaryOf(step)?.summary ?? null;

const hasStep = (plan: PlanListRow, step: StepRow, what: string): RuntimeError =>
  new RuntimeError('in_use', `Plan "${plan.name}" cannot be ${what}: its step ${step.ordinal} is ${step.status}.`, {
    data: { ordinal: step.ordinal, status: step.status },
    // A step that is worked on cannot be skipped either.
    hints: [
      ...(step.status === 'waiting' ? [`reins plan skip ${step.ordinal} --plan ${plan.name}`] : []),
      what === 'archived' ? `reins plan archive ${plan.name} --force` : `reins plan delete ${plan.name} --force`,
    ],
  });

const stepBusy = (plan: PlanHead, step: StepRow, claim: Claim): RuntimeError => {
  if (claim === 'live') return new RuntimeError('in_use', `Step ${step.ordinal} is running in process ${pidOf(step)}.`);
  return new RuntimeError('in_use', `Step ${step.ordinal} ${stepWaits(step)}.`, { hints: waysOn(plan, step) });
};

export const pidOf = (step: Pick<StepRow, 'lease_owner' | 'settling'>): string => String(holderOf(step)?.pid ?? '?');
