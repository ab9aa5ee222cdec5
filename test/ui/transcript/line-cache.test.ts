import { expect, test } from 'vitest';
import type { Item } from '../../../src/view/items.ts';
import { emptyCall } from '../../../src/view/transcript.ts';
import { createLineCache } from '../../../ui/transcript/line-cache.ts';

const mib = 1024 * 1024;
const look = {
  columns: 80,
  glyphs: 'unicode',
  collapse: 8,
  now: 0,
  opened: () => false,
  unfolded: () => false,
} as const;
const answer = (id: string, text: string, state: 'streaming' | 'complete'): Item => ({
  kind: 'assistant',
  id,
  text,
  state,
  seq: null,
});

const call = (id: string, result: string): Item => ({
  ...emptyCall(id, null),
  tools: 'a',
  tool: 'b',
  result,
  state: 'ok',
});

test('keeps the rows of the newest state of a text that streams, and no older ones', () => {
  const cache = createLineCache();
  let text = '```ts\n';
  for (let frame = 0; frame < 200; frame += 1) {
    text += `const value${frame} = ${frame};\n`;
    cache.blocks([answer('a', text, 'streaming')], look).linesOf(0);
  }
  const whole = [answer('a', `${text}\`\`\`\n`, 'complete')];
  const lines = cache.blocks(whole, look).linesOf(0);

  expect(cache.held().items).toBe(1);
  expect(cache.blocks(whole, look).linesOf(0)).toBe(lines);
});

test('keeps at most 4,000 items and 32 MiB, the least recently shown first out', () => {
  const cache = createLineCache();
  const small = Array.from({ length: 4010 }, (_, index) => answer(`s${index}`, 'words', 'complete'));
  const blocks = cache.blocks(small, look);
  for (let index = 0; index < small.length; index += 1) blocks.linesOf(index);
  expect(cache.held().items).toBe(4000);

  const lastShown = blocks.linesOf(4009);
  cache.shorten();
  expect(cache.held().items).toBe(200);
  expect(blocks.linesOf(4009)).toBe(lastShown);

  // A closed call has one row, and keeps its whole result alive.
  const large = Array.from({ length: 12 }, (_, index) => call(`l${index}`, 'x'.repeat(4 * mib)));
  const shown = cache.blocks(large, look);
  for (let index = 0; index < large.length; index += 1) shown.linesOf(index);
  const newest = shown.linesOf(11);
  expect(cache.held().bytes).toBeLessThan(32 * mib);
  expect(shown.linesOf(11)).toBe(newest);
});
