import { createComingBack } from './coming-back.ts';
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

/** What ends or stops the program from outside (10 §1.5, §12.1). @returns what stops listening */
export function handleSignals({ screen, leave, exit, crash, cancel, shown }: SignalDeps): () => void {
  let ending = false;
  const coming = createComingBack({
    ending: () => ending,
    away: () => !screen.held() && screen.lent() === null,
    back() {
      // Whoever has the terminal goes on with it.
      if (screen.lent() !== null) return;
      screen.enter();
      shown();
    },
  });
  const end =
    (code: number, first: () => Promise<void> = async () => undefined) =>
    (): void => {
      coming.ends();
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
      coming.continued();
    },
    uncaughtException: crash,
    unhandledRejection: crash,
  };
  for (const [name, listener] of Object.entries(listeners)) process.on(name, listener);
  return () => {
    coming.close();
    for (const [name, listener] of Object.entries(listeners)) process.off(name, listener);
  };
}
