import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addScript, createProject, tester, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createProject();
});
afterAll(() => world.remove());

/** The records of a trace, by their message. */
const records = (stderr: string, message: string): readonly string[] =>
  stderr.split('\n').filter((line) => line.includes(` msg=${message} `));

test('a trace holds no arguments, no feedback and no words of a model', async () => {
  await addScript(world, [
    {
      match: { role: 'user', last_user: 'list' },
      reply: { tool_calls: [{ name: 'local_shell.local_shell', arguments: { command: 'touch hush-hush' } }] },
    },
    { match: { role: 'user' }, reply: { text: 'the hush-hush answer' } },
    { match: { role: 'tool' }, reply: { text: 'the hush-hush end' } },
  ]);
  const asked = await world.run(['run', ...tester, '--shell', '--on-ask', 'deny', '--trace', 'list it']);
  expect(records(asked.stderr, 'ask')).toHaveLength(1);
  expect(records(asked.stderr, 'step_completed').map((line) => / eval=(\S+)/.exec(line)?.[1])).toEqual([
    'tool_call',
    'tools_executed',
    'executed',
  ]);
  const traced = asked.stderr.split('\n').filter((line) => line.startsWith('ts='));
  expect(traced.filter((line) => line.includes('hush'))).toEqual([]);

  const task = { id: 'say', handler: 'prompt_to_string', prompt_template: 'say it' };
  const text = JSON.stringify({ id: 'say', tasks: [task] });
  const chain = world.write('say.json', text);
  const sha256 = createHash('sha256').update(text).digest('hex');
  const said = await world.run(['run', ...tester, '--chain', chain, '--trust', sha256, '--trace', 'go']);
  expect(said.stdout).toBe('the hush-hush answer\n');
  expect(records(said.stderr, 'step_completed')).toHaveLength(1);
  expect(said.stderr).not.toContain('hush');
});
