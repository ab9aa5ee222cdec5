/** Time that moves only when the program has nothing else to do: waits are exact, and no test sleeps. */
export type VirtualClock = {
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Milliseconds of every wait that came to its end. */
  readonly waits: readonly number[];
};

type Sleeper = { readonly at: number; readonly ms: number; wake(): void };

/** Turns of the event loop without a new sleeper after which nothing but a wait can go on. */
const idleTurns = 6;

export function virtualClock(start: number = Date.UTC(2026, 0, 5, 10)): VirtualClock {
  let time = start;
  let pumping = false;
  const sleepers = new Set<Sleeper>();
  const waits: number[] = [];

  const pump = (idle: number): void => {
    if (sleepers.size === 0) {
      pumping = false;
      return;
    }
    if (idle < idleTurns) {
      setImmediate(() => pump(idle + 1));
      return;
    }
    const [next] = [...sleepers].sort((a, b) => a.at - b.at);
    if (next !== undefined) {
      time = Math.max(time, next.at);
      sleepers.delete(next);
      waits.push(next.ms);
      next.wake();
    }
    setImmediate(() => pump(0));
  };

  return {
    now: () => time,
    waits,
    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const stop = (): void => {
          sleepers.delete(sleeper);
          resolve();
        };
        const sleeper: Sleeper = {
          at: time + ms,
          ms,
          wake() {
            signal.removeEventListener('abort', stop);
            resolve();
          },
        };
        signal.addEventListener('abort', stop, { once: true });
        sleepers.add(sleeper);
        if (!pumping) {
          pumping = true;
          setImmediate(() => pump(0));
        }
      });
    },
  };
}
