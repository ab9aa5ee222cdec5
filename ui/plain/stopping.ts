import type { Interface } from 'node:readline';
import { createComingBack } from '../coming-back.ts';
import type { Pasting } from './pasting.ts';

export type StoppingDeps = {
  readonly input: NodeJS.ReadStream;
  readonly lines: Interface;
  readonly pastes: Pick<Pasting, 'mark'>;
  /** The terminal is ours again: what stood at its bottom is to be seen again. */
  readonly shown: () => void;
  /** The program has been told to end. */
  readonly ending: () => boolean;
};

/** The signals that end it, which may come together with the one that makes a stopped program go on. */
const ends = ['SIGTERM', 'SIGHUP'] as const;

/** A terminal that edits its lines itself stops the program, too. @returns ends it */
export function putBehindStop(shown: () => void): () => void {
  process.on('SIGCONT', shown);
  return () => process.off('SIGCONT', shown);
}

/**
 * Ctrl+Z and `fg` (10 §12.4). The line editor would leave pastes marked in the shell, and pause its input for good when it
 * comes back.
 * @returns ends it
 */
export function stopWithKey({ input, lines, pastes, shown, ending }: StoppingDeps): () => void {
  let away = false;
  const stop = (): void => {
    away = true;
    pastes.mark(false);
    input.setRawMode(false);
    process.kill(process.pid, 'SIGTSTP');
  };
  const back = (): void => {
    away = false;
    // A change of size is told to whoever has the terminal: not to a program that was stopped meanwhile.
    process.emit('SIGWINCH', 'SIGWINCH');
    // The shell has set the terminal as it likes it, also where the stop came from outside.
    input.setRawMode(true);
    pastes.mark(true);
    shown();
  };
  const coming = createComingBack({ ending, away: () => away, back });
  lines.on('SIGTSTP', stop);
  process.on('SIGCONT', coming.continued);
  for (const signal of ends) process.on(signal, coming.ends);
  return () => {
    lines.off('SIGTSTP', stop);
    process.off('SIGCONT', coming.continued);
    for (const signal of ends) process.off(signal, coming.ends);
    coming.close();
  };
}
