/** How many requests a backend has at once (08 §11.2). */
const mostRequests = 8;

type Line = { open: number; readonly waiting: (() => void)[] };

/**
 * Places for requests to the backends, over all runs of this process: so many are under way at once at each of them, the
 * others wait in the order in which they came (08 §11.2).
 */
export function createRequestPlaces(most = mostRequests) {
  const lines = new Map<string, Line>();
  return {
    most,

    /**
     * Calls `begin` once the backend takes one more request: at once when a place is free.
     * @returns gives the place back, or the one in the line; safe to call twice
     */
    enter(backend: string, begin: () => void): () => void {
      const line = lines.get(backend) ?? { open: 0, waiting: [] };
      lines.set(backend, line);
      let state: 'waiting' | 'open' | 'left' = 'waiting';
      const start = (): void => {
        state = 'open';
        line.open += 1;
        begin();
      };
      if (line.open < most) start();
      else line.waiting.push(start);
      return () => {
        if (state === 'waiting') line.waiting.splice(line.waiting.indexOf(start), 1);
        if (state === 'open') {
          line.open -= 1;
          line.waiting.shift()?.();
          if (line.open === 0) lines.delete(backend);
        }
        state = 'left';
      };
    },
  };
}

export type RequestPlaces = ReturnType<typeof createRequestPlaces>;
