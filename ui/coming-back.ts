/** What was sent to a stopped program together with SIGCONT has arrived after so long. */
const besideMs = 20;

export type ComingBackDeps = {
  /** The program has been told to end. */
  readonly ending: () => boolean;
  /** The terminal was given back to the shell, and not taken again since. */
  readonly away: () => boolean;
  /** The terminal is ours again. */
  readonly back: () => void;
};

/**
 * Tells a program that goes on from one that is ended while it is stopped: `kill %1` of a shell sends SIGTERM and SIGCONT
 * together, and whoever then takes the terminal from the background is stopped once more, for good.
 */
export function createComingBack({ ending, away, back }: ComingBackDeps): {
  /** SIGCONT has come. */
  continued(): void;
  /** A signal that ends the program has come. */
  ends(): void;
  close(): void;
} {
  let timer: NodeJS.Timeout | undefined;
  return {
    continued() {
      if (ending()) diesInBackground();
      clearTimeout(timer);
      timer = setTimeout(() => {
        timer = undefined;
        if (!ending()) back();
      }, besideMs);
    },
    ends() {
      // Where little is left to do, the program is over before the other signal is heard of.
      if (timer !== undefined || away()) diesInBackground();
    },
    close: () => clearTimeout(timer),
  };
}

/** Node puts the terminal back when it ends, which stops it there as well: the signal ends it before that (143). */
function diesInBackground(): void {
  process.once('exit', () => {
    // Node has a handler of its own, which would put the terminal back too: listening and stopping leaves the system's.
    process.on('SIGTERM', () => undefined);
    process.removeAllListeners('SIGTERM');
    process.kill(process.pid, 'SIGTERM');
  });
}
