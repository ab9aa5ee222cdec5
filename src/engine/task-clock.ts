import type { EngineDeps } from './deps.ts';

/** The time of one attempt: its signal, and what a task's `timeout` leaves of it (04 §15.5). */
export type TaskClock = {
  /** Aborts when the run is aborted or the time is over. */
  readonly signal: AbortSignal;
  readonly expired: boolean;
  /** Milliseconds left; Infinity without a limit. */
  leftMs(): number;
  /** Does work that is not this task's time: a request to the host may wait for a person. */
  outside<T>(work: () => Promise<T>): Promise<T>;
  /** Takes active time of work done outside into account. */
  charge(ms: number): void;
  /** Ends the measurement and drops every listener. */
  close(): void;
};

type Deps = Pick<EngineDeps, 'now' | 'sleep'>;

/** The member of a call that tells the host how long it may take; none without a limit. */
export function timeLeft(clock: TaskClock): { readonly time_left_ms?: number } {
  const left = clock.leftMs();
  return Number.isFinite(left) ? { time_left_ms: Math.max(0, Math.ceil(left)) } : {};
}

/** @param limitMs the task's `timeout`, or null for none. */
export function startTaskClock(deps: Deps, runSignal: AbortSignal, limitMs: number | null): TaskClock {
  if (limitMs === null) {
    return {
      signal: runSignal,
      expired: false,
      leftMs: () => Number.POSITIVE_INFINITY,
      outside: (work) => work(),
      charge: () => {},
      close: () => {},
    };
  }
  const over = new AbortController();
  let left = limitMs;
  let expired = false;
  let running: { readonly since: number; readonly timer: AbortController } | null = null;

  const expire = (): void => {
    expired = true;
    over.abort();
  };
  const stop = (): void => {
    if (running === null) return;
    left -= deps.now() - running.since;
    running.timer.abort();
    running = null;
  };
  const start = (): void => {
    if (expired || over.signal.aborted) return;
    if (left <= 0) {
      expire();
      return;
    }
    const timer = new AbortController();
    running = { since: deps.now(), timer };
    // `sleep` never rejects; an aborted timer has nothing to say.
    void deps.sleep(left, timer.signal).then(() => {
      if (!timer.signal.aborted) expire();
    });
  };
  const onRunAbort = (): void => over.abort(runSignal.reason);

  if (runSignal.aborted) onRunAbort();
  else runSignal.addEventListener('abort', onRunAbort, { once: true });
  start();
  return {
    signal: over.signal,
    get expired() {
      return expired;
    },
    leftMs: () => (running === null ? left : left - (deps.now() - running.since)),
    async outside(work) {
      stop();
      try {
        return await work();
      } finally {
        start();
      }
    },
    charge(ms) {
      stop();
      left -= ms;
      start();
    },
    close() {
      stop();
      runSignal.removeEventListener('abort', onRunAbort);
    },
  };
}
