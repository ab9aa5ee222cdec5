import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

/** Real threads, real children, a scripted model. */

let app: ScriptedApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const approve = (id: string) =>
  ({ id, outcome: 'approve', feedback: null, text: null, remember: null, binding: null }) as const;

/** Answers the next ask of a run. */
async function answerNext(
  running: ScriptedApp,
  runId: string,
  after: string,
  outcome: 'approve' | 'deny',
): Promise<void> {
  for await (const batch of running.client.watch({ run_id: runId, after: 0, signal: new AbortController().signal })) {
    const next = batch.find((event) => event.kind === 'ask' && event.ask_id !== after);
    if (next?.kind !== 'ask') continue;
    await running.client.answerAsk({ ...approve(next.ask_id), outcome });
    break;
  }
}
const last = (results: number) => ({ tool: { count: results } });

it('runs a chain in a thread and gives its answer, its numbered events and exactly one final event', async () => {
  app = await scriptedApp({
    turns: [says('All done.', last(1)), calls([call('local_fs.write_file', { path: 'a.txt', content: 'hello\n' })])],
  });
  const { run_id } = await app.start();
  const events = await app.events(run_id);
  const result = await app.client.awaitRun({ run_id, full: true });
  expect(result).toMatchObject({
    status: 'completed',
    exit_code: 0,
    text: 'All done.',
    num_turns: 2,
    num_tool_calls: 1,
  });
  expect(readFileSync(join(app.place.workspace, 'a.txt'), 'utf8')).toBe('hello\n');
  const stored = events.filter((event) => event.seq > 0);
  expect(stored.map((event) => event.seq)).toEqual(stored.map((_event, index) => index + 1));
  expect(stored.map((event) => event.kind).filter((kind) => !/^(step_|model_|token_|message)/.test(kind))).toEqual([
    'chain_started',
    'tool_call_pending',
    'policy_decision',
    'tool_call_started',
    'tool_call',
    'chain_completed',
  ]);
  expect(result.output).toMatchObject({
    messages: [
      { role: 'user', content: 'go' },
      { role: 'assistant', tool_calls: [{ function: { name: 'local_fs.write_file' } }] },
      { role: 'tool', is_error: false },
      { role: 'assistant', content: 'All done.' },
    ],
  });
});

it('goes on in place when another client answers the ask, and does nothing before', async () => {
  app = await scriptedApp({
    policy: { default_action: 'approve', rules: [] },
    turns: [says('Written.', last(1)), calls([call('local_fs.write_file', { path: 'b.txt', content: 'x' })])],
  });
  const { run_id } = await app.start({ on_ask: 'wait' });
  const ask = await app.seen(run_id, 'ask');
  const target = join(app.place.workspace, 'b.txt');
  expect(existsSync(target)).toBe(false);
  const terminal = await app.open();
  const listed = await terminal.listAsks({
    state: 'pending',
    kind: null,
    session: null,
    mission: null,
    by: null,
    limit: 10,
  });
  expect(listed.asks.map(({ id, preview }) => [id, preview.diff?.includes('+x')])).toEqual([[ask.ask_id, true]]);
  await terminal.answerAsk({
    id: ask.ask_id,
    outcome: 'approve',
    feedback: null,
    text: null,
    remember: null,
    binding: null,
  });
  const result = await app.client.awaitRun({ run_id });
  expect(result).toMatchObject({ status: 'completed', text: 'Written.' });
  expect(result.asks).toMatchObject([{ id: ask.ask_id, state: 'approved', by: 'operator:cli' }]);
  expect(readFileSync(target, 'utf8')).toBe('x');
});

it('tells the model of a denial with the words of the person, and lists it', async () => {
  app = await scriptedApp({
    policy: { default_action: 'approve', rules: [] },
    turns: [
      says('It was declined.', { tool: { content: { contains: ['"error":"denied"', 'rather not'] } } }),
      calls([call('local_fs.write_file', { path: 'c.txt', content: 'x' })]),
    ],
  });
  const { run_id } = await app.start({ on_ask: 'wait' });
  const { ask_id } = await app.seen(run_id, 'ask');
  await app.client.answerAsk({
    id: ask_id,
    outcome: 'deny',
    feedback: 'rather not',
    text: null,
    remember: null,
    binding: null,
  });
  const result = await app.client.awaitRun({ run_id });
  expect(result.text).toBe('It was declined.');
  expect(result.permission_denials).toMatchObject([{ tools: 'local_fs', tool: 'write_file', by: 'operator:cli' }]);
  expect(existsSync(join(app.place.workspace, 'c.txt'))).toBe(false);
});

it('asks nobody again about a call that was denied without a word', async () => {
  app = await scriptedApp({
    policy: { default_action: 'approve', rules: [] },
    turns: [
      says('It was of no use.', { tool: { count: 2, content: { contains: 'An identical call was denied earlier' } } }),
      calls([call('local_fs.write_file', { path: 'c.txt', content: 'x' })]),
    ],
  });
  const { run_id } = await app.start({ on_ask: 'wait' });
  const { ask_id } = await app.seen(run_id, 'ask');
  await app.client.answerAsk({
    id: ask_id,
    outcome: 'deny',
    feedback: null,
    text: null,
    remember: null,
    binding: null,
  });
  const result = await app.client.awaitRun({ run_id });
  expect(result.text).toBe('It was of no use.');
  expect(result.permission_denials).toMatchObject([{ by: 'operator:cli' }, { by: 'policy' }]);
  expect(app.rows('SELECT state FROM asks')).toEqual([{ state: 'denied' }]);
});

it('writes nothing, and asks nobody again, when the file changed between the shown diff and the approval', async () => {
  app = await scriptedApp({
    policy: { default_action: 'approve', rules: [{ tools: 'local_fs', tool: 'read_file', action: 'allow' }] },
    turns: [
      says('Over.', last(2)),
      calls([call('local_fs.write_file', { path: 'd.txt', content: 'new\n' })], last(1)),
      calls([call('local_fs.read_file', { path: 'd.txt' })]),
    ],
  });
  const target = join(app.place.workspace, 'd.txt');
  writeFileSync(target, 'old\n');
  const { run_id } = await app.start({ on_ask: 'wait' });
  const first = await app.seen(run_id, 'ask');
  expect(first.diff).toContain('-old\n+new');
  writeFileSync(target, 'changed by somebody\n');
  await app.client.answerAsk(approve(first.ask_id));
  const asks = await app.client.awaitRun({ run_id });
  expect(readFileSync(target, 'utf8')).toBe('changed by somebody\n');
  expect(asks.asks.map(({ state }) => state)).toEqual(['approved']);
  expect(asks.num_tool_calls).toBe(1);
});

it('asks anew when another program stands where the approved one stood', async () => {
  app = await scriptedApp({
    policy: { default_action: 'approve', rules: [] },
    turns: [says('Over.', last(1)), calls([call('local_shell.local_shell', { command: './tool' })])],
  });
  const at = (name: string): string => join(app?.place.workspace ?? '', name);
  for (const name of ['shown', 'other']) writeFileSync(at(name), `#!/bin/sh\necho ${name} >> ran\n`, { mode: 0o755 });
  symlinkSync('shown', at('tool'));
  const { run_id } = await app.start({ on_ask: 'wait' });
  const first = await app.seen(run_id, 'ask');
  rmSync(at('tool'));
  symlinkSync('other', at('tool'));
  await app.client.answerAsk(approve(first.ask_id));
  await answerNext(app, run_id, first.ask_id, 'deny');
  const result = await app.client.awaitRun({ run_id });
  expect(result.asks.map(({ state }) => state)).toEqual(['approved', 'denied']);
  expect([existsSync(at('ran')), result.executed_tool_calls]).toEqual([false, 0]);
});

it('cancels a run with a running child: the child is gone, the run and its ask are closed', async () => {
  app = await scriptedApp({
    turns: [says('never', last(1)), calls([call('local_shell.local_shell', { command: 'sleep 300' })])],
  });
  const { run_id } = await app.start();
  await app.seen(run_id, 'tool_call_started');
  const events = app.events(run_id);
  await app.client.cancelRun({ run_id, reason: 'test' });
  const result = await app.client.awaitRun({ run_id });
  expect(result).toMatchObject({ status: 'cancelled', exit_code: 130 });
  expect((await events).at(-1)).toMatchObject({ kind: 'chain_cancelled', by: 'operator:cli', reason: 'test' });
});

it('cancels while it waits for a person: the ask becomes cancelled', async () => {
  app = await scriptedApp({
    policy: { default_action: 'approve', rules: [] },
    turns: [calls([call('local_fs.write_file', { path: 'e.txt', content: 'x' })])],
  });
  const { run_id } = await app.start({ on_ask: 'wait' });
  const { ask_id } = await app.seen(run_id, 'ask');
  await app.client.cancelRun({ run_id, reason: 'test' });
  expect((await app.client.awaitRun({ run_id })).status).toBe('cancelled');
  expect((await app.client.showAsk({ id: ask_id })).state).toBe('cancelled');
});

it('stops at the last checkpoint for a shutdown: interrupted, with the ask still open', async () => {
  app = await scriptedApp({
    policy: { default_action: 'approve', rules: [] },
    turns: [calls([call('local_fs.write_file', { path: 'f.txt', content: 'x' })])],
  });
  const { run_id } = await app.start({ on_ask: 'wait' });
  const { ask_id } = await app.seen(run_id, 'ask');
  const events = app.events(run_id);
  await app.client.stopRun({ run_id, reason: 'interrupted' });
  expect(await app.client.awaitRun({ run_id })).toMatchObject({ status: 'interrupted', exit_code: 143 });
  expect((await events).at(-1)).toMatchObject({ kind: 'chain_suspended', reason: 'interrupted', ask_ids: [ask_id] });
  expect((await app.client.showAsk({ id: ask_id })).state).toBe('pending');
});

it('fails a run at its time limit, in which waiting does not count', async () => {
  app = await scriptedApp({ turns: [{ match: {}, reply: { hang: true } }] });
  const result = await app.run({ timeout_ms: 300 });
  expect(result).toMatchObject({ status: 'failed', exit_code: 124, error: { class: 'timeout' } });
  // A time of day that is set back on the way gives it no hour more.
  const { run_id } = await app.start({ timeout_ms: 300 });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
  try {
    const { error, duration_ms } = await app.client.awaitRun({ run_id });
    expect([error?.class, duration_ms >= 300]).toEqual(['timeout', true]);
  } finally {
    vi.useRealTimers();
  }
});

it('names at its time limit why it had asked again', async () => {
  const overloaded = { class: 'server_error', message: 'overloaded' };
  const execute_config = { retry_policy: { max_attempts: 5, initial_backoff: '10ms' } };
  app = await scriptedApp({
    chain: { id: 'c', tasks: [{ id: 'ask', handler: 'chat_completion', execute_config }] },
    turns: [
      { match: { attempt: 1 }, reply: { error: overloaded } },
      { match: {}, reply: { hang: true } },
    ],
  });
  const { error } = await app.run({ timeout_ms: 1000 });
  expect(error).toMatchObject({
    class: 'timeout',
    message: expect.stringMatching(/^the time limit .*--timeout\) has passed; before that: .*overloaded/),
  });
});

for (const [point, why] of [
  ['worker_exit', 'failed: worker exited with code: 1'],
  ['worker_throw', 'failed: fail point'],
  ['worker_oom', 'ran out of memory'],
] as const) {
  it(`fails only the run whose thread is lost, and says why (${point})`, async () => {
    app = await scriptedApp({ turns: [says('fine')] });
    const [lost, other] = await Promise.all([app.run({ variables: { fail_point: point } }), app.run()]);
    const message = `the thread of this run ${why}`;
    expect(lost).toMatchObject({ status: 'failed', exit_code: 1, error: { class: 'worker_crash', message } });
    expect(other).toMatchObject({ status: 'completed', text: 'fine' });
    expect((await app.run()).text).toBe('fine');
  });
}

it('terminates a thread that ignores its cancellation', async () => {
  app = await scriptedApp({ turns: [says('fine')] });
  const { run_id } = await app.start({ variables: { fail_point: 'worker_loop' } });
  await app.client.cancelRun({ run_id, reason: 'test' });
  expect((await app.client.awaitRun({ run_id })).status).toBe('cancelled');
  expect((await app.run()).text).toBe('fine');
});

it('begins a run beside nine that wait, since each of them could be waiting for it', async () => {
  const hangs = { match: { last_user: 'hang' }, reply: { hang: true } };
  app = await scriptedApp({ turns: [hangs, says('fine')] });
  const waiting: string[] = [];
  for (let index = 0; index < 9; index += 1) {
    waiting.push((await app.start({ input: { type: 'string', value: 'hang' } })).run_id);
  }
  expect((await app.run()).text).toBe('fine');
  for (const run_id of waiting) await app.client.cancelRun({ run_id, reason: 'test' });
  for (const run_id of waiting) expect((await app.client.awaitRun({ run_id })).status).toBe('cancelled');
});

it('cancels a run that is still queued behind busy threads', async () => {
  app = await scriptedApp({ runThreads: 1, turns: [{ match: {}, reply: { hang: true } }] });
  const busy = await app.start();
  const queued = await app.start();
  for (const { run_id } of [queued, busy]) {
    await app.client.cancelRun({ run_id, reason: 'test' });
    expect((await app.client.awaitRun({ run_id })).status).toBe('cancelled');
  }
});

it('executes exactly as many calls of a batch as the bound allows', async () => {
  app = await scriptedApp({
    policy: { default_action: 'allow', rules: [], compute: { maxToolCalls: 3 } },
    turns: [calls([1, 2, 3, 4, 5].map((index) => call('local_fs.write_file', { path: `g${index}`, content: 'x' })))],
  });
  const result = await app.run();
  expect(result).toMatchObject({
    status: 'failed',
    exit_code: 6,
    error: { class: 'compute_exhausted' },
    num_tool_calls: 3,
  });
  expect([1, 2, 3, 4, 5].filter((index) => existsSync(join(app?.place.workspace ?? '', `g${index}`)))).toEqual([
    1, 2, 3,
  ]);
});

it('lets a model report once when a bound ends the run with finish', async () => {
  app = await scriptedApp({
    policy: { default_action: 'allow', rules: [], compute: { maxToolCalls: 1, onExhausted: 'finish' } },
    turns: [
      says('Half of it is done.', { not_offered: ['*'] }),
      calls([call('local_fs.write_file', { path: 'h1', content: 'x' })], { role: 'user' }),
      calls([call('local_fs.write_file', { path: 'h2', content: 'x' })]),
    ],
  });
  const result = await app.run();
  expect(result).toMatchObject({ status: 'exhausted', exit_code: 6, text: 'Half of it is done.', num_tool_calls: 1 });
});

it('judges the next call by the policy as it was edited during the run', async () => {
  const write = { tools: 'local_fs', tool: 'write_file', action: 'approve' };
  app = await scriptedApp({
    policy: { default_action: 'allow', rules: [write] },
    turns: [
      says('Over.', last(2)),
      calls([call('local_fs.list_dir', {})], last(1)),
      calls([call('local_fs.write_file', { path: 'i.txt', content: 'x' })]),
    ],
  });
  const { run_id } = await app.start({ on_ask: 'wait' });
  const { ask_id } = await app.seen(run_id, 'ask');
  const edited = { default_action: 'allow', rules: [write, { tools: 'local_fs', tool: 'list_dir', action: 'deny' }] };
  writeFileSync(join(app.place.dir, 'policy.json'), JSON.stringify(edited));
  // What was looked at was asked under another policy (03 §3.2).
  await expect(app.client.answerAsk(approve(ask_id))).rejects.toMatchObject({ code: 'binding_changed' });
  await app.client.answerAsk(approve(ask_id));
  const result = await app.client.awaitRun({ run_id });
  expect(result.asks.map(({ state }) => state)).toEqual(['approved']);
  expect(existsSync(join(app.place.workspace, 'i.txt'))).toBe(true);
  expect(result.permission_denials).toMatchObject([{ tools: 'local_fs', tool: 'list_dir', by: 'policy', rule: 1 }]);
});

it('tells as events what is wrong before it begins, for who follows it and who reads it later', async () => {
  app = await scriptedApp({ turns: [says('done')], policy: { rules: 'none' } });
  const started = await app.start();
  await app.client.awaitRun({ run_id: started.run_id });
  const notices = (await app.events(started.run_id)).filter((event) => event.kind === 'notice');
  expect(notices[0]).toMatchObject({ seq: 2, level: 'warn', message: expect.stringContaining('policy.json') });
  expect(new Set(notices.map(({ code }) => code))).toEqual(new Set(['policy_fallback']));
  expect(started.warnings).toEqual(notices.map(({ message }) => message));
});

it('asks nobody about a change that cannot be made: the model is told why', async () => {
  app = await scriptedApp({
    policy: { default_action: 'approve', rules: [] },
    turns: [
      says('It is not there.', { tool: { content: { contains: ['"error":"not_found"'] } } }),
      calls([call('local_fs.edit_file', { path: 'missing.txt', old_string: 'a', new_string: 'b' })]),
    ],
  });
  const result = await app.run();
  expect(result.text).toBe('It is not there.');
  expect(result.asks).toEqual([]);
});

it('counts the steps of a result from 1', async () => {
  app = await scriptedApp({ turns: [says('Over.', last(1)), calls([call('local_fs.list_dir', {})])] });
  expect((await app.run()).steps.map(({ index, task_id }) => [index, task_id])).toEqual([
    [1, 'work'],
    [2, 'run_tools'],
    [3, 'work'],
  ]);
});

it('withdraws the question of a run whose thread is lost, and the run stays failed', async () => {
  app = await scriptedApp({
    policy: { default_action: 'approve', rules: [] },
    turns: [calls([call('local_fs.write_file', { path: 'k.txt', content: 'x' })])],
  });
  const result = await app.run({ on_ask: 'wait', variables: { fail_point: 'worker_exit_in_call' } });
  expect(result).toMatchObject({ status: 'failed', error: { class: 'worker_crash' }, asks: [{ state: 'cancelled' }] });
  expect(app.rows('SELECT status, ended_at IS NOT NULL AS ended FROM runs')).toEqual([{ status: 'failed', ended: 1 }]);
  expect(app.rows('SELECT kind FROM events ORDER BY cursor DESC LIMIT 1')).toEqual([{ kind: 'chain_failed' }]);
});

it('ends the child of a run whose thread is lost and records what became of the call', async () => {
  app = await scriptedApp({
    turns: [calls([call('local_shell.local_shell', { command: 'sleep 300' })])],
  });
  const result = await app.run({ variables: { fail_point: 'worker_exit_in_call' } });
  expect(result).toMatchObject({ status: 'failed', error: { class: 'worker_crash' } });
  const [row] = app.rows('SELECT state, pid FROM tool_calls');
  expect(row).toMatchObject({ state: 'failed' });
  expect(existsSync(`/proc/${String(row?.['pid'])}`)).toBe(false);
});

it('records a call that was cancelled with its run', async () => {
  app = await scriptedApp({ turns: [calls([call('local_shell.local_shell', { command: 'sleep 300' })])] });
  const { run_id } = await app.start();
  await app.seen(run_id, 'tool_call_started');
  await app.client.cancelRun({ run_id, reason: 'test' });
  expect((await app.client.awaitRun({ run_id })).status).toBe('cancelled');
  expect(app.rows('SELECT state, ended_at IS NOT NULL AS ended FROM tool_calls')).toEqual([
    { state: 'failed', ended: 1 },
  ]);
});

it('writes nothing more for a run that another process has taken over', async () => {
  app = await scriptedApp({
    policy: { default_action: 'approve', rules: [] },
    turns: [says('Written.', last(1)), calls([call('local_fs.write_file', { path: 'l.txt', content: 'x' })])],
  });
  const { run_id } = await app.start({ on_ask: 'wait' });
  const { ask_id } = await app.seen(run_id, 'ask');
  app.change("UPDATE run_state SET lease_owner = 'another process'");
  app.change("UPDATE runs SET status = 'interrupted'");
  const before = app.rows('SELECT count(*) AS n FROM events WHERE kind NOT IN (?)', 'verdict');
  await app.client.answerAsk(approve(ask_id));
  expect(await app.client.awaitRun({ run_id })).toMatchObject({ status: 'failed', error: { class: 'storage' } });
  expect(existsSync(join(app.place.workspace, 'l.txt'))).toBe(false);
  expect(app.rows('SELECT status, exit_code FROM runs')).toEqual([{ status: 'interrupted', exit_code: null }]);
  expect(app.rows('SELECT count(*) AS n FROM events WHERE kind NOT IN (?)', 'verdict')).toEqual(before);
});

it('keeps the results of the last 64 runs, and the events of every one', async () => {
  const same = { id: 'same', handler: 'noop', transition: { branches: [{ operator: 'default', goto: 'end' }] } };
  app = await scriptedApp({ turns: [says('-')], chain: { id: 'echo', tasks: [same] } });
  const ids: string[] = [];
  for (let number = 1; number <= 65; number += 1) {
    const { run_id } = await app.start({ input: { type: 'string', value: `run ${number}` } });
    ids.push(run_id);
    await app.client.awaitRun({ run_id });
  }
  const [first = '', second = ''] = ids;
  await expect(app.client.awaitRun({ run_id: first })).rejects.toMatchObject({ code: 'run_not_active' });
  expect(await app.client.awaitRun({ run_id: second })).toMatchObject({ status: 'completed', text: 'run 2' });
  expect((await app.events(first)).at(-1)).toMatchObject({ kind: 'chain_completed', output: 'run 1' });
  // What has ended is not stopped, and nobody is told that it was.
  expect(await app.client.cancelRun({ run_id: second, reason: 'late' })).toBeNull();
  await expect(app.client.cancelRun({ run_id: first, reason: 'late' })).rejects.toMatchObject({
    code: 'run_not_active',
  });
});
