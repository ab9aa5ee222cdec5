import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { RuntimeClient } from '../../src/client/operations.ts';
import type { StartRun } from '../../src/schema/run.ts';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const summariser = 'Summarise the conversation';
const sums = (text: string, match: object = {}) => says(text, { system: summariser, ...match });
const fails = { match: { system: summariser }, reply: { error: { class: 'auth', message: 'no key' } } };
const hangs = { match: { system: summariser }, reply: { hang: true } };
const echo = says(`re \${last_user}`, { role: 'user' });

const request: StartRun = {
  input: { type: 'string', value: '' },
  chain_path: null,
  model: 'm',
  provider: 'scripted',
  policy: null,
  on_ask: 'suspend',
  timeout_ms: 0,
  context: 0,
  think: null,
  shell: false,
  allowed_dir: null,
  max_turns: 0,
  max_tool_calls: 0,
  max_tokens: 0,
  variables: {},
  images: [],
  trust: [],
};

/** A session of so many turns, each a question and its answer. */
async function talked(turns: readonly unknown[], count: number, setup: object = {}): Promise<ScriptedApp> {
  app = await scriptedApp({ turns, ...setup });
  for (let turn = 1; turn <= count; turn += 1) await said(app, `q${turn}`);
  return app;
}

async function said(running: ScriptedApp, text: string, over: Partial<StartRun> = {}) {
  const { run_id } = await running.chat(text, over);
  return running.client.awaitRun({ run_id });
}

async function compact(client: RuntimeClient, keep: number, over: Partial<StartRun> = {}) {
  const started = await client.compactSession({ ...request, ...over, name: null, keep });
  return { ...started.compacted, result: await client.awaitRun({ run_id: started.run_id }) };
}

async function forked(client: RuntimeClient, keep: number, over: object = {}) {
  const started = await client.forkWithSummary({ ...request, name: null, new_name: null, at: null, keep, ...over });
  return { ...started.fork, result: await client.awaitRun({ run_id: started.run_id }) };
}

const stored = (running: ScriptedApp) =>
  running.rows(
    `SELECT m.seq, m.kind, m.covers_to, json_extract(m.payload, '$.content') AS text FROM messages m
     JOIN sessions s ON s.id = m.session_id AND s.name = 'default' ORDER BY m.seq`,
  );
const names = async (client: RuntimeClient) =>
  (await client.sessionNames({})).map(({ name, active }) => `${active ? '*' : ''}${name}`).sort();

describe('compacting a session', () => {
  it('sends the summary first, in the place of all but the last messages, and keeps them all', async () => {
    const running = await talked(
      [
        sums('S1', { user_turn: 5, any: 'user: q1' }),
        says('seen', { any: '<compact-summary>\nS1\n</compact-summary>', user_turn: 6, turn: 5 }),
        echo,
      ],
      6,
    );
    expect(await compact(running.client, 8)).toMatchObject({ session: 'default', messages: 4, covers_to: 4 });
    const view = await running.client.showSession({ name: null, tools: false });
    expect(view.messages.map(({ text }) => text)).toEqual([
      ...[1, 2, 3, 4, 5, 6].flatMap((turn) => [`q${turn}`, `re q${turn}`]),
      'S1',
    ]);
    expect(view.summary).toEqual({ seq: 13, covers_to: 4 });
    // The summary, eight messages and the new one; none of the first four.
    expect(await said(running, 'and now')).toMatchObject({ text: 'seen' });
  });

  it('covers the summary before, which the next summariser is given', async () => {
    const running = await talked([sums('S2', { any: 'The summary so far' }), sums('S1'), echo], 6);
    await compact(running.client, 8);
    expect(await compact(running.client, 2)).toMatchObject({ messages: 6, covers_to: 10, result: { text: 'S2' } });
    await running.client.showSession({ name: null, tools: false }).then(({ summary }) => {
      expect(summary).toEqual({ seq: 14, covers_to: 10 });
    });
    const history = running.rows("SELECT count(*) AS n FROM messages WHERE kind = 'summary'");
    expect(history).toEqual([{ n: 2 }]);
  });

  it('changes nothing when the model fails, and the session goes on', async () => {
    const running = await talked([fails, echo], 6);
    const before = stored(running);
    expect((await compact(running.client, 8)).result).toMatchObject({ status: 'failed', exit_code: 7 });
    expect(stored(running)).toEqual(before);
    expect(await said(running, 'next')).toMatchObject({ text: 're next' });
  });

  it('takes no call of the summariser for a summary', async () => {
    const running = await talked([calls([call('local_fs.list_dir', { path: '.' })], { system: summariser }), echo], 6);
    const before = stored(running);
    expect((await compact(running.client, 8)).result).toMatchObject({ status: 'failed', error: { class: 'raised' } });
    expect(stored(running)).toEqual(before);
    expect(running.rows('SELECT tool, state, started_at FROM tool_calls')).toEqual([
      { tool: 'list_dir', state: 'skipped', started_at: null },
    ]);
  });

  it('wants four messages more than it keeps, and says how many there are', async () => {
    const running = await talked([sums('S1'), echo], 5);
    await expect(compact(running.client, 8)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('has 10 messages'),
    });
    expect(running.rows("SELECT id FROM runs WHERE kind = 'compact'")).toEqual([]);
    expect(await compact(running.client, 6)).toMatchObject({ messages: 4 });
  });

  it('never parts calls from their results: the cut moves back', async () => {
    const look = calls([call('local_fs.list_dir', { path: '.' }), call('local_fs.list_dir', { path: '.' })], {
      last_user: 'look',
      role: 'user',
    });
    const running = await talked([sums('S1'), look, says('looked', { role: 'tool' }), echo], 3);
    await said(running, 'look');
    // Seven rows before the calls, two results and the answer behind them.
    expect(stored(running)).toHaveLength(11);
    expect(await compact(running.client, 3)).toMatchObject({ messages: 7, covers_to: 7 });
  });

  it('leaves out the middle of what a small context cannot hold', async () => {
    const long = (name: string) => `${name} ${'word '.repeat(3000)}`;
    const models = [{ name: 'm', context: 8192, capabilities: ['chat', 'tools'] }];
    const running = await talked([sums('S1', { any: 'earlier messages left out' }), says('ok', { role: 'user' })], 0, {
      models,
    });
    for (const name of ['first', 'second', 'third', 'fourth']) await said(running, long(name), { context: 100_000 });
    expect(await compact(running.client, 1, { context: 4096 })).toMatchObject({ result: { text: 'S1' } });
  });

  it('uses the model of the config, unless another is named', async () => {
    const models = ['m', 'small', 'other'].map((name) => ({ name, context: 100_000, capabilities: ['chat', 'tools'] }));
    const running = await talked([sums('S1'), echo], 6, { models });
    await running.client.setConfig({ key: 'compact-model', value: 'small' });
    expect((await compact(running.client, 8, { model: null })).result.model).toBe('small');
    expect((await compact(running.client, 2, { model: 'other' })).result.model).toBe('other');
  });

  it('goes on where it was stopped', async () => {
    const running = await talked([hangs, echo], 6);
    const { run_id } = await running.client.compactSession({ ...request, name: null, keep: 8 });
    await running.seen(run_id, 'model_selected');
    await running.stop();
    expect(running.rows("SELECT status FROM runs WHERE kind = 'compact'")).toEqual([{ status: 'interrupted' }]);
    writeScript(running, [sums('S1', { user_turn: 5, any: 'user: q1' }), echo]);
    const client = await running.open();
    await client.resumeRun({ run_id, accept_changed_chain: false, on_ask: 'suspend', timeout_ms: 0 });
    expect(await client.awaitRun({ run_id })).toMatchObject({ status: 'completed', text: 'S1' });
    expect(stored(running).at(-1)).toMatchObject({ kind: 'summary', covers_to: 4 });
  });

  it('gives way to a turn when it rests, and leaves no note', async () => {
    const running = await talked([hangs, echo], 6);
    const before = stored(running);
    const { run_id } = await running.client.compactSession({ ...request, name: null, keep: 8 });
    await running.seen(run_id, 'model_selected');
    await running.stop();
    const client = await running.open();
    const { run_id: turn } = await client.sendMessage({
      ...request,
      ...chainOf(running),
      input: { type: 'string', value: 'next' },
      session: null,
      trim: 0,
      abandon: false,
    });
    expect((await client.awaitRun({ run_id: turn })).text).toBe('re next');
    expect(stored(running).slice(0, before.length)).toEqual(before);
    expect(
      stored(running)
        .slice(before.length)
        .map(({ text }) => text),
    ).toEqual(['next', 're next']);
    await expect(
      client.resumeRun({ run_id, accept_changed_chain: false, on_ask: 'suspend', timeout_ms: 0 }),
    ).rejects.toMatchObject({ code: 'run_not_resumable' });
  });

  it('is refused while a turn waits for an approval', async () => {
    const write = calls([call('local_fs.write_file', { path: 'a', content: 'b' })], { last_user: 'write' });
    const running = await talked([sums('S1'), write, echo], 6, { policy: { default_action: 'approve', rules: [] } });
    await said(running, 'write', { on_ask: 'suspend' });
    await expect(compact(running.client, 2)).rejects.toMatchObject({
      code: 'run_suspended',
      hints: [expect.stringContaining('reins approvals respond'), 'reins chat --abandon "…"'],
    });
    // Without its name the command would give up a turn of the session that is active.
    await running.client.newSession({ name: 'other' });
    const elsewhere = running.client.compactSession({ ...request, name: 'default', keep: 2 });
    await expect(elsewhere).rejects.toMatchObject({
      hints: [expect.stringContaining('reins approvals respond'), 'reins chat --abandon --session default "…"'],
    });
    expect(running.rows("SELECT id FROM runs WHERE kind = 'compact'")).toEqual([]);
  });
});

describe('a fork with a summary', () => {
  it('begins with the summary, goes on with the last messages, and is active', async () => {
    const running = await talked(
      [
        sums('S1', { user_turn: 9, any: 'user: q1' }),
        says('seen', { any: '<compact-summary>\nS1\n</compact-summary>', user_turn: 4, turn: 3 }),
        says('seen early', { any: '<compact-summary>\nS1\n</compact-summary>', user_turn: 3, turn: 2 }),
        echo,
      ],
      6,
    );
    const fork = await forked(running.client, 4);
    expect(fork).toMatchObject({ from: 'default', summarised: 8, moved_back: null });
    expect(await names(running.client)).toEqual(['*default-2', 'default']);
    const { session, messages } = await running.client.showSession({ name: null, tools: false });
    expect(messages.map(({ seq, kind, text }) => [seq, kind, text])).toEqual([
      [1, 'summary', 'S1'],
      [2, 'message', 'q5'],
      [3, 'message', 're q5'],
      [4, 'message', 'q6'],
      [5, 'message', 're q6'],
    ]);
    expect(session).toMatchObject({ id: fork.session_id, message_count: 5 });
    expect(await said(running, 'and now')).toMatchObject({ text: 'seen' });
    // The copy is a session like any other.
    expect(stored(running)).toHaveLength(12);
    const early = await running.client.forkSession({ name: 'default-2', new_name: 'early', at: 3 });
    expect(early).toMatchObject({ messages: 3, moved_back: null });
    expect(await said(running, 'and now')).toMatchObject({ text: 'seen early' });
  });

  it('creates nothing when the model fails', async () => {
    const running = await talked([fails, echo], 6);
    expect((await forked(running.client, 4, { new_name: 'copy' })).result).toMatchObject({ exit_code: 7 });
    expect(await names(running.client)).toEqual(['*default']);
    expect(running.rows('SELECT DISTINCT session_id FROM messages')).toHaveLength(1);
  });

  it('asks no model for what it refuses', async () => {
    const running = await talked([sums('S1'), echo], 2);
    for (const [over, code] of [
      [{ new_name: 'default' }, 'already_exists'],
      [{ new_name: 'a/b' }, 'usage'],
      [{ name: 'nope' }, 'not_found'],
      [{ at: 9 }, 'usage'],
      [{}, 'conflict'],
    ] as const) {
      await expect(forked(running.client, 4, over)).rejects.toMatchObject({ code });
    }
    expect(running.rows("SELECT id FROM runs WHERE kind = 'compact'")).toEqual([]);
  });

  it('of a compacted session covers the summary there, and up to a message before it only what was said until then', async () => {
    const running = await talked([sums('S2', { any: 'S1' }), sums('S1'), echo], 6);
    await compact(running.client, 8);
    expect((await forked(running.client, 2, { new_name: 'whole' })).result.text).toBe('S2');
    expect((await forked(running.client, 2, { name: 'default', new_name: 'early', at: 6 })).result.text).toBe('S1');
    const texts = async (name: string) =>
      (await running.client.showSession({ name, tools: false })).messages.map(({ text }) => text);
    expect(await texts('whole')).toEqual(['S2', 'q6', 're q6']);
    expect(await texts('early')).toEqual(['S1', 'q3', 're q3']);
  });

  it('of a session that waits for an approval ends before the open call, and leaves that as it is', async () => {
    const write = calls([call('local_fs.write_file', { path: 'a', content: 'b' })], { last_user: 'write' });
    const running = await talked([sums('S1'), write, echo], 3, { policy: { default_action: 'approve', rules: [] } });
    await said(running, 'write', { on_ask: 'suspend' });
    expect(await forked(running.client, 1)).toMatchObject({ summarised: 6, moved_back: { wanted: 8, cut: 7 } });
    expect(running.rows('SELECT state FROM asks')).toEqual([{ state: 'pending' }]);
    expect(await said(running, 'next')).toMatchObject({ text: 're next' });
  });
});

const writeScript = (running: ScriptedApp, turns: readonly unknown[]): void =>
  writeFileSync(
    join(running.place.dir, 'script.json'),
    JSON.stringify({
      script: 1,
      models: [{ name: 'm', context: 100_000, capabilities: ['chat', 'tools'] }],
      turns,
    }),
  );

const chainOf = (running: ScriptedApp) => ({ chain_path: join(running.place.dir, 'chain.json') });
