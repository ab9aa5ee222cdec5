import { isAllowed } from '../chain/allowlist.ts';
import { createPlanChanges } from '../plans/plan-changes.ts';
import { createPlanning } from '../plans/planning.ts';
import type { PlanBooks } from '../plans/settle.ts';
import { createStepRuns } from '../plans/step-runs.ts';
import type { createSettings } from '../registry/settings.ts';
import type { PrepareDeps } from '../runs/ports.ts';
import type { RunService } from '../runs/runs.ts';
import type { Chain } from '../schema/chain.ts';
import type { Feed } from '../store/feed.ts';
import type { Plans } from '../store/plans.ts';
import type { Runs } from '../store/runs.ts';

export type PlanRunsDeps = {
  readonly plans: Plans;
  readonly books: PlanBooks;
  readonly feed: Feed;
  readonly runs: Runs;
  readonly service: RunService;
  readonly prepare: PrepareDeps;
  readonly settings: Pick<ReturnType<typeof createSettings>, 'value'>;
  readonly cancelRun: (runId: string, reason: string) => Promise<void>;
  readonly mask: <T>(value: T) => T;
  readonly by: string;
  readonly now: () => number;
};

/** Plans that run: planner, executor, summariser, explorer. */
export function openPlanRuns(deps: PlanRunsDeps) {
  const { prepare, settings } = deps;
  const workspace = prepare.workspace.root;
  const models = () => ({
    planner_model: settings.value('planner-model') ?? '',
    planner_provider: settings.value('planner-provider') ?? '',
    summarizer_model: settings.value('summarizer-model') ?? '',
  });

  /** What the first model task of the executor's chain may use; empty when that chain cannot be used as it is. */
  const executorTools = async (options: {
    readonly shell: boolean;
    readonly trust: readonly string[];
  }): Promise<string> => {
    let chain: Chain;
    try {
      const { text } = await prepare.loadChain({ use: 'executor', path: null, trust: options.trust });
      // Normalised and vetted text of our own reader.
      chain = JSON.parse(text) as Chain;
    } catch {
      return '';
    }
    const allowed = chain.tasks.find(({ handler }) => handler === 'chat_completion')?.execute_config?.tools;
    const names = new Map<string, string[]>();
    for (const { spec } of prepare.tools({ shell: options.shell, plans: false })) {
      if (isAllowed(allowed, spec.tools, spec.tool))
        names.set(spec.tools, [...(names.get(spec.tools) ?? []), spec.tool]);
    }
    const sorted = [...names].sort(([a], [b]) => (a < b ? -1 : 1)).map(([tools, list]) => [tools, list.sort()]);
    return JSON.stringify(Object.fromEntries(sorted));
  };

  const changes = createPlanChanges({ ...deps, workspace });
  return {
    ...createPlanning({ ...deps, changes, models, executorTools, workspace, owner: prepare.owner }),
    ...createStepRuns({
      ...deps,
      models,
      executorTools,
      workspace,
      async checkSummarizer(trust) {
        await prepare.loadChain({ use: 'summarizer', path: null, trust });
      },
    }),
  };
}

export type PlanRuns = ReturnType<typeof openPlanRuns>;
