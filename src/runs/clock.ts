import { longestTimerMs } from '../text/quantities.ts';

/** Counts the active time of a run: time in which a person is waited for does not count (06 §2.2). */
export type ActiveClock = {
  pause(): void;
  resume(): void;
  /** Milliseconds of active time so far. */
  active(): number;
  /** Milliseconds of active time that are left; Infinity without a limit. */
  left(): number;
  /** Milliseconds spent waiting for a person. */
  waited(): number;
  stop(): void;
};

/** `onLimit` is called once when `limitMs` of active time have passed; 0 = no limit. Waits may be nested. */
export function createActiveClock(limitMs: number, now: () => number, onLimit: () => void): ActiveClock {
  const started = now();
  let pausedAt: number | null = null;
  let depth = 0;
  let waited = 0;
  let timer: NodeJS.Timeout | undefined;

  const active = (): number => (pausedAt ?? now()) - started - waited;
  const arm = (): void => {
    if (limitMs === 0) return;
    timer = setTimeout(
      () => (active() >= limitMs ? onLimit() : arm()),
      Math.min(Math.max(limitMs - active(), 1), longestTimerMs),
    );
  };
  arm();

  return {
    pause() {
      depth += 1;
      if (depth > 1) return;
      pausedAt = now();
      clearTimeout(timer);
    },
    resume() {
      depth -= 1;
      if (depth > 0 || pausedAt === null) return;
      waited += now() - pausedAt;
      pausedAt = null;
      arm();
    },
    active,
    left: () => (limitMs === 0 ? Number.POSITIVE_INFINITY : limitMs - active()),
    waited: () => waited + (pausedAt === null ? 0 : now() - pausedAt),
    stop: () => clearTimeout(timer),
  };
}
