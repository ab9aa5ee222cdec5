import { writeSync } from 'node:fs';
import type { WriteStream } from 'node:tty';

/** What an empty pipe takes at once, in bytes (PIPE_BUF of POSIX; Linux gives 64 KiB). */
const shortBytes = 4096;

/** stdout or stderr. */
export type Outlet = {
  /** Width of the terminal, read anew each time; 0 where there is none. */
  readonly columns: number;
  /** Resolves when the text was taken, or was refused: `onError` has heard of that by then. Never throws. */
  write(text: string): Promise<void>;
  /** The stream of Node, which is made now if nothing has needed it before. */
  stream(): WriteStream;
};

type OutletOptions = {
  readonly fd: number;
  readonly isTerminal: boolean;
  /** Makes the stream. */
  readonly stream: () => WriteStream;
  readonly onError: (error: NodeJS.ErrnoException) => void;
};

/**
 * Where the output is no terminal, the first short texts go to the descriptor: the stream of Node brings a tenth of the
 * time of a listing along, and most commands print a few lines. All that is longer goes through the stream, which does not
 * keep the process waiting for a slow reader.
 */
export function createOutlet({ fd, isTerminal, stream, onError }: OutletOptions): Outlet {
  let made: WriteStream | null = null;
  let written = 0;

  const open = (): WriteStream => {
    if (made !== null) return made;
    made = stream();
    made.on('error', onError);
    return made;
  };
  /** @returns what the stream must take */
  const writeAtOnce = (text: string): Uint8Array => {
    let rest: Uint8Array = Buffer.from(text);
    if (written + rest.length > shortBytes) return rest;
    try {
      while (rest.length > 0) {
        const taken = writeSync(fd, rest);
        written += taken;
        rest = rest.subarray(taken);
      }
    } catch (error) {
      // Another process has the same pipe and does not wait for it: neither may we.
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return rest;
      onError(error as NodeJS.ErrnoException);
      return new Uint8Array();
    }
    return rest;
  };

  // What somebody else writes to a terminal may fail too, and an error that nobody hears ends the program.
  if (isTerminal) open();

  return {
    get columns() {
      return isTerminal ? open().columns : 0;
    },
    stream: open,
    write: (text) => {
      const rest = made === null && !isTerminal ? writeAtOnce(text) : text;
      if (rest.length === 0 && made === null) return Promise.resolve();
      return new Promise((resolve) => void open().write(rest, () => resolve()));
    },
  };
}
