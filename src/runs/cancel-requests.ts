import { RuntimeError } from '../schema/errors.ts';
import type { RunStatus } from '../schema/run.ts';
import type { Feed } from '../store/feed.ts';
import type { CancelRequest } from '../store/run-leases.ts';
import { isDriven, type RunHead, type Runs } from '../store/runs.ts';
import type { LiveRun } from './live-run.ts';
import type { LostRuns } from './lost-runs.ts';

type Deps = { readonly runs: Runs; readonly feed: Feed };

/**
 * Cancels a run of this process when another one has left word for it, also before the run came here.
 * @returns the function that ends it
 */
export function heedCancel({ runs, feed }: Deps, live: LiveRun): () => void {
  const look = (): void => {
    if (live.stopped !== null) return;
    const request = wordFor(runs, live.gate.ref.run_id);
    if (request === null) return;
    live.stopped = { kind: 'cancel', ...request };
    live.abort.abort(new RuntimeError('cancelled', 'cancel'));
  };
  const stop = feed.poll(look);
  look();
  return stop;
}

/** The word stays where it is: what cannot be read now is read at the next look. */
function wordFor(runs: Runs, runId: string): CancelRequest | null {
  try {
    return runs.cancelRequest(runId);
  } catch {
    return null;
  }
}

export type CancelDeps = Deps & {
  readonly lostRuns: Pick<LostRuns, 'reread' | 'end'>;
  readonly now: () => number;
  /** What a resting run leaves behind where it belongs; in the transaction that ends it. */
  readonly left: (head: RunHead) => void;
};

/** How often an owner is looked for that may be gone: that leaves no row. */
const ownerEveryMs = 1000;

/**
 * Ends a run that this process does not drive. One that rests is ended at once; the owner of a live one is told by a row
 * and ends it within 5 s (03 §11); an owner that is gone, or renews its lease no more, is not waited for.
 * @param wait false: resolves as soon as the owner of a live run has been told
 * @throws RuntimeError run_not_active when the run has ended, also while it was being told
 */
export async function cancelElsewhere(
  deps: CancelDeps,
  runId: string,
  request: CancelRequest,
  wait: boolean,
): Promise<void> {
  const { runs, feed, lostRuns, now } = deps;
  let told = false;
  for (;;) {
    await lostRuns.reread(runId);
    const head = runs.head(runId);
    if (head === undefined) throw new RuntimeError('not_found', `no such run: ${runId}`);
    if (head.ended_at !== null) {
      if (told && head.status === 'cancelled') return;
      throw hasEnded(runId, head.status);
    }
    if (isDriven(head, now())) {
      if (!told) {
        feed.commit('full', () => {
          // Looked at again in the transaction: of a run that has ended no word may stay behind.
          if (runs.head(runId)?.ended_at === null) runs.requestCancel(runId, request, now());
        });
      }
      told = true;
      if (!wait) return;
      await change(feed, () => runs.head(runId)?.lease_owner !== head.lease_owner);
      continue;
    }
    try {
      lostRuns.end(runId, { status: 'cancelled', ...request }, deps.left);
      told = true;
    } catch (error) {
      // Somebody took it in this very moment: then they are told.
      if (!(error instanceof RuntimeError) || error.code !== 'in_use') throw error;
    }
  }
}

const hasEnded = (runId: string, status: RunStatus): RuntimeError =>
  new RuntimeError('run_not_active', `run ${runId} has already ended: ${status}`, {
    hints: [`reins state show ${runId}`],
  });

/** Resolves when `holds` after a commit of another process, or after a while in any case. */
function change(feed: Feed, holds: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = (): void => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const timer = setTimeout(over, ownerEveryMs);
    const stop = feed.poll(() => {
      try {
        if (holds()) over();
      } catch (error) {
        clearTimeout(timer);
        stop();
        reject(error);
      }
    });
  });
}
