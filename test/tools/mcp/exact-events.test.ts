import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { exactEvents } from '../../../src/tools/mcp/exact-events.ts';

const passed = (...chunks: readonly string[]): Promise<string> =>
  text(Readable.from(chunks.map((chunk) => Buffer.from(chunk))).pipe(exactEvents()));

it('lets no server ask for a stream to be opened again without a pause, or at a time that no timer holds', async () => {
  expect(await passed('retry: 0\nid: a\n\n')).toBe('retry: 100\nid: a\n\n');
  expect(await passed('retry:5000\r\n\r\n')).toBe('retry: 5000\r\n\r\n');
  expect(await passed('ret', `ry: ${'9'.repeat(400)}`, '\n\n')).toBe('retry: 30000\n\n');
  expect(await passed('retry: soon\ndata: retry: 0\n\n')).toBe('retry: soon\ndata: retry: 0\n\n');
});

it('keeps the digits of a long integer, and every other byte', async () => {
  expect(await passed('data: {"id":12345678901234567890,"é":1}\n\n: 12345678901234567890\n')).toBe(
    'data: {"id":"12345678901234567890","é":1}\n\n: 12345678901234567890\n',
  );
});
