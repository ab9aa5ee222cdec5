import type { RuntimeClient } from '../src/client/operations.ts';
import { canGoOn, type RunStatus } from '../src/schema/run.ts';
import type { RunSummary } from '../src/schema/run-record.ts';

const most = 200;
const statuses = { live: ['running', 'waiting'], resting: ['suspended', 'interrupted'] } as const;

const ofStatus = async (client: RuntimeClient, wanted: readonly RunStatus[]): Promise<readonly RunSummary[]> =>
  (
    await Promise.all(
      wanted.map(async (status) => (await client.listRuns({ status, session: null, limit: most })).runs),
    )
  ).flat();

/** Runs that rest and can go on, however many have ended since. */
export const restingRuns = async (client: RuntimeClient): Promise<readonly RunSummary[]> =>
  (await ofStatus(client, statuses.resting)).filter(canGoOn);

/** Runs for a list: those that go on or can, the newest first, and behind them the newest of all. */
export async function runsAtHand(client: RuntimeClient, limit: number): Promise<readonly RunSummary[]> {
  const [live, resting, newest] = await Promise.all([
    ofStatus(client, statuses.live),
    restingRuns(client),
    client.listRuns({ status: null, session: null, limit }),
  ]);
  const open = [...live, ...resting].sort((one, other) => (one.created_at < other.created_at ? 1 : -1));
  const ids = new Set(open.map(({ id }) => id));
  return [...open, ...newest.runs.filter(({ id }) => !ids.has(id))];
}
