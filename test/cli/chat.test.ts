import { join } from 'node:path';
import Database from 'better-sqlite3';
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
  expect(stdout).toMatch(/\] user: #1\n {2}hello\n\n {2}there\n\n$/);
});

test('--last finds turns of many messages, and all when there are fewer', async () => {
  await world.run([...scripted, 'chat', 'hello one']);
  const database = new Database(join(world.workspace, '.reins/local.db'));
  const insert = database.prepare(
    `INSERT INTO messages (id, session_id, seq, role, kind, payload, status, created_at)
     VALUES (?, (SELECT id FROM sessions), ?, ?, ?, ?, 'complete', 1)`,
  );
  for (let seq = 3; seq < 33; seq += 1) {
    insert.run(`m${seq}`, seq, 'assistant', 'message', JSON.stringify({ id: `m${seq}`, content: `more ${seq}` }));
  }
  insert.run('s', 33, 'user', 'summary', JSON.stringify({ id: 's', content: 'all so far' }));
  database.close();
  const turns = async (last: string): Promise<unknown> =>
    JSON.parse((await world.run([...scripted, 'chat', '--json', '--last', last, `hello ${last}`])).stdout).turns.map(
      ({ user, assistant }: { user: string; assistant: string }) => [user, assistant.split('\n')[0]],
    );
  const second = ['hello 2', '(scripted demo) Hello. You said: hello 2'];
  expect(await turns('2')).toEqual([['hello one', 'more 32'], second]);
  expect(await turns('9')).toEqual([
    ['hello one', 'more 32'],
    second,
    ['hello 9', '(scripted demo) Hello. You said: hello 9'],
  ]);
  const { stderr } = await world.run([...scripted, 'chat', '--last', '4', 'hello four']);
  expect(stderr).not.toContain('all so far');
  expect(stderr.split('\n')[1]).toBe('  hello one');
});
