import { createContext, runInContext } from 'node:vm';
import type { Within } from '../src/text/within.ts';

/**
 * Runs work that waits for nothing, and stops it in the middle of what it does when it takes longer than so many
 * milliseconds. What the work throws goes through. Costs half a millisecond.
 */
export const withinTime: Within = (milliseconds, work) => {
  let done: { readonly value: ReturnType<typeof work> } | null = null;
  const context = createContext({
    work: () => {
      done = { value: work() };
    },
  });
  try {
    runInContext('work()', context, { timeout: milliseconds });
  } catch (error) {
    if (!isTimeout(error)) throw error;
  }
  return done;
};

/** The error is one of the context, whose classes are not ours. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
