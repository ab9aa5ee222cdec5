import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { State } from '../../ui/state.ts';
import { createStore } from '../../ui/store.ts';
import { createLineCache } from '../../ui/transcript/line-cache.ts';
import { readyState } from './reducing.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('draws what streams with the keys of somebody who types, and by itself again when they have stopped', () => {
  const drawn: State[] = [];
  const ruler = { cache: createLineCache(), glyphs: 'unicode' } as const;
  const store = createStore(
    readyState(),
    ruler,
    () => undefined,
    (state) => void drawn.push(state),
  );
  const streams = (text: string) => store.dispatch({ type: 'notice', level: 'info', text });
  const press = (text: string) =>
    store.dispatch({ type: 'key', key: { name: text, ctrl: false, alt: false, shift: false, text }, now: 0 });
  const shown = (): number | undefined => drawn.at(-1)?.items.length;
  streams('one');
  vi.advanceTimersByTime(40);
  expect([drawn.length, shown()]).toEqual([1, 1]);
  for (const letter of 'ab') {
    press(letter);
    vi.advanceTimersByTime(10);
    streams(letter);
    vi.advanceTimersByTime(70);
  }
  // One frame for each key; the second one has what came since the first.
  expect([drawn.length, shown()]).toEqual([3, 2]);
  vi.advanceTimersByTime(40);
  expect([drawn.length, shown()]).toEqual([4, 3]);
  store.close();
});
