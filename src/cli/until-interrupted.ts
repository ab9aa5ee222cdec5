import type { Context } from './context.ts';

/**
 * Waits for what a command does after it has written down what it was called for. Ctrl-C then ends the waiting alone, so it
 * is said what stays.
 * @param stays a sentence for stderr
 * @returns `interrupted` where the operator did not wait; the command ends with 130, and what it waited for with it
 */
export async function untilInterrupted<T>(
  { process, terminal, safe }: Context,
  stays: string,
  work: () => Promise<T>,
): Promise<T | 'interrupted'> {
  let ignore = (): void => {};
  const interrupted = new Promise<'interrupted'>((resolve) => {
    ignore = process.onSignal('SIGINT', () => {
      terminal.err(`reins: ${safe(stays)}\n`);
      resolve('interrupted');
    });
  });
  try {
    return await Promise.race([work(), interrupted]);
  } finally {
    ignore();
  }
}
