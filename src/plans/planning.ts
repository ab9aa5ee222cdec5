import { RuntimeError } from '../schema/errors.ts';
import {
  maxGoalBytes,
  type NewPlan,
  type Plan,
  type PlanningStep,
  type PlanRunOptions,
  type RepoContext,
} from '../schema/plan.ts';
import { type RunKind, type RunResult, type RunStarted, wasStopped } from '../schema/run.ts';
import type { RunService } from '../runs/runs.ts';
import type { StartWith } from '../runs/write-start.ts';
import type { PlanListRow, Plans } from '../store/plans.ts';
import { messageOf } from '../text/thrown.ts';
import { exceedsBytes } from '../text/utf8.ts';
import { checkPlace, findPlan } from './find-plan.ts';
import type { PlanChanges } from './plan-changes.ts';
import { replanText, splitText } from './planner-texts.ts';
import { readContext } from './read-context.ts';
import { readStepFile, readSteps, type ReadSteps } from './read-steps.ts';
import { type PlannedGoal, plannedGoal } from './planned-goal.ts';
import { planRequest } from './request.ts';
import type { PlanBooks } from './settle.ts';
import { type PlanModels, plannerVariables } from './variables.ts';

export type PlanningDeps = {
  readonly plans: Plans;
  readonly books: PlanBooks;
  readonly changes: PlanChanges;
  readonly service: Pick<RunService, 'startPlanned' | 'awaitRun'>;
  readonly models: () => PlanModels;
  readonly executorTools: (options: { readonly shell: boolean; readonly trust: readonly string[] }) => Promise<string>;
  readonly workspace: string;
  /** The process, as the leases of its runs name it. */
  readonly owner: string;
  readonly now: () => number;
};

type Start = Pick<Wanted, 'options' | 'variables' | 'model' | 'plan' | 'parent' | 'claim'>;

type Named = { readonly plan: string | null; readonly run: PlanRunOptions };

/** What a planner is asked for, and what is done with a list of steps that can be used. */
type Wanted = {
  readonly kind: Extract<RunKind, 'plan_new' | 'plan_replan'>;
  readonly text: string;
  readonly options: PlanRunOptions;
  readonly variables: Record<string, string>;
  readonly model: string;
  readonly plan: PlanListRow | null;
  /** The run that asks for it, if one does. */
  readonly parent?: StartWith['parent'] | undefined;
  /** Of a goal that has no plan yet. */
  readonly claim?: PlannedGoal;
  /** Further conditions of the answer. */
  check(read: ReadSteps & { readonly ok: true }): ReadSteps;
  store(read: ReadSteps & { readonly ok: true }): Promise<{ readonly plan: Plan; readonly added: number }>;
};

/** A small model may never give a list. */
const otherPlanners = [
  'reins plan new --planner-model <model> "<goal>"',
  'reins plan new --from <file with the steps> "<goal>"',
];

/** What an explorer came to; `error` where its run failed. */
type Found = ReturnType<typeof readContext> & { readonly error?: unknown };

const exploreText = 'Explore this workspace.';
const shownAnswer = 500;
/** Below this much of a time limit no further run is begun. */
const leastMs = 1000;

/**
 * Plans from a model's answer (07 §4.4, §4.7, §4.8): an explorer's run, a planner's run, one more when the answer cannot be
 * used, and then one transaction. Whoever asked follows one run after the other with `planningStep`.
 */
export function createPlanning(deps: PlanningDeps) {
  const { plans, service, now } = deps;
  /** What follows each run of this process, by its id. */
  const following = new Map<string, Promise<PlanningStep>>();

  const runStep = (
    phase: 'explore' | 'plan' | 'repair',
    run: RunStarted,
    warning: string | null,
    claim: PlannedGoal | undefined,
    then: () => Promise<PlanningStep>,
  ): PlanningStep => {
    const next = service
      .awaitRun({ run_id: run.run_id })
      .then(then)
      .then(
        (step) => {
          if (step.kind !== 'run') claim?.leave();
          return step;
        },
        (error: unknown) => {
          claim?.leave();
          throw error;
        },
      );
    // Nobody need be there yet; whoever asks hears of it.
    next.catch(() => undefined);
    following.set(run.run_id, next);
    return { kind: 'run', phase, run, warning };
  };

  const start = (kind: RunKind, wanted: Start, text: string): Promise<RunStarted> =>
    service.startPlanned(
      kind,
      planRequest(wanted.options, {
        text,
        variables: wanted.variables,
        model: wanted.model,
        provider: deps.models().planner_provider,
      }),
      {
        ...(wanted.parent === undefined ? {} : { parent: wanted.parent }),
        ...(wanted.claim === undefined ? {} : { claim: wanted.claim.take }),
        ...(wanted.plan === null
          ? {}
          : { plan: { id: wanted.plan.id, name: wanted.plan.name, stepId: null, ordinal: null } }),
      },
    );

  /** The text that a run ended with. @throws RuntimeError with its class when it did not complete */
  const answerOf = async (run: RunStarted): Promise<string> => {
    const result = await service.awaitRun({ run_id: run.run_id });
    if (result.status === 'completed') return result.text;
    throw failureOf(result);
  };

  /** What the runs before one have left of the time limit, which is for all of them (07 §4.4.2). @throws RuntimeError timeout */
  const withRest = async (options: PlanRunOptions, before: RunStarted): Promise<PlanRunOptions> => {
    if (options.timeout_ms === 0) return options;
    const { duration_ms, waited_ms } = await service.awaitRun({ run_id: before.run_id });
    const timeout_ms = options.timeout_ms - Math.max(0, duration_ms - waited_ms);
    if (timeout_ms >= leastMs) return { ...options, timeout_ms };
    throw new RuntimeError('timeout', 'the time limit of this invocation (--timeout) has passed');
  };

  /** Asks the planner; an answer that cannot be used is asked for once more, with the reason (07 §4.4.4). */
  const ask = async (wanted: Wanted, warning: string | null, again: string | null): Promise<PlanningStep> => {
    const run = await start(wanted.kind, wanted, again === null ? wanted.text : `${wanted.text}\n\n${again}`);
    return runStep(again === null ? 'plan' : 'repair', run, warning, wanted.claim, async () => {
      const answer = await answerOf(run);
      const first = readSteps(answer);
      const read = first.ok ? wanted.check(first) : first;
      if (read.ok) {
        const { plan, added } = await wanted.store(read);
        const [only] = read.steps;
        const asks = read.steps.length === 1 && only?.description.startsWith('Human:') === true;
        return { kind: 'plan', plan, added, question: asks ? (only?.description ?? null) : null };
      }
      if (again !== null) {
        throw new RuntimeError('task_error', `the planner did not return a list of steps: ${read.reason}`, {
          hints: wanted.kind === 'plan_new' ? otherPlanners : ['reins config set planner-model <model>'],
          data: { answer: answer.slice(0, shownAnswer) },
        });
      }
      return ask(
        { ...wanted, options: await withRest(wanted.options, run) },
        `the answer of the planner could not be used, and it is asked once more: ${read.reason}`,
        `Your answer to this could not be used: ${read.reason}. Answer again, with one JSON array of strings and nothing else.`,
      );
    });
  };

  const explore = async (
    text: string,
    wanted: Start,
    then: (found: Found, run: RunStarted) => Promise<PlanningStep>,
  ): Promise<PlanningStep> => {
    const run = await start('plan_explore', wanted, text === '' ? exploreText : text);
    return runStep('explore', run, null, wanted.claim, async () => {
      // Who stops the exploring, or lets its time run out, has stopped the planning that was to follow.
      const result = await service.awaitRun({ run_id: run.run_id });
      if (wasStopped(result)) throw failureOf(result);
      // What goes wrong with that planning is no problem of the exploring.
      const read = await answerOf(run).then(
        (answer) => readContext(answer, deps.workspace, now()),
        (error: unknown) => ({ ok: false, reason: messageOf(error), error }) as const,
      );
      return then(read, run);
    });
  };

  /** @throws RuntimeError usage */
  const checkedGoal = (goal: string): string => {
    const text = goal.trim().toWellFormed();
    if (text === '') throw new RuntimeError('usage', 'The goal of a plan must not be empty.');
    if (exceedsBytes(text, maxGoalBytes)) {
      throw new RuntimeError('usage', `The goal of a plan is above ${maxGoalBytes / 1024} KiB.`);
    }
    return text;
  };

  const accepted = (read: ReadSteps & { readonly ok: true }): ReadSteps => read;

  return {
    /**
     * Steps from a file become a plan at once; else the first run of its planning is started.
     * @throws RuntimeError usage, in_use while the same goal is planned, and as a run that cannot start; nothing has been
     *   stored then
     */
    async newPlan(input: NewPlan, parent?: StartWith['parent']): Promise<PlanningStep> {
      if (input.from !== null) {
        const read = readStepFile(input.from);
        if (!read.ok) {
          throw new RuntimeError('usage', `The steps cannot be read: ${read.reason}.`, { data: { param: 'from' } });
        }
        const goal = checkedGoal(input.goal === '' ? (read.goal ?? '') : input.goal);
        const plan = await deps.changes.create(goal, read.steps, null);
        return { kind: 'plan', plan, added: plan.total, question: null };
      }
      const goal = checkedGoal(input.goal);
      const models = {
        ...deps.models(),
        ...(input.planner_model === null ? {} : { planner_model: input.planner_model }),
      };
      const tools = await deps.executorTools({ shell: input.shell, trust: input.run.trust });
      const claim = plannedGoal(deps, goal);
      const own = { options: input.run, model: models.planner_model, plan: null, parent, claim };
      const planned = (
        context: RepoContext | null,
        warning: string | null,
        options: PlanRunOptions,
      ): Promise<PlanningStep> => {
        const stored = context === null ? null : JSON.stringify(context);
        return ask(
          {
            ...own,
            options,
            kind: 'plan_new',
            text: goal,
            variables: plannerVariables(goal, stored, { tools, models }),
            check: accepted,
            async store({ steps }) {
              const plan = await deps.changes.create(goal, steps, stored);
              return { plan, added: plan.total };
            },
          },
          warning,
          null,
        );
      };
      if (!input.explore) return planned(null, null, input.run);
      const variables = plannerVariables(goal, null, { tools, models });
      return explore(goal, { ...own, variables }, async (found, run) => {
        const warning = found.ok ? null : `the workspace was not explored: ${found.reason}`;
        return planned(found.ok ? found.context : null, warning, await withRest(input.run, run));
      });
    },

    /** Plans the steps that are left anew (07 §4.7). @throws RuntimeError in_use when a step is live or waits */
    async replan(input: Named & { readonly instruction: string; readonly shell: boolean }): Promise<PlanningStep> {
      const plan = deps.changes.replannable(input.plan);
      const seen = plans.steps(plan.id);
      const models = deps.models();
      const tools = await deps.executorTools({ shell: input.shell, trust: input.run.trust });
      return ask(
        {
          kind: 'plan_replan',
          text: replanText(plan, deps.plans, input.instruction),
          options: input.run,
          model: models.planner_model,
          variables: plannerVariables(plan.goal, plan.repo_context, { tools, models }),
          plan,
          check: accepted,
          store: ({ steps }) => deps.changes.replan(plan, steps, seen),
        },
        null,
        null,
      );
    },

    /** Looks at the workspace for later planning (07 §4.8). @throws RuntimeError not_found, not_resumable_here */
    async explorePlan(input: Named): Promise<PlanningStep> {
      const plan = findPlan(plans, input.plan);
      checkPlace(plan, deps.workspace);
      const models = deps.models();
      const variables = plannerVariables(plan.goal, null, { tools: '', models });
      return explore(plan.goal, { options: input.run, model: models.planner_model, variables, plan }, async (found) => {
        // A run that failed says why itself: a model that was not reached has described nothing wrongly.
        if (!found.ok && found.error !== undefined) throw found.error;
        if (!found.ok) {
          throw new RuntimeError('task_error', `the explorer did not describe the workspace: ${found.reason}`);
        }
        await deps.changes.setContext(plan, found.context);
        return { kind: 'context', plan: plan.name, context: found.context };
      });
    },

    /** Asks for 2 to 5 steps in the place of one that had no room (07 §4.6). @throws RuntimeError in_use */
    async splitStep(input: Named & { readonly ordinal: number; readonly shell: boolean }): Promise<PlanningStep> {
      const { plan, step } = deps.changes.splittable(input.plan, input.ordinal);
      const models = deps.models();
      const tools = await deps.executorTools({ shell: input.shell, trust: input.run.trust });
      return ask(
        {
          kind: 'plan_replan',
          text: splitText(plan, step.description, step.failure_text ?? ''),
          options: input.run,
          model: models.planner_model,
          variables: plannerVariables(plan.goal, plan.repo_context, { tools, models }),
          plan,
          check: (read) => checkedParts(read, step.description),
          store: ({ steps }) => deps.changes.split(plan, step, steps),
        },
        null,
        null,
      );
    },

    /**
     * What followed a run of a planner or explorer of this process: another run, or what it was for.
     * @throws RuntimeError not_found; task_error for an answer that cannot be used; else as the run failed
     */
    async planningStep(input: { readonly run_id: string }): Promise<PlanningStep> {
      const next = following.get(input.run_id);
      if (next === undefined) throw new RuntimeError('not_found', `Run ${input.run_id} plans nothing in this process.`);
      try {
        return await next;
      } finally {
        following.delete(input.run_id);
      }
    },
  };
}

export type Planning = ReturnType<typeof createPlanning>;

const failureOf = ({ status, error }: RunResult): RuntimeError =>
  new RuntimeError(error?.class ?? 'task_error', error?.message ?? `the run was ${status}`);

/** Steps that can take the place of one that had no room (07 §4.6): it would have none again in its own words. */
function checkedParts(read: ReadSteps & { readonly ok: true }, whole: string): ReadSteps {
  const { length } = read.steps;
  if (length < 2 || length > 5) {
    return { ok: false, reason: `it has ${length} ${length === 1 ? 'step' : 'steps'}, and 2 to 5 are needed` };
  }
  return read.steps.some(({ description }) => description.trim() === whole.trim())
    ? { ok: false, reason: 'one of its steps is the step that is to be split, unchanged' }
    : read;
}
