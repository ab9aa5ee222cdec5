import { exitOf, RuntimeError, shownClass } from '../schema/errors.ts';
import type { MainEvent } from '../schema/event.ts';
import type { RunFailure } from '../schema/run.ts';
import type { Asks } from '../asks/asks.ts';
import type { Calls } from '../store/calls.ts';
import type { Feed, Record } from '../store/feed.ts';
import { hasLapsed, isDriven, type RunHead, type Runs } from '../store/runs.ts';

export type LostRunsDeps = {
  readonly runs: Runs;
  readonly calls: Calls;
  readonly asks: Pick<Asks, 'cancelOfRun' | 'pendingOfRun'>;
  readonly feed: Feed;
  readonly tenant: string;
  readonly now: () => number;
};

/** What becomes of a run that nobody drives any more; a failure is why it cannot go on. */
type GivenUp =
  | { readonly status: 'interrupted' }
  | { readonly status: 'cancelled'; readonly reason: string; readonly by: string }
  | { readonly status: 'failed'; readonly error: RunFailure };

/** Together somewhat longer than the 5 s within which an owner renews its lease (03 §11). */
const looks = 24;
const lookEveryMs = 250;

const listenerGone = {
  status: 'cancelled',
  reason: 'the process of the run that asked is gone',
  by: 'system:cancelled',
} as const;

/** Ends runs that no process drives: those that rest, and those whose process is gone. */
export function createLostRuns(deps: LostRunsDeps) {
  const { runs, calls, asks, feed, now } = deps;
  const refOf = (head: RunHead) => ({ ...head, run_id: head.id, tenant_id: deps.tenant });
  /** The process that held the lease is gone. */
  const isLost = (head: RunHead): boolean =>
    head.lease_owner !== null && head.ended_at === null && !isDriven(head, now()) && !hasLapsed(head, now());

  const failureOf = (
    runId: string,
    { class: name, message }: RunFailure,
  ): Extract<MainEvent, { kind: 'chain_failed' }> => {
    const { usage, counters } = runs.spent(runId);
    return {
      kind: 'chain_failed',
      error: { class: shownClass(name), message },
      exit_code: exitOf(name),
      usage,
      num_turns: counters.turns,
      num_tool_calls: counters.tool_calls,
      duration_ms: 0,
    };
  };

  /** In the caller's transaction. */
  const close = (record: Record, head: RunHead, as: GivenUp): void => {
    const { id } = head;
    asks.cancelOfRun(id);
    calls.settleOpen(id, now());
    runs.close(id, as.status, now());
    const checkpoint_seq = runs.checkpointSeq(id);
    runs.deleteState(id);
    const ref = refOf(head);
    switch (as.status) {
      case 'failed':
        runs.setError(id, as.error, exitOf(as.error.class));
        record(ref, failureOf(id, as.error));
        break;
      case 'cancelled':
        record(ref, { kind: 'chain_cancelled', reason: as.reason, by: as.by, duration_ms: 0 });
        break;
      case 'interrupted':
        // A run that was stopped in order has said so itself (04 §18.2).
        if (head.status === 'interrupted') break;
        record(ref, { kind: 'chain_suspended', reason: 'interrupted', ask_ids: [], checkpoint_seq });
    }
  };

  return {
    /** Runs that count as interrupted although their rows do not say so yet. */
    ids: (): readonly string[] =>
      runs
        .leased()
        .filter(isLost)
        .map(({ id }) => id),

    /**
     * Marks runs whose process is gone as interrupted (03 §11): they rest at their last checkpoint, and their asks stay
     * open. Never throws: what cannot be written now is marked by the next process that looks.
     */
    mark(): void {
      try {
        for (const { id } of runs.leased().filter(isLost)) {
          feed.commit('full', (record) => {
            // Looked at again in the transaction: another process may have taken it.
            const head = runs.head(id);
            if (head === undefined || !isLost(head)) return;
            // Nobody hears an agent any more whose asking run was left by the same process (03 §7).
            if (head.kind === 'attention') return close(record, head, listenerGone);
            runs.interrupt(id);
            const ask_ids = asks.pendingOfRun(id);
            const checkpoint_seq = runs.checkpointSeq(id);
            record(refOf(head), { kind: 'chain_suspended', reason: 'interrupted', ask_ids, checkpoint_seq });
          });
        }
      } catch {
        // A lock or a full disk. The lease says what the row does not.
      }
    },

    /**
     * Waits before a run is taken whose lease has only run out of time, until its owner has renewed it or would have
     * (11 §2.9). Resolves at once for every other run.
     */
    async reread(runId: string): Promise<void> {
      for (let look = 0; look < looks; look += 1) {
        const head = runs.head(runId);
        if (head === undefined || !hasLapsed(head, now())) return;
        await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
      }
    },

    /**
     * Ends the run in one transaction: a call that never started is skipped, one without an outcome is unknown, open asks
     * are cancelled. `also` runs inside it, and only when this process is the one that ended the run.
     * @throws RuntimeError in_use when a process drives it
     */
    end(runId: string, as: GivenUp, also: (head: RunHead) => void = () => {}): void {
      feed.commit('full', (record) => {
        const head = runs.head(runId);
        if (head === undefined || head.ended_at !== null) return;
        if (isDriven(head, now())) {
          throw new RuntimeError('in_use', `run ${runId} is driven by another process: ${head.lease_owner}`);
        }
        close(record, head, as);
        also(head);
      });
    },
  };
}

export type LostRuns = ReturnType<typeof createLostRuns>;
