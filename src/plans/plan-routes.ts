import { RuntimeError } from '../schema/errors.ts';
import { comesAfter, type Page, type PageWanted, slicePage } from '../schema/page.ts';
import type { NewPlan, NextStarted, NextStep, Plan, PlanHead, PlanningStep, PlanRunOptions } from '../schema/plan.ts';
import { isObject } from '../text/json-object.ts';
import { planMarkdown } from '../view/plan-lines.ts';
import type { Auto } from './auto.ts';
import type { createPlanningWatch, PlannedFor } from './planning-watch.ts';
import type { PlanOperations } from './plans.ts';

type Named = { readonly name: string };
type Shown = Plan & { readonly markdown: string; readonly auto: boolean };
type Wanted = {
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly policy?: string | undefined;
  readonly shell?: boolean | undefined;
  readonly timeout_s?: number | undefined;
};

export type PlanRouteDeps = {
  readonly operations: Pick<
    PlanOperations,
    'listPlans' | 'showPlan' | 'switchPlan' | 'retryStep' | 'skipStep' | 'deletePlan' | 'cleanPlans'
  >;
  readonly newPlan: (input: NewPlan) => Promise<PlanningStep>;
  readonly nextStep: (input: NextStep) => Promise<NextStarted>;
  readonly replan: (input: { readonly instruction: string; readonly shell: boolean } & OfPlan) => Promise<PlanningStep>;
  readonly explorePlan: (input: OfPlan) => Promise<PlanningStep>;
  readonly auto: Auto;
  readonly watch: ReturnType<typeof createPlanningWatch>;
  /** What a run of a plan is started with. @throws RuntimeError shell_disabled, invalid_parameter */
  readonly request: (options: Wanted) => PlanRunOptions;
  readonly cancelRun: (runId: string, reason: string) => Promise<void>;
};
type OfPlan = { readonly plan: string | null; readonly run: PlanRunOptions };

/** The operations of `client/routes/plans.ts`. */
export function createPlanRoutes(deps: PlanRouteDeps) {
  const { operations, auto, watch } = deps;
  const planOf = (name: string): string | null => (name === 'active' ? null : name);
  const shown = (plan: Plan): Shown => ({ ...plan, markdown: planMarkdown(plan), auto: auto.isOn(plan.name) });
  const show = async (name: string): Promise<Plan> => operations.showPlan({ plan: planOf(name) });

  const begun = (step: PlanningStep, wanted: PlannedFor): { readonly run_id: string } => {
    if (step.kind === 'run') return { run_id: watch.begin(step, wanted) };
    throw new TypeError(`a planning began with ${step.kind}`);
  };

  return {
    async pagePlans({
      status,
      ...wanted
    }: PageWanted & { readonly status?: string | undefined }): Promise<Page<PlanHead & { readonly auto: boolean }>> {
      const all = (await operations.listPlans({ status: status ?? null }))
        .map((plan) => ({ ...plan, auto: auto.isOn(plan.name) }))
        .sort((a, b) =>
          a.updated_at === b.updated_at ? (a.id < b.id ? 1 : -1) : a.updated_at < b.updated_at ? 1 : -1,
        );
      return slicePage(
        all,
        wanted,
        { shape: ['string', 'string'], keyOf: (plan) => [plan.updated_at, plan.id] },
        (key, mark) => comesAfter(mark, key),
      );
    },

    async postPlan({
      goal,
      steps,
      explore,
      ...options
    }: Wanted & {
      readonly goal: string;
      readonly steps?: readonly string[] | undefined;
      readonly explore?: boolean | undefined;
    }): Promise<Shown | { readonly run_id: string }> {
      const wanted = {
        goal,
        from: steps === undefined ? null : JSON.stringify(steps),
        explore: explore === true,
        planner_model: options.model ?? null,
        shell: false,
        run: deps.request(options),
      };
      const first = await orConflict(() => deps.newPlan(wanted)).catch((error: unknown) => {
        throw aboutSteps(error);
      });
      return first.kind === 'plan' ? shown(first.plan) : begun(first, { goal: goal.trim(), plan: null });
    },

    listPlannings: async () => watch.going(),
    getPlanning: async ({ run_id }: { readonly run_id: string }) => watch.of(run_id),
    getPlan: async ({ name }: Named) => shown(await show(name)),
    activatePlan: async ({ name }: Named) => shown(await operations.switchPlan({ plan: (await show(name)).name })),

    async postExplore({ name }: Named) {
      const plan = (await show(name)).name;
      return begun(await deps.explorePlan({ plan, run: deps.request({}) }), { goal: null, plan });
    },

    async postReplan({ name, instruction }: Named & { readonly instruction?: string | undefined }) {
      const plan = (await show(name)).name;
      const wanted = { plan, instruction: instruction ?? '', shell: false, run: deps.request({}) };
      return begun(await orConflict(() => deps.replan(wanted)), { goal: null, plan });
    },

    /** @throws RuntimeError conflict when nothing is pending, a failed step blocks, or a step is running */
    async postNext({ name, auto: all, ...options }: Named & Wanted & { readonly auto?: boolean | undefined }) {
      const shell = options.shell === true;
      const run = deps.request(options);
      const started = await orConflict(() => deps.nextStep({ plan: planOf(name), shell, run }));
      if (started.kind === 'done') {
        throw new RuntimeError('conflict', `Nothing of plan "${started.plan}" is open.`);
      }
      const { run_id } = started.run;
      const { ordinal, plan } = started;
      if (all === true) auto.follow(plan, { run_id, ordinal });
      return { run_id, ordinal };
    },

    async postRetry({ name, ordinal }: Named & { readonly ordinal: number }) {
      const { plan } = await orConflict(() => operations.retryStep({ plan: planOf(name), ordinal }));
      return shown(plan);
    },

    async postSkip({ name, ordinal }: Named & { readonly ordinal: number }) {
      return shown(await orConflict(() => operations.skipStep({ plan: planOf(name), ordinal })));
    },

    async stopPlan({ name }: Named) {
      const plan = await show(name);
      auto.stop(plan.name);
      const held = plan.steps.find(({ status }) => status === 'running' || status === 'waiting');
      if (held?.run_id != null) await deps.cancelRun(held.run_id, 'the plan was stopped');
      return shown(await show(plan.name));
    },

    async removePlan({ name }: Named): Promise<null> {
      await operations.deletePlan({ plan: name, force: false });
      auto.stop(name);
      return null;
    },

    async removeDonePlans() {
      return { removed: (await operations.cleanPlans({ force: false })).names.length };
    },
  };
}

/** What is wrong with the steps, under the name that they have in a body. */
const aboutSteps = (error: unknown): unknown =>
  error instanceof RuntimeError && isObject(error.data) && error.data['param'] === 'from'
    ? new RuntimeError(error.code, error.message, { cause: error, hints: error.hints, data: { param: 'steps' } })
    : error;

/** A step that is in the way, or a goal that is planned already, is a conflict here (09 §6.5). */
async function orConflict<T>(body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== 'in_use') throw error;
    throw new RuntimeError('conflict', error.message, { cause: error, hints: error.hints, data: error.data });
  }
}
