import { afterEach, beforeEach, expect, test } from 'vitest';
import { createProject, scripted, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await createProject();
});
afterEach(() => world.remove());

test('--trace names how many stored messages --trim kept out of the request', async () => {
  await world.run([...scripted, 'chat', 'hello one']);
  await world.run([...scripted, 'chat', 'hello two']);
  const trimmed = await world.run([...scripted, 'chat', '--trim', '1', '--trace', 'hello three']);
  expect(trimmed.stderr.split('\n')[0]).toMatch(/ trimmed=3$/);
  const whole = await world.run([...scripted, 'chat', '--trim', '50', '--trace', 'hello four']);
  expect(whole.stderr.split('\n')[0]).not.toContain('trimmed=');
});

test('a piped message is shown without a line for its last newline', async () => {
  const { stderr } = await world.run([...scripted, 'chat', '--last', '1'], { stdin: 'hello\n\nthere\n' });
  expect(stderr).toMatch(/^\[.*\] user:\n {2}hello\n\n {2}there\n\[.*\] assistant:\n/);
  const { stdout } = await world.run(['session', 'show', '--head', '1']);
  expect(stdout).toMatch(/\] user:\n {2}hello\n\n {2}there\n\n$/);
});
