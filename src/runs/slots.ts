import { RuntimeError } from '../schema/errors.ts';
import type { Feed } from '../store/feed.ts';
import type { Runs } from '../store/runs.ts';
import { heedCancel } from './cancel-requests.ts';
import type { LiveRun } from './live-run.ts';
import { leaseMs, renewMs } from './lease.ts';

export type SlotsDeps = {
  readonly runs: Runs;
  readonly feed: Feed;
  readonly now: () => number;
  /** How many runs may be active at once; asked for each time. */
  readonly most: () => number;
};

/** How many wait at most (09 §10.1). */
const mostQueued = 100;

/** Turns of the runs of a server: so many are active at once, others are queued in their order (09 §10.1). */
export function createSlots(deps: SlotsDeps) {
  const { runs, feed, now, most } = deps;
  let active = 0;
  const queue: { readonly runId: string; readonly start: () => boolean }[] = [];
  const next = (): void => {
    while (active < most()) {
      const [first] = queue;
      if (first === undefined || !first.start()) return;
    }
  };

  /** Its row says that it waits, its lease is kept, and its time does not run. Ends at once for a run that is stopped. */
  const wait = (live: LiveRun): Promise<void> =>
    new Promise((resolve) => {
      const { gate, clock, abort } = live;
      const { run_id } = gate.ref;
      /** Never throws: a lock or a full disk is no reason to end the server, and the next time comes. */
      const mark = (queued: boolean): boolean => {
        try {
          feed.commit('normal', () => {
            runs.setQueued(run_id, gate.owner, queued);
            runs.renewLease(run_id, gate.owner, now() + leaseMs);
          });
          return true;
        } catch {
          return false;
        }
      };
      clock.pause();
      mark(true);
      const renew = setInterval(() => {
        // Whoever could not begin when a turn was free begins now.
        if (mark(true)) next();
      }, renewMs);
      let stopHeeding = (): void => {};
      /** @returns false when the row cannot be written: then it keeps its place, and begins once that is possible. */
      const start = (): boolean => {
        const place = queue.findIndex((each) => each.start === start);
        // It has begun already, by another of the ways to begin.
        if (place === -1) {
          stopHeeding();
          return true;
        }
        // Of one that was stopped nothing begins: its end is written by who writes ends.
        if (!mark(false) && !abort.signal.aborted) return false;
        queue.splice(place, 1);
        abort.signal.removeEventListener('abort', start);
        clearInterval(renew);
        stopHeeding();
        active += 1;
        clock.resume();
        resolve();
        return true;
      };
      abort.signal.addEventListener('abort', start);
      queue.push({ runId: run_id, start });
      // Another process may have left word that it is to end, also before it came here.
      stopHeeding = heedCancel(deps, live);
      if (abort.signal.aborted) start();
    });

  return {
    /** @throws RuntimeError busy when too many wait already */
    check(): void {
      if (active < most() || queue.length < mostQueued) return;
      throw new RuntimeError('busy', `${mostQueued} runs are waiting for their turn already; try again later.`, {
        data: { retryAfterS: 5 },
      });
    },

    /** Resolves when the run may begin; each one that began is given back by `leave`. */
    async enter(live: LiveRun): Promise<void> {
      if (active >= most()) return wait(live);
      active += 1;
    },

    /** The place of a run among those that wait, from 1; null when it does not. */
    placeOf(runId: string): number | null {
      const place = queue.findIndex((each) => each.runId === runId);
      return place === -1 ? null : place + 1;
    },

    leave(): void {
      active -= 1;
      next();
    },
  };
}

export type Slots = ReturnType<typeof createSlots>;
