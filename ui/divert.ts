import type { WriteStream } from 'node:tty';

type Write = WriteStream['write'];

/**
 * Keeps everything but the screen from a terminal: libraries, warnings of the platform, a stray message. `write` is the way
 * of the screen. What is diverted goes to `elsewhere`.
 */
export function divert(
  streams: readonly WriteStream[],
  elsewhere: (text: string) => void,
): { on(): void; off(): void; write(stream: WriteStream, text: string): boolean } {
  const own = new Map(streams.map((stream) => [stream, stream.write.bind(stream) as Write]));
  let diverted = false;
  return {
    on() {
      if (diverted) return;
      diverted = true;
      for (const stream of streams) {
        stream.write = ((text: unknown, ...rest: readonly unknown[]) => {
          elsewhere(String(text));
          const done = rest.findLast((each) => typeof each === 'function');
          // Callers may wait for what they wrote.
          if (typeof done === 'function') process.nextTick(done as () => void);
          return true;
        }) as Write;
      }
    },
    off() {
      if (!diverted) return;
      diverted = false;
      for (const [stream, write] of own) stream.write = write;
    },
    write: (stream, text) => (own.get(stream) ?? stream.write.bind(stream))(text),
  };
}
