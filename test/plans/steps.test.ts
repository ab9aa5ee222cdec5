import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { playSteps } from '../../src/client/play-plan.ts';
import {
  asks,
  done,
  executor,
  type PlanApp,
  planApp,
  planner,
  plans,
  repairer,
  reply,
  summariser,
  summary,
} from './support.ts';

let app: PlanApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});
const open = async (turns: readonly unknown[], over: { policy?: unknown; chain?: unknown } = {}): Promise<PlanApp> => {
  app = await planApp({ turns, ...over });
  return app;
};
const failing = (error: object) => ({ match: executor, reply: { error } });
const approveWrites = {
  default_action: 'allow',
  rules: [{ tools: 'local_fs', tool: 'write_file', action: 'approve' }],
};
const steps = (count: number) => Array.from({ length: count }, (_, index) => `- step ${index + 1}`).join('\n');

describe('the next step', () => {
  test('is one step: claimed, executed, summed up', async () => {
    const { plan, step, show, rows } = await open(done);
    await plan('g', { from: steps(2) });
    const outcome = await step();
    expect(outcome).toMatchObject({ exit_code: 0, stopped_by: 'step', can_split: false });
    expect(outcome.step).toMatchObject({
      ordinal: 1,
      status: 'completed',
      interrupted: false,
      attempts: 1,
      result_text: 'Done.',
      summary: { outcome: 'success', summary: 'It was done.', handover_for_next: 'Go on.' },
      summary_error: null,
    });
    expect((await show()).steps[1]).toMatchObject({ status: 'pending', attempts: 0, run_id: null });
    expect(
      rows(
        'SELECT kind, status, parent_run_id IS NOT NULL AS child, mission_id = plan_id AS ours FROM runs ORDER BY created_at',
      ),
    ).toEqual([
      { kind: 'plan_step', status: 'completed', child: 0, ours: 1 },
      { kind: 'step_summary', status: 'completed', child: 1, ours: 1 },
    ]);
  });

  test('keeps its run until what came of it is taken in, whatever is pruned meanwhile', async () => {
    const { plan, step, show, change, client, rows } = await open(done);
    await plan('g', { from: steps(2) });
    await step();
    // As the process left it that was killed between the end of the run and the step.
    change("UPDATE plan_steps SET status = 'running', result_text = NULL WHERE ordinal = 1");
    const [run] = rows("SELECT id FROM runs WHERE kind = 'plan_step'");
    await expect(client.deleteRun({ run_id: String(run?.['id']) })).rejects.toMatchObject({ code: 'in_use' });
    await client.pruneRuns({ before: Date.now() + 1 });
    expect(rows('SELECT kind FROM runs')).toEqual([{ kind: 'plan_step' }]);
    expect((await show()).steps[0]).toMatchObject({ status: 'completed', result_text: 'Done.', attempts: 1 });
    expect(await client.pruneRuns({ before: Date.now() + 1 })).toMatchObject({ removed: 1 });
  });

  test('hands over to the one after it', async () => {
    const { plan, step, texts } = await open([
      reply('Wrote a.ts.', executor),
      reply(summary({ summary: 'Wrote a.ts; tests pass.', handover_for_next: 'Use a.ts.' }), summariser),
    ]);
    await plan('g', { from: steps(3) });
    await step();
    await step();
    const brief = texts('plan_step').filter((text) => text.startsWith('# Goal'))[1] ?? '';
    expect(brief).toContain('# All steps\n1. step 1\n2. step 2\n3. step 3\n');
    expect(brief).toContain('# Done so far\n1. done: Wrote a.ts; tests pass.\n');
    expect(brief).toContain('# Note from the step before\nUse a.ts.\n');
    expect(brief).toContain('# Your step (2 of 3)\nstep 2\n');
    expect(brief).toContain('# The step after yours, for orientation only\nstep 3');
  });

  test('offers the shell only when the operator says so', async () => {
    const { plan, step, rows } = await open(done);
    await plan('g', { from: steps(2) });
    await step();
    await step({ shell: true });
    const offered = rows(
      "SELECT data LIKE '%local_shell.local_shell%' AS shell FROM events WHERE kind = 'chain_started' AND data LIKE '%\"run_kind\":\"plan_step\"%' ORDER BY cursor",
    );
    expect(offered).toEqual([{ shell: 0 }, { shell: 1 }]);
  });

  test('is the last one: the plan is completed, and nothing is open', async () => {
    const { plan, step, next, show } = await open(done);
    await plan('g', { from: steps(1) });
    expect(await step()).toMatchObject({ exit_code: 0, stopped_by: 'done', plan: { status: 'completed', done: 1 } });
    expect(await next()).toBeNull();
    expect((await show()).completed_at).not.toBeNull();
  });

  test('without a plan says what to type', async () => {
    const { next } = await open([]);
    await expect(next()).rejects.toMatchObject({ code: 'not_found', hints: ['reins plan new "<goal>"'] });
  });

  test('of a plan that was put aside is refused', async () => {
    const { plan, next, client } = await open([]);
    const made = await plan('g', { from: steps(1) });
    await client.archivePlan({ plan: null, force: false });
    await expect(next({ plan: made.name })).rejects.toThrow(`Plan "${made.name}" is archived.`);
  });

  test('plans of two names go on beside each other', async () => {
    const { plan, step, client } = await open(done);
    const first = await plan('first', { from: steps(1) });
    await plan('second', { from: steps(1) });
    expect(await step({ plan: first.name })).toMatchObject({ plan: { name: first.name, active: false } });
    expect(await client.listPlans({ status: 'completed' })).toMatchObject([{ name: first.name }]);
  });
});

describe('a step that fails', () => {
  const classes: readonly (readonly [string, unknown, string, number, string])[] = [
    ['says BLOCKED:', reply('BLOCKED: no network', executor), 'blocked', 1, 'no network'],
    ['has no key for its provider', failing({ class: 'auth', status: 401, message: 'no key' }), 'transient', 7, ''],
    ['has no room', failing({ class: 'context_exceeded', status: 400 }), 'capacity', 1, ''],
  ];
  test.each(classes)(
    '%s',
    async (_name, turn, failure_class, exit_code, text) => {
      const { plan, step, show } = await open([turn, reply(summary(), summariser)]);
      await plan('g', { from: steps(2) });
      const outcome = await step();
      expect(outcome).toMatchObject({ exit_code, stopped_by: 'failed', step: { status: 'failed', failure_class } });
      expect(outcome.step.failure_text).toContain(text);
      expect((await show()).status).toBe('active');
    },
    30_000,
  );

  test('blocks the plan until it is retried, and then gets the failure told', async () => {
    const { plan, step, next, client, texts } = await open([
      reply('Worked.', { ...executor, last_user: { contains: 'the disk is gone' } }),
      reply('BLOCKED: the disk is gone', executor),
      done[1],
    ]);
    await plan('g', { from: steps(2) });
    await step();
    const before = texts('plan_step').length;
    await expect(next()).rejects.toMatchObject({
      code: 'in_use',
      message: 'Step 1 of 2 has failed (blocked): the disk is gone',
      hints: ['reins plan retry 1', 'reins plan skip 1', 'reins plan replan'],
    });
    expect(texts('plan_step')).toHaveLength(before);
    const { plan: reset, was_pending } = await client.retryStep({ plan: null, ordinal: 1 });
    expect(was_pending).toBe(false);
    expect(reset.steps[0]).toMatchObject({
      status: 'pending',
      failure_class: null,
      result_text: null,
      last_failure_summary: 'the disk is gone',
    });
    expect((await step()).step).toMatchObject({ status: 'completed', attempts: 2, result_text: 'Worked.' });
  });

  test('of another plan than the active one is told with its name: the same number there is another step', async () => {
    const { plan, step, next } = await open([reply('BLOCKED: the disk is gone', executor)]);
    const { name } = await plan('first', { from: steps(1) });
    await plan('second', { from: steps(1) });
    await step({ plan: name });
    await expect(next({ plan: name })).rejects.toMatchObject({
      hints: ['retry 1', 'skip 1', 'replan'].map((words) => `reins plan ${words} --plan ${name}`),
    });
  });

  test('is blocked by what its summary says', async () => {
    const { plan, step } = await open([
      reply('I could not find the file.', executor),
      reply(summary({ outcome: 'blocked', summary: 'Nothing was done: the file is missing.' }), summariser),
    ]);
    await plan('g', { from: steps(1) });
    expect((await step()).step).toMatchObject({
      status: 'failed',
      failure_class: 'blocked',
      failure_text: 'Nothing was done: the file is missing.',
    });
  });

  test('by its time limit is transient, with the exit of a time limit', async () => {
    const { plan, step, options } = await open([{ match: executor, reply: { hang: true } }]);
    await plan('g', { from: steps(2) });
    expect(await step({ run: { ...options, timeout_ms: 1200 } })).toMatchObject({
      exit_code: 124,
      stopped_by: 'timeout',
      step: { status: 'failed', failure_class: 'transient' },
    });
  });

  test('by a bound says so', async () => {
    const { plan, step, options } = await open([asks('local_fs.list_dir', {}, executor), done[1]]);
    await plan('g', { from: steps(1) });
    expect(await step({ run: { ...options, max_tool_calls: 1 } })).toMatchObject({
      exit_code: 6,
      stopped_by: 'bound',
      step: { status: 'failed', failure_class: 'bound' },
    });
  });

  test('for lack of room is split once, in its place', async () => {
    const { plan, step, client, options, show } = await open([
      reply(JSON.stringify(['first half', 'second half']), {
        ...planner,
        last_user: { contains: 'too large to be carried out' },
      }),
      failing({ class: 'context_exceeded', status: 400 }),
      done[1],
    ]);
    await plan('g', { from: steps(3) });
    expect(await step()).toMatchObject({ can_split: true });
    let split = await client.splitStep({ plan: null, ordinal: 1, shell: false, run: options });
    if (split.kind === 'run') split = await client.planningStep({ run_id: split.run.run_id });
    expect(
      (await show()).steps.map(({ ordinal, description, status, note }) => [ordinal, description, status, note]),
    ).toEqual([
      [1, 'step 1', 'skipped', 'split into 2-3'],
      [2, 'first half', 'pending', null],
      [3, 'second half', 'pending', null],
      [4, 'step 2', 'pending', null],
      [5, 'step 3', 'pending', null],
    ]);
    // A part that has no room either is not split again.
    expect(await step()).toMatchObject({ can_split: false, step: { failure_class: 'capacity' } });
    await expect(client.splitStep({ plan: null, ordinal: 2, shell: false, run: options })).rejects.toThrow(
      'cannot be split',
    );
  }, 30_000);

  test('is not split into itself: the planner is asked once more, and then it stands as it failed', async () => {
    const { plan, step, client, options, show } = await open([
      reply(JSON.stringify(['look first', ' step 1 ']), {
        ...planner,
        last_user: { contains: 'too large to be carried out' },
      }),
      failing({ class: 'context_exceeded', status: 400 }),
    ]);
    await plan('g', { from: steps(2) });
    await step();
    const first = await client.splitStep({ plan: null, ordinal: 1, shell: false, run: options });
    if (first.kind !== 'run') throw new Error('no run');
    const second = await client.planningStep({ run_id: first.run.run_id });
    if (second.kind !== 'run') throw new Error('not asked once more');
    await expect(client.planningStep({ run_id: second.run.run_id })).rejects.toThrow(
      'one of its steps is the step that is to be split, unchanged',
    );
    expect((await show()).steps.map(({ status }) => status)).toEqual(['failed', 'pending']);
  });

  test('is split in the time that is left, or not at all', async () => {
    const { plan, client, options, rows, show } = await open([
      {
        match: { ...executor, last_user: { contains: '(1 of 2)' } },
        reply: { first_delay_ms: 600, error: { class: 'context_exceeded', status: 400 } },
      },
      plans(['first half', 'second half']),
      ...done,
    ]);
    const played = (timeout_ms: number) =>
      playSteps(
        client,
        { plan: null, shell: false, run: { ...options, timeout_ms } },
        {
          step: async ({ run: { run_id } }) => (await client.awaitRun({ run_id })).duration_ms,
          planning: async ({ run: { run_id } }) => (await client.awaitRun({ run_id })).exit_code,
          ended: async () => {},
          split: async () => {},
          none: () => {},
          goesOn: () => true,
        },
      );
    await plan('short of time', { from: steps(2) });
    expect(await played(1500)).toMatchObject({ stopped_by: 'timeout', exit_code: 124 });
    expect((await show()).steps.map(({ status }) => status)).toEqual(['failed', 'pending']);
    await plan('g', { from: steps(2) });
    expect(await played(20_000)).toMatchObject({ stopped_by: 'done', exit_code: 0 });
    const [split] = rows("SELECT json_extract(options, '$.timeout_ms') AS ms FROM runs WHERE kind = 'plan_replan'");
    expect(split?.['ms']).toBeLessThanOrEqual(19_400);
  });
});

describe('the summariser', () => {
  test('that answers prose twice leaves the words of the step itself', async () => {
    const { client, plan, step, texts } = await open([
      reply('I wrote the helper.', executor),
      reply('Well, it went fine.', summariser),
      reply('Really, it did.', repairer),
    ]);
    await plan('g', { from: steps(2) });
    const first = await step();
    expect(first.step).toMatchObject({ status: 'completed', summary: null, result_text: 'I wrote the helper.' });
    expect(first.step.summary_error).toContain('holds no JSON object');
    await step();
    expect(texts('plan_step').filter((text) => text.startsWith('# Goal'))[1]).toContain(
      '# Note from the step before\nI wrote the helper.',
    );
    // They are what a second attempt is told, also after the step was left out meanwhile.
    await client.retryStep({ plan: null, ordinal: 1 });
    await client.skipStep({ plan: null, ordinal: 1 });
    const again = await client.retryStep({ plan: null, ordinal: 1 });
    expect(again.plan.steps[0]?.last_failure_summary).toBe('I wrote the helper.');
    await expect(client.retryStep({ plan: null, ordinal: 0 })).rejects.toThrow('has no step 0: it has steps 1 to 2');
  });

  test('that fails never fails the step', async () => {
    const { plan, step } = await open([
      reply('Done.', executor),
      { match: summariser, reply: { error: { class: 'auth', status: 401 } } },
    ]);
    await plan('g', { from: steps(1) });
    const { step: ended, exit_code } = await step();
    expect([exit_code, ended.status, ended.summary]).toEqual([0, 'completed', null]);
    expect(ended.summary_error).not.toBeNull();
  });

  test('is not gated by rules, and is on the record', async () => {
    const deny = { default_action: 'deny', rules: [] };
    const { plan, step, rows } = await open(done, { policy: deny });
    await plan('g', { from: steps(1) });
    expect((await step()).step.summary).toMatchObject({ outcome: 'success' });
    expect(rows("SELECT tools, tool, state, json_extract(record, '$.reason') AS reason FROM tool_calls")).toEqual([
      { tools: 'plan_summary', tool: 'persist', state: 'done', reason: 'internal' },
    ]);
    expect(rows("SELECT 1 FROM audit WHERE body LIKE '%plan_summary%'")).not.toEqual([]);
  });
});

describe('a step that asks', () => {
  const writing = [
    reply('Written.', { ...executor, role: 'tool' }),
    asks('local_fs.write_file', { path: 'a.txt', content: 'x' }, executor),
    done[1],
  ];
  const waiting = async (): Promise<PlanApp & { readonly askId: string }> => {
    const opened = await open(writing, { policy: approveWrites });
    await opened.plan('g', { from: steps(2) });
    const { step } = await opened.step();
    return { ...opened, askId: step.ask_id ?? '' };
  };

  test('waits; the next call of next says for what', async () => {
    const { next, show, askId } = await waiting();
    expect((await show()).steps[0]).toMatchObject({ status: 'waiting', interrupted: false, ask_id: askId });
    await expect(next()).rejects.toMatchObject({
      code: 'run_suspended',
      hints: [`reins approvals respond ${askId} --approve`, 'reins plan skip 1'],
    });
  });

  test('says what kind of answer it waits for', async () => {
    const spent = { default_action: 'allow', rules: [], compute: { maxTurns: 1, onExhausted: 'ask' } };
    const { plan, step, next, client } = await open(writing, { policy: spent });
    await plan('g', { from: steps(1) });
    const { step: stopped, respond } = await step();
    expect([stopped.status, stopped.ask_kind]).toEqual(['waiting', 'budget']);
    expect(respond).toBe(`reins approvals respond ${stopped.ask_id} --approve`);
    const why = 'Step 1 waits for a decision about a spent bound';
    await expect(next()).rejects.toThrow(`${why}: ${stopped.ask_id}`);
    await expect(client.retryStep({ plan: null, ordinal: 1 })).rejects.toThrow(`${why}.`);
  });

  test('is completed by whoever goes on with its run, and no other step is begun', async () => {
    const { client, open: another, show, askId, rows, place } = await waiting();
    const elsewhere = await another();
    await elsewhere.answerAsk({
      id: askId,
      outcome: 'approve',
      feedback: null,
      text: null,
      remember: null,
      binding: null,
    });
    const [step] = (await client.showPlan({ plan: null })).steps;
    const run = await elsewhere.resumeRun({
      run_id: step?.run_id ?? '',
      accept_changed_chain: false,
      on_ask: 'suspend',
      timeout_ms: 0,
    });
    expect(run.plan).toMatchObject({ ordinal: 1 });
    await elsewhere.awaitRun({ run_id: run.run_id });
    expect((await show()).steps.map(({ status, attempts }) => [status, attempts])).toEqual([
      ['completed', 1],
      ['pending', 0],
    ]);
    expect(existsSync(join(place.workspace, 'a.txt'))).toBe(true);
    expect(rows("SELECT count(*) AS n FROM tool_calls WHERE tool = 'write_file'")).toEqual([{ n: 1 }]);
  });

  test('has failed when its run could not go on five times, and can be tried again', async () => {
    const { client, next, show, change, askId } = await waiting();
    await client.answerAsk({
      id: askId,
      outcome: 'approve',
      feedback: null,
      text: null,
      remember: null,
      binding: null,
      no_resume: true,
    });
    change("UPDATE run_state SET payload_sha256 = 'other', attempts = 3");
    await expect(next()).rejects.toMatchObject({ message: expect.stringMatching(/^attempt 4 of 5 to go on: /) });
    await expect(next()).rejects.toMatchObject({ message: expect.stringMatching(/^the last of 5 attempts to go on/) });
    await expect(next()).rejects.toMatchObject({
      code: 'in_use',
      hints: expect.arrayContaining(['reins plan retry 1']),
    });
    expect((await show()).steps[0]).toMatchObject({
      status: 'failed',
      failure_text: expect.stringContaining('its checkpoint has another digest'),
    });
  });

  test('goes on with next, once it has its answer', async () => {
    const { client, step, askId } = await waiting();
    await client.answerAsk({
      id: askId,
      outcome: 'deny',
      feedback: 'not there',
      text: null,
      remember: null,
      binding: null,
      no_resume: true,
    });
    expect((await step()).step).toMatchObject({ ordinal: 1, status: 'completed', attempts: 1 });
  });

  test('is left out: its run is cancelled, and so is its ask', async () => {
    const { client, askId, rows, place } = await waiting();
    const plan = await client.skipStep({ plan: null, ordinal: 1 });
    expect(plan.steps[0]).toMatchObject({ status: 'skipped' });
    expect((await client.showAsk({ id: askId })).state).toBe('cancelled');
    expect(rows("SELECT status FROM runs WHERE kind = 'plan_step'")).toEqual([{ status: 'cancelled' }]);
    expect(existsSync(join(place.workspace, 'a.txt'))).toBe(false);
  });

  test('is not retried, replanned or deleted, but by force', async () => {
    const { client, options, askId } = await waiting();
    const { name } = await client.showPlan({ plan: null });
    await expect(client.retryStep({ plan: null, ordinal: 1 })).rejects.toMatchObject({ code: 'in_use' });
    await expect(client.replan({ plan: null, instruction: '', shell: false, run: options })).rejects.toMatchObject({
      code: 'in_use',
    });
    await expect(client.deletePlan({ plan: name, force: false })).rejects.toMatchObject({ code: 'in_use' });
    await client.deletePlan({ plan: name, force: true });
    expect((await client.showAsk({ id: askId })).state).toBe('cancelled');
    await expect(client.showPlan({ plan: null })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is answered with the words of its kind, and gone on with once there is nothing to answer', async () => {
    const { next, client, change, options, askId } = await waiting();
    const retry = () => client.retryStep({ plan: null, ordinal: 1 });
    const replan = () => client.replan({ plan: null, instruction: '', shell: false, run: options });
    // As a call whose outcome a crash hid asks (03 §11.5).
    change("UPDATE asks SET kind = 'unknown_outcome'");
    const hints = [`reins approvals respond ${askId} --treat-as skip`, 'reins plan skip 1'];
    for (const refused of [next, retry, replan]) await expect(refused()).rejects.toMatchObject({ hints });
    change("UPDATE asks SET state = 'denied'");
    for (const refused of [retry, replan]) {
      await expect(refused()).rejects.toMatchObject({ hints: ['reins plan next', 'reins plan skip 1'] });
    }
  });

  test('whose chain has changed is gone on with by its run', async () => {
    const { next, client, show, change, askId } = await waiting();
    const verdict = { outcome: 'deny' as const, feedback: null, text: null, remember: null, binding: null };
    await client.answerAsk({ id: askId, ...verdict, no_resume: true });
    const run_id = String((await show()).steps[0]?.run_id);
    change("UPDATE runs SET chain_path = '/gone.json' WHERE kind = 'plan_step'");
    await expect(next()).rejects.toMatchObject({
      code: 'resume_chain_changed',
      hints: [`reins state resume ${run_id} --accept-changed-chain`, 'reins plan skip 1'],
    });
  });

  test('of another plan than the active one is told with its name', async () => {
    const { next, plan, show, client, askId } = await waiting();
    const { name } = await show();
    await plan('second', { from: steps(1) });
    await expect(next({ plan: name })).rejects.toMatchObject({
      hints: [`reins approvals respond ${askId} --approve`, `reins plan skip 1 --plan ${name}`],
    });
    await expect(client.retryStep({ plan: name, ordinal: 9 })).rejects.toMatchObject({
      hints: [`reins plan show ${name}`],
    });
  });

  test('names plan and step where the ask is shown', async () => {
    const { client, askId } = await waiting();
    const { name } = await client.showPlan({ plan: null });
    expect(await client.showAsk({ id: askId })).toMatchObject({ plan_name: name, step_no: 1 });
  });

  test('is pending again when its run is cancelled', async () => {
    const { client, show } = await waiting();
    const [step] = (await show()).steps;
    await client.cancelRun({ run_id: step?.run_id ?? '', reason: 'no' });
    const [after] = (await show()).steps;
    expect(after).toMatchObject({ status: 'pending', ask_id: null });
    expect(after?.last_failure_summary).toContain('Interrupted. Tool calls so far: local_fs.write_file (skipped).');
  });
});

describe('steps by hand', () => {
  test('skip of the last open step completes the plan, retry makes it active again', async () => {
    const { plan, client, show } = await open([]);
    await plan('g', { from: steps(1) });
    expect(await client.skipStep({ plan: null, ordinal: 1 })).toMatchObject({ status: 'completed', done: 1 });
    await expect(client.skipStep({ plan: null, ordinal: 1 })).rejects.toMatchObject({ code: 'in_use' });
    expect((await client.retryStep({ plan: null, ordinal: 1 })).plan).toMatchObject({ status: 'active', done: 0 });
    expect(await client.retryStep({ plan: null, ordinal: 1 })).toMatchObject({ was_pending: true });
    expect((await show()).active).toBe(true);
  });

  test('a number that is none of them is answered with the range', async () => {
    const { plan, client } = await open([]);
    await plan('g', { from: steps(3) });
    await expect(client.retryStep({ plan: null, ordinal: 99 })).rejects.toThrow('has no step 99: it has steps 1 to 3.');
  });

  test('the pointer moves with switch, and is cleared by archive and clean', async () => {
    const { plan, client } = await open([]);
    const first = await plan('first', { from: steps(1) });
    const second = await plan('second', { from: steps(1) });
    expect(await client.switchPlan({ plan: first.name })).toMatchObject({ active: true });
    expect(await client.showPlan({ plan: null })).toMatchObject({ name: first.name });
    await expect(client.switchPlan({ plan: 'third' })).rejects.toMatchObject({ code: 'not_found' });
    await client.archivePlan({ plan: null, force: false });
    await expect(client.showPlan({ plan: null })).rejects.toMatchObject({ code: 'not_found' });
    expect(await client.cleanPlans({ force: false })).toEqual({ names: [first.name] });
    expect(await client.cleanPlans({ force: false })).toEqual({ names: [] });
    expect(await client.listPlans({ status: null })).toMatchObject([{ name: second.name, active: false }]);
  });

  test('an archived plan that is switched to is active again', async () => {
    const { plan, client } = await open([]);
    const { name } = await plan('g', { from: '- [x] a\n- b' });
    await client.archivePlan({ plan: null, force: false });
    expect(await client.switchPlan({ plan: name })).toMatchObject({ status: 'active', active: true });
  });
});

describe('two processes', () => {
  test('that take the next step at once: one gets it, the other is told', async () => {
    const { plan, open: another, client, options, rows } = await open(done);
    await plan('g', { from: steps(8) });
    const other = await another();
    for (let round = 0; round < 8; round += 1) {
      const both = await Promise.allSettled(
        [client, other].map((one) => one.nextStep({ plan: null, shell: false, run: options })),
      );
      const started = both.flatMap((one) =>
        one.status === 'fulfilled' && one.value.kind === 'step' ? [one.value] : [],
      );
      const refused = both.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
      expect([started.length, refused]).toEqual([1, ['in_use']]);
      for (const [index, one] of both.entries()) {
        if (one.status === 'fulfilled' && one.value.kind === 'step')
          await [client, other][index]?.stepOutcome({ run_id: one.value.run.run_id });
      }
    }
    expect(
      rows("SELECT plan_step_id, count(*) AS n FROM runs WHERE kind = 'plan_step' GROUP BY 1 HAVING n <> 1"),
    ).toEqual([]);
    expect(rows('SELECT DISTINCT status, attempts FROM plan_steps')).toEqual([{ status: 'completed', attempts: 1 }]);
  }, 60_000);
});
