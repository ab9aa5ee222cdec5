import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addScript, createProject, tester, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await createProject();
});
afterEach(() => world.remove());

test('a secret file that is named relative to the working directory is walled off like an absolute one', async () => {
  world.write('keys/jwt', 'the secret of the server');
  world.write('../allow.json', JSON.stringify({ default_action: 'allow', rules: [] }));
  await addScript(world, [
    { name: 'refused', match: { tool: { content: { contains: ['"error":"denied"'] } } }, reply: { text: 'Denied.' } },
    { name: 'told', match: { role: 'tool' }, reply: { text: 'I was told.' } },
    {
      name: 'read',
      match: { role: 'user' },
      reply: { text: '', tool_calls: [{ name: 'local_fs.read_file', arguments: { path: 'keys/jwt' } }] },
    },
  ]);
  for (const named of ['keys/jwt', join(world.workspace, 'keys/jwt')]) {
    const { stdout } = await world.run([...tester, '--policy', join(world.dir, 'allow.json'), 'read it'], {
      environment: { REINS_JWT_SECRET_FILE: named },
    });
    expect(stdout).toBe('Denied.\n');
  }
});
