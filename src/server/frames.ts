import type { ServerResponse } from 'node:http';

/** Beyond so many bytes that nobody has read, deltas are left out; beyond the second number the stream ends (09 §7.3). */
const slowBytes = 1024 * 1024;
const mostBytes = slowBytes + 512 * 1024;
/** How long who was too slow has to take what is left. */
const lastMs = 10_000;

/**
 * The frames of one event stream. Nothing is awaited: what a slow client does not take is bounded, and so is how long it
 * is kept for one that takes nothing more.
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
    end,
    isOpen: () => !ended,
  };
}

export type Frames = ReturnType<typeof createFrames>;

/** One event as text. @param data JSON in one line */
export const frame = (name: string, id: number | null, data: string): string =>
  `${id === null ? '' : `id: ${id}\n`}event: ${name}\ndata: ${data}\n\n`;
