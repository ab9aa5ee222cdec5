import type { ServerResponse } from 'node:http';

/** Beyond so many bytes that nobody has read, deltas are left out; beyond the second number the stream ends (09 §7.3). */
const slowBytes = 1024 * 1024;
const mostBytes = slowBytes + 512 * 1024;
/** How long who was too slow has to take what is left. */
const lastMs = 10_000;

/**
 * The frames of one event stream. What happens now waits for nobody: what a slow client does not take of it is bounded, and
 * so is how long it is kept for one that takes nothing more. What is stored is sent as fast as it is taken (`room`).
 */
export function createFrames(response: ServerResponse, heartbeatMs: number, drainMs = lastMs) {
  let ended = false;
  const beat = setInterval(() => {
    response.write(': hb\n\n');
  }, heartbeatMs);
  const stop = (): void => {
    ended = true;
    clearInterval(beat);
  };
  response.once('close', stop);
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
  if (response.req.method === 'HEAD') {
    // Who asks for the head alone would wait for a stream that never sends it anything.
    stop();
    response.end();
  } else response.write('retry: 1000\n\n');

  const end = (name: string, data: unknown): void => {
    if (ended) return;
    stop();
    response.end(frame(name, null, JSON.stringify(data)));
    const cut = setTimeout(() => response.destroy(), drainMs);
    cut.unref();
    response.once('close', () => clearTimeout(cut));
  };
  return {
    /** Sends a frame that may be lost. */
    mayLose(text: string): void {
      if (ended || response.writableLength > slowBytes) return;
      response.write(text);
    },
    /** @returns false when the client was too slow: the stream has ended, and goes on where it reconnects */
    send(text: string): boolean {
      if (ended) return false;
      if (response.writableLength > mostBytes) {
        end('overflow', {});
        return false;
      }
      response.write(text);
      // The next beat is counted from here.
      beat.refresh();
      return true;
    },
    /**
     * Waits until the client has taken what was sent, where that is much: for what can be read when there is room for it.
     * Ends the stream of a client that takes nothing for as long as one has at the end. @returns whether it is open
     */
    async room(signal: AbortSignal): Promise<boolean> {
      while (!ended && !signal.aborted && response.writableLength > slowBytes) {
        const before = response.writableLength;
        await taken(response, signal, drainMs);
        if (response.writableLength >= before && !signal.aborted) end('overflow', {});
      }
      return !ended && !signal.aborted;
    },
    end,
    isOpen: () => !ended,
  };
}

/** Resolves when everything was taken, the client is gone, the signal aborts, or after so many milliseconds. */
function taken(response: ServerResponse, signal: AbortSignal, mostMs: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      response.off('drain', done).off('close', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, mostMs);
    response.once('drain', done).once('close', done);
    signal.addEventListener('abort', done);
  });
}

export type Frames = ReturnType<typeof createFrames>;

/** One event as text. @param data JSON in one line */
export const frame = (name: string, id: number | null, data: string): string =>
  `${id === null ? '' : `id: ${id}\n`}event: ${name}\ndata: ${data}\n\n`;
