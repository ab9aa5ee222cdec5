import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTerminal } from '../support/terminal.ts';
import { addScript, createProject, tester, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await createProject();
  const system = 'Summarise the conversation';
  await addScript(world, [
    { match: { system, any: 'q4' }, reply: { error: { class: 'auth', message: 'no key' } } },
    { match: { system }, reply: { text: 'All so far.' } },
    { match: { role: 'user' }, reply: { text: `re \${last_user}` } },
  ]);
  for (const text of ['q1', 'q2', 'q3']) await world.run([...tester, 'chat', text]);
});
afterEach(() => world.remove());

const session = (...argv: readonly string[]) => world.run([...tester, 'session', ...argv]);

test('session compact says what it did; show marks what is no longer sent', async () => {
  expect(await session('compact', '--keep', '2')).toMatchObject({
    code: 0,
    stdout: 'Compacted 4 messages of "default" into a summary.\n',
    stderr: '',
  });
  const { stdout } = await session('show');
  expect(stdout.replaceAll(/\[\S+\]/g, 'T')).toBe(`Session: default (7 messages)
T user: #1 (summarised)
  q1

T assistant: #2 (summarised)
  re q1

T user: #3 (summarised)
  q2

T assistant: #4 (summarised)
  re q2

T user: #5
  q3

T assistant: #6
  re q3

T user: #7 (summary)
  All so far.

`);
  await world.run([...tester, 'chat', 'next']);
  const again = await session('compact', 'default', '--keep', '1', '--json');
  expect(again.code).toBe(1);
  expect(JSON.parse(again.stdout)).toMatchObject({ error: { code: 'conflict' }, exit_code: 1 });
  await world.run([...tester, 'chat', 'more']);
  const second = JSON.parse((await session('compact', '--keep', '1', '--json')).stdout);
  expect(second).toEqual({ session: 'default', messages: 5, covers_to: 10, run_id: expect.stringMatching(/^run_/) });
  const marks = (await session('show')).stdout.match(/: #\d+ \(.*\)$/gm)?.map((mark) => mark.replace(/ #\d+/, ''));
  expect(marks?.filter((mark) => mark.includes('(summary)'))).toEqual([': (summary) (summarised)', ': (summary)']);
});

test('a model that fails is exit 7, and nothing was made', async () => {
  await world.run([...tester, 'chat', 'q4']);
  await world.run([...tester, 'chat', 'q5']);
  const before = (await session('show', '--json')).stdout;
  const failed = await session('compact', '--keep', '1');
  expect(failed).toMatchObject({ code: 7, stdout: '' });
  expect(failed.stderr).toMatch(/^reins: .*no key.*\(auth\)\n/);
  const forked = await session('fork', 'copy', '--summary', '--keep', '1', '--json');
  expect(forked.code).toBe(7);
  expect(JSON.parse(forked.stdout)).toMatchObject({ error: { code: 'auth' }, exit_code: 7 });
  expect((await session('show', '--json')).stdout).toBe(before);
  expect(JSON.parse((await session('list', '--json')).stdout)).toHaveLength(1);
});

test('session fork --summary prints the copy; its progress stands on a terminal', async () => {
  const terminal = openTerminal(world, [...tester, 'session', 'fork', '--summary', '--keep', '2']);
  expect((await terminal.ended).code).toBe(0);
  expect(terminal.screen()).toContain('[step 1] summarise (chat_completion)');
  expect(terminal.screen()).toContain('Forked "default" to "default-2" (3 messages). Now active.');
  expect(terminal.screen()).not.toContain('All so far.');
  const json = await session('fork', 'work', '--from', 'default', '--summary', '--keep', '1', '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({
    session: { name: 'work', active: true, message_count: 2 },
    from: 'default',
    messages: 2,
    summarised: 5,
    moved_back: null,
    run_id: expect.stringMatching(/^run_/),
  });
});

test('/fork --summary of the screen opens the copy, and one with words that it does not know makes none', async () => {
  for (const text of ['q5', 'q6']) await world.run([...tester, 'chat', text]);
  const terminal = openTerminal(world, ['tui', ...tester]);
  await terminal.until((rows) => rows.some((row) => row.startsWith(' idle')), 'idle');
  terminal.type('/fork --brief\r');
  await terminal.saw('/fork takes a name, --at <seq> and --summary');
  terminal.type('\u0015/fork brief --summary\r');
  await terminal.saw('forked default: a summary stands for 2 messages');
  terminal.type('\u0018\u0003');
  expect((await terminal.ended).code).toBe(0);
  expect((await session('list')).stdout).toMatch(/^\* +brief/m);
});
