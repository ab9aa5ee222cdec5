import { type ErrorCode, RuntimeError } from '../schema/errors.ts';
import type { RunEnd } from '../schema/protocol.ts';

/** How long a write is tried again, and how often (11 §2.12). */
const forMs = 30_000;
const pauseMs = 250;

export type KeepTrying = {
  /** What another try may cure; every other failure is thrown at once. */
  readonly codes: readonly ErrorCode[];
  /** Milliseconds of a clock that nobody sets: one that jumps would end it early, or keep it for ever. */
  readonly elapsed?: () => number;
  /** Asked before each further try. */
  readonly goOn?: () => boolean;
};

/**
 * Writes down what has happened already and would be lost otherwise: tried again for 30 s.
 * @throws what the last try threw
 */
export async function keepTrying<T>(
  write: () => T,
  { codes, elapsed = () => performance.now(), goOn = () => true }: KeepTrying,
): Promise<T> {
  const until = elapsed() + forMs;
  for (;;) {
    try {
      return write();
    } catch (error) {
      const mayPass = error instanceof RuntimeError && codes.includes(error.code);
      if (!mayPass || elapsed() > until || !goOn()) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** What may be tried again at the end of a run. A run that a lock has ended has waited for that lock already. */
export const endCodes = (end: RunEnd): readonly ErrorCode[] =>
  end.kind === 'failed' && end.error.class === 'database_busy' ? [] : ['database_busy'];

/**
 * Leaves a write out while another process holds the lock. For what a later write makes up for.
 * @returns undefined when it was left out
 */
export function unlessLocked<T>(write: () => T): T | undefined {
  try {
    return write();
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'database_busy') return undefined;
    throw error;
  }
}
