import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { shippedChains } from '../../src/workspace/presets/chains.ts';
import { createProject, scripted, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await createProject();
});
afterEach(() => world.remove());

test('the six shipped chains have nothing that vet finds', async () => {
  const paths = Object.entries(shippedChains).map(([name, text]) => world.write(`shipped/${name}`, text));
  expect(paths).toHaveLength(6);
  const { code, stdout, stderr } = await world.run(['chain', 'vet', '--strict', ...paths]);
  expect([code, stderr]).toEqual([0, '']);
  for (const path of paths) expect(stdout).toContain(`${path.split('/').at(-1)}`);
});

/** Digests of the documents of a project. */
const documents = (): Readonly<Record<string, string>> => {
  const directory = join(world.workspace, '.reins');
  const names = readdirSync(directory).filter((name) => !/^local\.db|^plans$/.test(name));
  return Object.fromEntries(
    names.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(directory, name)))
        .digest('hex'),
    ]),
  );
};

test('the demo plans and carries out every step, offline, and changes no document of the project', async () => {
  const before = documents();
  expect(Object.keys(before)).toContain('default-run-chain.json');
  const plan = (...argv: readonly string[]) => world.run(['plan', ...argv, ...scripted]);
  expect((await plan('new', 'try the demo')).code).toBe(0);
  const steps = JSON.parse((await plan('show', '--json')).stdout).steps as readonly unknown[];
  expect(steps.length).toBeGreaterThan(1);
  const auto = await plan('next', '--auto');
  expect([auto.code, auto.stdout.match(/^Step \d of \d completed: /gm)?.length]).toEqual([0, steps.length]);
  const shown = JSON.parse((await plan('show', '--json')).stdout);
  expect([shown.status, shown.steps.map(({ status }: { status: string }) => status)]).toEqual([
    'completed',
    steps.map(() => 'completed'),
  ]);
  expect(await plan('next', '--auto')).toMatchObject({ code: 0, stdout: 'All steps are complete.\n' });
  expect(documents()).toEqual(before);
});
