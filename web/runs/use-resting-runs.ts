import type { RunSummary } from '../../src/schema/run-record.ts';
import { canGoOn } from '../../src/schema/run.ts';
import { client } from '../data/client.ts';
import { type Data, useData } from '../data/use-data.ts';

/** Runs that rest and wait for nobody, kept fresh. */
export function useRestingRuns(): Data<readonly RunSummary[]> {
  return useData(
    'resting',
    async () => {
      const [suspended, interrupted] = await Promise.all([
        client.pageRuns({ status: 'suspended', limit: 50 }),
        client.pageRuns({ status: 'interrupted', limit: 50 }),
      ]);
      return [...suspended.items, ...interrupted.items].filter((run) => run.waiting_on === null && canGoOn(run));
    },
    { topics: ['runs', 'approvals'] },
  );
}
