import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Screen } from '../../ui/screen.ts';
import { handleSignals } from '../../ui/signals.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What is done to the screen and to the program while signals arrive, in that order. */
async function after(held: boolean, ...signals: readonly NodeJS.Signals[]): Promise<readonly string[]> {
  const done: string[] = [];
  const before = process.listeners('exit');
  const screen = {
    enter: () => done.push('enter'),
    leave: () => done.push('leave'),
    held: () => held,
    lent: () => null,
  };
  const stop = handleSignals({
    // The rest of a screen is not asked for here.
    screen: screen as unknown as Screen,
    leave: (code) => done.push(`end ${code}`),
    exit: (code) => done.push(`exit ${code}`),
    crash: () => done.push('crash'),
    cancel: async () => undefined,
    shown: () => done.push('shown'),
  });
  for (const signal of signals) process.emit(signal, signal);
  await vi.advanceTimersByTimeAsync(1000);
  stop();
  const last = process.listeners('exit').filter((each) => !before.includes(each));
  for (const each of last) process.off('exit', each);
  return last.length === 0 ? done : [...done, 'dies at the exit'];
}

test('a program that goes on takes the screen again', async () => {
  expect(await after(false, 'SIGCONT')).toEqual(['enter', 'shown']);
});

test('a stopped program that is ended touches the terminal no more, in whatever order both are told', async () => {
  const over = ['leave', 'end 143', 'dies at the exit'];
  expect(await after(false, 'SIGTERM', 'SIGCONT')).toEqual(over);
  expect(await after(true, 'SIGCONT', 'SIGHUP')).toEqual(over);
  // It may be over before it hears that it goes on.
  expect(await after(false, 'SIGTERM')).toEqual(over);
  expect(await after(true, 'SIGTERM')).toEqual(['leave', 'end 143']);
});
