import { afterEach, beforeEach, expect, test } from 'vitest';
import { cliEnvironment, runWithoutInput } from '../support/run-cli.ts';
import { fitsWarm, runWarm } from '../support/warm-cli.ts';
import { createProject, scripted, type World } from './world.ts';

/** Most tests give their commands to a program that is loaded already: it answers as a process of its own does. */

let world: World;
beforeEach(async () => {
  world = await createProject();
});
afterEach(() => world.remove());

const long = JSON.stringify({ path: 'x'.repeat(20_000), content: '' });

const commands: readonly (readonly string[])[] = [
  ['session', 'list', '--json'],
  ['session', 'show', 'nothing'],
  ['config', 'list'],
  ['config', 'set', 'default-model', 'no such model\u001b[31m'],
  ['config', 'get', 'nothing'],
  ['config', 'get'],
  ['policy', 'list'],
  ['policy', 'show', 'default'],
  ['policy', 'explain', 'local_fs/write_file', long],
  ['policy', 'diff', 'default', 'open', '--fail-on-widening'],
  ['backend', 'show', 'nothing', '--json'],
  ['backend', 'list', '--frobnicate'],
  ['approvals', 'list'],
  ['audit', 'verify'],
  ['plan', 'list'],
  ['state', 'show', 'nothing', '--trace'],
  ['trust', '--yes'],
  ['tool', 'list', '--quiet'],
  ['run', ...scripted, 'hello there'],
  [...scripted, 'hello there'],
  ['run', ...scripted, '--model', 'nothing', 'hello'],
  ['run', ...scripted, '--on-ask', 'deny', 'write a file'],
  ['run', '--chain', 'nothing.json', 'hello'],
  ['chat', ...scripted, 'hello'],
  ['plan', 'next', ...scripted],
  ['doctor'],
];

test.each(commands.map((argv) => [argv.join(' ').slice(0, 60), argv] as const))('%s', async (_name, argv) => {
  const line = { argv, cwd: world.workspace, environment: { ...cliEnvironment(world) } };
  expect(fitsWarm(line)).toBe(true);
  const apart = await runWithoutInput(line);
  // Stacks name the process that made them.
  const plain = (text: string): string => text.replace(/\n {4}at .*/g, '');
  const here = await runWarm(line);
  expect({ ...here, stderr: plain(here.stderr) }).toEqual({ ...apart, stderr: plain(apart.stderr) });
  expect(apart.stdout.length + apart.stderr.length).toBeGreaterThan(0);
});

test('what needs a process of its own gets one', () => {
  const environment = { ...cliEnvironment(world) };
  const line = (argv: readonly string[], more = {}) =>
    fitsWarm({ argv, cwd: '/', environment: { ...environment, ...more } });
  expect(line(['beam'])).toBe(false);
  expect(line(['approvals', 'watch'])).toBe(false);
  expect(line([])).toBe(false);
  expect(line(['config', '--help'])).toBe(false);
  expect(line(['config', 'list'], { REINS_FAIL_POINT: 'after ask' })).toBe(false);
});
