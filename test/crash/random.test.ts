import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { World } from '../cli/world.ts';
import { createCrashWorld, expectGoneOn, startLoop } from './support.ts';

/** The program is killed at moments that nobody chose. `npm run crash` makes more rounds than CI. */

const rounds = Number(process.env['REINS_CRASH_ROUNDS'] ?? '3');

let world: World;
beforeEach(async () => {
  world = await createCrashWorld();
});
afterEach(() => world.remove());

/** How long the loop takes from its first row to its end on this machine, measured once. */
let usual: number | undefined;
async function usualMs(): Promise<number> {
  if (usual !== undefined) return usual;
  const other = await createCrashWorld();
  const from = performance.now();
  expect((await startLoop(other, 'run', 'allow').ended).code).toBe(0);
  usual = performance.now() - from;
  other.remove();
  return usual;
}

for (const face of ['run', 'chat'] as const) {
  test.each(Array.from({ length: rounds }, (_, index) => index + 1))(
    `${face}, killed at a random moment (%i)`,
    async () => {
      const moment = Math.random() * (await usualMs());
      const started = startLoop(world, face, 'allow');
      await once(started.child, 'spawn');
      const timer = setTimeout(() => started.child.kill('SIGKILL'), moment);
      await started.ended;
      clearTimeout(timer);
      await expectGoneOn(world, face);
    },
  );

  test.each(Array.from({ length: rounds }, (_, index) => index + 1))(
    `${face}, killed at a random durable write (%i)`,
    async () => {
      const write = 1 + Math.floor(Math.random() * 40);
      await startLoop(world, face, 'allow', `#${write}`).ended;
      await expectGoneOn(world, face);
    },
  );
}
