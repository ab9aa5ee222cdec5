import { expect, it } from 'vitest';
import { pause } from '../../src/text/pause.ts';

it('ends when its time has passed, when it is aborted, and at once when it was', async () => {
  const stop = new AbortController();
  await pause(1, stop.signal);
  const waiting = pause(2 ** 30, stop.signal);
  stop.abort();
  expect(await waiting).toBeUndefined();
  expect(await pause(2 ** 30, stop.signal)).toBeUndefined();
});
