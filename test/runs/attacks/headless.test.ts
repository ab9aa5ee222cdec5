import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addScript, createProject, scripted, tester, type World, writingTurns } from '../../cli/world.ts';
import { rows } from '../../crash/support.ts';
import { startCli } from '../../support/run-cli.ts';

/** Attacks of `attack-cases.json` on a program that nobody sits at: no terminal, odd input, signals, slow readers. */

let world: World;
beforeEach(async () => {
  world = await createProject();
  world.write('../approve.json', JSON.stringify({ default_action: 'approve' }));
});
afterEach(() => world.remove());

const written = (): boolean => existsSync(join(world.workspace, 'new.txt'));
const runs = () => rows(world, 'SELECT status FROM runs').map(({ status }) => status);

it.each([['nothing'], ['y\n'], ['yes\ny\n1\n']])(
  'HEAD-001: a call that asks lets the run rest, and %j on stdin is no answer',
  async (stdin) => {
    await addScript(world, writingTurns);
    const options = stdin === 'nothing' ? {} : { stdin };
    const { code, stdout, stderr } = await world.run(
      ['run', ...tester, '--policy', '../approve.json', 'write'],
      options,
    );
    expect([code, stdout, written()]).toEqual([4, '', false]);
    const [ask] = rows(world, 'SELECT id, state FROM asks');
    expect(ask?.['state']).toBe('pending');
    expect(stderr).toContain(`reins: waiting for approval ${ask?.['id']}: local_fs.write_file new.txt`);
    expect(stderr).toContain(`reins: answer with: reins approvals respond ${ask?.['id']} --approve|--deny\n`);
  },
);

it('HEAD-002: a denied call is listed, and the exit code of --fail-on-denial says so', async () => {
  await addScript(world, writingTurns);
  world.write('../deny.json', JSON.stringify({ rules: [{ tools: 'local_fs', tool: 'write_file', action: 'deny' }] }));
  const argv = ['run', ...tester, '--policy', '../deny.json', '--output-format', 'json', 'write'];
  const plain = await world.run(argv);
  const object = JSON.parse(plain.stdout);
  expect([plain.code, object.result, object.permission_denials]).toMatchObject([
    0,
    'It was denied.',
    [{ tools: 'local_fs', tool: 'write_file', by: 'policy', rule: 0 }],
  ]);
  const failing = await world.run([...argv, '--fail-on-denial']);
  expect([failing.code, JSON.parse(failing.stdout).exit_code]).toEqual([5, 5]);
  expect(written()).toBe(false);
});

it('HEAD-002: no answer after a denial is no success', async () => {
  await addScript(world, [...writingTurns.slice(0, 1), { match: { role: 'tool' }, reply: { text: '' } }]);
  world.write('../deny.json', JSON.stringify({ default_action: 'deny' }));
  const { code, stdout } = await world.run([...tester, '--policy', '../deny.json', '--json', 'write']);
  expect(code === 0 && JSON.parse(stdout).result === '').toBe(false);
});

it('HEAD-004: a slow reader of stream-json gets every line, and the last one whole', async () => {
  await addScript(world, [{ reply: { text: 'word '.repeat(200_000), chunk: 1000 } }]);
  const started = startCli(world, ['run', ...tester, '--output-format', 'stream-json', '--input', 'go']);
  started.child.stdin.end();
  started.child.stdout.pause();
  // The run is over as far as its rows say; what it said is still on its way.
  await expect.poll(runs, { timeout: 20_000 }).toEqual(['completed']);
  started.child.stdout.resume();
  const { code, stdout } = await started.ended;
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([code, lines[0].type, lines.at(-1)]).toMatchObject([0, 'init', { type: 'result', exit_code: 0 }]);
  expect(lines.at(-1).result).toBe('word '.repeat(200_000));
});

describe('HEAD-005: what is on stdin', () => {
  it('that stays open and silent does not hold up the run', async () => {
    const started = startCli(world, ['run', ...scripted, 'hello there']);
    expect((await started.ended).code).toBe(0);
  });

  it('beyond 10 MiB is refused in a line, and CRLF lines are lines', async () => {
    const large = await world.run(['run', ...scripted], { stdin: 'x'.repeat(11 * 1024 * 1024) });
    expect([large.code, large.stdout, large.stderr]).toEqual([2, '', expect.stringMatching(/10 MiB/)]);
    expect(runs()).toEqual([]);
    await addScript(world, [
      { match: { last_user: { regex: '^one\\r?\\ntwo\\s*$' } }, reply: { text: 'two lines' } },
      { reply: { text: 'other' } },
    ]);
    expect((await world.run(['run', ...tester], { stdin: 'one\r\ntwo\r\n' })).stdout).toBe('two lines\n');
  });
});

it.each([
  // A run that was stopped in order may go on, and then somebody is asked what became of its call.
  ['SIGINT', 130, 'cancelled', 'failed'],
  ['SIGTERM', 143, 'interrupted', 'started'],
  ['SIGHUP', 143, 'interrupted', 'started'],
] as const)('HEAD-006: %s while a tool runs ends the whole group of its child', async (signal, exit, status, call) => {
  const command = 'sleep 600 & echo $! $$ > pids.tmp; mv pids.tmp pids; wait; touch canary';
  await addScript(world, [
    { reply: { tool_calls: [{ name: 'local_shell.local_shell', arguments: { command, shell: true } }] } },
  ]);
  world.write('../allow.json', JSON.stringify({ default_action: 'allow' }));
  const flags = ['--shell', '--policy', '../allow.json', '--on-ask', 'deny', '--input', 'go'];
  const started = startCli(world, ['run', ...tester, ...flags]);
  const pids = join(world.workspace, 'pids');
  await expect.poll(() => existsSync(pids), { timeout: 10_000 }).toBe(true);
  const children = readFileSync(pids, 'utf8').trim().split(' ').map(Number);
  started.child.kill(signal);
  expect((await started.ended).code).toBe(exit);
  const living = children.filter(
    (pid) => existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')),
  );
  expect([children.length, living, runs()]).toEqual([2, [], [status]]);
  expect(existsSync(join(world.workspace, 'canary'))).toBe(false);
  expect(rows(world, 'SELECT state FROM tool_calls')).toEqual([{ state: call }]);
});

it('HEAD-008: a flag that is none starts nothing', async () => {
  const { code, stdout, stderr } = await world.run(['--frobnicate', 'hi']);
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('--frobnicate')]);
  expect(runs()).toEqual([]);
});

it.each([
  [['plan my trip'], 'plan my trip'],
  [['--', '-rf'], '-rf'],
  [['--', 'session', 'list'], 'session list'],
  [['run', 'plan', 'next'], 'plan next'],
])('HEAD-009: %j is a prompt', async (words, text) => {
  await addScript(world, [
    { match: { last_user: { equals: text } }, reply: { text: 'heard' } },
    { reply: { text: 'other' } },
  ]);
  const [first = '', ...rest] = words;
  const argv = first === '--' ? [...tester, ...words] : [first, ...tester, ...rest];
  expect(await world.run(argv)).toMatchObject({ code: 0, stdout: 'heard\n' });
});
