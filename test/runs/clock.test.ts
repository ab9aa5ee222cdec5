import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createActiveClock } from '../../src/runs/clock.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('stops a run after its active time, in which waiting for a person does not count', () => {
  let stopped = 0;
  const clock = createActiveClock(1000, Date.now, () => {
    stopped += 1;
  });
  vi.advanceTimersByTime(600);
  clock.pause();
  vi.advanceTimersByTime(60_000);
  expect(clock.active()).toBe(600);
  expect(clock.waited()).toBe(60_000);
  clock.resume();
  vi.advanceTimersByTime(399);
  expect(stopped).toBe(0);
  vi.advanceTimersByTime(1);
  expect(stopped).toBe(1);
});

it('counts nested waits once', () => {
  const clock = createActiveClock(0, Date.now, () => {});
  clock.pause();
  clock.pause();
  vi.advanceTimersByTime(500);
  clock.resume();
  vi.advanceTimersByTime(500);
  clock.resume();
  vi.advanceTimersByTime(100);
  expect(clock.waited()).toBe(1000);
  expect(clock.active()).toBe(100);
});

it('has no limit for 0 and none after it was stopped', () => {
  let stopped = 0;
  createActiveClock(0, Date.now, () => {
    stopped += 1;
  });
  createActiveClock(1000, Date.now, () => {
    stopped += 1;
  }).stop();
  vi.advanceTimersByTime(10_000_000);
  expect(stopped).toBe(0);
});
