import { afterEach, beforeEach, expect, test } from 'vitest';
import { addScript, createProject, tester, type World } from '../cli/world.ts';
import { startCli } from '../support/run-cli.ts';
import { expectSound, rows } from './support.ts';

/** A program that is killed while it sums up a session: there is no summary without its run, and none twice. */

let world: World;
beforeEach(async () => {
  world = await createProject();
  await addScript(world, [
    { match: { system: 'Summarise the conversation' }, reply: { text: 'All so far.' } },
    { match: { role: 'user' }, reply: { text: 'Fine.' } },
  ]);
  for (const text of ['one', 'two', 'three']) await world.run([...tester, 'chat', text]);
});
afterEach(() => world.remove());

const killed = async (point: string, ...words: readonly string[]) => {
  const { ended } = startCli(world, [...tester, 'session', ...words], { environment: { REINS_FAIL_POINT: point } });
  expect((await ended).signal).toBe('SIGKILL');
  expectSound(world);
};
const kinds = () => rows(world, "SELECT seq, covers_to FROM messages WHERE kind = 'summary'");
const statuses = () => rows(world, "SELECT status FROM runs WHERE kind = 'compact'").map(({ status }) => status);
const names = () => rows(world, 'SELECT name FROM sessions ORDER BY name').map(({ name }) => name);

test('before the end of the run: nothing is there, and going on with it makes it once', async () => {
  await killed('before chain_completed', 'compact', '--keep', '2');
  expect([kinds(), statuses()]).toEqual([[], ['running']]);
  const [run] = rows(world, "SELECT id FROM runs WHERE kind = 'compact'");
  expect((await world.run(['state', 'resume', String(run?.['id'])])).code).toBe(0);
  expect([kinds(), statuses()]).toEqual([[{ seq: 7, covers_to: 4 }], ['completed']]);
  expectSound(world);
});

test('before the end of the run: a new turn takes its place and nothing is told of it', async () => {
  await killed('before chain_completed', 'compact', '--keep', '2');
  expect((await world.run([...tester, 'chat', 'four'])).code).toBe(0);
  expect(rows(world, "SELECT seq FROM messages WHERE kind <> 'message'")).toEqual([]);
  expect(statuses()).toEqual(['interrupted']);
  const again = await world.run([...tester, 'session', 'compact', '--keep', '2']);
  expect(again.stdout).toBe('Compacted 6 messages of "default" into a summary.\n');
});

test('behind the end of the run: it is there', async () => {
  await killed('after chain_completed', 'compact', '--keep', '2');
  expect([kinds(), statuses()]).toEqual([[{ seq: 7, covers_to: 4 }], ['completed']]);
});

test.each([
  ['before chain_completed', ['default']],
  ['after chain_completed', ['default', 'default-2']],
])('a copy with a summary is made with the end of its run, %s', async (point, made) => {
  await killed(point, 'fork', '--summary', '--keep', '2');
  expect(names()).toEqual(made);
  expect((await world.run([...tester, 'chat', 'four'])).code).toBe(0);
});
