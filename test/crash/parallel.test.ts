import { afterEach, beforeEach, expect, test } from 'vitest';
import type { World } from '../cli/world.ts';
import { callCount, createCrashWorld, madeCalls, rows, startLoop } from './support.ts';

/** Many programs on one database. `npm run crash` starts 50 of them; nobody is told that it is busy. */

const programs = process.env['REINS_CRASH_ROUNDS'] === undefined ? 8 : 50;

let world: World;
beforeEach(async () => {
  world = await createCrashWorld();
});
afterEach(() => world.remove());

test(`${programs} runs at once all end well, and each makes its calls`, async () => {
  const started = Array.from({ length: programs }, () => startLoop(world, 'run', 'allow'));
  const ended = await Promise.all(started.map(({ ended: end }) => end));
  expect(ended.map(({ code, stdout }) => [code, stdout])).toEqual(started.map(() => [0, 'All three are made.\n']));
  expect(ended.map(({ stderr }) => stderr).join('')).not.toContain('locked');
  expect(madeCalls(world)).toHaveLength(programs * callCount);
  expect(rows(world, "SELECT count(*) AS n FROM tool_calls WHERE state = 'done'")).toEqual([
    { n: programs * callCount },
  ]);
  expect(rows(world, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
}, 300_000);
