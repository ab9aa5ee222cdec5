import { RuntimeError } from '../schema/errors.ts';
import { mostSteps, type Plan, type RepoContext } from '../schema/plan.ts';
import type { Feed } from '../store/feed.ts';
import type { StepRow } from '../store/plan-steps.ts';
import type { PlanListRow, Plans } from '../store/plans.ts';
import { ulid } from '../text/ids.ts';
import { stepCommands, stepWaits } from '../view/plan-lines.ts';
import { findPlan, findStep } from './find-plan.ts';
import { planName } from './names.ts';
import { claimOf, waysOn } from './plan-view.ts';
import type { FoundStep } from './read-steps.ts';
import { changedMeanwhile, type PlanBooks } from './settle.ts';

export type PlanChangeDeps = {
  readonly plans: Plans;
  readonly books: PlanBooks;
  readonly feed: Feed;
  /** Real path of the workspace root, noted in a new plan. */
  readonly workspace: string;
  readonly now: () => number;
  /** Ends the run of an interrupted step. */
  readonly cancelRun: (runId: string, reason: string) => Promise<void>;
};

const deleted = (): RuntimeError => new RuntimeError('not_found', 'The plan was deleted meanwhile.');

/** What a planner's answer makes of the rows, each in one transaction, and then the mirror file. */
export function createPlanChanges(deps: PlanChangeDeps) {
  const { plans, books, feed, now } = deps;

  const finished = async (plan: Pick<PlanListRow, 'id' | 'name'>): Promise<Plan> => {
    await books.mirrored(plan);
    const view = books.read(plan.id);
    if (view === null) throw deleted();
    return view;
  };

  /** A planner thinks for a while: in the transaction of what it came to. @throws RuntimeError not_found */
  const checkThere = (plan: PlanListRow): void => {
    if (plans.byId(plan.id) === undefined) throw deleted();
  };

  /** @throws RuntimeError in_use while a step is worked on or waits */
  const checkIdle = (plan: PlanListRow): void => {
    for (const step of plans.steps(plan.id)) {
      const claim = claimOf(step, now());
      if (claim !== 'live' && claim !== 'waiting') continue;
      const stands = claim === 'waiting' ? stepWaits(step) : `is ${step.status}`;
      throw new RuntimeError('in_use', `Step ${step.ordinal} of "${plan.name}" ${stands}.`, {
        data: { ordinal: step.ordinal },
        hints: claim === 'waiting' ? waysOn({ name: plan.name, active: plan.id === plans.activeId() }, step) : [],
      });
    }
  };

  const append = (planId: string, behind: number, steps: readonly FoundStep[], replaces: string | null): void => {
    for (const [index, { description, done }] of steps.entries()) {
      plans.insertStep(planId, {
        id: ulid(now() + index),
        ordinal: behind + 1 + index,
        description,
        status: done ? 'skipped' : 'pending',
        replaces,
        note: done ? 'done before' : null,
      });
    }
  };

  /** Steps are numbered from 1 without gaps. */
  const renumber = (planId: string): void => {
    let moved = 0;
    for (const [index, step] of plans.steps(planId).entries()) {
      const ordinal = step.ordinal + moved;
      const by = index + 1 - ordinal;
      if (by === 0) continue;
      plans.shift(planId, ordinal - 1, by);
      // All that stand behind have moved along.
      moved += by;
    }
  };

  const checkRoom = (plan: PlanListRow, kept: number, added: number): void => {
    if (kept + added <= mostSteps) return;
    throw new RuntimeError(
      'task_error',
      `Plan "${plan.name}" would have ${kept + added} steps, and ${mostSteps} is the most.`,
    );
  };

  return {
    /** Plan, steps and pointer in one transaction (07 §4.4.5). */
    async create(goal: string, steps: readonly FoundStep[], context: string | null): Promise<Plan> {
      const at = now();
      const plan = {
        id: ulid(at),
        name: planName(goal),
        goal,
        status: 'active' as const,
        workspace: deps.workspace,
        repo_context: context,
        created_at: at,
        updated_at: at,
        completed_at: null,
      };
      feed.commit('full', (record) => {
        plans.insert(plan);
        append(plan.id, 0, steps, null);
        plans.setActive(plan.id, at);
        books.closeOrOpen(plan.id);
        books.changed(record, plan, null);
      });
      return finished(plan);
    },

    /** The plan, when nothing of it is worked on. @throws RuntimeError not_found, in_use */
    replannable(name: string | null): PlanListRow {
      const plan = findPlan(plans, name);
      books.reconcile(plan.id);
      checkIdle(plan);
      return plans.byId(plan.id) ?? plan;
    },

    /** Pending steps go, failed and interrupted ones are skipped, the new ones come behind the rest (07 §4.7). */
    async replan(
      plan: PlanListRow,
      steps: readonly FoundStep[],
      seen: readonly StepRow[],
    ): Promise<{ readonly plan: Plan; readonly added: number }> {
      const dead = new Set<string>();
      for (const step of plans.steps(plan.id)) {
        if (claimOf(step, now()) !== 'dead' || step.run_id === null) continue;
        dead.add(step.id);
        await deps.cancelRun(step.run_id, 'replaced by replanning');
      }
      const before = new Set(
        plans
          .steps(plan.id)
          .filter(({ status }) => status === 'running')
          .map(({ id }) => id),
      );
      feed.commit('full', (record) => {
        checkThere(plan);
        checkIdle(plan);
        if (!isAsSeen(plans.steps(plan.id), seen, dead)) throw changedMeanwhile();
        for (const step of plans.steps(plan.id)) {
          const interrupted = before.has(step.id) && (step.status === 'running' || step.status === 'pending');
          if (step.status !== 'failed' && !interrupted) continue;
          const set = { status: 'skipped', note: 'replaced by replanning', finished_at: now() } as const;
          if (!plans.change(step.id, [step.status], set)) throw changedMeanwhile();
          plans.settled(step.id);
        }
        plans.removePending(plan.id);
        renumber(plan.id);
        const kept = plans.steps(plan.id).length;
        checkRoom(plan, kept, steps.length);
        append(plan.id, kept, steps, null);
        books.closeOrOpen(plan.id);
        books.changed(record, plan, null);
      });
      return { plan: await finished(plan), added: steps.length };
    },

    /** A step that failed for lack of room, was not split before, and does not come from a split itself (07 §4.6). */
    splittable(name: string | null, ordinal: number): { readonly plan: PlanListRow; readonly step: StepRow } {
      const plan = findPlan(plans, name);
      const step = findStep(plans, plan, ordinal);
      const split = plans.steps(plan.id).some(({ replaces }) => replaces === step.id);
      if (step.status !== 'failed' || step.failure_class !== 'capacity' || step.replaces !== null || split) {
        throw new RuntimeError('in_use', `Step ${ordinal} of "${plan.name}" cannot be split.`, {
          hints: stepCommands({ name: plan.name, active: plan.id === plans.activeId() }, ordinal),
        });
      }
      return { plan, step };
    },

    /** The parts come behind the step, which is skipped; later steps move on. */
    async split(
      plan: PlanListRow,
      step: StepRow,
      parts: readonly FoundStep[],
    ): Promise<{ readonly plan: Plan; readonly added: number }> {
      feed.commit('full', (record) => {
        const { ordinal } = step;
        checkThere(plan);
        checkRoom(plan, plans.steps(plan.id).length, parts.length);
        const note = `split into ${ordinal + 1}-${ordinal + parts.length}`;
        const set = { status: 'skipped', note, finished_at: now() } as const;
        if (!plans.change(step.id, ['failed'], set)) throw changedMeanwhile();
        plans.shift(plan.id, ordinal, parts.length);
        append(plan.id, ordinal, parts, step.id);
        books.closeOrOpen(plan.id);
        books.changed(record, plan, null);
      });
      return { plan: await finished(plan), added: parts.length };
    },

    async setContext(plan: PlanListRow, context: RepoContext): Promise<void> {
      feed.commit('full', (record) => {
        checkThere(plan);
        plans.setContext(plan.id, JSON.stringify(context), now());
        books.changed(record, plan, null);
      });
      await books.mirrored(plan);
    },
  };
}

export type PlanChanges = ReturnType<typeof createPlanChanges>;

/** Whether the planner was told of these steps (07 §4.10.6). @param dead steps whose run was ended for this very change */
const isAsSeen = (steps: readonly StepRow[], seen: readonly StepRow[], dead: ReadonlySet<string>): boolean =>
  steps.length === seen.length &&
  steps.every(({ id, status, run_id }, at) => {
    const before = seen[at];
    return id === before?.id && (dead.has(id) || (status === before.status && run_id === before.run_id));
  });
