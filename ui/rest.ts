import type { State } from './state.ts';

/** The heap of this thread. */
export type Heap = {
  /** Bytes that are in use, rubbish counted in. */
  used(): number;
  /** Collects everything; takes some 30 ms. */
  collect(): void;
};

/** Nobody has pressed a key, and nothing has run, for this long: a pause of a frame is not felt. */
const quietMs = 4000;
/** Less rubbish than this is left where it is. */
const worthBytes = 8 * 1024 * 1024;
/** The later ones give back the pages that the first has found to be nearly empty, and what is kept for new objects. */
const rounds = 3;

/**
 * Gives memory back to the system when the program rests (10 §14). An engine that has nothing to do collects nothing, so
 * that what a long stream has left behind would stay for hours; it is never done while somebody types or something runs.
 * @returns to be called now and then, at least every few seconds; a call where there is nothing to do costs nothing
 */
export function createRest(heap: Heap): (state: State, now: number) => void {
  let seen: State | null = null;
  let busyAt = Number.NEGATIVE_INFINITY;
  let left = 0;
  let kept = 0;

  return (state, now) => {
    const changed = state !== seen;
    seen = state;
    if (changed || state.turn !== null || state.plan.driving !== null) {
      busyAt = now;
      left = rounds;
    }
    if (left === 0 || now - busyAt < quietMs) return;
    if (left === rounds && heap.used() - kept < worthBytes) {
      left = 0;
      return;
    }
    heap.collect();
    left -= 1;
    kept = heap.used();
  };
}
