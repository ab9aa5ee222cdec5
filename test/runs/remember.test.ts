import { existsSync, mkdirSync, symlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { addServer } from './add-server.ts';
import { addHook } from './hooks/support.ts';
import { startService } from '../support/service.ts';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const asking = { default_action: 'approve', rules: [] };
const after = (count: number) => ({ tool: { count } });
const write = (path: string, content = 'x') => call('local_fs.write_file', { path, content });

/** A model that makes these calls one after another. */
async function withCalls(list: readonly unknown[], policy: unknown = asking): Promise<ScriptedApp> {
  const later = list.slice(1).map((one, index) => calls([one], after(index + 1)));
  app = await scriptedApp({ policy, turns: [says('done', after(list.length)), ...later.reverse(), calls([list[0]])] });
  return app;
}

const verdict = (id: string, more: object = {}) =>
  ({ id, outcome: 'approve', feedback: null, text: null, remember: null, binding: null, ...more }) as const;

/** Answers every ask of a run: the first is remembered, the others are denied. @returns their ids */
async function rememberFirst(running: ScriptedApp, runId: string): Promise<readonly string[]> {
  const asks: string[] = [];
  for await (const batch of running.client.watch({ run_id: runId, after: 0, signal: new AbortController().signal })) {
    for (const event of batch) {
      if (event.kind !== 'ask') continue;
      asks.push(event.ask_id);
      const first = asks.length === 1;
      await running.client.answerAsk(verdict(event.ask_id, first ? { remember: 'session' } : { outcome: 'deny' }));
    }
  }
  return asks;
}

const decisions = (running: ScriptedApp) =>
  running.rows(
    `SELECT json_extract(body, '$.record.action') AS action, json_extract(body, '$.record.reason') AS reason
     FROM audit WHERE type = 'decision' ORDER BY seq`,
  );
const asked = { action: 'approve', reason: 'default_action' };
const recalled = { action: 'allow', reason: 'remembered' };

describe('an approval for the session', () => {
  it('lets the identical call through without an ask, and writes down that it did', async () => {
    const running = await withCalls([write('a'), write('a'), write('a', 'y')]);
    const { run_id } = await running.start({ on_ask: 'wait' });
    const asks = await rememberFirst(running, run_id);
    expect(asks).toHaveLength(2);
    expect(decisions(running)).toEqual([asked, recalled, asked]);
    const events = await running.events(run_id);
    expect(events.filter(({ kind }) => kind === 'policy_decision')).toMatchObject([
      { action: 'approve', reason: 'default_action' },
      { action: 'allow', reason: 'remembered', detail: `approved for this session by ${asks[0]}` },
      { action: 'approve', reason: 'default_action' },
    ]);
    expect(
      running.rows("SELECT json_extract(verdict, '$.remember') AS remember FROM asks ORDER BY created_at"),
    ).toEqual([{ remember: 'session' }, { remember: null }]);
    expect(
      running.rows(`SELECT json_extract(body, '$.choice') AS choice, json_extract(body, '$.by') AS by,
        json_extract(body, '$.ask_id') AS ask_id FROM audit WHERE type = 'remember'`),
    ).toEqual([{ choice: 'session', by: 'operator:cli', ask_id: asks[0] }]);
  });

  it('does not count as a call that the policy allows', async () => {
    const running = await withCalls([write('a'), write('a')]);
    const { run_id } = await running.start({ on_ask: 'wait' });
    await rememberFirst(running, run_id);
    const policy = join(running.place.dir, 'policy.json');
    const replayed = { policy, trust: [], since: 0, session: null, tools: null, limit: 10 };
    expect(await running.client.replayCalls(replayed)).toMatchObject({ checked: 2, unchanged: 2 });
  });

  it('asks again for another directory', async () => {
    const shell = (cwd: string) => call('local_shell.local_shell', { command: 'ls', cwd });
    const running = await withCalls([shell('one'), shell('one'), shell('two')]);
    for (const name of ['one', 'two']) mkdirSync(join(running.place.workspace, name));
    const { run_id } = await running.start({ on_ask: 'wait' });
    expect(await rememberFirst(running, run_id)).toHaveLength(2);
    expect(decisions(running)).toEqual([asked, recalled, asked]);
  });

  it('asks again under another policy', async () => {
    const running = await withCalls([write('a'), write('b'), write('a')]);
    const { run_id } = await running.start({ on_ask: 'wait' });
    const asks: string[] = [];
    for await (const batch of running.client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
      for (const event of batch) {
        if (event.kind !== 'ask') continue;
        asks.push(event.ask_id);
        if (asks.length === 2) {
          const path = join(running.place.dir, 'policy.json');
          writeFileSync(path, JSON.stringify({ ...asking, '//': 'other bytes' }), { mode: 0o600 });
          await expect(running.client.answerAsk(verdict(event.ask_id))).rejects.toThrow('policy has changed');
        }
        const remember = asks.length === 1 ? 'session' : null;
        await running.client.answerAsk(verdict(event.ask_id, { remember }));
      }
    }
    expect(asks).toHaveLength(3);
  });

  it('holds in later runs of the session until it is forgotten, and in no other session', async () => {
    const touch = call('local_shell.local_shell', { command: 'touch a' });
    app = await scriptedApp({ policy: asking, turns: [says('done', { role: 'tool' }), calls([touch])] });
    const running = app;
    const asksOf = async (run_id: string): Promise<number> => {
      let asks = 0;
      for await (const batch of running.client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
        for (const event of batch) {
          if (event.kind !== 'ask') continue;
          asks += 1;
          await running.client.answerAsk(verdict(event.ask_id, { remember: 'session' }));
        }
      }
      return asks;
    };
    const turn = async () => asksOf((await running.chat('go', { on_ask: 'wait' })).run_id);
    expect([await turn(), await turn()]).toEqual([1, 0]);
    // A run of its own has no session: what it remembers is its own.
    expect(await asksOf((await running.start({ on_ask: 'wait' })).run_id)).toBe(1);
    expect(await asksOf((await running.start({ on_ask: 'wait' })).run_id)).toBe(1);
    const [session] = running.rows('SELECT name FROM sessions');
    const place = { session: String(session?.['name']) };
    const [choice, ...more] = await running.client.listRemembered(place);
    expect(more).toEqual([]);
    expect(choice).toMatchObject({ kind: 'call', what: 'local_shell.local_shell touch a' });
    expect(await running.client.forgetRemembered({ ...place, id: 'none' })).toEqual({ removed: 0 });
    expect(await running.client.forgetRemembered({ ...place, id: choice?.id ?? null })).toEqual({ removed: 1 });
    expect(await turn()).toBe(1);
  });

  /** A session whose model calls `one.echo` in each turn; each ask is let through for the session. */
  const echoing = async () => {
    const turns = [says('done', { role: 'tool' }), calls([call('one.echo', { message: 'a' })])];
    const running = await scriptedApp({ policy: asking, turns });
    app = running;
    const asksOf = async (run_id: string) => {
      const asks: string[] = [];
      for await (const batch of running.client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
        for (const event of batch) {
          if (event.kind !== 'ask') continue;
          asks.push(event.ask_id);
          await running.client.answerAsk(verdict(event.ask_id, { remember: 'session' }));
        }
      }
      return asks;
    };
    const anew = async (id: string) => (await running.client.showAsk({ id })).preview.anew?.why;
    return { running, anew, turn: async () => asksOf((await running.chat('go', { on_ask: 'wait' })).run_id) };
  };

  it('asks again when a tool server of that name is another one', async () => {
    const { running, anew, turn } = await echoing();
    await addServer(running, 'one', ['tools']);
    expect(await turn()).toHaveLength(1);
    expect(await turn()).toEqual([]);
    await running.client.removeMcpServer({ name: 'one' });
    await addServer(running, 'one', ['tools', 'elsewhere']);
    const [again = '', ...more] = await turn();
    expect(more).toEqual([]);
    expect(await anew(again)).toEqual(['the tool is another one of that name']);
    expect(await turn()).toEqual([]);
  });

  it('asks again when a hook of that name is another one', async () => {
    const { running, anew, turn } = await echoing();
    const fields = { message: { type: 'string' } };
    const schema = { type: 'object', properties: fields };
    const operation = {
      operationId: 'echo',
      requestBody: { content: { 'application/json': { schema } } },
      responses: { 200: { description: 'what was said' } },
    };
    const document = { openapi: '3.0.0', info: { title: 'e', version: '1' }, paths: { '/echo': { post: operation } } };
    const services = [await startService(document), await startService(document)];
    try {
      const [first, second] = services.map(({ url }) => url);
      await addHook(running, 'one', { url: first ?? '' });
      expect(await turn()).toHaveLength(1);
      expect(await turn()).toEqual([]);
      await running.client.removeHook({ name: 'one' });
      await addHook(running, 'one', { url: second ?? '' });
      const [again = '', ...more] = await turn();
      expect(more).toEqual([]);
      expect(await anew(again)).toEqual(['the tool is another one of that name']);
      expect(services.map(({ arrived }) => arrived.length)).toEqual([2, 1]);
    } finally {
      for (const each of services) await each.close();
    }
  });

  it('asks again when a tool server was exchanged before the answer was taken in', async () => {
    const { running, anew } = await echoing();
    await addServer(running, 'one', ['tools']);
    const { run_id } = await running.start({ on_ask: 'suspend' });
    const { ask_id } = await running.seen(run_id, 'ask');
    await running.client.awaitRun({ run_id, full: true });
    await running.client.removeMcpServer({ name: 'one' });
    await addServer(running, 'one', ['tools', 'elsewhere']);
    await running.client.answerAsk(verdict(ask_id));
    await running.client.resumeRun({ run_id, accept_changed_chain: false, on_ask: 'wait', timeout_ms: 0 });
    const pending = () => running.rows("SELECT id FROM asks WHERE state = 'pending'").map(({ id }) => String(id));
    await vi.waitFor(() => expect(pending()).toHaveLength(1), 20_000);
    const [again = ''] = pending();
    expect(await anew(again)).toEqual(['the tool is another one of that name']);
    await running.client.answerAsk(verdict(again, { outcome: 'deny' }));
    await running.client.awaitRun({ run_id, full: true });
    expect(running.rows("SELECT call_id FROM tool_calls WHERE state = 'done'")).toEqual([]);
  });

  it('asks again when the path has become one that is reserved for people', async () => {
    const running = await withCalls([write('a'), write('b'), write('a')]);
    const { run_id } = await running.start({ on_ask: 'wait' });
    const asks: string[] = [];
    for await (const batch of running.client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
      for (const event of batch) {
        if (event.kind !== 'ask') continue;
        asks.push(event.ask_id);
        if (asks.length === 2) {
          rmSync(join(running.place.workspace, 'a'));
          symlinkSync('.env', join(running.place.workspace, 'a'));
        }
        await running.client.answerAsk(verdict(event.ask_id, { remember: asks.length === 1 ? 'session' : null }));
      }
    }
    expect(asks).toHaveLength(3);
  });

  it.each<[string, unknown, (workspace: string) => void, string]>([
    [
      'a path that leads to another file',
      call('local_fs.read_file', { path: 'way' }),
      (workspace) => {
        rmSync(join(workspace, 'way'));
        symlinkSync('two', join(workspace, 'way'));
      },
      'its paths lead elsewhere',
    ],
    [
      'a program that was written over',
      call('local_shell.local_shell', { command: './run' }),
      (workspace) => writeFileSync(join(workspace, 'run'), '#!/bin/sh\necho another\n'),
      'the program is another one',
    ],
    [
      'a script that was written over',
      call('local_shell.local_shell', { command: 'sh run' }),
      (workspace) => writeFileSync(join(workspace, 'run'), 'echo another\n'),
      'the program is another one',
    ],
  ])('asks again for %s, and says so', async (_name, one, change, why) => {
    const running = await withCalls([one, one, write('marker'), one, one]);
    const { workspace } = running.place;
    for (const name of ['one', 'two']) writeFileSync(join(workspace, name), name);
    symlinkSync('one', join(workspace, 'way'));
    writeFileSync(join(workspace, 'run'), '#!/bin/sh\necho one\n', { mode: 0o755 });
    const { run_id } = await running.start({ on_ask: 'wait' });
    const asks: string[] = [];
    for await (const batch of running.client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
      for (const event of batch) {
        if (event.kind !== 'ask') continue;
        asks.push(event.ask_id);
        if (asks.length === 2) change(workspace);
        await running.client.answerAsk(verdict(event.ask_id, { remember: asks.length === 2 ? null : 'session' }));
      }
    }
    expect(decisions(running)).toEqual([asked, recalled, asked, asked, recalled]);
    const [first, , again] = await Promise.all(asks.map((id) => running.client.showAsk({ id })));
    expect([first?.preview.anew, again?.preview.anew]).toEqual([undefined, { edited: false, why: [why] }]);
  });

  it.each([
    ['a file that looks like a secret', write('.env'), asking],
    [
      'a floor under a rule that allows it',
      call('local_shell.local_shell', { command: 'cat <(' }),
      { default_action: 'allow' },
    ],
  ])('is refused in one sentence for %s', async (_name, one, policy) => {
    const running = await withCalls([one], policy);
    const { run_id } = await running.start({ on_ask: 'wait' });
    const { ask_id } = await running.seen(run_id, 'ask');
    expect((await running.client.showAsk({ id: ask_id })).preview.reserved).toEqual(expect.any(String));
    await expect(running.client.answerAsk(verdict(ask_id, { remember: 'session' }))).rejects.toMatchObject({
      code: 'not_allowed',
      message: expect.stringContaining('an approval of this call is not remembered: '),
    });
    expect((await running.client.showAsk({ id: ask_id })).state).toBe('pending');
    await running.client.answerAsk(verdict(ask_id, { outcome: 'deny' }));
    await running.client.awaitRun({ run_id });
    expect(running.rows('SELECT id FROM remembered')).toEqual([]);
  });

  it('is refused for a spent bound', async () => {
    const policy = { default_action: 'allow', compute: { maxToolCalls: 1, onExhausted: 'ask' } };
    const running = await withCalls([write('a'), write('b')], policy);
    const { run_id } = await running.start({ on_ask: 'wait' });
    const { ask_id } = await running.seen(run_id, 'ask');
    await expect(running.client.answerAsk(verdict(ask_id, { remember: 'session' }))).rejects.toMatchObject({
      code: 'wrong_kind',
      message: 'only the approval of a tool call can be remembered',
    });
    await running.client.answerAsk(verdict(ask_id, { outcome: 'deny' }));
    await running.client.awaitRun({ run_id });
  });
});

describe('an answer after the policy has changed', () => {
  const edit = (running: ScriptedApp, policy: unknown) =>
    writeFileSync(join(running.place.dir, 'policy.json'), JSON.stringify(policy), { mode: 0o600 });

  it('closes the ask as denied by the policy where that denies the call by now', async () => {
    const running = await withCalls([write('a')]);
    const { run_id } = await running.start({ on_ask: 'wait' });
    const { ask_id } = await running.seen(run_id, 'ask');
    edit(running, { default_action: 'deny', rules: [] });
    const other = await running.open();
    await expect(other.answerAsk(verdict(ask_id))).rejects.toMatchObject({
      code: 'already_answered',
      message: expect.stringContaining('the policy has changed and denies this call now'),
    });
    await running.client.awaitRun({ run_id });
    expect(await running.client.showAsk({ id: ask_id })).toMatchObject({
      state: 'denied',
      verdict: { outcome: 'deny', by: 'system:policy' },
    });
    expect(existsSync(join(running.place.workspace, 'a'))).toBe(false);
  });

  it('is refused until it names the new binding, of which watchers are told', async () => {
    const running = await withCalls([write('a')]);
    const { run_id } = await running.start({ on_ask: 'wait' });
    const { ask_id } = await running.seen(run_id, 'ask');
    const before = await running.client.showAsk({ id: ask_id });
    edit(running, { default_action: 'approve', rules: [{ tools: 'local_fs', action: 'approve', '//': 'look' }] });
    const other = await running.open();
    const refused = { code: 'binding_changed' };
    await expect(other.answerAsk(verdict(ask_id, { binding: before.binding }))).rejects.toMatchObject(refused);
    await expect(other.answerAsk(verdict(ask_id, { binding: before.binding }))).rejects.toMatchObject(refused);
    const now = await other.showAsk({ id: ask_id });
    expect(now).toMatchObject({
      state: 'pending',
      record: { matched_rule: 0, note: 'look' },
      preview: { policy_changed: true },
    });
    expect([now.binding === before.binding, now.policy.sha256 === before.policy.sha256]).toEqual([false, false]);
    expect(await running.seen(run_id, 'ask_updated')).toMatchObject({ ask_id, binding: now.binding });
    await other.answerAsk(verdict(ask_id, { binding: now.binding }));
    const { asks } = await running.client.awaitRun({ run_id });
    expect(asks.map(({ state }) => state)).toEqual(['approved']);
    expect(existsSync(join(running.place.workspace, 'a'))).toBe(true);
  });

  it('is not enough when another policy governs the run before the call starts', async () => {
    const running = await withCalls([write('a')]);
    const home = join(running.place.home, '.reins');
    mkdirSync(home, { recursive: true, mode: 0o700 });
    for (const name of ['hitl-policy.json', 'hitl-policy-other.json'])
      writeFileSync(join(home, name), JSON.stringify({ ...asking, '//': name }), { mode: 0o600 });
    const { run_id } = await running.start({ policy: null, on_ask: 'wait' });
    const { ask_id } = await running.seen(run_id, 'ask');
    await running.client.setConfig({ key: 'hitl-policy-name', value: 'other' });
    // The policy that it was asked under is what it was; the run is told by its own look that another one governs.
    await running.client.answerAsk(verdict(ask_id));
    for await (const batch of running.client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
      const next = batch.find((event) => event.kind === 'ask' && event.ask_id !== ask_id);
      if (next?.kind !== 'ask') continue;
      expect((await running.client.showAsk({ id: next.ask_id })).policy.name).toBe('other');
      expect(existsSync(join(running.place.workspace, 'a'))).toBe(false);
      await running.client.answerAsk(verdict(next.ask_id));
      break;
    }
    expect((await running.client.awaitRun({ run_id })).asks.map(({ state }) => state)).toEqual([
      'approved',
      'approved',
    ]);
  });

  it('may be given where the policy allows the call by now', async () => {
    const running = await withCalls([write('a')]);
    const { run_id } = await running.start({ on_ask: 'wait' });
    const { ask_id } = await running.seen(run_id, 'ask');
    edit(running, { default_action: 'allow', rules: [] });
    await expect(running.client.answerAsk(verdict(ask_id))).rejects.toMatchObject({ code: 'binding_changed' });
    await running.client.answerAsk(verdict(ask_id));
    expect((await running.client.awaitRun({ run_id })).asks.map(({ state }) => state)).toEqual(['approved']);
    expect(existsSync(join(running.place.workspace, 'a'))).toBe(true);
  });
});
