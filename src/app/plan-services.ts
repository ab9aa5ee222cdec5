import type { Services } from '../client/local-client.ts';
import type { ManagerDeps } from '../plans/manager-tools.ts';
import type { Secrets } from '../registry/secrets.ts';
import type { PrepareDeps } from '../runs/ports.ts';
import type { RunsDeps, RunService } from '../runs/runs.ts';
import { once } from '../text/once.ts';
import { cancelRunWith } from './cancel-run.ts';
import { lazyServices } from './lazy-services.ts';
import type { PlanRuns } from './plan-runs.ts';
import type { StoreRooms } from './store-rooms.ts';

/** Operations of plans that start runs. */
const names = [
  'newPlan',
  'planningStep',
  'nextStep',
  'stepOutcome',
  'replan',
  'explorePlan',
  'splitStep',
] as const satisfies readonly (keyof PlanRuns)[];

export type PlanServicesInput = {
  readonly store: StoreRooms;
  readonly secrets: Pick<Secrets, 'maskDeep'>;
  readonly prepare: () => PrepareDeps;
  /** Asked for when a plan first runs: runs and plans need each other. */
  readonly runs: () => RunService;
  readonly now: () => number;
};

/** Plans that run, loaded when the first of their operations is called or the run of a step has ended. */
export function planServices({ store, secrets, prepare, runs, now }: PlanServicesInput) {
  /** The run to stop in the place of a step's run that has ended and is summed up. */
  let goingFor = (runId: string): string => runId;

  const cancelRun: Services['cancelRun'] = (wanted) => {
    const cancel = cancelRunWith({ runs: runs(), elsewhere: store.services.cancelRun, by: store.actor.by });
    return cancel({ ...wanted, run_id: goingFor(wanted.run_id) });
  };
  const stopRun: Services['stopRun'] = (wanted) => runs().stopRun({ ...wanted, run_id: goingFor(wanted.run_id) });

  const planRuns = once(async (): Promise<PlanRuns> => {
    const { openPlanRuns } = await import('./plan-runs.ts');
    const { books } = await store.planRooms();
    const opened = openPlanRuns({
      ...store,
      books,
      service: runs(),
      prepare: prepare(),
      mask: secrets.maskDeep,
      by: store.actor.by,
      now,
      cancelRun: async (run_id, reason) => void (await cancelRun({ run_id, reason, wait: true })),
    });
    goingFor = opened.goingFor;
    return opened;
  });
  const afterStep: NonNullable<RunsDeps['afterStep']> = async (live, finished) =>
    (await planRuns()).afterStep(live, finished);

  const manager = async (): Promise<ManagerDeps> => ({
    operations: (await store.planRooms()).operations,
    runs: await planRuns(),
    parent: runs().parentRun,
    awaitRun: (run_id) => runs().awaitRun({ run_id }),
    cancel: async (run_id, reason) => void (await cancelRun({ run_id, reason })),
  });

  return { manager, afterStep, services: { ...lazyServices(names, planRuns), cancelRun, stopRun } };
}
