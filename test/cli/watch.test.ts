import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { feedKinds } from '../../src/schema/feed.ts';
import { createCrashWorld, rows, startLoop } from '../crash/support.ts';
import { cliEnvironment, program, startCli } from '../support/run-cli.ts';
import { openTerminal } from '../support/terminal.ts';
import type { World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await createCrashWorld();
});
afterEach(() => world.remove());

const waiting = 'reins: answer with: reins approvals respond';
const watch = (...flags: readonly string[]) => startCli(world, ['approvals', 'watch', ...flags]);
type Line = { cursor: number; kind: string; run_id?: string; ask_id?: string; data: Record<string, unknown> };
const parsed = (stdout: string): Line[] =>
  stdout
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line));
/** Ends a watch as Ctrl-C does, and gives what it has printed. */
const interrupted = async (started: ReturnType<typeof watch>): Promise<string> => {
  started.child.kill('SIGINT');
  const { code, stdout } = await started.ended;
  expect(code).toBe(130);
  return stdout;
};
const pending = async () => JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout).asks[0];
const stored = () =>
  rows(
    world,
    `SELECT cursor, kind FROM events WHERE kind IN (${feedKinds.map((kind) => `'${kind}'`).join(', ')}) ORDER BY cursor`,
  );

test('tells what is open, then every change of other processes, and ends with 130', async () => {
  const run = startLoop(world, 'run', 'approve');
  await run.saw(waiting);
  const ask = await pending();
  const watching = watch('--json');
  await watching.saw('"pending"', 'stdout');
  await world.run(['approvals', 'respond', ask.id, '--deny', '--feedback', 'use\nanother']);
  await watching.saw('"verdict"', 'stdout');
  run.child.kill('SIGINT');
  await run.ended;
  await watching.saw('"chain_cancelled"', 'stdout');
  const stdout = await interrupted(watching);
  const [first = ''] = stdout.split('\n');
  expect(JSON.parse(first)).toEqual({
    cursor: expect.any(Number),
    pending: [
      {
        ask_id: ask.id,
        ask_kind: 'permission',
        run_id: ask.run_id,
        session_id: null,
        mission_id: ask.mission_id,
        call_id: ask.call_id,
        tools: 'local_shell',
        tool: 'local_shell',
        summary: './add 1',
        created_at: ask.created_at,
        expires_at: ask.expires_at,
      },
    ],
  });
  const lines = parsed(stdout);
  expect(lines[0]).toEqual({
    cursor: expect.any(Number),
    kind: 'verdict',
    timestamp: expect.any(String),
    seq: expect.any(Number),
    ask_id: ask.id,
    run_id: ask.run_id,
    mission_id: ask.mission_id,
    data: {
      ask_id: ask.id,
      call_id: ask.call_id,
      task_id: 'run_tools',
      task_handler: 'execute_tool_calls',
      attempt: 1,
      verdict: 'denied',
      by: 'operator:cli',
      feedback: 'use\nanother',
    },
  });
  for (const { kind, data } of lines) {
    expect(feedKinds).toContain(kind);
    for (const big of ['args', 'diff', 'result', 'output', 'chain_id']) expect(data).not.toHaveProperty(big);
  }
});

test('goes on after a cursor without gap or duplicate, whatever was committed while nobody watched', async () => {
  const run = startLoop(world, 'run', 'approve');
  await run.saw(waiting);
  const first = watch('--json', '--since', '0');
  await first.saw('"kind":"ask"', 'stdout');
  const before = parsed(await interrupted(first));
  await world.run(['approvals', 'respond', (await pending()).id, '--approve']);
  const second = watch('--json', '--since', String(before.at(-1)?.cursor));
  await second.saw('"kind":"tool_call"', 'stdout');
  const between = parsed(await interrupted(second));
  run.child.kill('SIGINT');
  await run.ended;
  const third = watch('--json', '--since', String(between.at(-1)?.cursor));
  await third.saw('"kind":"chain_cancelled"', 'stdout');
  const after = parsed(await interrupted(third));
  expect([...before, ...between, ...after].map(({ cursor, kind }) => ({ cursor, kind }))).toEqual(stored());
});

test('tells each ask once: as open, or as a change', async () => {
  const watching = watch('--json');
  await watching.saw('"pending":[]', 'stdout');
  const all = [1, 2, 3].map(() => startLoop(world, 'run', 'approve'));
  await Promise.all(all.map((run) => run.saw(waiting)));
  const late = watch('--json');
  await late.saw('"pending":[{', 'stdout');
  for (const { child } of all) child.kill('SIGINT');
  await Promise.all(all.map(({ ended }) => ended));
  const last = stored().at(-1);
  for (const one of [watching, late]) await one.saw(`{"cursor":${last?.['cursor']},`, 'stdout');
  const asksOf = (lines: readonly Line[]) => lines.filter(({ kind }) => kind === 'ask').length;
  expect(asksOf(parsed(await interrupted(watching)))).toBe(3);
  expect(asksOf(parsed(await interrupted(late)))).toBe(0);
});

test('is a line of text per change', async () => {
  const watching = watch();
  await watching.saw('no pending asks; changes follow');
  const run = startLoop(world, 'run', 'approve');
  await run.saw(waiting);
  const [{ id: askId, run_id: runId }] = [await pending()];
  await watching.saw(askId, 'stdout');
  const late = watch();
  await late.saw(askId, 'stdout');
  await world.run(['approvals', 'respond', askId, '--deny', '--feedback', 'use\nanother']);
  await watching.saw('verdict', 'stdout');
  run.child.kill('SIGINT');
  await run.ended;
  await watching.saw('chain_cancelled', 'stdout');
  const texts = (stdout: string) =>
    stdout.split('\n').map((line) => line.trimStart().split(/ {2,}/).slice(2).join('|'));
  const lines = texts(await interrupted(watching));
  expect(lines.slice(0, 4)).toEqual([
    `chain_started|${runId} run with tester, policy approve`,
    `policy_decision|${runId} local_shell.local_shell approve (default action)`,
    expect.stringMatching(new RegExp(`^ask\\|${askId} ${runId} local_shell\\.local_shell \\./add 1 \\(until `)),
    `verdict|${askId} ${runId} denied by operator:cli: use another`,
  ]);
  expect(lines).toContain(`chain_cancelled|${runId} by operator:cli: SIGINT`);
  expect(texts(await interrupted(late))[0]).toMatch(
    new RegExp(`^pending\\|${askId} ${runId} local_shell\\.local_shell \\./add 1 \\(until `),
  );
});

test('tells an ask whose deadline passes while it watches', async () => {
  const run = startLoop(world, 'run', 'approve');
  await run.saw(waiting);
  const { id } = await pending();
  run.child.kill('SIGKILL');
  await run.ended;
  const database = new Database(join(world.workspace, '.reins/local.db'));
  database.exec('UPDATE asks SET expires_at = 1');
  database.close();
  const watching = watch('--json');
  await watching.saw('"pending":[]', 'stdout');
  await watching.saw('"expired"', 'stdout');
  expect(parsed(await interrupted(watching)).at(-1)).toMatchObject({
    kind: 'verdict',
    ask_id: id,
    data: { verdict: 'expired', by: 'system:timeout' },
  });
});

test('refuses a cursor that this database never had', async () => {
  const last = Number(stored().at(-1)?.['cursor'] ?? 0);
  expect(await world.run(['approvals', 'watch', '--since', String(last + 1000)])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: `reins: --since ${last + 1000}: the newest cursor is ${last}\n  reins approvals watch\n`,
  });
  expect((await world.run(['approvals', 'watch', '--since', 'x'])).code).toBe(2);
});

test('ends quietly when its reader has left', async () => {
  const child = spawn(process.execPath, [program, 'approvals', 'watch', '--json'], {
    cwd: world.workspace,
    env: { ...cliEnvironment(world) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  const run = startLoop(world, 'run', 'allow');
  const [code] = await once(child, 'close');
  expect([code, errors]).toEqual([0, '']);
  expect((await run.ended).code).toBe(0);
});

test('ends soon when what reads its pipe has left, though nothing happens', async () => {
  // A pipe as a shell makes it; those of Node are sockets, which tell by themselves.
  const line = '"$0" "$1" approvals watch --json | head -n 1';
  const child = spawn('sh', ['-c', line, process.execPath, program], {
    cwd: world.workspace,
    env: { ...cliEnvironment(world) },
    stdio: 'ignore',
  });
  expect(await once(child, 'close')).toEqual([0, null]);
});

test('ends with Ctrl-C on a terminal, where ids and times are short', async () => {
  const run = startLoop(world, 'run', 'approve');
  await run.saw(waiting);
  const { id } = await pending();
  const terminal = openTerminal(world, ['approvals', 'watch']);
  await terminal.saw(`ask_${id.slice(-6)} run_`);
  expect(terminal.screen()).toMatch(/^ +\d+ {2}\d\d:\d\d:\d\d {2}pending /);
  terminal.type('\u0003');
  expect(await terminal.ended).toMatchObject({ code: 130 });
  run.child.kill('SIGINT');
  await run.ended;
});

test('SIGUSR1 opens no debugger, in which another program could evaluate code', async () => {
  const watching = watch();
  await watching.saw('changes follow');
  watching.child.kill('SIGUSR1');
  // What Node would say stands before what a later change brings.
  const run = startLoop(world, 'run', 'approve');
  await run.saw(waiting);
  await watching.saw('ask', 'stdout');
  run.child.kill('SIGINT');
  await run.ended;
  await interrupted(watching);
  expect((await watching.ended).stderr).toBe('no pending asks; changes follow\n');
});
