import { client } from '../data/client.ts';
import { passed, type Taken } from './taken.ts';

const going: ReadonlySet<string> = new Set(['running', 'waiting', 'queued']);

/** The newest run of a chain among the last hundred; null when there is none. */
export async function lastRunOf(chainId: string): Promise<Taken | null> {
  const { items } = await client.pageRuns({ limit: 100 });
  const run = items.find(({ chain }) => chain.id === chainId);
  if (run === undefined) return null;
  const { items: steps } = await client.pageSteps({ id: run.id, limit: 1000 });
  return { run: run.id, ...passed(steps, run.status === 'completed', going.has(run.status)) };
}
