import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/schema/event.ts';
import { allowAll, call, calls, loopChain, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const [work, runTools] = loopChain.tasks;
const chainWith = (tools: readonly string[]) => ({
  ...loopChain,
  tasks: [{ ...work, execute_config: { model: '{{var:model}}', tools } }, runTools],
});
const asking = chainWith(['*', 'engine']);

const question = { question: 'Which port?\nOf the two.', detail: 'Both are free.', choices: ['8080', '9090'] };
const ask = (args: object = question) => call('engine.ask_human', args);
const after = (count: number) => ({ tool: { count } });
const turns = [says('Done.', after(1)), calls([ask()])];

const answer = (running: ScriptedApp, id: string, text: string, more: object = {}) =>
  running.client.answerAsk({
    id,
    outcome: 'answer',
    text,
    feedback: null,
    remember: null,
    binding: null,
    ...more,
  });

const results = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.kind === 'tool_call' ? [{ ok: event.ok, result: event.result }] : []));
const refusals = (events: readonly RunEvent[]) => results(events).map(({ result }) => JSON.parse(String(result)));

describe('a model asks', () => {
  it('whatever lets the call through, and its result is what was said', async () => {
    app = await scriptedApp({ turns, chain: asking, policy: allowAll });
    const { run_id } = await app.start({ on_ask: 'wait' });
    const asked = await app.seen(run_id, 'ask');
    expect(asked).toMatchObject({
      ask_kind: 'question',
      tools: 'engine',
      tool: 'ask_human',
      args: question,
      summary: expect.stringMatching(/^Which port\?/),
    });
    const row = await app.client.showAsk({ id: asked.ask_id });
    expect(row.question).toEqual({ text: question.question, detail: question.detail, choices: question.choices });
    await expect(answer(app, asked.ask_id, 'no', { outcome: 'approve', text: null })).rejects.toMatchObject({
      code: 'wrong_kind',
    });
    await answer(app, asked.ask_id, '9090, please');
    const ended = await app.client.awaitRun({ run_id });
    expect(ended).toMatchObject({ status: 'completed', text: 'Done.', executed_tool_calls: 1 });
    expect(results(await app.events(run_id))).toEqual([{ ok: true, result: '9090, please' }]);
    expect(app.rows('SELECT kind, state FROM asks')).toEqual([{ kind: 'question', state: 'answered' }]);
    expect(app.rows("SELECT state FROM tool_calls WHERE tool = 'ask_human'")).toEqual([{ state: 'done' }]);
    expect(app.rows("SELECT json_extract(body, '$.kind') AS kind FROM audit WHERE type = 'ask'")).toEqual([
      { kind: 'question' },
    ]);
  });

  it('only where its chain names the tool', async () => {
    app = await scriptedApp({ turns, policy: allowAll });
    const { run_id } = await app.run({ on_ask: 'wait' });
    const events = await app.events(run_id);
    expect(refusals(events)).toMatchObject([{ error: 'not_found' }]);
    const [started] = events.filter((event) => event.kind === 'chain_started');
    expect(JSON.stringify(started)).not.toContain('ask_human');
    expect(app.rows('SELECT count(*) AS n FROM asks')).toEqual([{ n: 0 }]);
  });

  it('nothing that its policy denies', async () => {
    app = await scriptedApp({ turns, chain: asking, policy: { default_action: 'deny', rules: [] } });
    const { run_id } = await app.run({ on_ask: 'wait' });
    expect(refusals(await app.events(run_id))).toMatchObject([{ error: 'denied', by: 'policy' }]);
    expect(app.rows('SELECT count(*) AS n FROM asks')).toEqual([{ n: 0 }]);
  });

  it('in vain where nobody is, and goes on', async () => {
    app = await scriptedApp({ turns, chain: asking, policy: allowAll });
    const ended = await app.run({ on_ask: 'deny' });
    expect(ended).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(refusals(await app.events(ended.run_id))).toMatchObject([
      { error: 'denied', by: 'system:on-ask-deny', message: expect.stringContaining('Nobody is there to answer') },
    ]);
  });

  it('nothing without words, too long, or with too much to choose from', async () => {
    const wrong = [
      { question: ' ' },
      { question: 'x'.repeat(2001) },
      { question: 'a?', choices: Array.from({ length: 13 }, (_, index) => `${index}`) },
      { question: 'a?', choices: [''] },
    ];
    app = await scriptedApp({
      turns: [says('Done.', after(4)), calls(wrong.map(ask))],
      chain: asking,
      policy: allowAll,
    });
    const { run_id } = await app.run({ on_ask: 'wait' });
    expect(refusals(await app.events(run_id)).map(({ error }) => error)).toEqual(wrong.map(() => 'invalid_arguments'));
  });
});

describe('a run that rests for an answer', () => {
  it('goes on with it, once', async () => {
    app = await scriptedApp({ turns, chain: asking, policy: allowAll });
    const rested = await app.run({ on_ask: 'suspend' });
    expect(rested).toMatchObject({ status: 'suspended', exit_code: 4 });
    const { run_id } = rested;
    const [{ id } = { id: '' }] = app.rows('SELECT id FROM asks');
    expect(await answer(app, String(id), '8080')).toMatchObject({ rests: true });
    const other = await app.open();
    await other.resumeRun({ run_id, accept_changed_chain: false, on_ask: 'wait', timeout_ms: 0 });
    const ended = await other.awaitRun({ run_id });
    expect(ended).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(results(await app.events(run_id))).toEqual([{ ok: true, result: '8080' }]);
    expect(app.rows('SELECT state FROM asks')).toEqual([{ state: 'answered' }]);
  });

  it('goes on with it also where it was taken and the process died before it was told', async () => {
    app = await scriptedApp({ turns, chain: asking, policy: allowAll });
    const { run_id } = await app.run({ on_ask: 'suspend' });
    const [{ id } = { id: '' }] = app.rows('SELECT id FROM asks');
    await answer(app, String(id), '8080', { no_resume: true });
    app.change("UPDATE tool_calls SET state = 'started'");
    await app.client.resumeRun({ run_id, accept_changed_chain: false, on_ask: 'wait', timeout_ms: 0 });
    expect(await app.client.awaitRun({ run_id })).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(results(await app.events(run_id))).toEqual([{ ok: true, result: '8080' }]);
    expect(app.rows('SELECT kind FROM asks')).toEqual([{ kind: 'question' }]);
  });

  it('hears that the question was withdrawn', async () => {
    app = await scriptedApp({ turns, chain: asking, policy: allowAll });
    const { run_id } = await app.start({ on_ask: 'wait' });
    const { ask_id } = await app.seen(run_id, 'ask');
    await answer(app, ask_id, '', { outcome: 'cancel', text: null });
    await app.client.awaitRun({ run_id });
    expect(refusals(await app.events(run_id))).toMatchObject([
      { error: 'denied', message: expect.stringContaining('withdrawn') },
    ]);
  });

  it('is told nothing that a policy denies by then', async () => {
    app = await scriptedApp({ turns, chain: asking, policy: allowAll });
    const { run_id } = await app.start({ on_ask: 'wait' });
    const { ask_id } = await app.seen(run_id, 'ask');
    const denying = JSON.stringify({ default_action: 'deny', rules: [] });
    writeFileSync(join(app.place.dir, 'policy.json'), denying, { mode: 0o600 });
    await answer(app, ask_id, '8080');
    await app.client.awaitRun({ run_id });
    expect(refusals(await app.events(run_id))).toMatchObject([{ error: 'denied', by: 'policy' }]);
  });
});

it('a chain asks by itself', async () => {
  const chain = {
    id: 'asks',
    tasks: [
      {
        id: 'which',
        handler: 'tools',
        tools: { name: 'engine', args: { question: 'Which one?', choices: ['left', 'right'] } },
        transition: {
          branches: [{ operator: 'default', goto: 'end' }],
        },
      },
    ],
  };
  app = await scriptedApp({ turns: [], chain, policy: allowAll });
  const { run_id } = await app.start({ on_ask: 'wait' });
  const { ask_id, ask_kind } = await app.seen(run_id, 'ask');
  expect(ask_kind).toBe('question');
  await answer(app, ask_id, 'left');
  expect(await app.client.awaitRun({ run_id })).toMatchObject({ status: 'completed', text: 'left' });
});
