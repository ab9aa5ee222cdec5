/** One time limit for several steps, which can also be given up before its end. `release` it when they are over. */
export function startTimeLimit(ms: number) {
  const abort = new AbortController();
  const started = performance.now();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    abort.abort();
  }, ms);
  return {
    signal: abort.signal,
    giveUp: (): void => abort.abort(),
    /** The time has passed; false when it was given up before. */
    isOver: (): boolean => isOver,
    /** Milliseconds since the start. */
    passedMs: (): number => performance.now() - started,
    release: (): void => clearTimeout(timer),
  };
}

/** Rejects when the signal aborts first; what comes although nobody waits for it any more goes to `unwanted`. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal, unwanted: (value: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(new Error('aborted'));
      promise.then(unwanted, () => {});
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
