import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createWarmUp } from '../../src/runs/warm-up.ts';

let warmed = 0;
const pools = {
  async warmSpawner() {
    warmed += 1;
  },
};
const shell = [{ tools: 'local_shell' }];

beforeEach(() => {
  warmed = 0;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('waits until the request is out and the model has been silent for a moment', () => {
  const warmUp = createWarmUp(pools, shell);
  vi.advanceTimersByTime(1000);
  expect(warmed).toBe(0);
  warmUp.asked();
  vi.advanceTimersByTime(99);
  expect(warmed).toBe(0);
  vi.advanceTimersByTime(1);
  expect(warmed).toBe(1);
});

it('leaves a model alone that talks at once, but not for longer than a second', () => {
  const warmUp = createWarmUp(pools, shell);
  warmUp.asked();
  for (let ms = 0; ms < 1000; ms += 50) {
    warmUp.talked();
    vi.advanceTimersByTime(50);
  }
  expect(warmed).toBe(0);
  for (let ms = 0; ms < 150; ms += 50) {
    warmUp.talked();
    vi.advanceTimersByTime(50);
  }
  expect(warmed).toBe(1);
});

it('does nothing for an answer that has come, nor where no tool starts commands', () => {
  const answered = createWarmUp(pools, shell);
  answered.asked();
  vi.advanceTimersByTime(50);
  answered.stop();
  const reader = createWarmUp(pools, [{ tools: 'local_fs' }]);
  reader.asked();
  vi.advanceTimersByTime(1000);
  expect(warmed).toBe(0);
});
