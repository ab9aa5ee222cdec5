import type { Process } from './process.ts';

/**
 * Keys of a terminal while a question is open. Only a chunk that is exactly one character counts as a key: a paste, an
 * escape sequence and typed-ahead words arrive in longer chunks and are dropped (06 §9).
 */
export type Keys = {
  /**
   * The next key; null when the signal aborted, the input has ended, or the terminal is gone.
   * @param again called when the program goes on after it was stopped: what a shell wrote stands below the question
   */
  next(signal: AbortSignal, again?: () => void): Promise<string | null>;
  /**
   * One line with the terminal's own editing; null as above.
   * @param ask writes the question, once what is typed belongs to the line: who reads it may type at once
   */
  line(ask: () => void, signal: AbortSignal): Promise<string | null>;
  /** Leaves the terminal as other programs expect it, and reads nothing of it until `take`. */
  lend(): void;
  take(): void;
  close(): void;
};

export function openKeys({ stdin, onSignal }: Pick<Process, 'stdin' | 'onSignal'>): Keys {
  const stream = stdin();
  let isRaw = false;
  let shown: (() => void) | null = null;
  const setRaw = (on: boolean): void => {
    isRaw = on;
    stream.setRawMode(on);
  };
  setRaw(true);
  stream.resume();
  // A shell that stopped the program, and has put it in front again, has left the terminal as it likes it.
  const ignore = onSignal('SIGCONT', () => {
    if (!isRaw) return;
    stream.setRawMode(false);
    stream.setRawMode(true);
    shown?.();
  });
  const leave = (): void => {
    stream.pause();
    try {
      setRaw(false);
    } catch {
      // The terminal is gone: there is nothing to restore.
    }
  };
  const read = <T>(signal: AbortSignal, accept: (chunk: string) => T | undefined): Promise<T | null> =>
    new Promise((settle) => {
      if (signal.aborted || stream.readableEnded) return settle(null);
      const done = (value: T | null) => {
        stream.off('data', onData);
        stream.off('end', onEnd);
        stream.off('error', onEnd);
        signal.removeEventListener('abort', onEnd);
        settle(value);
      };
      const onData = (chunk: Buffer) => {
        const value = accept(chunk.toString('utf8'));
        if (value !== undefined) done(value);
      };
      const onEnd = () => done(null);
      stream.on('data', onData);
      stream.on('end', onEnd);
      stream.on('error', onEnd);
      signal.addEventListener('abort', onEnd);
    });
  return {
    next: (signal, again) => {
      shown = again ?? null;
      return read(signal, (chunk) => ([...chunk].length === 1 ? chunk : undefined)).finally(() => {
        shown = null;
      });
    },
    line: async (ask, signal) => {
      setRaw(false);
      let text = '';
      const reading = read(signal, (chunk) => {
        text += chunk;
        // What was typed just before the terminal took over ends its lines with the key itself.
        const [line] = text.split(/[\r\n]/, 1);
        return line !== undefined && line.length < text.length ? line : undefined;
      });
      ask();
      const line = await reading;
      setRaw(true);
      return line;
    },
    lend: leave,
    take: () => {
      setRaw(true);
      stream.resume();
    },
    close: () => {
      ignore();
      leave();
    },
  };
}
