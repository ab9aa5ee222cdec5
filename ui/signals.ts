import type { Screen } from './screen.ts';

export type SignalDeps = {
  readonly screen: Screen;
  leave(code: number): void;
  exit(code: number): void;
  crash(error: unknown): void;
  /** Cancels the runs of this process. */
  cancel(): Promise<void>;
  /** The terminal is ours again. */
  shown(): void;
};

/** What was sent to a stopped program together with SIGCONT has arrived after so long. */
const besideMs = 20;

/**
 * Node puts the terminal back as it was when it ends. In the background that stops the program instead, for good: the
 * signal ends it before that, and the shell sees 143 as well.
 */
function diesInBackground(): void {
  process.once('exit', () => {
    // Node has a handler of its own, which would put the terminal back too: listening and stopping leaves the system's.
    process.on('SIGTERM', () => undefined);
    process.removeAllListeners('SIGTERM');
    process.kill(process.pid, 'SIGTERM');
  });
}

/** What ends or stops the program from outside (10 §1.5, §12.1). @returns what stops listening */
export function handleSignals({ screen, leave, exit, crash, cancel, shown }: SignalDeps): () => void {
  let ending = false;
  let back: NodeJS.Timeout | undefined;
  const end =
    (code: number, first: () => Promise<void> = async () => undefined) =>
    (): void => {
      if (back !== undefined) diesInBackground();
      screen.leave();
      // A second one is not asked to wait.
      if (ending) exit(code);
      else void first().finally(() => leave(code));
      ending = true;
    };
  const interrupted = end(130, cancel);
  /** A key pressed in an editor reaches everybody in the foreground. */
  const isForEditor = (): boolean => screen.lent() === 'editor';
  const listeners: Readonly<Record<string, (given: unknown) => void>> = {
    SIGINT: () => {
      if (!isForEditor()) interrupted();
    },
    SIGTERM: end(143),
    SIGHUP: end(143),
    SIGQUIT: () => {
      if (isForEditor()) return;
      screen.leave();
      exit(131);
    },
    SIGCONT: () => {
      // A change of size is told to whoever has the terminal: not to a program that was stopped meanwhile.
      process.emit('SIGWINCH', 'SIGWINCH');
      if (ending && screen.lent() === null) diesInBackground();
      clearTimeout(back);
      back = setTimeout(() => {
        back = undefined;
        // Whoever has the terminal goes on with it; who is ended while stopped, as `kill %1` does it, never has it again:
        // to take it from the background would stop the program once more instead.
        if (screen.lent() !== null || ending) return;
        screen.enter();
        shown();
      }, besideMs);
    },
    uncaughtException: crash,
    unhandledRejection: crash,
  };
  for (const [name, listener] of Object.entries(listeners)) process.on(name, listener);
  return () => {
    clearTimeout(back);
    for (const [name, listener] of Object.entries(listeners)) process.off(name, listener);
  };
}
