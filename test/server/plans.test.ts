import { afterEach, expect, test } from 'vitest';
import type { PlanShown, PlanningShown } from '../../src/client/routes/plans.ts';
import { done, executor, asks, plans, planner, reply, summary, summariser } from '../plans/support.ts';
import { type Served, served } from './served.ts';

/** Plans over HTTP (09 §6.5): planned, run step by step or one after the other, stopped. */

let server: Served | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const open = async (turns: readonly unknown[], policy: unknown = { default_action: 'allow', rules: [] }) => {
  const opened = await served({ turns, policy });
  server = opened;
  await opened.app.client.setConfig({ key: 'default-model', value: 'm' });
  await opened.app.client.setConfig({ key: 'default-provider', value: 'scripted' });
  return opened;
};
const errorOf = ({ status, json }: { status: number; json: Readonly<Record<string, unknown>> }) => [
  status,
  (json['error'] as { code?: string } | undefined)?.code,
];

/** Reads a plan until it is as it should be, woken by the feed. */
async function until(opened: Served, is: (plan: PlanShown) => boolean): Promise<PlanShown> {
  const stop = new AbortController();
  const look = () => opened.client.getPlan({ name: 'active' }) as Promise<PlanShown>;
  try {
    const entries = opened.client.watchFeed({ after: 0, signal: stop.signal });
    for await (const _ of entries) {
      const plan = await look();
      if (is(plan)) return plan;
    }
    throw new Error('the feed ended');
  } finally {
    stop.abort();
  }
}

async function planned(opened: Served, run_id: string): Promise<PlanningShown> {
  await opened.app.client.awaitRun({ run_id });
  for (;;) {
    const state = (await opened.client.getPlanning({ run_id })) as PlanningShown;
    if (state.state !== 'running') return state;
    await opened.app.client.awaitRun({ run_id: state.run_id });
  }
}

test('a planner makes a plan, whose name its run and what became of the planning then say', async () => {
  const opened = await open([plans(['one', 'two'])]);
  const started = await opened.call('POST', '/api/plans', { body: { goal: 'ship it' } });
  expect(started.status).toBe(202);
  const run_id = String(started.json['run_id']);
  const state = await planned(opened, run_id);
  expect(state).toMatchObject({ state: 'done', phase: 'plan', run_id, added: 2, error: null });
  const plan = await opened.call('GET', '/api/plans/active');
  expect(plan.json).toMatchObject({ name: state.plan, goal: 'ship it', total: 2, done: 0, auto: false });
  expect(plan.json['markdown']).toContain('- [ ] 1. one');
  expect((await opened.call('GET', `/api/runs/${run_id}`)).json['plan']).toBe(state.plan);
  const listed = await opened.call('GET', '/api/plans');
  expect(listed.json).toMatchObject({ items: [{ name: state.plan, active: true }], next_cursor: null });
  expect(listed.text).not.toContain('"steps"');
});

test('an answer that is no plan twice leaves nothing but the reason', async () => {
  const opened = await open([reply('I would rather not.', planner)]);
  const started = await opened.call('POST', '/api/plans', { body: { goal: 'ship it' } });
  const state = await planned(opened, String(started.json['run_id']));
  expect(state).toMatchObject({ state: 'failed', phase: 'repair', plan: null });
  expect(state.error).toMatchObject({ code: 'task_error', answer: 'I would rather not.' });
  expect(errorOf(await opened.call('GET', '/api/plans/active'))).toEqual([404, 'not_found']);
  expect(errorOf(await opened.call('GET', '/api/plans/planning/run_none'))).toEqual([404, 'not_found']);
});

test('steps that are given need no model, and one is run at a time', async () => {
  const opened = await open(done);
  const made = await opened.call('POST', '/api/plans', { body: { goal: 'g', steps: ['one', 'two'] } });
  expect([made.status, made.json['total']]).toEqual([201, 2]);
  const next = await opened.call('POST', '/api/plans/active/next');
  expect([next.status, next.json['ordinal']]).toEqual([202, 1]);
  await opened.app.client.awaitRun({ run_id: String(next.json['run_id']) });
  expect((await opened.call('GET', '/api/plans/active')).json).toMatchObject({
    done: 1,
    steps: [{ status: 'completed' }, { status: 'pending', run_id: null }],
  });
  const skipped = await opened.call('POST', '/api/plans/active/steps/2/skip');
  expect([skipped.status, skipped.json['status']]).toEqual([200, 'completed']);
  expect(errorOf(await opened.call('POST', '/api/plans/active/next'))).toEqual([409, 'conflict']);
  expect(errorOf(await opened.call('POST', '/api/plans/active/steps/9/retry'))).toEqual([404, 'not_found']);
  expect((await opened.call('POST', '/api/plans/active/steps/2/retry')).json['status']).toBe('active');
  expect(errorOf(await opened.call('POST', '/api/plans/active/next', { body: { shell: true } }))).toEqual([
    403,
    'shell_disabled',
  ]);
});

test('steps that cannot be taken are named as the body names them', async () => {
  const opened = await open(done);
  const { status, json } = await opened.call('POST', '/api/plans', { body: { goal: 'g', steps: [' '] } });
  expect([status, json['error']]).toEqual([
    400,
    {
      message: 'The steps cannot be read: step 1 is empty.',
      type: 'invalid_request_error',
      code: 'invalid_parameter',
      param: 'steps',
    },
  ]);
});

test('with auto the steps follow one another to the end', async () => {
  const opened = await open(done);
  await opened.call('POST', '/api/plans', { body: { goal: 'g', steps: ['one', 'two', 'three'] } });
  const next = await opened.call('POST', '/api/plans/active/next', { body: { auto: true } });
  expect(next.json['ordinal']).toBe(1);
  const plan = await until(opened, ({ status }) => status === 'completed');
  expect(plan.steps.map(({ status, attempts }) => [status, attempts])).toEqual([
    ['completed', 1],
    ['completed', 1],
    ['completed', 1],
  ]);
});

test('auto splits a step that has no room, and goes on with its parts', async () => {
  const full = { error: { class: 'context_exceeded', status: 400 } };
  const opened = await open([
    reply(JSON.stringify(['first half', 'second half']), planner),
    // What follows is told of the steps before it.
    reply('Done.', { ...executor, any: 'first half' }),
    { match: { ...executor, any: 'the big one' }, reply: full },
    ...done,
  ]);
  await opened.call('POST', '/api/plans', { body: { goal: 'g', steps: ['the big one', 'the rest'] } });
  await opened.call('POST', '/api/plans/active/next', { body: { auto: true } });
  const plan = await until(opened, ({ status }) => status === 'completed');
  expect(plan.steps.map(({ description, status, note }) => [description, status, note])).toEqual([
    ['the big one', 'skipped', 'split into 2-3'],
    ['first half', 'completed', null],
    ['second half', 'completed', null],
    ['the rest', 'completed', null],
  ]);
});

const asking = [
  asks('local_fs.write_file', { path: 'a.txt', content: 'x' }, { ...executor, role: 'user' }),
  reply('Written.', { ...executor, role: 'tool' }),
  reply(summary(), summariser),
];
const gated = {
  default_action: 'allow',
  rules: [{ tools: 'local_fs', tool: 'write_file', action: 'approve' }],
};

test('auto waits for an answer and goes on when another process gives it', async () => {
  const opened = await open(asking, gated);
  await opened.call('POST', '/api/plans', { body: { goal: 'g', steps: ['one', 'two'] } });
  await opened.call('POST', '/api/plans/active/next', { body: { auto: true } });
  const elsewhere = await opened.app.open();
  const waiting = await until(opened, ({ steps }) => steps[0]?.ask_id != null);
  expect(waiting.auto).toBe(true);
  await elsewhere.answerAsk({
    id: waiting.steps[0]?.ask_id ?? '',
    outcome: 'approve',
    feedback: null,
    text: null,
    remember: null,
    binding: null,
  });
  const plan = await until(opened, ({ status }) => status === 'completed');
  expect(plan.steps.map(({ status }) => status)).toEqual(['completed', 'completed']);
});

test('stop ends auto and cancels the step, which is pending again', async () => {
  const opened = await open(asking, gated);
  await opened.call('POST', '/api/plans', { body: { goal: 'g', steps: ['one', 'two'] } });
  await opened.call('POST', '/api/plans/active/next', { body: { auto: true } });
  await until(opened, ({ steps }) => steps[0]?.ask_id != null);
  expect(
    errorOf(await opened.call('DELETE', `/api/plans/${(await opened.client.getPlan({ name: 'active' })).name}`)),
  ).toEqual([409, 'in_use']);
  const stopped = await opened.call('POST', '/api/plans/active/stop');
  expect(stopped.json).toMatchObject({ auto: false, steps: [{ status: 'pending' }, { status: 'pending' }] });
  const name = String(stopped.json['name']);
  expect((await opened.call('DELETE', `/api/plans/${name}`)).status).toBe(204);
  expect((await opened.call('POST', '/api/plans/clean')).json).toEqual({ removed: 0 });
});

test('usage is summed by day and model', async () => {
  const opened = await open([reply('Hello.', {})]);
  await opened.app.client.awaitRun({ run_id: await opened.run() });
  await opened.app.client.awaitRun({ run_id: await opened.run() });
  const usage = await opened.call('GET', '/api/usage?days=7');
  expect(usage.status).toBe(200);
  expect(usage.json['items']).toMatchObject([{ model: 'm', provider: 'scripted', runs: 2, turns: 2, asks: 0 }]);
  const [row] = usage.json['items'] as { output_tokens: number; total_ms: number; day: string }[];
  expect(row?.output_tokens).toBeGreaterThan(0);
  expect(row?.day).toBe(usage.json['to']);
  expect(errorOf(await opened.call('GET', '/api/usage?days=0'))).toEqual([400, 'invalid_parameter']);
});
