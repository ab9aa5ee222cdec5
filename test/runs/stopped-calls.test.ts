import { afterEach, describe, expect, it } from 'vitest';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

/** What the model is told of the calls of a turn that was stopped: whether they ran is known (04 §15.7, 05 §11). */

let app: ScriptedApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const asksForWrites = {
  default_action: 'allow',
  rules: [{ tools: 'local_fs', tool: 'write_file', action: 'approve', timeout_s: -1 }],
};
const write = (path: string) => call('local_fs.write_file', { path, content: 'x' });
const sleep = call('local_shell.local_shell', { command: 'sleep 60' });

/** Class and text of each result that the default session holds. */
const told = (of: ScriptedApp): readonly (readonly [string, string])[] =>
  of.rows("SELECT payload FROM messages WHERE role = 'tool' ORDER BY seq").map(({ payload }) => {
    const { content } = JSON.parse(String(payload)) as { content: string };
    const { error, message } = JSON.parse(content) as { error: string; message: string };
    return [error, message];
  });

const notRun = 'the call was not run: the run went on or ended without executing it';
const mayHaveRun = 'the run was cancelled before the call had a result; it may have run in part or not at all';
const neverBegan = 'The run was stopped before this call began: it was not run.';

describe('a call whose question was open', () => {
  it.each(['this process', 'another process'])('was not run, says a turn that %s cancels', async (whose) => {
    app = await scriptedApp({ turns: [calls([write('a'), write('b')])], policy: asksForWrites });
    const { run_id } = await app.chat('go', { on_ask: 'wait' });
    await app.seen(run_id, 'ask');
    const client = whose === 'this process' ? app.client : await app.open();
    await client.cancelRun({ run_id, reason: 'test', wait: true });
    await app.client.awaitRun({ run_id });
    expect(told(app)).toEqual([
      ['not_executed', notRun],
      ['not_executed', notRun],
    ]);
  });

  it('was not run, says a turn that is cancelled while it rests', async () => {
    app = await scriptedApp({ turns: [calls([write('a'), write('b')])], policy: asksForWrites });
    const { run_id } = await app.chat('go', { on_ask: 'suspend' });
    await app.client.awaitRun({ run_id });
    await app.client.cancelRun({ run_id, reason: 'test', wait: true });
    expect(told(app)).toEqual([
      ['interrupted', neverBegan],
      ['interrupted', neverBegan],
    ]);
  });

  it('was not run, says a turn that is cancelled after it was resumed', async () => {
    app = await scriptedApp({ turns: [calls([write('a'), write('b')])], policy: asksForWrites });
    const { run_id } = await app.chat('go', { on_ask: 'suspend' });
    await app.client.awaitRun({ run_id });
    await app.client.resumeRun({ run_id, accept_changed_chain: false, on_ask: 'wait', timeout_ms: 0 });
    await app.client.cancelRun({ run_id, reason: 'test', wait: true });
    await app.client.awaitRun({ run_id });
    expect(told(app)).toEqual([
      ['not_executed', notRun],
      ['not_executed', notRun],
    ]);
  });
});

it('says of the call that ran when the time was over that it may have run, and of the next that it did not', async () => {
  app = await scriptedApp({ turns: [calls([sleep, write('b')])] });
  const { run_id } = await app.chat('go', { timeout_ms: 1500 });
  expect(await app.client.awaitRun({ run_id })).toMatchObject({ error: { class: 'timeout' } });
  expect(told(app)).toEqual([
    ['cancelled', mayHaveRun],
    ['not_executed', notRun],
  ]);
});

it('tells the outcome of a call whose thread was gone before it came', async () => {
  app = await scriptedApp({ turns: [calls([sleep, write('b')]), says('again')] });
  const { run_id } = await app.chat('go', { variables: { fail_point: 'worker_exit_in_call' } });
  expect(await app.client.awaitRun({ run_id })).toMatchObject({ error: { class: 'worker_crash' } });
  const [first, second] = told(app);
  expect(first?.[0]).toBe('cancelled');
  expect(second).toEqual(['interrupted', neverBegan]);
});
