import type { RuntimeClient } from '../client/operations.ts';
import { createAuto } from '../plans/auto.ts';
import { createPlanRoutes } from '../plans/plan-routes.ts';
import { createPlanningWatch } from '../plans/planning-watch.ts';
import type { PlanRunOptions } from '../schema/plan.ts';
import type { StartRun } from '../schema/run.ts';
import type { RunOptions } from '../runs/run-routes.ts';
import type { StoreRooms } from './store-rooms.ts';

export type PlanRouteInput = {
  readonly store: Pick<StoreRooms, 'services' | 'plans'>;
  /** Operations of plans that start runs. */
  readonly running: Pick<
    RuntimeClient,
    'newPlan' | 'planningStep' | 'nextStep' | 'stepOutcome' | 'splitStep' | 'replan' | 'explorePlan' | 'cancelRun'
  >;
  readonly request: (options: RunOptions) => Omit<StartRun, 'input'>;
  /** Aborted when the program closes: no further step is begun then. */
  readonly closing: AbortSignal;
  readonly warn: (line: string) => void;
};

/** Plans over HTTP, and the steps that follow one another in the process of the server. */
export function planRouteServices({ store, running, request, closing, warn }: PlanRouteInput) {
  const { services } = store;
  const runOptions = (options: RunOptions): PlanRunOptions => {
    const { model, provider, policy, on_ask, timeout_ms, context, think, allowed_dir, ...more } = request(options);
    const { max_turns, max_tool_calls, max_tokens, trust } = more;
    const bounds = { max_turns, max_tool_calls, max_tokens };
    return { model, provider, policy, on_ask, timeout_ms, context, think, allowed_dir, ...bounds, trust };
  };
  /** What the steps of a plan were begun with, for those that follow. */
  const begunWith = new Map<string, { readonly shell: boolean; readonly run: PlanRunOptions }>();
  const wantedOf = (plan: string) => begunWith.get(plan) ?? { shell: false, run: runOptions({}) };

  const auto = createAuto({
    stepOutcome: running.stepOutcome,
    async next(plan) {
      const started = await running.nextStep({ plan, ...wantedOf(plan) });
      return started.kind === 'done' ? null : started;
    },
    split: (plan, ordinal) => running.splitStep({ plan, ordinal, ...wantedOf(plan) }),
    planningStep: running.planningStep,
    async change(signal) {
      const stop = new AbortController();
      const { newest } = await services.feedRange();
      const entries = services.watchFeed({ after: newest, signal: AbortSignal.any([signal, stop.signal]) });
      const seen = (async () => {
        for await (const batch of entries) if (batch.length > 0) return;
      })();
      return { seen, close: () => stop.abort() };
    },
    warn,
  });
  closing.addEventListener('abort', () => auto.stopAll());
  const watch = createPlanningWatch({ planningStep: running.planningStep, linkRun: store.plans.linkRun });

  return createPlanRoutes({
    operations: services,
    newPlan: running.newPlan,
    async nextStep(wanted) {
      const started = await running.nextStep(wanted);
      begunWith.set(started.plan, { shell: wanted.shell, run: wanted.run });
      return started;
    },
    replan: running.replan,
    explorePlan: running.explorePlan,
    auto,
    watch,
    request: runOptions,
    async cancelRun(run_id, reason) {
      await running.cancelRun({ run_id, reason, wait: true });
      // A run of this process ends by and by, and its step is taken in behind it.
      await running.stepOutcome({ run_id });
    },
  });
}
