import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Bench, createBench } from './support.ts';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.remove());

it('echoes any JSON value', async () => {
  expect(await bench.value('echo.echo', { input: { a: [1, null] } })).toEqual({ a: [1, null] });
  expect(await bench.value('echo.echo', { input: null })).toBeNull();
  expect(await bench.error('echo.echo', {})).toBe('invalid_arguments');
});

it('prints a message as an event and returns it', async () => {
  expect(await bench.value('print.print', { message: 'done' })).toBe('done');
  expect(bench.events).toEqual([{ kind: 'print', text: 'done' }]);
});

it('refuses a message above 64 KiB', async () => {
  expect(await bench.error('print.print', { message: 'x'.repeat(65_537) })).toBe('invalid_arguments');
});
