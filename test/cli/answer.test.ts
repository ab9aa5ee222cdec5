import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addScript, createProject, tester, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await createProject();
  await addScript(world, [
    {
      match: { role: 'user' },
      reply: { text: '', tool_calls: [{ name: 'engine.ask_human', arguments: { question: 'Which port?' } }] },
    },
    { match: { role: 'tool' }, reply: { text: 'You said: \u0024{tool.content}' } },
  ]);
  const branches = [{ operator: 'default', goto: 'act' }];
  const work = {
    id: 'work',
    handler: 'chat_completion',
    execute_config: { model: '{{var:model}}', tools: ['engine'] },
    transition: { branches: [{ operator: 'equals', when: 'executed', goto: 'end' }, ...branches] },
  };
  const act = {
    id: 'act',
    handler: 'execute_tool_calls',
    transition: { branches: [{ operator: 'default', goto: 'work' }] },
  };
  const chain = JSON.stringify({ id: 'asking', tasks: [work, act] });
  const path = world.write('.reins/default-run-chain.json', chain);
  const sha256 = createHash('sha256').update(chain).digest('hex');
  expect((await world.run(['trust', 'add', path, '--sha256', sha256])).code).toBe(0);
});
afterEach(() => world.remove());

/** A run that rests for its question. */
const asked = async (): Promise<string> => {
  expect((await world.run([...tester, 'go'])).code).toBe(4);
  return JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout).asks[0].id;
};

test('a question takes an answer, in words or from standard input, and nothing else', async () => {
  const id = await asked();
  const respond = (argv: readonly string[], stdin = '') => world.run(['approvals', 'respond', id, ...argv], { stdin });
  for (const argv of [['--approve'], ['--deny']])
    expect(await respond(argv)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('it takes an answer'),
    });
  expect((await respond(['--answer', 'x', '--approve'])).code).toBe(2);
  const answered = await respond(['--answer', '8080']);
  expect([answered.code, answered.stdout]).toEqual([0, expect.stringContaining('8080')]);
  expect(answered.stderr).toContain('answered ');
  const next = await asked();
  const piped = await world.run(['approvals', 'respond', next, '--answer', '-'], { stdin: 'the second,\nas it is\n' });
  expect([piped.code, piped.stdout]).toEqual([0, expect.stringContaining('the second,')]);
});
