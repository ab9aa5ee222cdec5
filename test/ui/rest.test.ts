import { expect, test } from 'vitest';
import { createHeap } from '../../ui/heap.ts';
import { createRest } from '../../ui/rest.ts';
import { pressAll, readyState } from './reducing.ts';
import { turnFrom } from '../../ui/sending.ts';

const mib = 1024 * 1024;
const turn = { ...turnFrom(0), run_id: 'r1' };

/** A heap that has so much in it, of which `live` is in use. */
function heapOf(first: number, live: number) {
  let used = first;
  let collected = 0;
  return {
    heap: {
      used: () => used,
      collect: () => {
        collected += 1;
        used = live;
      },
    },
    grow: (by: number) => {
      used += by;
    },
    times: () => collected,
  };
}

test('gives memory back once the program rests, not while keys come or a run goes on', () => {
  const { heap, grow, times } = heapOf(100 * mib, 30 * mib);
  const rest = createRest(heap);
  const working = readyState({ turn });
  for (let now = 0; now < 60_000; now += 1000) rest(working, now);
  expect(times()).toBe(0);

  let state = readyState();
  for (let now = 60_000; now < 90_000; now += 3000) {
    rest(state, now);
    state = pressAll(state, 'a').state;
  }
  expect(times()).toBe(0);

  for (let now = 90_000; now < 200_000; now += 1000) rest(state, now);
  expect(times()).toBe(3);

  // A key, and hardly anything to collect behind it.
  grow(mib);
  state = pressAll(state, 'b').state;
  for (let now = 200_000; now < 300_000; now += 1000) rest(state, now);
  expect(times()).toBe(3);
});

test('collects what nothing holds', () => {
  const heap = createHeap();
  heap.collect();
  const before = heap.used();
  let rubbish: number[][] | null = Array.from({ length: 100_000 }, (_, index) => [index, index, index, index]);
  expect(rubbish.length).toBe(100_000);
  expect(heap.used()).toBeGreaterThan(before + 3 * mib);
  rubbish = null;
  heap.collect();
  expect(heap.used()).toBeLessThan(before + 3 * mib);
});
