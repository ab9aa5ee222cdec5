import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { asks, done, executor, type PlanApp, planApp, plans, reply } from './support.ts';

/** A chat that drives plans (05 §7): bounded, gated, and never wider than the chat itself. */

let app: PlanApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const chatting = (...parts: object[]) => Object.assign({ system: { not: { contains: 'plan' } } }, ...parts);
const use = (tool: string, args: unknown, match: object) => asks(`plan_manager.${tool}`, args, chatting(match));
const driving = [
  use('create_plan', { goal: 'ship it' }, { role: 'user', last_user: 'plan' }),
  use('run_next_step', {}, { role: 'user', last_user: 'run' }),
  use('get_plan_status', {}, { role: 'user', last_user: 'status' }),
  use('skip_step', { ordinal: 2 }, { role: 'user', last_user: 'skip' }),
  use('retry_step', { ordinal: 9 }, { role: 'user', last_user: 'retry' }),
  reply('\u0024{tool.content}', chatting({ role: 'tool' })),
];
const allowed = { default_action: 'allow', rules: [{ tools: 'plan_manager', action: 'allow' }] };

const open = async (turns: readonly unknown[], policy: unknown = allowed, on = true): Promise<PlanApp> => {
  app = await planApp({ turns: [...driving, ...turns], policy });
  if (on) await app.client.setConfig({ key: 'plan-manager', value: 'true' });
  return app;
};
/** What the model was told by the tool. */
const told = async (text: string, over: object = {}): Promise<Record<string, unknown>> => {
  const { run_id } = (await app?.chat(text, { on_ask: 'ask', ...over })) ?? { run_id: '' };
  const result = await app?.client.awaitRun({ run_id });
  return JSON.parse(result?.text ?? '{}') as Record<string, unknown>;
};

describe('plan_manager', () => {
  test('is not there unless the operator has switched it on, and never where nobody sits in front of it', async () => {
    const { chat } = await open([plans(['a'])], allowed, false);
    expect((await chat('status', { on_ask: 'ask' })).tools.join()).not.toContain('plan_manager');
    await app?.client.setConfig({ key: 'plan-manager', value: 'true' });
    expect((await chat('status', { on_ask: 'ask' })).tools.join()).toContain('plan_manager.run_next_step');
    expect((await chat('status', { on_ask: 'deny' })).tools.join()).not.toContain('plan_manager');
    expect((await app?.start({ on_ask: 'ask' }))?.tools.join()).not.toContain('plan_manager');
  });

  test('makes a plan, runs its steps as children of the chat, and tells how they stand', async () => {
    const { rows, show } = await open([plans(['one', 'two']), ...done]);
    expect(await told('status')).toEqual({ status: 'no_active_plan' });
    expect(await told('plan')).toMatchObject({
      goal: 'ship it',
      steps: [
        { ordinal: 1, description: 'one' },
        { ordinal: 2, description: 'two' },
      ],
    });
    expect(await told('run')).toEqual({ ordinal: 1, description: 'one', status: 'completed', result: 'It was done.' });
    expect(await told('status')).toMatchObject({
      status: 'active',
      steps: [{ status: 'completed' }, { status: 'pending' }],
    });
    expect(await told('skip')).toEqual({ ordinal: 2, status: 'skipped' });
    expect(await told('run')).toEqual({ status: 'done', message: 'All steps are complete.' });
    expect(await told('retry')).toMatchObject({ error: 'not_found' });
    expect((await show()).status).toBe('completed');
    expect(
      rows(`SELECT c.kind, p.kind AS parent FROM runs c JOIN runs p ON p.id = c.parent_run_id ORDER BY c.created_at`),
    ).toEqual([
      { kind: 'plan_new', parent: 'chat' },
      { kind: 'plan_step', parent: 'chat' },
      { kind: 'step_summary', parent: 'plan_step' },
    ]);
  });

  test('starts a step only where a rule allows it, whatever the default is', async () => {
    const { chat, seen, client, plan, show } = await open(done, { default_action: 'allow', rules: [] });
    await plan('g', { from: '- one' });
    const { run_id } = await chat('run', { on_ask: 'ask' });
    const ask = await seen(run_id, 'ask');
    expect(ask).toMatchObject({ tools: 'plan_manager', tool: 'run_next_step' });
    expect((await show()).steps[0]).toMatchObject({ status: 'pending' });
    await client.answerAsk({
      id: ask.ask_id,
      outcome: 'deny',
      feedback: null,
      text: null,
      remember: null,
      binding: null,
    });
    await client.awaitRun({ run_id });
    expect((await show()).steps[0]).toMatchObject({ status: 'pending' });
  });

  test('starts the step of the plan that was asked about, and asks anew where another one is active by then', async () => {
    const { chat, client, plan } = await open(done, { default_action: 'allow', rules: [] });
    const first = await plan('first goal', { from: '- read\n- write' });
    const second = await plan('second goal', { from: '- delete' });
    await client.switchPlan({ plan: first.name });
    const { run_id } = await chat('run', { on_ask: 'ask' });
    const asked: string[] = [];
    for await (const batch of client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
      for (const event of batch) {
        if (event.kind !== 'ask') continue;
        asked.push(event.ask_id);
        if (asked.length === 1) await client.switchPlan({ plan: second.name });
        await client.answerAsk({
          id: event.ask_id,
          outcome: 'approve',
          feedback: null,
          text: null,
          remember: null,
          binding: null,
        });
      }
    }
    const asks = await Promise.all(asked.map((id) => client.showAsk({ id })));
    expect(
      asks.map(({ summary, preview }) => [summary, preview.anew?.edited === false ? preview.anew.why : null]),
    ).toEqual([
      [`${first.name}: run step 1, read`, null],
      [`${second.name}: run step 1, delete`, ['what it is about is another one']],
    ]);
    const states = async (name: string) => (await client.showPlan({ plan: name })).steps.map(({ status }) => status);
    expect([await states(first.name), await states(second.name)]).toEqual([['pending', 'pending'], ['completed']]);
  });

  test('is still there for a chat that rested and goes on where nobody sits in front of it', async () => {
    const { chat, client, plan, seen, ground } = await open(done, { default_action: 'allow', rules: [] });
    await plan('g', { from: '- one' });
    const place = await ground();
    const { run_id } = await chat('run', { on_ask: 'ask' });
    const { ask_id } = await seen(run_id, 'ask');
    await place.rest(10_000);
    await client.answerAsk({
      id: ask_id,
      outcome: 'approve',
      feedback: null,
      text: null,
      remember: null,
      binding: null,
    });
    await client.resumeRun({ run_id, accept_changed_chain: false, on_ask: 'suspend', timeout_ms: 0 });
    const { text } = await client.awaitRun({ run_id });
    expect(JSON.parse(text)).toEqual({ ordinal: 1, description: 'one', status: 'completed', result: 'It was done.' });
  });

  test('gives a step no shell, and no plans of its own', async () => {
    const { rows, plan } = await open(done);
    await plan('g', { from: '- one' });
    await told('run', { shell: true });
    const [event] = rows(
      'SELECT data FROM events WHERE kind = \'chain_started\' AND data LIKE \'%"run_kind":"plan_step"%\'',
    );
    expect(String(event?.['data'])).toContain('local_fs.write_file');
    expect(String(event?.['data'])).not.toMatch(/local_shell|plan_manager/);
  });

  test('takes what a step uses from the bounds of the chat', async () => {
    const { rows, plan } = await open([asks('local_fs.list_dir', {}, executor)]);
    await plan('g', { from: '- one' });
    expect(await told('run', { max_tool_calls: 3 })).toMatchObject({ status: 'failed' });
    // One call of the chat, two of the step: then both are at their end.
    expect(
      rows("SELECT count(*) AS n FROM tool_calls WHERE started_at IS NOT NULL AND tools <> 'plan_summary'"),
    ).toEqual([{ n: 3 }]);
  });

  test('SEM-012: gives a run that it starts nothing that the chat may not have: no shell, no denied tool, no other model', async () => {
    const model = (name: string) => ({ name, context: 100_000, capabilities: ['chat', 'tools'] });
    app = await planApp({
      models: [model('m'), model('m2')],
      turns: [
        ...driving,
        plans(['one']),
        asks('local_shell.local_shell', { command: 'touch', args: ['made'] }, { ...executor, role: 'user' }),
        asks('local_fs.write_file', { path: 'made', content: 'x' }, { ...executor, tool: { count: 1 } }),
        ...done,
      ],
      policy: {
        ...allowed,
        rules: [{ tools: 'local_shell', action: 'deny' }, { tool: 'write_file', action: 'deny' }, ...allowed.rules],
        compute: { modelAllowlist: ['m'] },
      },
    });
    const { client, rows, place } = app;
    await client.setConfig({ key: 'plan-manager', value: 'true' });
    await client.setConfig({ key: 'planner-model', value: 'm2' });
    expect(await told('plan')).toMatchObject({ ok: false, message: expect.stringContaining('m2') });
    await app.plan('g', { from: '- one' });
    await told('run');
    const made = rows(
      "SELECT tools, state, json_extract(record, '$.action') AS action FROM tool_calls WHERE tools LIKE 'local%' ORDER BY started_at",
    );
    expect(made).toEqual([
      { tools: 'local_shell', state: 'skipped', action: null },
      { tools: 'local_fs', state: 'skipped', action: 'deny' },
    ]);
    expect(existsSync(join(place.workspace, 'made'))).toBe(false);
  });

  test('says that a step waits, and the chat goes on', async () => {
    const policy = {
      default_action: 'allow',
      rules: [
        { tools: 'plan_manager', action: 'allow' },
        { tool: 'write_file', action: 'approve' },
      ],
    };
    const { plan, client } = await open([asks('local_fs.write_file', { path: 'a', content: 'b' }, executor)], policy);
    await plan('g', { from: '- one' });
    expect(await told('run')).toMatchObject({ ordinal: 1, status: 'suspended' });
    expect(await told('run')).toMatchObject({ error: 'busy' });
    expect(
      (await client.listAsks({ state: 'pending', kind: null, session: null, mission: null, by: null, limit: 9 })).total,
    ).toBe(1);
  });
});
