import { isDriven, type Runs } from '../store/runs.ts';

export type HandOverDeps = {
  readonly runs: Pick<Runs, 'head'>;
  /** Whether the run has taken the verdict. */
  readonly isDelivered: (askId: string) => boolean;
  readonly now: () => number;
};

/** Longer than a run takes from its last question to its rest. */
const mostMs = 5_000;
const lookEveryMs = 25;

/**
 * Whether a run that had a driver when its ask was answered comes to rest without having seen the answer: it was on its
 * way to rest, and whoever answered goes on with it. Resolves at once when somebody waits for the answer or has it.
 */
export async function restsSoon(deps: HandOverDeps, runId: string, askId: string): Promise<boolean> {
  for (let waited = 0; waited < mostMs; waited += lookEveryMs) {
    const head = deps.runs.head(runId);
    if (head === undefined || head.ended_at !== null || head.status === 'waiting') return false;
    if (deps.isDelivered(askId)) return false;
    if (!isDriven(head, deps.now())) return true;
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
  return false;
}
