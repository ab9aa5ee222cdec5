import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { RunEvent } from '../../src/schema/event.ts';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const write = (name: string) => call('local_fs.write_file', { path: name, content: 'x' });
const after = (results: number) => ({ tool: { count: results } });
const policyWith = (compute: object, rules: readonly object[] = []) => ({ default_action: 'allow', rules, compute });
const made = (running: ScriptedApp, ...names: readonly string[]): readonly string[] =>
  names.filter((name) => existsSync(join(running.place.workspace, name)));

/** Answers the asks of a run in order, each as told; what is left over stays open. */
async function answerAll(running: ScriptedApp, runId: string, outcomes: readonly ('approve' | 'deny')[]) {
  const asked: Extract<RunEvent, { kind: 'ask' }>[] = [];
  for await (const batch of running.client.watch({ run_id: runId, after: 0, signal: new AbortController().signal })) {
    for (const event of batch) {
      if (event.kind !== 'ask') continue;
      const outcome = outcomes[asked.length];
      asked.push(event);
      if (outcome === undefined) continue;
      await running.client.answerAsk({
        id: event.ask_id,
        outcome,
        feedback: null,
        text: null,
        remember: null,
        binding: null,
      });
    }
    if (asked.length >= outcomes.length) break;
  }
  return asked;
}

it('grants spent tool calls once more, asks again, and ends the run at a denial', async () => {
  app = await scriptedApp({
    policy: policyWith({ maxToolCalls: 2, onExhausted: 'ask' }),
    turns: [calls(['a', 'b', 'c', 'd', 'e'].map(write))],
  });
  const { run_id } = await app.start({ on_ask: 'wait' });
  const asked = await answerAll(app, run_id, ['approve', 'deny']);
  expect(asked.map(({ ask_kind, tools, tool, args }) => ({ ask_kind, tools, tool, args }))).toEqual([
    {
      ask_kind: 'budget',
      tools: 'engine',
      tool: 'extend_budget',
      args: { bound: 'maxToolCalls', used: 2, limit: 2, more: 2 },
    },
    {
      ask_kind: 'budget',
      tools: 'engine',
      tool: 'extend_budget',
      args: { bound: 'maxToolCalls', used: 4, limit: 4, more: 2 },
    },
  ]);
  const result = await app.client.awaitRun({ run_id });
  expect(result).toMatchObject({
    status: 'failed',
    exit_code: 6,
    error: { class: 'compute_exhausted', message: 'compute bound exhausted: maxToolCalls 4/4' },
  });
  expect(made(app, 'a', 'b', 'c', 'd', 'e')).toEqual(['a', 'b', 'c', 'd']);
  const events = await app.events(run_id);
  expect(events.find(({ kind }) => kind === 'compute_exhausted')).toMatchObject({ action: 'ask', used: 4, limit: 4 });
  expect(app.rows("SELECT json_extract(counters, '$.grants.maxToolCalls') AS grants FROM runs")).toEqual([
    { grants: 1 },
  ]);
  expect(app.rows("SELECT count(*) AS n FROM audit WHERE type = 'compute'")).toEqual([{ n: 1 }]);
});

it('asks once for calls that spend the bound together', async () => {
  app = await scriptedApp({
    policy: policyWith({ maxToolCalls: 1, onExhausted: 'ask' }),
    turns: [says('Read.', after(3)), calls(['.', './', '././'].map((path) => call('local_fs.list_dir', { path })))],
  });
  const { run_id } = await app.start({ on_ask: 'wait' });
  const asked = await answerAll(app, run_id, ['approve', 'approve']);
  expect(asked.map(({ args }) => (args as { used: number }).used)).toEqual([1, 2]);
  expect(await app.client.awaitRun({ run_id })).toMatchObject({ status: 'completed', executed_tool_calls: 3 });
});

it('asks before a model call, and tells nobody to answer twice for one call', async () => {
  app = await scriptedApp({
    policy: policyWith({ maxTurns: 1, maxToolCalls: 1, onExhausted: 'ask' }, [
      { tools: 'local_fs', tool: 'write_file', action: 'approve' },
    ]),
    turns: [says('Done.', after(2)), calls([write('a'), write('b')])],
  });
  const { run_id } = await app.start({ on_ask: 'wait' });
  const asked = await answerAll(app, run_id, ['approve', 'approve', 'approve', 'approve']);
  expect(asked.map(({ ask_kind, call_id, summary }) => [ask_kind, call_id === null, summary.split(',')[0]])).toEqual([
    ['permission', false, 'a'],
    ['permission', false, 'b'],
    ['budget', false, 'maxToolCalls 1/1'],
    ['budget', true, 'maxTurns 1/1'],
  ]);
  expect(await app.client.awaitRun({ run_id })).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(made(app, 'a', 'b')).toEqual(['a', 'b']);
});

it('fails at once where nobody can be asked, and when the question is withdrawn', async () => {
  app = await scriptedApp({
    policy: policyWith({ maxToolCalls: 1, onExhausted: 'ask' }),
    turns: [calls([write('a'), write('b')])],
  });
  expect(await app.run({ on_ask: 'deny' })).toMatchObject({ exit_code: 6, error: { class: 'compute_exhausted' } });
  const { run_id } = await app.start({ on_ask: 'wait' });
  await app.seen(run_id, 'ask');
  await app.client.cancelRun({ run_id, reason: 'test' });
  expect(await app.client.awaitRun({ run_id })).toMatchObject({ status: 'cancelled' });
  expect(app.rows('SELECT kind, state FROM asks ORDER BY id')).toEqual([
    { kind: 'budget', state: 'denied' },
    { kind: 'budget', state: 'cancelled' },
  ]);
  expect(made(app, 'a', 'b')).toEqual(['a']);
});
