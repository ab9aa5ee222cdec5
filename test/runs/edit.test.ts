import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { RuntimeClient } from '../../src/client/operations.ts';
import type { RunResult } from '../../src/schema/run.ts';
import { noFields } from '../registry/rooms.ts';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp;
afterEach(() => app.close());

const asking = { default_action: 'approve', rules: [] };
const writes = [
  says('done', { tool: { count: 1 } }),
  calls([call('local_fs.write_file', { path: 'a.txt', content: 'x' })]),
];
const other = { path: 'b.txt', content: 'y' };
const made = () => ['a.txt', 'b.txt'].filter((name) => existsSync(join(app.place.workspace, name)));
const asks = () =>
  app.rows('SELECT id, state, args, superseded_by, verdict FROM asks ORDER BY created_at, id').map((row) => ({
    id: String(row['id']),
    state: row['state'],
    args: JSON.parse(String(row['args'])),
    superseded_by: row['superseded_by'],
    verdict: JSON.parse(String(row['verdict'])),
  }));
const pending = (): string => asks().find(({ state }) => state === 'pending')?.id ?? 'none';
const edit = (client: RuntimeClient, args: Record<string, unknown> = other, id = pending()) =>
  client.editAsk({ id, args, binding: null });
const answer = (client: RuntimeClient, outcome: 'approve' | 'deny' = 'approve') =>
  client.answerAsk({ id: pending(), outcome, feedback: null, text: null, remember: null, binding: null });
const resume = async (runId: string): Promise<RunResult> => {
  const client = await app.open();
  await client.resumeRun({ run_id: runId, accept_changed_chain: false, on_ask: 'suspend', timeout_ms: 0 });
  return client.awaitRun({ run_id: runId, full: true });
};
const aboutCalls = new Set([
  'tool_call_pending',
  'policy_decision',
  'ask',
  'verdict',
  'tool_call_started',
  'tool_call',
]);
/** The question behind another one. */
async function nextAsk(runId: string, after: string) {
  for await (const batch of app.client.watch({ run_id: runId, after: 0, signal: new AbortController().signal })) {
    for (const event of batch) if (event.kind === 'ask' && event.ask_id > after) return event;
  }
  throw new Error('the run ended without another question');
}
/** What the model was told of its calls. */
const told = ({ output }: RunResult): readonly string[] => {
  const { messages } = output as { messages: { role: string; content: string }[] };
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
};
const changed = (args: object) =>
  `[The operator changed the arguments of this call. It ran with: ${JSON.stringify(args)}]\n`;
const suspended = async (turns: readonly unknown[] = writes, policy: unknown = asking): Promise<string> => {
  app = await scriptedApp({ turns, policy });
  const { run_id, status } = await app.run({ on_ask: 'suspend' });
  expect(status).toBe('suspended');
  return run_id;
};

describe('arguments that the operator changes', () => {
  it('are asked about anew while another process drives the run, and run when that is approved', async () => {
    app = await scriptedApp({ turns: writes, policy: asking });
    const { run_id } = await app.start({ on_ask: 'wait' });
    const first = await app.seen(run_id, 'ask');
    const elsewhere = await app.open();
    expect(await edit(elsewhere)).toMatchObject({ yours: true, rests: false, ask: { state: 'cancelled' } });
    const second = await nextAsk(run_id, first.ask_id);
    expect(second).toMatchObject({ args: other, summary: 'b.txt' });
    // Whoever still has the old one before him is sent to the new one.
    const late = {
      id: first.ask_id,
      outcome: 'deny',
      feedback: null,
      text: null,
      remember: null,
      binding: null,
    } as const;
    await expect(elsewhere.answerAsk(late)).rejects.toMatchObject({
      code: 'already_answered',
      hints: [`reins approvals show ${second.ask_id}`],
    });
    await answer(elsewhere);
    const result = await app.client.awaitRun({ run_id, full: true });
    expect(result.status).toBe('completed');
    expect(made()).toEqual(['b.txt']);
    expect(told(result)).toEqual([expect.stringContaining(changed(other))]);
    expect(asks()).toEqual([
      {
        id: first.ask_id,
        state: 'cancelled',
        args: { path: 'a.txt', content: 'x' },
        superseded_by: second.ask_id,
        verdict: expect.objectContaining({
          outcome: 'cancel',
          by: 'system:superseded',
          edited: { args: other, by: 'operator:cli' },
        }),
      },
      {
        id: second.ask_id,
        state: 'approved',
        args: other,
        superseded_by: null,
        verdict: expect.objectContaining({ outcome: 'approve', by: 'operator:cli' }),
      },
    ]);
    expect(app.rows('SELECT args, state, ask_id FROM tool_calls')).toEqual([
      { args: JSON.stringify(other), state: 'done', ask_id: second.ask_id },
    ]);
    const seen = app.rows("SELECT kind, json_extract(data, '$.args.path') AS path FROM events ORDER BY seq");
    expect(seen.filter(({ kind }) => aboutCalls.has(String(kind)))).toEqual([
      { kind: 'tool_call_pending', path: 'a.txt' },
      { kind: 'policy_decision', path: null },
      { kind: 'ask', path: 'a.txt' },
      { kind: 'verdict', path: null },
      { kind: 'tool_call_pending', path: 'b.txt' },
      { kind: 'policy_decision', path: null },
      { kind: 'ask', path: 'b.txt' },
      { kind: 'verdict', path: null },
      { kind: 'tool_call_started', path: null },
      { kind: 'tool_call', path: null },
    ]);
    const decided = app.rows("SELECT json_extract(body, '$.args.path') AS path FROM audit WHERE type = 'decision'");
    expect(decided).toEqual([{ path: 'a.txt' }, { path: 'b.txt' }]);
  });

  it('wait in a run that rests, are asked about when it goes on, and hold over a further rest', async () => {
    const runId = await suspended();
    expect(await edit(await app.open())).toMatchObject({ rests: true });
    expect(asks().map(({ state }) => state)).toEqual(['cancelled']);
    expect(await resume(runId)).toMatchObject({ status: 'suspended' });
    expect(asks().map(({ state, args }) => [state, args])).toEqual([
      ['cancelled', { path: 'a.txt', content: 'x' }],
      ['pending', other],
    ]);
    expect(made()).toEqual([]);
    await answer(await app.open());
    const result = await resume(runId);
    expect(result.status).toBe('completed');
    expect(told(result)).toEqual([expect.stringContaining(changed(other))]);
    expect([made(), readFileSync(join(app.place.workspace, 'b.txt'), 'utf8')]).toEqual([['b.txt'], 'y']);
    expect(asks()).toHaveLength(2);
  });

  it.each([
    ['', 0],
    [', also when the clock was set back in between', 86_400_000],
  ])('may be changed once more; what ran last is what the model is told%s', async (_, ms) => {
    const runId = await suspended();
    await edit(await app.open(), { path: 'c.txt', content: 'z' });
    await app.stop();
    app.change(`UPDATE asks SET created_at = created_at + ${ms}`);
    await resume(runId);
    await edit(await app.open());
    await resume(runId);
    await answer(await app.open());
    const result = await resume(runId);
    expect(told(result)).toEqual([expect.stringContaining(changed(other))]);
    expect(
      asks()
        .map(({ state }) => state)
        .sort(),
    ).toEqual(['approved', 'cancelled', 'cancelled']);
    expect(made()).toEqual(['b.txt']);
  });

  it('need no answer where the rules allow them', async () => {
    const rule = { tools: 'local_fs', action: 'allow', when: [{ key: 'path', op: 'glob', value: 'b.txt' }] };
    const runId = await suspended(writes, { default_action: 'approve', rules: [rule] });
    await edit(await app.open());
    const result = await resume(runId);
    expect([result.status, made(), asks().length]).toEqual(['completed', ['b.txt'], 1]);
    expect(told(result)).toEqual([expect.stringContaining(changed(other))]);
  });

  it('do not run where the rules deny them, and the model is told which they were', async () => {
    const rule = { tools: 'local_fs', action: 'deny', when: [{ key: 'path', op: 'glob', value: 'b.txt' }] };
    const runId = await suspended(writes, { default_action: 'approve', rules: [rule] });
    await edit(await app.open());
    const [content = ''] = told(await resume(runId));
    expect(JSON.parse(content)).toMatchObject({
      ok: false,
      error: 'denied',
      note: 'The operator changed the arguments of this call.',
      changed_arguments: other,
    });
    expect(made()).toEqual([]);
    expect(app.rows('SELECT args, state FROM tool_calls')).toEqual([{ args: JSON.stringify(other), state: 'skipped' }]);
  });

  it('are told in a result that keeps its room', async () => {
    const long = { path: 'b.txt', content: 'y'.repeat(200_000) };
    const runId = await suspended();
    await edit(await app.open(), long);
    await resume(runId);
    await answer(await app.open());
    const [content = ''] = told(await resume(runId));
    expect(content).toContain('"path":"b.txt","content":"yyyy');
    expect(content).toMatch(/\[… \d+ characters left out\]/);
    expect(Buffer.byteLength(content)).toBeLessThan(100_000);
  });

  it('hold for a call that is let run again after a crash', async () => {
    const runId = await suspended();
    await edit(await app.open());
    await resume(runId);
    await answer(await app.open());
    await app.stop();
    app.change("UPDATE tool_calls SET state = 'started', started_at = 1");
    expect(await resume(runId)).toMatchObject({ status: 'suspended' });
    expect(asks().at(-1)?.args).toEqual(other);
    const client = await app.open();
    await client.answerAsk({
      id: pending(),
      outcome: 'answer',
      feedback: null,
      text: null,
      remember: null,
      binding: null,
      treat_as: 'run_again',
    });
    expect(told(await resume(runId))).toEqual([expect.stringContaining(changed(other))]);
    expect(made()).toEqual(['b.txt']);
  });

  it('are refused where they are no change, no call, late, or about another binding', async () => {
    await suspended();
    const client = await app.open();
    const id = pending();
    await expect(edit(client, { path: 'a.txt', content: 'x' })).rejects.toMatchObject({ code: 'invalid_parameter' });
    await expect(edit(client, { path: 1 })).rejects.toMatchObject({ code: 'invalid_parameter' });
    await expect(client.editAsk({ id, args: other, binding: 'f'.repeat(64) })).rejects.toMatchObject({
      code: 'binding_changed',
    });
    expect(asks().map(({ state }) => state)).toEqual(['pending']);
    await edit(client);
    await expect(edit(client, { path: 'c.txt', content: '' }, id)).rejects.toMatchObject({ code: 'already_answered' });
    await expect(
      client.answerAsk({
        id,
        outcome: 'approve',
        feedback: null,
        text: null,
        remember: null,
        binding: null,
      }),
    ).rejects.toMatchObject({ code: 'already_answered' });
  });

  it('must not hold a known secret, nor the mask of one', async () => {
    const key = 'sk-zebra-4711-finch';
    const turns = [
      says('done', { tool: { count: 1 } }),
      calls([call('local_fs.write_file', { path: 'a.txt', content: key })], { last_user: { contains: 'secret' } }),
      calls([call('local_fs.write_file', { path: 'a.txt', content: 'x' })]),
    ];
    app = await scriptedApp({ turns, policy: asking });
    const url = 'http://127.0.0.1:9/v1';
    await app.client.addBackend({ ...noFields, name: 'far', type: 'vllm', url, key_literal: key });
    await app.run({ on_ask: 'suspend' });
    const plain = pending();
    await app.run({ on_ask: 'suspend', input: { type: 'string', value: 'secret' } });
    const masked = asks().find(({ id }) => id !== plain)?.id ?? 'none';
    await expect(edit(app.client, { path: 'b.txt', content: key }, plain)).rejects.toMatchObject({
      code: 'not_allowed',
    });
    await expect(edit(app.client, { path: 'b.txt', content: '•••(far)' }, masked)).rejects.toMatchObject({
      code: 'not_allowed',
    });
    expect(asks().map(({ state }) => state)).toEqual(['pending', 'pending']);
  });
});
