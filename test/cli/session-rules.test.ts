import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { rows } from '../crash/support.ts';
import { startCli } from '../support/run-cli.ts';
import { addScript, createProject, tester, type World } from './world.ts';

/** Sessions as a person meets them, from the first message on (07, acceptance 1 to 12 and 18). */

let world: World;
beforeEach(async () => {
  world = await createProject();
  const own = 'You are an assistant that works';
  await addScript(world, [
    { match: { system: { regex: `(?s)${own}.*${own}` } }, reply: { text: 'told twice' } },
    { match: { last_user: { equals: 'fail' } }, reply: { error: { class: 'auth', message: 'no key' } } },
    { match: { last_user: { equals: 'after' }, any: { equals: 'fail' } }, reply: { text: 'both seen' } },
    { match: { last_user: { equals: 'hang' } }, reply: { steps: [{ text: 'so far' }, { hang: true }] } },
    {
      match: { role: 'user', last_user: { equals: 'write' } },
      reply: { text: 'W', tool_calls: [{ name: 'local_fs.write_file', arguments: { path: 'a', content: 'b' } }] },
    },
    { match: { role: 'tool' }, reply: { text: 'written' } },
    { match: { role: 'user' }, reply: { text: `re \${last_user}` } },
  ]);
});
afterEach(() => world.remove());

const chat = (...words: readonly string[]) => world.run([...tester, 'chat', ...words]);
const session = (...words: readonly string[]) => world.run(['session', ...words]);
const names = async (): Promise<readonly string[]> =>
  JSON.parse((await session('list', '--json')).stdout).map(
    ({ name, active }: { name: string; active: boolean }) => `${active ? '*' : ''}${name}`,
  );
/** Resolves once so many messages are in the database. */
const stored = (count: number) =>
  vi.waitFor(() => expect(rows(world, 'SELECT seq FROM messages')).toHaveLength(count), { timeout: 20_000 });
const told = async (name = 'default'): Promise<readonly string[]> =>
  JSON.parse((await session('show', name, '--json')).stdout).messages.map(
    ({ kind, role, status, text }: Record<string, string>) =>
      `${kind === 'note' ? kind : role}${status === 'complete' ? '' : ` (${status})`}: ${text}`,
  );

test('the first chat makes "default", the pointer moves by command only, and a deleted session is made anew', async () => {
  expect((await chat('one')).code).toBe(0);
  expect((await session('list')).stdout).toMatch(/^\* default {2}\(2 messages\) /);
  await session('new');
  const [active] = await names();
  expect((await session('new', 'default')).code).toBe(2);
  expect((await session('switch', 'nope')).code).toBe(1);
  expect(await names()).toEqual([active, 'default']);
  await session('delete', 'default');
  await session('delete', active?.slice(1) ?? '');
  expect((await session('show')).code).toBe(1);
  await chat('two');
  expect(await names()).toEqual(['*default']);
});

test('a model that fails leaves the message and a note, and the next turn sends both', async () => {
  expect((await chat('fail')).code).toBe(7);
  expect(await told()).toEqual(['user: fail', expect.stringMatching(/^note: failed \(auth\): .*no key/)]);
  expect((await chat('after')).stdout).toBe('both seen\n');
});

test('what had arrived when the program was killed is there, marked, and the session works', async () => {
  const running = startCli(world, [...tester, 'chat', 'hang']);
  // Text of a stream is stored every 2 s.
  await stored(2);
  running.child.kill('SIGKILL');
  await running.ended;
  expect(await told()).toEqual(['user: hang', 'assistant (partial): so far']);
  expect((await chat('later')).stdout).toBe('re later\n');
  expect((await told()).slice(2)).toEqual(['note: interrupted', 'user: later', 'assistant: re later']);
});

test('a system message is sent once and stored never; turns are printed behind the reply when they are asked for', async () => {
  await chat('one');
  await chat('two');
  const three = await chat('three', '--last', '2');
  expect(three.stdout).toBe('re three\n');
  expect(three.stderr.replaceAll(/\d\d:\d\d:\d\d/g, 'T')).toBe(
    '[T] user:\n  two\n[T] assistant:\n  re two\n[T] user:\n  three\n[T] assistant:\n  re three\n',
  );
  const { messages } = JSON.parse((await session('show', '--json', '--tools')).stdout);
  expect(messages.map(({ role }: { role: string }) => role).includes('system')).toBe(false);
  expect(await chat('four', '--trim', '0', '--last', '0')).toMatchObject({ stdout: 're four\n', stderr: '' });
  const { turns } = JSON.parse((await chat('five', '--last', '2', '--json')).stdout);
  expect(turns.map(({ user }: { user: string }) => user)).toEqual(['four', 'five']);
  expect((await chat('--trim', '-1', 'six')).code).toBe(2);
});

test('of two turns at once one waits and stores nothing; another session is free', async () => {
  const first = startCli(world, [...tester, 'chat', 'hang']);
  await stored(1);
  const second = startCli(world, [...tester, 'chat', 'loser']);
  await second.saw('is busy with run');
  await session('new', 'other');
  expect((await chat('there')).stdout).toBe('re there\n');
  expect(await second.ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/\n {2}reins state show \S+\n {2}reins state cancel \S+\n/),
  });
  expect((await told())[0]).toBe('user: hang');
  expect((await told()).filter((line) => line.startsWith('user'))).toHaveLength(1);
  first.child.kill('SIGINT');
  expect((await first.ended).code).toBe(130);
});

test('a turn that waits for an approval is named, goes on once it is answered, or is given up', async () => {
  expect((await chat('--on-ask', 'suspend', 'write')).code).toBe(4);
  const { asks } = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout);
  const refused = await chat('next');
  expect(refused.code).toBe(4);
  expect(refused.stderr).toMatch(/session "\S+" waits for approval \(run run_\w+\)/);
  expect(refused.stderr).toContain(`reins approvals respond ${asks[0].id} --approve`);
  expect((await world.run(['approvals', 'respond', asks[0].id, '--approve'])).stdout).toBe('written\n');
  expect(await told()).toEqual(['user: write', 'assistant: W', 'assistant: written']);
  expect((await chat('--on-ask', 'suspend', 'write')).code).toBe(4);
  expect((await chat('--abandon', 'go')).stdout).toBe('re go\n');
  const { asks: all } = JSON.parse((await world.run(['approvals', 'list', '--state', 'all', '--json'])).stdout);
  expect(all.map(({ state }: { state: string }) => state).sort()).toEqual(['approved', 'cancelled']);
  expect((await told()).slice(-3)).toEqual(['note: interrupted', 'user: go', 'assistant: re go']);
});

describe('a name', () => {
  test('has 1 to 64 letters and digits of any script, composed', async () => {
    for (const [name, code] of [
      ['a/b', 2],
      ['-a', 2],
      ['', 2],
      ['x'.repeat(65), 2],
      ['x'.repeat(64), 0],
      ['名前', 0],
      ['e\u0301', 0],
      ['\u00e9', 2],
    ] as const) {
      expect([name, (await session('new', '--', name)).code]).toEqual([name, code]);
    }
    expect((await session('switch', '\u00e9')).stdout).toBe('Switched to session "\u00e9".\n');
  });
});
