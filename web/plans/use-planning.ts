import type { PlanningShown } from '../../src/client/routes/plans.ts';
import { client } from '../data/client.ts';
import { type Data, useData } from '../data/use-data.ts';

/** How a planning stands; null = there is none. */
export const usePlanning = (runId: string | null): Data<PlanningShown> =>
  useData(
    runId === null ? null : `planning ${runId}`,
    // The null is gone: nothing is read for it.
    () => client.getPlanning({ run_id: runId ?? '' }),
    { topics: ['plans', 'runs'] },
  );

/** It goes on, or nobody has said yet how it stands. */
export const isGoing = (runId: string | null, { value, error }: Data<PlanningShown>): boolean =>
  runId !== null && (value === null ? error === null : value.state === 'running');

/** Plannings that go on, whichever page or program began them. */
export const usePlannings = () =>
  useData('plannings', () => client.listPlannings({}), { topics: ['plans', 'runs'] }).value ?? [];
