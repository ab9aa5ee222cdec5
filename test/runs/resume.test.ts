import { chmodSync, existsSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RuntimeClient } from '../../src/client/operations.ts';
import type { RunResult, StartRun } from '../../src/schema/run.ts';
import { processOwner } from '../../src/store/owner.ts';
import { addServer } from './add-server.ts';
import { call, calls, loopChain, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const asking = { default_action: 'approve', rules: [] };
const results = (count: number) => ({ tool: { count } });
const write = (path: string, content = 'x') => call('local_fs.write_file', { path, content });
const path = (name: string): string => join(app?.place.workspace ?? '', name);
const made = (...names: readonly string[]): readonly string[] => names.filter((name) => existsSync(path(name)));
const asks = () =>
  (app?.rows('SELECT id, state, kind, summary, superseded_by FROM asks ORDER BY created_at, id') ?? []) as {
    id: string;
    state: string;
    kind: string;
    superseded_by: string | null;
  }[];
const pending = (): string[] => asks().flatMap(({ id, state }) => (state === 'pending' ? [id] : []));

type Over = { readonly accept_changed_chain?: boolean; readonly on_ask?: StartRun['on_ask'] };

/** Goes on with a run in a program that has not seen it begin. */
async function resume(
  running: ScriptedApp,
  runId: string,
  over: Over = {},
  client?: RuntimeClient,
): Promise<RunResult> {
  const other = client ?? (await running.open());
  const request = { run_id: runId, accept_changed_chain: false, on_ask: 'suspend' as const, timeout_ms: 0, ...over };
  await other.resumeRun(request);
  return other.awaitRun({ run_id: runId, full: true });
}

/** Answers in a program that has not seen the run begin. */
async function answer(running: ScriptedApp, id: string, over: object = {}) {
  const client = await running.open();
  return client.answerAsk({
    id,
    outcome: 'approve',
    feedback: null,
    text: null,
    remember: null,
    binding: null,
    ...over,
  });
}

async function suspended(turns: readonly unknown[], policy: unknown = asking): Promise<[ScriptedApp, string]> {
  app = await scriptedApp({ turns, policy });
  const result = await app.run({ on_ask: 'suspend' });
  expect(result).toMatchObject({ status: 'suspended', exit_code: 4 });
  return [app, result.run_id];
}

describe('a run that rests for its questions', () => {
  it('has asked everything that its batch asks, and goes on in another process when it is answered', async () => {
    const [running, runId] = await suspended([says('done', results(2)), calls([write('a'), write('b')])]);
    expect(pending()).toHaveLength(2);
    expect(made('a', 'b')).toEqual([]);
    for (const id of pending()) expect(await answer(running, id)).toMatchObject({ rests: true });
    expect(await resume(running, runId)).toMatchObject({ status: 'completed', text: 'done', num_tool_calls: 2 });
    expect(made('a', 'b')).toEqual(['a', 'b']);
    const ends = "SELECT kind FROM events WHERE kind LIKE 'chain%' ORDER BY seq";
    expect(running.rows(ends).map(({ kind }) => kind)).toEqual([
      'chain_started',
      'chain_suspended',
      'chain_resumed',
      'chain_completed',
    ]);
    expect(running.rows("SELECT json_extract(body, '$.by') AS by FROM audit WHERE type = 'resume'")).toEqual([
      { by: 'operator:cli' },
    ]);
  });

  it('tells the model what was declined, and does not wait for what was not answered', async () => {
    const [running, runId] = await suspended([says('done', results(2)), calls([write('a'), write('b')])]);
    const [first = '', second = ''] = pending();
    await answer(running, first, { outcome: 'deny', feedback: 'no' });
    expect(await resume(running, runId)).toMatchObject({ status: 'suspended' });
    expect(pending()).toEqual([second]);
    await answer(running, second);
    const result = await resume(running, runId);
    expect(result).toMatchObject({ status: 'completed', permission_denials: [{ tool: 'write_file' }] });
    expect(made('a', 'b')).toEqual(['b']);
  });

  it('goes on with the same answer given again, where the first who gave it was killed before it did', async () => {
    const [running, runId] = await suspended([says('done', results(1)), calls([write('a')])]);
    const [id = ''] = pending();
    await answer(running, id, { no_resume: true });
    expect(await answer(running, id, { no_resume: true })).toMatchObject({ yours: false, rests: false });
    await expect(answer(running, id, { outcome: 'deny' })).rejects.toMatchObject({
      code: 'already_answered',
      hints: [`reins state resume ${runId}`],
    });
    expect(await answer(running, id)).toMatchObject({ yours: false, rests: true });
    expect(await resume(running, runId)).toMatchObject({ status: 'completed' });
    expect(await answer(running, id)).toMatchObject({ yours: false, rests: false });
  });

  it('keeps what ran before the question: its results are given again, not made again', async () => {
    const allowAppend = [{ tools: 'local_shell', action: 'allow' }];
    const policy = { default_action: 'approve', rules: allowAppend };
    const add = call('local_shell.local_shell', { command: './add' });
    app = await scriptedApp({ turns: [says('done', results(2)), calls([add, write('a')])], policy });
    writeFileSync(path('add'), '#!/bin/sh\necho line >> lines\necho added\n');
    chmodSync(path('add'), 0o755);
    const { run_id } = await app.run({ on_ask: 'suspend' });
    await answer(app, pending()[0] ?? '');
    const result = await resume(app, run_id);
    expect(result).toMatchObject({ status: 'completed' });
    expect(readFileSync(path('lines'), 'utf8')).toBe('line\n');
  });

  it('rests for a spent bound, and a grant is taken once', async () => {
    const policy = { default_action: 'allow', rules: [], compute: { maxToolCalls: 1, onExhausted: 'ask' } };
    const [running, runId] = await suspended([says('done', results(2)), calls([write('a'), write('b')])], policy);
    expect(asks()).toMatchObject([{ kind: 'budget', state: 'pending' }]);
    await answer(running, pending()[0] ?? '');
    expect(await resume(running, runId)).toMatchObject({ status: 'completed' });
    expect(made('a', 'b')).toEqual(['a', 'b']);
    expect(asks()).toHaveLength(1);
  });

  it('is one conversation with its session', async () => {
    app = await scriptedApp({ turns: [says('done', results(1)), calls([write('a')])], policy: asking });
    const { run_id } = await app.chat('go', { on_ask: 'suspend' });
    expect(await app.client.awaitRun({ run_id })).toMatchObject({ status: 'suspended' });
    await answer(app, pending()[0] ?? '');
    expect(await resume(app, run_id)).toMatchObject({ status: 'completed', session_name: 'default' });
    const { messages } = await app.client.showSession({ name: null, tools: true });
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  it('says to the next message why it rests when its deadline has passed', async () => {
    app = await scriptedApp({ turns: [calls([write('a')])], policy: asking });
    const { run_id } = await app.chat('go', { on_ask: 'suspend' });
    expect(await app.client.awaitRun({ run_id })).toMatchObject({ status: 'suspended' });
    const [id] = pending();
    app.change('UPDATE asks SET expires_at = 1');
    await expect(app.chat('more')).rejects.toMatchObject({
      code: 'run_suspended',
      message: `the last turn of session "default" has not gone on since ${id} expired, which counts as a denial (run ${run_id})`,
      hints: [`reins state resume ${run_id}`, 'reins chat --abandon "…"'],
    });
  });
});

describe('between verdict and execution', () => {
  it('a call whose tool is gone is not made, and has one row', async () => {
    app = await scriptedApp({
      turns: [says('done', results(1)), calls([call('one.echo', { message: 'a' })])],
      policy: asking,
    });
    await addServer(app, 'one', ['tools']);
    const { run_id } = await app.run({ on_ask: 'suspend' });
    await answer(app, pending()[0] ?? '');
    await app.client.removeMcpServer({ name: 'one' });
    await app.stop();
    expect(await resume(app, run_id, {}, await app.open())).toMatchObject({ status: 'completed', text: 'done' });
    const rows = "SELECT tools, tool, state, json_extract(result, '$.error') AS error FROM tool_calls";
    expect(app.rows(rows)).toEqual([{ tools: 'one', tool: 'echo', state: 'skipped', error: 'not_found' }]);
  });

  it('a changed file is not overwritten: what was approved no longer exists, and the model is told', async () => {
    const rules = [{ tools: 'local_fs', tool: 'read_file', action: 'allow' }];
    const edit = call('local_fs.edit_file', { path: 'a', old_string: 'one', new_string: 'two' });
    app = await scriptedApp({
      turns: [says('done', results(2)), calls([edit], results(1)), calls([call('local_fs.read_file', { path: 'a' })])],
      policy: { default_action: 'approve', rules },
    });
    writeFileSync(path('a'), 'one\n');
    const { run_id } = await app.run({ on_ask: 'suspend' });
    const [first = ''] = pending();
    await answer(app, first);
    writeFileSync(path('a'), 'somebody else and one\n');
    const result = await resume(app, run_id);
    expect(readFileSync(path('a'), 'utf8')).toBe('somebody else and one\n');
    expect(result).toMatchObject({ status: 'completed', executed_tool_calls: 1 });
  });

  it('a changed program is another call', async () => {
    const run = call('local_shell.local_shell', { command: './tool' });
    app = await scriptedApp({ turns: [says('done', results(1)), calls([run])], policy: asking });
    for (const name of ['one', 'two']) {
      writeFileSync(path(name), `#!/bin/sh\necho ${name} > ran\n`);
      chmodSync(path(name), 0o755);
    }
    symlinkSync('one', path('tool'));
    const { run_id } = await app.run({ on_ask: 'suspend' });
    const [first = ''] = pending();
    await answer(app, first);
    unlinkSync(path('tool'));
    symlinkSync('two', path('tool'));
    expect(await resume(app, run_id)).toMatchObject({ status: 'suspended' });
    expect(made('ran')).toEqual([]);
    expect(asks()).toMatchObject([{ id: first, state: 'approved' }, { state: 'pending' }]);
    expect(asks()[0]?.superseded_by).toBe(asks()[1]?.id);
  });

  it.each(['./tool', 'cd . && ./tool && pwd', 'sh -e tool'])(
    'a program that was written over is another one: %s',
    async (command) => {
      const run = call('local_shell.local_shell', { command });
      app = await scriptedApp({ turns: [says('done', results(1)), calls([run])], policy: asking });
      writeFileSync(path('tool'), '#!/bin/sh\necho one >> ran\n', { mode: 0o755 });
      const { run_id } = await app.run({ on_ask: 'suspend' });
      const [first = ''] = pending();
      await answer(app, first);
      writeFileSync(path('tool'), '#!/bin/sh\necho two >> ran\n');
      expect(await resume(app, run_id)).toMatchObject({ status: 'suspended' });
      expect(made('ran')).toEqual([]);
      const [second = ''] = pending();
      expect(app.rows("SELECT json_extract(preview, '$.anew.why[0]') AS why FROM asks WHERE id = ?", second)).toEqual([
        { why: 'the program is another one' },
      ]);
      await answer(app, second);
      expect(await resume(app, run_id)).toMatchObject({ status: 'completed' });
      expect(readFileSync(path('ran'), 'utf8')).toBe('two\n');
    },
  );

  it('a policy that denies now beats the approval', async () => {
    const [running, runId] = await suspended([says('done', results(1)), calls([write('a')])]);
    await answer(running, pending()[0] ?? '');
    const denying = { default_action: 'approve', rules: [{ tools: 'local_fs', action: 'deny' }] };
    writeFileSync(join(running.place.dir, 'policy.json'), JSON.stringify(denying), { mode: 0o600 });
    expect(await resume(running, runId)).toMatchObject({ status: 'completed', permission_denials: [{ by: 'policy' }] });
    expect(made('a')).toEqual([]);
  });

  it('a policy that allows a call now closes its question', async () => {
    const [running, runId] = await suspended([says('done', results(1)), calls([write('a')])]);
    writeFileSync(join(running.place.dir, 'policy.json'), '{"default_action":"allow","rules":[]}', { mode: 0o600 });
    expect(await resume(running, runId)).toMatchObject({ status: 'completed' });
    expect(made('a')).toEqual(['a']);
    expect(running.rows("SELECT state, json_extract(verdict, '$.by') AS by FROM asks")).toEqual([
      { state: 'cancelled', by: 'system:superseded' },
    ]);
  });

  it('arguments that were changed in the database are another call', async () => {
    const [running, runId] = await suspended([says('done', results(1)), calls([write('a')])]);
    await answer(running, pending()[0] ?? '');
    await running.stop();
    running.change(`UPDATE run_messages SET payload = replace(payload, '\\"a\\"', '\\"b\\"')`);
    const client = await running.open();
    expect(await resume(running, runId, {}, client)).toMatchObject({ status: 'suspended' });
    expect(made('a', 'b')).toEqual([]);
  });
});

describe('a run on its way to rest', () => {
  it('that has not seen the answer is gone on with by whoever answered', async () => {
    const [running, runId] = await suspended([says('done', results(1)), calls([write('a')])]);
    // As it stands between its question and its rest: driven, and nobody waits.
    const alive = `lease_owner = '${processOwner('cli')}', lease_until = ${Date.now() + 600_000}`;
    running.change(`UPDATE runs SET status = 'running'; UPDATE run_state SET ${alive}`);
    const given = answer(running, pending()[0] ?? '');
    await expect.poll(() => pending()).toEqual([]);
    running.change("UPDATE runs SET status = 'suspended'; UPDATE run_state SET lease_owner = NULL, lease_until = NULL");
    expect(await given).toMatchObject({ yours: true, rests: true });
    expect(await resume(running, runId)).toMatchObject({ status: 'completed' });
  });
});

describe('a process that was stopped until its run was taken over', () => {
  const taken = "UPDATE run_state SET lease_owner = 'host - 1 - cli', lease_until = 9e15";
  const lost = { status: 'failed', error: { class: 'storage', message: 'the run was taken over by another process' } };

  /** A run that waits for the answer to its first call. */
  const waiting = async (): Promise<[ScriptedApp, string]> => {
    app = await scriptedApp({ turns: [says('done', results(1)), calls([write('a')])], policy: asking });
    const { run_id } = await app.start({ on_ask: 'wait' });
    await app.seen(run_id, 'ask');
    return [app, run_id];
  };

  it('records nothing when it hears of an answer that another one takes', async () => {
    const [running, runId] = await waiting();
    running.change(taken);
    await running.client.answerAsk({
      id: pending()[0] ?? '',
      outcome: 'deny',
      feedback: null,
      text: null,
      remember: null,
      binding: null,
    });
    expect(await running.client.awaitRun({ run_id: runId })).toMatchObject(lost);
    expect(running.rows('SELECT kind FROM events ORDER BY seq DESC LIMIT 1')).toEqual([{ kind: 'verdict' }]);
    expect(running.rows('SELECT state, result FROM tool_calls')).toEqual([{ state: 'planned', result: null }]);
  });

  it('leaves the question open when it finds its lease lost', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const [running, runId] = await waiting();
      running.change(taken);
      vi.advanceTimersByTime(5000);
      expect(await running.client.awaitRun({ run_id: runId })).toMatchObject(lost);
      expect(asks()).toMatchObject([{ state: 'pending' }]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a run that is taken up', () => {
  it('by two processes at once goes on in one; the other names the owner', async () => {
    const [running, runId] = await suspended([says('done', results(1)), calls([write('a')])]);
    await answer(running, pending()[0] ?? '');
    const both = [await running.open(), await running.open()];
    const request = { run_id: runId, accept_changed_chain: false, on_ask: 'suspend' as const, timeout_ms: 0 };
    const settled = await Promise.allSettled(both.map((client) => client.resumeRun(request)));
    const refused = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(refused).toMatchObject([{ code: 'run_not_resumable', data: { state: 'active' } }]);
    const index = settled.findIndex(({ status }) => status === 'fulfilled');
    await both[index]?.awaitRun({ run_id: runId });
    expect(running.rows("SELECT count(*) AS n FROM tool_calls WHERE state = 'done'")).toEqual([{ n: 1 }]);
  });

  it('is refused when it has ended, is elsewhere, or was never there', async () => {
    const [running, runId] = await suspended([says('done', results(1)), calls([write('a')])]);
    const [id = ''] = pending();
    running.change("UPDATE runs SET workspace = '/elsewhere'");
    await expect(resume(running, runId)).rejects.toMatchObject({
      code: 'not_resumable_here',
      message: `${runId} belongs to the workspace /elsewhere, which is not there any more; it goes on nowhere else`,
      hints: [`reins state cancel ${runId}`],
    });
    running.change("UPDATE runs SET workspace = '/'");
    await expect(resume(running, runId)).rejects.toMatchObject({
      code: 'not_resumable_here',
      message: `${runId} belongs to the workspace /`,
      hints: ['cd /'],
    });
    await expect(answer(running, id)).rejects.toMatchObject({ code: 'not_resumable_here' });
    expect(pending()).toEqual([id]);
    running.change(`UPDATE runs SET workspace = '${running.place.workspace}'`);
    await answer(running, id);
    await resume(running, runId);
    await expect(resume(running, runId)).rejects.toMatchObject({
      code: 'run_not_resumable',
      message: `${runId} has ended: completed; only a run that rests goes on`,
      hints: [`reins state show ${runId}`],
    });
    await expect(resume(running, 'run_nosuch')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('executes the chain that it stored; a changed file must be accepted', async () => {
    const [running, runId] = await suspended([says('done', results(1)), calls([write('a')])]);
    const [id = ''] = pending();
    writeFileSync(join(running.place.dir, 'chain.json'), JSON.stringify({ ...loopChain, id: 'other' }), {
      mode: 0o600,
    });
    await expect(answer(running, id)).rejects.toMatchObject({ code: 'resume_chain_changed' });
    await expect(resume(running, runId)).rejects.toMatchObject({ code: 'resume_chain_changed' });
    expect(pending()).toEqual([id]);
    await answer(running, id, { accept_changed_chain: true });
    const result = await resume(running, runId, { accept_changed_chain: true });
    expect(result).toMatchObject({ status: 'completed', chain: { id: 'loop' } });
  });

  it('is refused when its checkpoint is not what was written', async () => {
    const [running, runId] = await suspended([says('done', results(1)), calls([write('a')])]);
    running.change("UPDATE run_state SET payload = replace(payload, 'schema_version', 'Schema_version')");
    await expect(resume(running, runId)).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringContaining('its checkpoint has another digest'),
    });
  });
});

describe('a call that was found started', () => {
  /** A run whose process died while its call ran, as its rows say. */
  async function unknown(): Promise<[ScriptedApp, string]> {
    const add = call('local_shell.local_shell', { command: './add' });
    app = await scriptedApp({ turns: [says('done', results(1)), calls([add])], policy: asking });
    writeFileSync(path('add'), '#!/bin/sh\necho line >> lines\necho added\n');
    chmodSync(path('add'), 0o755);
    const { run_id } = await app.run({ on_ask: 'suspend' });
    await answer(app, pending()[0] ?? '');
    await app.stop();
    app.change("UPDATE tool_calls SET state = 'started', started_at = 1");
    const client = await app.open();
    expect(await resume(app, run_id, {}, client)).toMatchObject({ status: 'suspended' });
    expect(asks().at(-1)).toMatchObject({ kind: 'unknown_outcome', state: 'pending' });
    expect(made('lines')).toEqual([]);
    return [app, run_id];
  }
  const treated = (as: string, text: string | null = null) => ({ outcome: 'answer', treat_as: as, text });
  const told = (result: RunResult): string => {
    const { messages } = result.output as { messages: { role: string; content: string }[] };
    return messages.find(({ role }) => role === 'tool')?.content ?? '';
  };

  it('runs again when a person says so', async () => {
    const [running, runId] = await unknown();
    await answer(running, pending()[0] ?? '', treated('run_again'));
    expect(told(await resume(running, runId))).toContain('added');
    expect(readFileSync(path('lines'), 'utf8')).toBe('line\n');
    expect(running.rows('SELECT state FROM tool_calls')).toEqual([{ state: 'done' }]);
  });

  it('is asked about again when another program stands there by then, and runs for a verdict on that one', async () => {
    const [running, runId] = await unknown();
    const [first = ''] = pending();
    await answer(running, first, treated('run_again'));
    renameSync(path('add'), path('before'));
    writeFileSync(path('other'), '#!/bin/sh\necho other >> lines\n', { mode: 0o755 });
    symlinkSync('other', path('add'));
    expect(await resume(running, runId)).toMatchObject({ status: 'suspended' });
    expect(made('lines')).toEqual([]);
    const [second = ''] = pending();
    expect(asks().slice(1)).toMatchObject([
      { id: first, state: 'approved', superseded_by: second },
      { id: second, kind: 'unknown_outcome' },
    ]);
    await answer(running, second, treated('run_again'));
    expect(await resume(running, runId)).toMatchObject({ status: 'completed' });
    expect(readFileSync(path('lines'), 'utf8')).toBe('other\n');
  });

  it('is taken as done with the words of a person as its result', async () => {
    const [running, runId] = await unknown();
    await answer(running, pending()[0] ?? '', treated('done', 'one line was added'));
    expect(told(await resume(running, runId))).toBe('one line was added');
    expect(made('lines')).toEqual([]);
    expect(running.rows('SELECT state FROM tool_calls')).toEqual([{ state: 'done' }]);
  });

  it('is left, and the model is told that nobody knows', async () => {
    const [running, runId] = await unknown();
    await answer(running, pending()[0] ?? '', treated('skip'));
    expect(JSON.parse(told(await resume(running, runId)))).toMatchObject({ error: 'outcome_unknown' });
    expect(made('lines')).toEqual([]);
    expect(running.rows('SELECT state FROM tool_calls')).toEqual([{ state: 'unknown' }]);
    expect(asks().at(-1)).toMatchObject({ state: 'denied' });
  });

  it('is left where nobody can be asked', async () => {
    const [running, runId] = await unknown();
    expect(JSON.parse(told(await resume(running, runId, { on_ask: 'deny' })))).toMatchObject({
      error: 'outcome_unknown',
    });
    expect(made('lines')).toEqual([]);
  });

  it('takes no plain approval or denial', async () => {
    const [running] = await unknown();
    for (const outcome of ['approve', 'deny'] as const) {
      await expect(answer(running, pending()[0] ?? '', { outcome })).rejects.toMatchObject({ code: 'wrong_kind' });
    }
  });

  it('is asked about also where its tool is gone; to run it again then says that there is none', async () => {
    const policy = { default_action: 'approve', rules: [] };
    app = await scriptedApp({ turns: [says('done', results(1)), calls([call('one.echo', { message: 'a' })])], policy });
    await addServer(app, 'one', ['tools']);
    const { run_id } = await app.run({ on_ask: 'suspend' });
    await answer(app, pending()[0] ?? '');
    await app.client.removeMcpServer({ name: 'one' });
    await app.stop();
    app.change("UPDATE tool_calls SET state = 'started', started_at = 1");
    const client = await app.open();
    expect(await resume(app, run_id, {}, client)).toMatchObject({ status: 'suspended' });
    expect(asks().at(-1)).toMatchObject({ kind: 'unknown_outcome', state: 'pending' });
    await answer(app, pending()[0] ?? '', treated('run_again'));
    expect(JSON.parse(told(await resume(app, run_id)))).toMatchObject({ ok: false, error: 'not_found' });
    expect(app.rows('SELECT state FROM tool_calls')).toEqual([{ state: 'skipped' }]);
  });

  it('is simply made again when it only reads', async () => {
    app = await scriptedApp({
      turns: [says('done', results(1)), calls([call('local_fs.read_file', { path: 'a' })])],
      policy: asking,
    });
    writeFileSync(path('a'), 'first\n');
    const { run_id } = await app.run({ on_ask: 'suspend' });
    await answer(app, pending()[0] ?? '');
    await app.stop();
    app.change("UPDATE tool_calls SET state = 'started', started_at = 1");
    const result = await resume(app, run_id, {}, await app.open());
    expect([result.status, told(result)]).toEqual(['completed', expect.stringContaining('first')]);
    expect(asks()).toHaveLength(1);
    expect(result.num_tool_calls).toBe(1);
  });
});

describe('doctor', () => {
  const reported = async (running: ScriptedApp): Promise<readonly string[]> => {
    const { status } = await (await running.open()).doctor({ probe: false });
    return status.issues
      .map(({ code }) => code)
      .filter((code) => code === 'runs_interrupted' || code === 'asks_pending');
  };

  it('names a run that rests and waits for nobody: only a person can go on with it', async () => {
    const [running] = await suspended([says('done', results(1)), calls([write('a')])]);
    expect(await reported(running)).toEqual(['asks_pending']);
    await answer(running, pending()[0] ?? '', { no_resume: true });
    expect(await reported(running)).toEqual(['runs_interrupted']);
  });
});
