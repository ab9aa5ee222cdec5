import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addScript, createProject, tester, type World } from '../cli/world.ts';
import { asks, executor, explorer, plans, reply, summariser, summary } from '../plans/support.ts';
import { startCli } from '../support/run-cli.ts';
import { expectSound, madeCalls, rows } from './support.ts';

/** Plans whose process is killed: every step is run once, whoever goes on with it (07 §4.10). */

const stepOf = (number: number) => ({ ...executor, last_user: { contains: `# Your step (${number} of` } });
const adds = (line: string, match: object) => asks('local_shell.local_shell', { command: `./add ${line}` }, match);
const results = (count: number) => ({ tool: { count } });

/** The words of a step, and a summariser that never ends. */
const hangingSummary = {
  script: 1,
  models: [{ name: 'tester', context: 8192, capabilities: ['chat', 'tools'] }],
  turns: [reply('Step 1 is done.', stepOf(1)), { match: summariser, reply: { hang: true } }],
};

let world: World;
afterEach(() => world.remove());

/** A project with a plan of steps that each make two calls, and policies that allow them. */
async function createPlan(steps: number, turns: readonly unknown[] = []): Promise<void> {
  world = await createProject();
  const lines = Array.from({ length: steps }, (_, index) => index + 1);
  await addScript(world, [
    ...turns,
    ...lines.flatMap((number) => [
      reply(`Step ${number} is done.`, { ...stepOf(number), ...results(2) }),
      adds(`${number}b`, { ...stepOf(number), ...results(1) }),
      adds(`${number}a`, { ...stepOf(number), role: 'user' }),
    ]),
    reply(summary(), summariser),
  ]);
  chmodSync(world.write('add', '#!/bin/sh\necho "$1" >> count.txt\n'), 0o755);
  world.write('../allow.json', JSON.stringify({ default_action: 'allow', rules: [] }));
  const path = world.write('../steps.md', lines.map((number) => `- part ${number}`).join('\n'));
  const made = await plan('new', 'all of it', '--from', path);
  expect(made.code).toBe(0);
}

const flags = () => [...tester, '--shell', '--policy', join(world.dir, 'allow.json')];
const plan = (command: string, ...words: string[]) => world.run(['plan', command, ...words, ...tester]);
const next = (failPoint = '', ...more: string[]) =>
  world.run(['plan', 'next', ...flags(), ...more], { environment: { REINS_FAIL_POINT: failPoint } });
const steps = () => rows(world, 'SELECT ordinal, status, attempts FROM plan_steps ORDER BY ordinal');
const modelCalls = () => rows(world, "SELECT count(*) AS n FROM events WHERE kind = 'token_usage'")[0]?.['n'];

/** The rest of the plan runs to its end, and nothing has run twice. */
async function expectCompleted(count: number): Promise<void> {
  const rest = await next('', '--auto');
  expect(rest.code, rest.stderr).toBe(0);
  expect(rows(world, 'SELECT status FROM plans')).toEqual([{ status: 'completed' }]);
  expect(steps().every(({ status, attempts }) => status === 'completed' && attempts === 1)).toBe(true);
  const lines = Array.from({ length: count }, (_, index) => [`${index + 1}a`, `${index + 1}b`]).flat();
  expect(madeCalls(world)).toEqual(lines);
  expect(rows(world, "SELECT plan_step_id FROM runs WHERE kind = 'plan_step' GROUP BY 1 HAVING count(*) > 1")).toEqual(
    [],
  );
  expect(rows(world, "SELECT key FROM kv WHERE key LIKE 'plan.settling.%'")).toEqual([]);
  expectSound(world);
}

describe('a step whose process is killed', () => {
  beforeEach(() => createPlan(2));

  test.each([
    'before chain_started',
    'commit plan_changed',
    'after plan_changed',
    'after message',
    'before tool_call_started',
    'commit tool_call_started',
    'after tool_call',
    'before chain_completed',
    'commit chain_completed',
  ])('%s is continued, with no call made twice', async (point) => {
    expect((await next(point)).signal).toBe('SIGKILL');
    const shown = JSON.parse((await plan('show', '--json')).stdout);
    expect(['pending', 'running']).toContain(shown.steps[0].status);
    expect(shown.steps[0].interrupted).toBe(shown.steps[0].status === 'running');
    const { code, stdout } = await next();
    expect([code, stdout]).toEqual([0, 'Step 1 of 2 completed: It was done.\n']);
    await expectCompleted(2);
  });

  test('behind the end of its run is taken in without another call of a model', async () => {
    expect((await next('after chain_completed')).signal).toBe('SIGKILL');
    const before = modelCalls();
    const shown = JSON.parse((await plan('show', '--json')).stdout);
    expect(shown.steps[0]).toMatchObject({ status: 'completed', result_text: 'Step 1 is done.', summary: null });
    expect(shown.steps[0].summary_error).toContain('before the step was summarised');
    expect(modelCalls()).toBe(before);
    await expectCompleted(2);
  });

  test('while it is summed up is taken in without a summary, and nothing is left open', async () => {
    world.write('../script.json', JSON.stringify(hangingSummary));
    const going = startCli(world, ['plan', 'next', ...flags()]);
    await expect
      .poll(() => rows(world, "SELECT status FROM runs WHERE kind = 'step_summary'"), { timeout: 20_000 })
      .toHaveLength(1);
    const beside = await next();
    expect([beside.code, beside.stderr.includes('is running in process')]).toEqual([1, true]);
    going.child.kill('SIGKILL');
    await going.ended;
    const shown = JSON.parse((await plan('show', '--json')).stdout);
    expect(shown.steps[0]).toMatchObject({ status: 'completed', result_text: 'Step 1 is done.', summary: null });
    expect(rows(world, "SELECT status, ended_at IS NULL AS open FROM runs WHERE kind = 'step_summary'")).toEqual([
      { status: 'interrupted', open: 0 },
    ]);
    expectSound(world);
  });

  test('in no way, but summed up in a process that lives, gives way to delete --force', async () => {
    world.write('../script.json', JSON.stringify(hangingSummary));
    const going = startCli(world, ['plan', 'next', ...flags()]);
    await expect.poll(() => rows(world, "SELECT 1 FROM runs WHERE kind = 'step_summary'").length).toBe(1);
    const name = String(rows(world, 'SELECT name FROM plans')[0]?.['name']);
    const deleted = await world.run(['plan', 'delete', name, '--force']);
    expect([deleted.code, deleted.stderr, deleted.stdout]).toEqual([0, '', `Deleted plan "${name}".\n`]);
    expect(rows(world, 'SELECT 1 FROM plans')).toEqual([]);
    await going.ended;
    expect(rows(world, 'SELECT DISTINCT kind, status FROM runs ORDER BY kind')).toEqual([
      { kind: 'plan_step', status: 'completed' },
      { kind: 'step_summary', status: 'cancelled' },
    ]);
  });

  test('in a call asks what became of it, and goes on with the answer', async () => {
    expect((await next('after tool_call_started')).signal).toBe('SIGKILL');
    const asked = await next();
    expect(asked.code).toBe(4);
    const [, id = ''] = /approvals respond (ask_\w+)/.exec(asked.stderr) ?? [];
    expect(rows(world, 'SELECT kind FROM asks')).toEqual([{ kind: 'unknown_outcome' }]);
    const answered = await world.run([
      'approvals',
      'respond',
      id,
      '--treat-as',
      madeCalls(world).length === 1 ? 'done' : 'run-again',
    ]);
    expect(answered.code, answered.stderr).toBe(0);
    expect(steps()[0]).toMatchObject({ status: 'completed', attempts: 1 });
    await expectCompleted(2);
  });

  test.each([
    ['SIGTERM', 143, 'running', '1. [!] part 1'],
    ['SIGINT', 130, 'pending', '1. [ ] part 1'],
  ] as const)('stopped by %s exits %i, and is %s', async (signal, code, status, shown) => {
    world.write('../allow.json', JSON.stringify({ default_action: 'approve', rules: [] }));
    const going = startCli(world, ['plan', 'next', ...flags(), '--on-ask', 'wait']);
    await going.saw('approvals respond');
    going.child.kill(signal);
    expect((await going.ended).code).toBe(code);
    expect(steps()[0]).toMatchObject({ status, attempts: 1 });
    expect((await plan('show')).stdout).toContain(shown);
    expectSound(world);
  });

  test('is given up by skip and by retry', async () => {
    await next('after tool_call');
    expect((await plan('retry', '1')).stdout).toContain('1. [ ] part 1');
    expect(rows(world, "SELECT status FROM runs WHERE kind = 'plan_step'")).toEqual([{ status: 'cancelled' }]);
    expect(
      rows(world, 'SELECT last_failure_summary FROM plan_steps WHERE ordinal = 1')[0]?.['last_failure_summary'],
    ).toContain('Interrupted. Tool calls so far: local_shell.local_shell (done)');
    await next('after tool_call');
    expect((await plan('skip', '1')).stdout).toContain('1. [-] part 1');
    expect(rows(world, "SELECT DISTINCT status FROM runs WHERE kind = 'plan_step'")).toEqual([{ status: 'cancelled' }]);
  });
});

test('a plan of eight steps that asks, fails, and is killed on its way, from several terminals', async () => {
  await createPlan(8, [
    reply('Step 5 is done.', {
      ...stepOf(5),
      any: { contains: '# Earlier failure of this step\nno network' },
      ...results(2),
    }),
    adds('5b', { ...stepOf(5), any: { contains: '# Earlier failure of this step\nno network' }, ...results(1) }),
    adds('5a', { ...stepOf(5), any: { contains: '# Earlier failure of this step\nno network' }, role: 'user' }),
    reply('BLOCKED: no network', stepOf(5)),
  ]);
  world.write(
    '../allow.json',
    JSON.stringify({
      default_action: 'allow',
      rules: [{ tools: 'local_shell', action: 'approve', when: [{ key: 'command', op: 'eq', value: './add 3a' }] }],
    }),
  );
  // First terminal: until step 3 asks.
  const first = await next('', '--auto');
  expect(first.code).toBe(4);
  expect(first.stdout).toBe('Step 1 of 8 completed: It was done.\nStep 2 of 8 completed: It was done.\n');
  // Second terminal: answers.
  const [, id = ''] = /approvals respond (ask_\w+)/.exec(first.stderr) ?? [];
  expect((await world.run(['approvals', 'respond', id, '--approve'])).code).toBe(0);
  expect(
    steps()
      .map(({ status }) => status)
      .slice(0, 4),
  ).toEqual(['completed', 'completed', 'completed', 'pending']);
  // Third terminal: goes on until step 5 fails, puts it back, and is killed in step 6.
  expect((await next('', '--auto')).code).toBe(1);
  expect((await plan('retry', '5')).code).toBe(0);
  expect((await next()).stdout).toBe('Step 5 of 8 completed: It was done.\n');
  expect((await next('after tool_call')).signal).toBe('SIGKILL');
  expect((await plan('show')).stdout).toContain('6. [!] part 6');
  // First terminal again.
  const rest = await next('', '--auto');
  expect(rest.stdout).toBe(
    'Step 6 of 8 completed: It was done.\nStep 7 of 8 completed: It was done.\nStep 8 of 8 completed: It was done.\n',
  );
  expect(madeCalls(world)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].flatMap((number) => [`${number}a`, `${number}b`]));
  expect(rows(world, 'SELECT DISTINCT status FROM plan_steps')).toEqual([{ status: 'completed' }]);
  expectSound(world);
}, 60_000);

test.each([
  [
    'plan_new',
    ['new', 'all of it'],
    '["part 1","part 2"]\n',
    'no plan was made of these steps; reins plan new --from <file> takes them\n',
  ],
  [
    'plan_replan',
    ['replan', 'do less'],
    '["part 1","part 2"]\n',
    /^the plan all-of-it-\w+ is as it was; reins plan replan plans it anew\n$/,
  ],
  ['plan_explore', ['explore'], 'A shell script.\n', 'nothing was kept of this; reins plan explore looks again\n'],
] as const)(
  'a run of kind %s that outlives its process says that nothing was made of it',
  async (kind, words, text, said) => {
    await createPlan(2, [plans(['part 1', 'part 2']), reply('A shell script.', explorer)]);
    const before = steps();
    const killed = await world.run(['plan', ...words, ...tester], {
      environment: { REINS_FAIL_POINT: 'after message' },
    });
    expect(killed.signal).toBe('SIGKILL');
    const [run] = rows(world, `SELECT id FROM runs WHERE kind = '${kind}'`);
    const resumed = await world.run(['state', 'resume', String(run?.['id'])]);
    expect([resumed.code, resumed.stdout]).toEqual([0, text]);
    expect(resumed.stderr).toMatch(said);
    expect([rows(world, 'SELECT count(*) AS n FROM plans'), steps()]).toEqual([[{ n: 1 }], before]);
    // What was printed is what the command that is named takes.
    if (kind !== 'plan_new') return;
    const path = world.write('../answer.json', resumed.stdout);
    expect((await plan('new', 'all of it', '--from', path)).code).toBe(0);
    expect(rows(world, 'SELECT count(*) AS n FROM plans')).toEqual([{ n: 2 }]);
  },
);
