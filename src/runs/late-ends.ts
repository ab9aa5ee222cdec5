import { type ErrorCode, RuntimeError } from '../schema/errors.ts';

/** How often it is looked whether there is room again. */
const everyMs = 2_000;
/** What passes by itself, or when somebody makes room. */
const passing: ReadonlySet<ErrorCode> = new Set(['storage', 'database_busy']);

/**
 * The ends of runs that could not be written down, on a full disk or behind a long lock. A process that lives on writes
 * them when that is possible; else it would hold runs that nobody drives, and show them as running, until it ends. Of a
 * process that ends before, the next one finds the run at its last checkpoint.
 */
export function createLateEnds() {
  const waiting = new Map<string, () => unknown>();
  let timer: NodeJS.Timeout | undefined;

  const drop = (runId: string): void => {
    waiting.delete(runId);
    if (waiting.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const look = (): void => {
    for (const [runId, write] of waiting) {
      try {
        write();
      } catch (error) {
        if (mayPass(error)) continue;
      }
      drop(runId);
    }
  };

  return {
    /** Tries `write` again from time to time, if another try may cure what it failed with. */
    keep(runId: string, error: unknown, write: () => unknown): void {
      if (!mayPass(error)) return;
      waiting.set(runId, write);
      // No reason for a process to stay.
      timer ??= setInterval(look, everyMs).unref();
    },

    /** The run goes on: what its end was to be says nothing any more. */
    drop,

    close(): void {
      for (const runId of [...waiting.keys()]) drop(runId);
    },
  };
}

const mayPass = (error: unknown): boolean => error instanceof RuntimeError && passing.has(error.code);
