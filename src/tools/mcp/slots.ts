/** Calls of one connection that may overlap (05 §10.5.5); further ones wait in order. */
export function createSlots(count: number) {
  let free = count;
  const waiting: (() => void)[] = [];

  const give = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };

  return {
    /** @returns the function that gives the place back; null when the signal aborts first */
    take(signal: AbortSignal): Promise<(() => void) | null> {
      if (signal.aborted) return Promise.resolve(null);
      if (free > 0) {
        free -= 1;
        return Promise.resolve(give);
      }
      return new Promise((resolve) => {
        const enter = (): void => {
          signal.removeEventListener('abort', leave);
          resolve(give);
        };
        const leave = (): void => {
          waiting.splice(waiting.indexOf(enter), 1);
          resolve(null);
        };
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(enter);
      });
    },
  };
}
