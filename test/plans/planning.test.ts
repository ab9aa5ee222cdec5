import { afterEach, describe, expect, test } from 'vitest';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { playPlanning } from '../../src/client/play-plan.ts';
import type { RuntimeError } from '../../src/schema/errors.ts';
import { sha256Of } from '../../src/workspace/files.ts';
import { lockFile } from '../../src/workspace/lock-file.ts';
import { asks, done, explorer, type PlanApp, planApp, planner, plans, reply, summariser, summary } from './support.ts';

let app: PlanApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});
const open = async (turns: readonly unknown[], policy?: unknown): Promise<PlanApp> => {
  app = await planApp({ turns, ...(policy === undefined ? {} : { policy }) });
  return app;
};

describe('a planner that answers', () => {
  test.each([
    ['a fenced array among words with brackets', 'As in [1]:\n```json\n["one", "two"]\n```\nSee [2].'],
    ['a fenced array', '```json\n["one", "two"]\n```'],
    ['an object with steps', '{"steps": ["one", {"description": "two"}]}'],
    ['prose around an array', 'Here is the plan: ["one", "two"]. Have fun.'],
  ])('%s makes a plan, active, of pending steps', async (_name, answer) => {
    const { plan, client } = await open([reply(answer, planner)]);
    const made = await plan('add a thing');
    expect(made).toMatchObject({ active: true, status: 'active', goal: 'add a thing', done: 0, total: 2 });
    expect(made.name).toMatch(/^add-a-thing-[0-9a-f]{8}$/);
    expect(made.steps.map(({ ordinal, description, status }) => [ordinal, description, status])).toEqual([
      [1, 'one', 'pending'],
      [2, 'two', 'pending'],
    ]);
    expect(await client.listPlans({ status: null })).toMatchObject([{ name: made.name, active: true }]);
  });

  test('prose is asked once more, with the reason, and then makes the plan', async () => {
    const { plan, rows } = await open([
      reply('["now it is one"]', { ...planner, last_user: { contains: 'could not be used' } }),
      reply('Let me think about it.', planner),
    ]);
    expect((await plan()).steps).toMatchObject([{ description: 'now it is one' }]);
    expect(rows("SELECT kind, status FROM runs WHERE kind = 'plan_new'")).toHaveLength(2);
  });

  test('prose twice changes nothing: the plan before stays active', async () => {
    const { plan, client, rows } = await open([
      reply('["first"]', { ...planner, last_user: 'good goal' }),
      reply('Let me think about it.', planner),
    ]);
    const before = await plan('good goal');
    const refusal = await plan('bad').catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: 'task_error',
      message: 'the planner did not return a list of steps: it holds no JSON array of strings',
      hints: [
        'reins plan new --planner-model <model> "<goal>"',
        'reins plan new --from <file with the steps> "<goal>"',
      ],
      data: { answer: 'Let me think about it.' },
    });
    expect(await client.listPlans({ status: null })).toMatchObject([{ id: before.id, active: true }]);
    expect(rows('SELECT id FROM plan_steps')).toHaveLength(1);
  });

  test.each([
    ['an empty list', '[]', 'the list is empty'],
    [
      '500 steps',
      JSON.stringify(Array.from({ length: 500 }, (_, n) => `step ${n}`)),
      'it has 500 steps, and 100 is the most',
    ],
    ['an empty step', '["a", "  "]', 'step 2 is empty'],
    ['a number for a step', '["a", 2]', 'step 2 is not a text'],
    ['a step of 12 KB', JSON.stringify(['x'.repeat(12_001)]), 'step 1 has 12001 bytes, and 12000 is the most'],
  ])('%s is refused', async (_name, answer, reason) => {
    const { plan } = await open([reply(answer, planner)]);
    await expect(plan()).rejects.toThrow(`the planner did not return a list of steps: ${reason}`);
  });

  test('a question is a plan of one step, and is told', async () => {
    const { client, options } = await open([reply('["Human: clarify which client is meant"]', planner)]);
    const first = await client.newPlan({
      goal: 'fix it',
      from: null,
      explore: false,
      planner_model: null,
      shell: false,
      run: options,
    });
    if (first.kind !== 'run') throw new Error('no run');
    expect(await client.planningStep({ run_id: first.run.run_id })).toMatchObject({
      kind: 'plan',
      question: 'Human: clarify which client is meant',
    });
  });
});

describe('a new plan', () => {
  test('a failing provider changes nothing', async () => {
    const { plan, rows } = await open([{ match: planner, reply: { error: { class: 'auth', status: 401 } } }]);
    await expect(plan()).rejects.toMatchObject({ code: 'auth' });
    expect(rows('SELECT id FROM plans')).toEqual([]);
  });

  test('a goal that is empty, or above 64 KiB, is refused before any model is asked', async () => {
    const { plan, rows } = await open([plans(['a'])]);
    await expect(plan(' \n ')).rejects.toMatchObject({ code: 'usage' });
    await expect(plan('x'.repeat(1024 * 1024))).rejects.toThrow('The goal of a plan is above 64 KiB.');
    expect(rows('SELECT id FROM runs')).toEqual([]);
  });

  test('braces in a goal stand in the prompts as they are', async () => {
    const goal = 'print {{var:model}} and {{ 1 }} {% raw %}';
    const { plan, step, texts } = await open([
      plans(['do {{ input }} it']),
      done[0],
      reply(summary(), { ...summariser, last_user: { contains: `# Goal of the plan\n${goal}\n`, case: true } }),
    ]);
    expect((await plan(goal)).goal).toBe(goal);
    expect((await step()).step.summary_error).toBeNull();
    expect(texts('plan_new')).toContain(goal);
    expect(texts('plan_step')[0]).toContain(`# Goal\n${goal}\n`);
    expect(texts('plan_step')[0]).toContain('# Your step (1 of 1)\ndo {{ input }} it\n');
  });

  test('the planner is told the tools of the executor, and has none itself', async () => {
    const { plan, rows } = await open([
      asks('local_fs.write_file', { path: 'x', content: 'y' }, { ...planner, offered: ['*'] }),
      plans(['a']),
    ]);
    await plan();
    const [run] = rows(
      "SELECT json_extract(options, '$.variables.executor_tools') AS tools FROM runs WHERE kind = 'plan_new'",
    );
    const tools = JSON.parse(String(run?.['tools']));
    expect(tools.local_fs).toContain('write_file');
    expect(tools).not.toHaveProperty('local_shell');
    expect(rows('SELECT 1 FROM tool_calls')).toEqual([]);
  });

  test('steps come from a Markdown file: its heading is the goal, checked items are done before', async () => {
    const { plan, rows } = await open([]);
    const made = await plan('', { from: '# Ship it\n\nSome words.\n\n- [x] write\n- [ ] test\n3. tag the release\n' });
    expect(made).toMatchObject({ goal: 'Ship it', done: 1, total: 3 });
    expect(made.steps.map(({ description, status, note }) => [description, status, note])).toEqual([
      ['write', 'skipped', 'done before'],
      ['test', 'pending', null],
      ['tag the release', 'pending', null],
    ]);
    expect(rows('SELECT id FROM runs')).toEqual([]);
  });

  test('a file without a list is refused', async () => {
    const { plan } = await open([]);
    await expect(plan('g', { from: 'no list here' })).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('a goal that is asked for twice at once', () => {
  const wanted = (app: PlanApp, goal: string) => ({
    goal,
    from: null,
    explore: false,
    planner_model: null,
    shell: false,
    run: app.options,
  });

  test('can be followed where two plannings are the first that a process is asked for', async () => {
    const app = await open([{ match: planner, reply: { text: '["a"]', first_delay_ms: 300 } }]);
    const other = await app.open();
    const steps = await Promise.all(['g', 'h'].map((goal) => other.newPlan(wanted(app, goal))));
    for (const step of steps) {
      const run_id = step.kind === 'run' ? step.run.run_id : '';
      expect(await other.planningStep({ run_id })).toMatchObject({ kind: 'plan' });
    }
  });

  test('is planned once, whichever processes ask, and again when that is over', async () => {
    const slow = { match: planner, reply: { text: '["a"]', first_delay_ms: 300 } };
    const app = await open([slow]);
    const other = await app.open();
    const asked = await Promise.allSettled([
      app.client.newPlan(wanted(app, 'g')),
      app.client.newPlan(wanted(app, ' g ')),
      other.newPlan(wanted(app, 'g')),
      other.newPlan(wanted(app, 'another')),
    ]);
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    const [run] = app.rows("SELECT id FROM runs WHERE kind = 'plan_new' AND json_extract(input, '$.value') = 'g'");
    const run_id = String(run?.['id']);
    for (const each of asked) {
      if (each.status === 'fulfilled') continue;
      const { code, data, message } = each.reason as RuntimeError;
      expect([code, data]).toEqual(['in_use', { run_id }]);
      expect(message).toMatch(/^This goal is being planned already by \S+, process \d+: its plan will be in the list/);
    }
    const first = app.client.planningStep({ run_id });
    await first.catch(() => other.planningStep({ run_id }));
    expect(app.rows("SELECT id FROM plans WHERE goal = 'g'")).toHaveLength(1);
    expect(await app.plan('g')).toMatchObject({ goal: 'g' });
  });

  test('is not held by a planning that failed, was stopped, or whose process is gone', async () => {
    const app = await open([
      { match: { ...planner, last_user: 'hang' }, reply: { hang: true } },
      reply('Prose.', planner),
    ]);
    for (const _round of [1, 2]) {
      const begun = await app.client.newPlan(wanted(app, 'hang'));
      if (begun.kind !== 'run') throw new Error('no run');
      await app.client.cancelRun({ run_id: begun.run.run_id, reason: 'operator' });
      await expect(app.client.planningStep({ run_id: begun.run.run_id })).rejects.toThrow('cancelled');
      await expect(app.plan('prose')).rejects.toThrow('did not return a list of steps');
    }
    const left = await app.client.newPlan(wanted(app, 'hang'));
    // As after a crash: nobody is left who would renew the lease or give the goal back.
    app.change('UPDATE run_state SET lease_until = 1');
    const again = await app.client.newPlan(wanted(app, 'hang'));
    expect([left.kind, again.kind]).toEqual(['run', 'run']);
  });
});

describe('the workspace', () => {
  const found = {
    schema_version: 1,
    repo_root: '.',
    languages: ['typescript'],
    test_commands: ['npm test'],
    unknown: 'dropped',
  };

  test('is explored before planning, and the planner reads what was found', async () => {
    const { plan, rows } = await open([reply(JSON.stringify(found), explorer), plans(['a'])]);
    await plan('g', { explore: true });
    const [row] = rows('SELECT repo_context FROM plans');
    expect(JSON.parse(String(row?.['repo_context']))).toMatchObject({ languages: ['typescript'], entry_points: [] });
    const [run] = rows(
      "SELECT json_extract(options, '$.variables.repo_context') AS context FROM runs WHERE kind = 'plan_new'",
    );
    expect(String(run?.['context'])).toContain('npm test');
  });

  test('an explorer that is stopped stops the planning, and so does a time limit that it uses up', async () => {
    const hanging = { match: explorer, reply: { hang: true } };
    const { client, options, rows, seen } = await open([hanging, plans(['a'])]);
    const begin = (timeout_ms: number) =>
      client.newPlan({
        goal: 'g',
        from: null,
        explore: true,
        planner_model: null,
        shell: false,
        run: { ...options, timeout_ms },
      });
    const follow = async ({ run: { run_id } }: { readonly run: { readonly run_id: string } }) =>
      (await client.awaitRun({ run_id })).exit_code;
    const stopped = await begin(0);
    if (stopped.kind !== 'run') throw new Error('no run');
    await seen(stopped.run.run_id, 'model_selected');
    await client.cancelRun({ run_id: stopped.run.run_id, reason: 'operator' });
    expect(await playPlanning(client, stopped, follow)).not.toBe(0);
    await expect(client.planningStep({ run_id: stopped.run.run_id })).rejects.toThrow('the run was cancelled');
    expect(await playPlanning(client, await begin(1200), follow)).toBe(124);
    expect(rows("SELECT id FROM runs WHERE kind = 'plan_new'")).toEqual([]);
    expect(rows('SELECT id FROM plans')).toEqual([]);
  });

  test('what follows the exploring has the time that is left', async () => {
    const { plan, options, rows } = await open([
      { match: explorer, reply: { text: JSON.stringify(found), first_delay_ms: 600 } },
      reply('["a"]', { ...planner, last_user: { contains: 'could not be used' } }),
      reply('Prose.', planner),
    ]);
    await plan('g', { explore: true, run: { ...options, timeout_ms: 20_000 } });
    const limits = rows(
      "SELECT json_extract(options, '$.timeout_ms') AS ms FROM runs WHERE kind = 'plan_new' ORDER BY created_at",
    ).map(({ ms }) => Number(ms));
    expect(limits).toHaveLength(2);
    expect(limits[0]).toBeLessThanOrEqual(19_400);
    expect(limits[1]).toBeLessThan(limits[0] ?? 0);
  });

  test('an explorer that answers prose is a warning, and the plan is made without it', async () => {
    const { client, options, rows } = await open([reply('I saw nothing.', explorer), plans(['a'])]);
    const first = await client.newPlan({
      goal: 'g',
      from: null,
      explore: true,
      planner_model: null,
      shell: false,
      run: options,
    });
    if (first.kind !== 'run') throw new Error('no run');
    const second = await client.planningStep({ run_id: first.run.run_id });
    expect(second).toMatchObject({
      kind: 'run',
      phase: 'plan',
      warning: 'the workspace was not explored: it holds no JSON object',
    });
    if (second.kind !== 'run') throw new Error('no run');
    await client.planningStep({ run_id: second.run.run_id });
    expect(rows('SELECT repo_context FROM plans')).toEqual([{ repo_context: null }]);
  });

  test('an explorer whose provider refuses is that refusal, where nothing else was wanted', async () => {
    const refused = { match: explorer, reply: { error: { class: 'auth', status: 401 } } } as const;
    const { client, options, plan } = await open([refused, plans(['a'])]);
    const { name } = await plan('g');
    const first = await client.explorePlan({ plan: name, run: options });
    if (first.kind !== 'run') throw new Error('no run');
    await expect(client.planningStep({ run_id: first.run.run_id })).rejects.toMatchObject({ code: 'auth' });
  });

  test('an explorer can only read, whatever it asks for', async () => {
    const { client, options, plan, rows, place } = await open([
      reply(JSON.stringify(found), { ...explorer, role: 'tool' }),
      {
        match: explorer,
        reply: {
          text: 'I try.',
          tool_calls: [
            { name: 'local_fs.write_file', arguments: { path: 'x.txt', content: 'y' } },
            { name: 'local_shell.local_shell', arguments: { command: 'touch x.txt' } },
            { name: 'plan_summary.persist', arguments: { text: '{}' } },
            { name: 'local_fs.list_dir', arguments: {} },
          ],
        },
      },
      plans(['a']),
    ]);
    const made = await plan('g', { shell: true });
    const first = await client.explorePlan({ plan: made.name, run: options });
    if (first.kind !== 'run') throw new Error('no run');
    expect(await client.planningStep({ run_id: first.run.run_id })).toMatchObject({ kind: 'context' });
    expect(rows("SELECT tools || '.' || tool AS name FROM tool_calls WHERE started_at IS NOT NULL")).toEqual([
      { name: 'local_fs.list_dir' },
    ]);
    expect(readdirSync(place.workspace)).not.toContain('x.txt');
  });
});

describe('planning again', () => {
  const failing = { match: planner, reply: { error: { class: 'auth', status: 401 } } };

  test('with a planner that fails, nothing changes', async () => {
    const { plan, client, options, show } = await open([failing]);
    await plan('g', { from: '- one\n- two' });
    const before = await show();
    const first = await client.replan({ plan: null, instruction: '', shell: false, run: options });
    if (first.kind !== 'run') throw new Error('no run');
    await expect(client.planningStep({ run_id: first.run.run_id })).rejects.toMatchObject({ code: 'auth' });
    expect(await show()).toEqual(before);
  });

  test('pending steps are replaced, the failed one is skipped, numbers have no gap', async () => {
    const { plan, step, client, options, rows } = await open([
      reply('Done.', { system: { starts_with: 'You carry out' }, last_user: { contains: '# Your step (1 of' } }),
      reply('BLOCKED: no network', { system: { starts_with: 'You carry out' } }),
      done[1],
      plans(['try it offline', 'check']),
    ]);
    await plan('g', { from: '- one\n- two\n- three\n- four' });
    await step();
    expect((await step()).step).toMatchObject({
      status: 'failed',
      failure_class: 'blocked',
      failure_text: 'no network',
    });
    const first = await client.replan({ plan: null, instruction: 'stay offline', shell: false, run: options });
    if (first.kind !== 'run') throw new Error('no run');
    const second = await client.planningStep({ run_id: first.run.run_id });
    if (second.kind !== 'plan') throw new Error('no plan');
    expect(second.added).toBe(2);
    expect(
      second.plan.steps.map(({ ordinal, description, status, note }) => [ordinal, description, status, note]),
    ).toEqual([
      [1, 'one', 'completed', null],
      [2, 'two', 'skipped', 'replaced by replanning'],
      [3, 'try it offline', 'pending', null],
      [4, 'check', 'pending', null],
    ]);
    const [run] = rows("SELECT json_extract(input, '$.value') AS text FROM runs WHERE kind = 'plan_replan'");
    expect(String(run?.['text'])).toContain('2. failed: two\n   no network');
    expect(String(run?.['text'])).toContain('# What to change\nstay offline');
  });

  test('nothing comes of an answer to a plan that was deleted meanwhile', async () => {
    const { plan, client, options } = await open([plans(['again'])]);
    const { name } = await plan('g', { from: '- one' });
    const first = await client.replan({ plan: null, instruction: '', shell: false, run: options });
    if (first.kind !== 'run') throw new Error('no run');
    await client.deletePlan({ plan: name, force: false });
    await expect(client.planningStep({ run_id: first.run.run_id })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('nothing comes of an answer to steps that have changed meanwhile', async () => {
    const { plan, client, options, show } = await open([plans(['again']), plans(['again'])]);
    await plan('g', { from: '- one\n- two' });
    const planned = async (change: () => Promise<unknown>) => {
      const first = await client.replan({ plan: null, instruction: '', shell: false, run: options });
      if (first.kind !== 'run') throw new Error('no run');
      await change();
      const refused = client.planningStep({ run_id: first.run.run_id });
      await expect(refused).rejects.toMatchObject({ code: 'in_use', message: 'the step changed meanwhile' });
    };
    await planned(() => client.skipStep({ plan: null, ordinal: 1 }));
    await planned(() => client.retryStep({ plan: null, ordinal: 1 }));
    expect((await show()).steps.map(({ description, status }) => [description, status])).toEqual([
      ['one', 'pending'],
      ['two', 'pending'],
    ]);
  });

  test('numbers have no gap where a pending step stood before finished ones', async () => {
    const { plan, client, options, show } = await open([plans(['again'])]);
    await plan('g', { from: '- one\n- [x] two\n- three\n- [x] four\n- [x] five\n- six' });
    const first = await client.replan({ plan: null, instruction: '', shell: false, run: options });
    if (first.kind !== 'run') throw new Error('no run');
    await client.planningStep({ run_id: first.run.run_id });
    expect((await show()).steps.map(({ ordinal, description }) => [ordinal, description])).toEqual([
      [1, 'two'],
      [2, 'four'],
      [3, 'five'],
      [4, 'again'],
    ]);
  });
});

describe('the mirror file', () => {
  const files = (): string[] => readdirSync(join(app?.place.home ?? '', '.reins/plans')).sort();

  test('says what the plan says, and an edited one is put aside, never read', async () => {
    const { plan, step, place } = await open([plans(['one', 'two']), ...done]);
    const made = await plan();
    const path = join(place.home, '.reins/plans', `${made.name}.md`);
    expect(readFileSync(path, 'utf8')).toContain('- [ ] 1. one\n- [ ] 2. two\n');
    writeFileSync(path, '- [x] 1. one\n');
    await step();
    expect(files()).toEqual([`${made.name}.edited.md`, `${made.name}.md`]);
    expect(readFileSync(path, 'utf8')).toContain('- [x] 1. one\n  > It was done.\n- [ ] 2. two\n');
    // Edited once more: the first edit is not written over.
    writeFileSync(path, 'mine\n');
    await step();
    expect(files()).toEqual([`${made.name}.edited-2.md`, `${made.name}.edited.md`, `${made.name}.md`]);
    expect(readFileSync(path.replace(/md$/, 'edited.md'), 'utf8')).toBe('- [x] 1. one\n');
  });

  test('is gone with its plan', async () => {
    const { plan, client } = await open([plans(['one'])]);
    const made = await plan();
    await client.deletePlan({ plan: made.name, force: false });
    expect(files()).toEqual([]);
  });

  test('that was edited is kept when its plan is deleted', async () => {
    const { plan, client, place } = await open([plans(['one'])]);
    const { name } = await plan();
    writeFileSync(join(place.home, '.reins/plans', `${name}.md`), 'my notes\n');
    await client.deletePlan({ plan: name, force: false });
    expect(files()).toEqual([`${name}.edited.md`]);
    expect(readFileSync(join(place.home, '.reins/plans', `${name}.edited.md`), 'utf8')).toBe('my notes\n');
  });

  test('is gone with its plan, too, where another process wrote it once more behind the end of that', async () => {
    const { plan, client, place, change, rows } = await open([plans(['one'])]);
    const { name } = await plan();
    const path = join(place.home, '.reins/plans', `${name}.md`);
    const [{ tenant_id: tenant, key } = {}] = rows("SELECT tenant_id, key FROM kv WHERE key LIKE 'plan.mirror.%'");
    const release = await lockFile(`${path}.lock`, Date.now);
    const deleted = client.deletePlan({ plan: name, force: false });
    await expect.poll(() => rows('SELECT 1 FROM plans')).toEqual([]);
    writeFileSync(path, 'late\n');
    change(`INSERT INTO kv VALUES ('${tenant}', '${key}', '"${sha256Of('late\n')}"', 1)`);
    release();
    await deleted;
    expect([files(), rows("SELECT 1 FROM kv WHERE key LIKE 'plan.mirror.%'")]).toEqual([[], []]);
  });

  test('is written nowhere else, whatever name a plan of another database has', async () => {
    const { plan, client, place, change } = await open([plans(['one'])]);
    await plan();
    change("UPDATE plans SET name = '../../notes'");
    writeFileSync(join(place.home, 'notes.md'), 'mine\n');
    await client.deletePlan({ plan: '../../notes', force: false });
    expect(readFileSync(join(place.home, 'notes.md'), 'utf8')).toBe('mine\n');
  });
});
