import { useEffect } from 'react';
import type { RunRecord } from '../../src/schema/run-record.ts';
import { client } from '../data/client.ts';
import { type Data, useData } from '../data/use-data.ts';

/** How often a run that waits for its turn is looked at: nothing of its own tells that it moves up or begins. */
const lookMs = 3000;

/** A run, kept fresh; null = none yet. */
export function useRun(id: string | null): Data<RunRecord> {
  const run = useData(id === null ? null : `run ${id}`, () => client.getRun({ id: id ?? '' }), {
    topics: ['runs', 'approvals'],
    when: (entry) => entry.run_id === id,
  });
  const { reload } = run;
  const queued = run.value?.status === 'queued';
  useEffect(() => {
    if (!queued) return;
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, lookMs);
    return () => clearInterval(timer);
  }, [queued, reload]);
  return run;
}

/** Where a run stands that has not begun. */
export const queueWords = ({ queue_place: place }: Pick<RunRecord, 'queue_place'>): string =>
  place === null ? 'queued' : place === 1 ? 'queued, next' : `queued, place ${place}`;
