import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asks, done, executor, explorer, planner, plans, reply } from '../plans/support.ts';
import { addScript, createProject, createWorld, scripted, tester, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createProject();
  await addScript(world, [
    reply('No list at all.', { ...planner, last_user: { contains: 'prose' } }),
    { match: { ...planner, last_user: { contains: 'no key' } }, reply: { error: { class: 'auth', status: 401 } } },
    { match: { ...explorer, any: { contains: 'unseen' } }, reply: { error: { class: 'auth', status: 401 } } },
    reply('["Human: clarify which one"]', { ...planner, last_user: { contains: 'unclear' } }),
    reply('["first half", "second half"]', { ...planner, last_user: { contains: 'too large to be carried out' } }),
    plans(['read the notes', 'write the file', 'check it']),
    {
      match: { ...executor, any: { contains: '# Goal\nfar too large' } },
      reply: { error: { class: 'context_exceeded', status: 400 } },
    },
    {
      match: { ...executor, any: { contains: '# Goal\nroomy' }, last_user: { contains: '(1 of 3)' } },
      reply: { error: { class: 'context_exceeded', status: 400 } },
    },
    reply('BLOCKED: the network is gone\nand nothing helps', { ...executor, any: { contains: '# Goal\nstuck' } }),
    reply('Written.', { ...executor, role: 'tool' }),
    asks(
      'local_fs.write_file',
      { path: 'made.txt', content: 'x' },
      { ...executor, any: { contains: '# Goal\nask first' } },
    ),
    ...done,
  ]);
  world.write('../approve.json', JSON.stringify({ default_action: 'approve', rules: [] }));
});
afterAll(() => world.remove());

const plan = (...argv: string[]) => world.run(['plan', ...argv, ...tester]);
const fresh = async (goal: string): Promise<string> => {
  const { stdout } = await plan('new', goal);
  return /"([^"]+)"/.exec(stdout)?.[1] ?? '';
};

describe('plan new', () => {
  test('prints the plan, numbered', async () => {
    const { code, stdout, stderr } = await plan('new', 'Add retries to the client, please');
    expect([code, stderr]).toEqual([0, 'Planning with tester…\n']);
    expect(stdout).toMatch(
      /^Created plan "add-retries-to-the-client-please-[0-9a-f]{8}" with 3 steps\. Now active\.\n1\. \[ \] read the notes\n2\. \[ \] write the file\n3\. \[ \] check it\n$/,
    );
  });

  test('with an answer that cannot be used says why, shows its beginning, and exits 1', async () => {
    const { code, stdout, stderr } = await plan('new', 'answer prose');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('reins: warning: the answer of the planner could not be used, and it is asked once more');
    expect(stderr).toContain('\nNo list at all.\n');
    expect(stderr).toContain('reins: the planner did not return a list of steps: it holds no JSON array of strings');
  });

  test('with a provider that refuses exits 7', async () => {
    expect(await plan('new', 'no key')).toMatchObject({ code: 7, stdout: '' });
  });

  test('without a goal says how to give one', async () => {
    const { code, stderr } = await plan('new');
    expect(code).toBe(2);
    expect(stderr).toContain('no goal');
  });

  test('with a question of the planner tells it', async () => {
    const { code, stderr } = await plan('new', 'unclear');
    expect(code).toBe(0);
    expect(stderr).toContain('the planner asks: Human: clarify which one');
  });

  test('takes steps from a file, without a model', async () => {
    const path = world.write('steps.md', '# Ship\n\n- [x] write\n- test\n');
    const { code, stdout, stderr } = await plan('new', '--from', path);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^Created plan "ship-[0-9a-f]{8}" with 2 steps\. Now active\.\n1\. \[-\] write\n2\. \[ \] test\n$/,
    );
    expect(await plan('new', '--from', join(world.workspace, 'nowhere.md'))).toMatchObject({ code: 2 });
  });

  test('takes steps from no device that never ends', async () => {
    const { code, stderr } = await plan('new', '--from', '/dev/zero');
    expect([code, stderr.split('\n')[0]]).toEqual([
      2,
      'reins: --from: /dev/zero is more than the limit of 10485760 bytes (10 MiB)',
    ]);
  });

  test('in JSON is the plan', async () => {
    const { stdout } = await plan('new', 'a thing', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      goal: 'a thing',
      active: true,
      total: 3,
      steps: [{ ordinal: 1 }, {}, {}],
    });
  });
});

describe('plan next', () => {
  test('runs one step; --auto the others; then all are complete', async () => {
    await fresh('the whole way');
    expect(await plan('next')).toMatchObject({
      code: 0,
      stdout: 'Step 1 of 3 completed: It was done.\n',
      stderr: 'Step 1 of 3: read the notes\n',
    });
    expect((await plan('show')).stdout).toContain('1. [x] read the notes\n2. [ ] write the file\n');
    expect((await plan('list')).stdout.split('\n')[0]).toMatch(/^\* the-whole-way-\w{8} +\[1\/3] +active +20/);
    expect((await plan('next', '--auto')).stdout).toBe(
      'Step 2 of 3 completed: It was done.\nStep 3 of 3 completed: It was done.\n',
    );
    expect(await plan('next')).toMatchObject({ code: 0, stdout: 'All steps are complete.\n', stderr: '' });
  });

  test('with a step that fails exits 1, says why and what can be done, and starts nothing more', async () => {
    await fresh('stuck');
    const { code, stdout, stderr } = await plan('next', '--auto');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(
      'reins: step 1 of 3 failed (blocked): the network is gone\nand nothing helps\n  reins plan retry 1\n  reins plan skip 1\n  reins plan replan\n',
    );
    const again = await plan('next');
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toContain('Step 1 of 3 has failed (blocked): the network is gone');
    expect(again.stderr).toContain('  reins plan retry 1\n  reins plan skip 1\n  reins plan replan\n');
    expect((await plan('show')).stdout).toContain('1. [!] read the notes\n     blocked: the network is gone\n2. [ ] ');
    expect((await plan('retry', '1')).stdout).toContain('1. [ ] read the notes\n2. [ ] ');
    const stuck = JSON.parse((await plan('show', '--json')).stdout).name;
    await fresh('unclear');
    expect((await plan('next', '--plan', stuck)).stderr).toContain(
      `  reins plan retry 1 --plan ${stuck}\n  reins plan skip 1 --plan ${stuck}\n  reins plan replan --plan ${stuck}\n`,
    );
    await plan('switch', stuck);
    expect((await plan('skip', '1')).stdout).toContain('1. [-] read the notes\n');
  });

  test('with a step that has no room splits it once, under --auto', async () => {
    await fresh('roomy');
    const { code, stdout, stderr } = await plan('next', '--auto');
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('1. [-] read the notes\n2. [ ] first half\n3. [ ] second half\n4. [ ] write the file\n');
    expect(stdout).toBe([2, 3, 4, 5].map((step) => `Step ${step} of 5 completed: It was done.\n`).join(''));
    await fresh('far too large');
    const again = await plan('next', '--auto');
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toContain('step 2 of 5 failed (capacity)');
  });

  test('with a gated call waits with exit 4, again and again, until it is answered elsewhere', async () => {
    await fresh('ask first');
    const policy = ['--policy', join(world.dir, 'approve.json')];
    const { code, stderr } = await plan('next', ...policy);
    expect(code).toBe(4);
    const [, id = ''] = /approvals respond (ask_\w+) --approve/.exec(stderr) ?? [];
    const again = await plan('next', ...policy);
    expect(again).toMatchObject({ code: 4, stdout: '' });
    expect(again.stderr).toContain(`Step 1 waits for approval: ${id}`);
    expect(again.stderr).toContain(`approvals respond ${id} --approve`);
    expect((await plan('show')).stdout).toContain(`1. [?] read the notes\n     waits for approval: ${id}\n`);
    expect((await world.run(['approvals', 'list'])).stdout).toContain('ask-first-');
    const answered = await world.run(['approvals', 'respond', id, '--approve']);
    expect(answered.code).toBe(0);
    expect(existsSync(join(world.workspace, 'made.txt'))).toBe(true);
    const { stdout } = await plan('show');
    expect(stdout).toContain('1. [x] read the notes\n2. [ ] write the file\n');
  });

  test('in JSON gives the results of its steps, and in a stream one line at the end', async () => {
    await fresh('in json');
    const one = JSON.parse((await plan('next', '--json')).stdout);
    expect(one).toMatchObject({ type: 'plan_result', stopped_by: 'step', exit_code: 0, plan: { done: 1 } });
    expect(one.executed).toMatchObject([{ type: 'result', plan: { ordinal: 1 }, result: 'Done.' }]);
    const lines = (await plan('next', '--auto', '--output-format', 'stream-json')).stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ type }) => type === 'init')).toMatchObject([
      { plan: { ordinal: 2 } },
      { plan: { ordinal: 3 } },
    ]);
    expect(lines.at(-1)).toMatchObject({ type: 'plan_result', stopped_by: 'done', exit_code: 0 });
  });

  test('with less than a second of --timeout claims nothing', async () => {
    await fresh('no time');
    expect(await plan('next', '--auto', '--timeout', '500ms')).toMatchObject({ code: 124, stdout: '' });
    expect((await plan('show')).stdout).toContain('1. [ ] read the notes\n');
  });

  test('with a chain that cannot be used touches no step', async () => {
    await fresh('bad chain');
    const path = world.write(
      '.reins/chain-step-summarizer.json',
      JSON.stringify({ id: 'x', tasks: [{ id: 'a', handler: 'noop' }] }),
    );
    try {
      const untrusted = await plan('next');
      expect(untrusted).toMatchObject({ code: 3 });
      const { stdout } = await world.run(['trust', 'list', '--json']);
      expect(stdout).not.toContain('chain-step-summarizer');
      await world.run(['trust', 'add', path]);
      const unfit = await plan(
        'next',
        '--trust',
        JSON.parse((await world.run(['chain', 'list', '--json'])).stdout).find(
          (row: { name: string }) => row.name === 'chain-step-summarizer',
        ).sha256,
      );
      expect(unfit).toMatchObject({ code: 3 });
      expect(unfit.stderr).toContain('plan_summary.persist');
    } finally {
      rmSync(path);
    }
    expect((await plan('show')).stdout).toContain('1. [ ] read the notes\n');
  });
});

describe('the other commands', () => {
  test('take a number of a step, and say what is wrong with another word', async () => {
    await fresh('numbers');
    expect(await plan('retry', 'x')).toMatchObject({ code: 2 });
    expect((await plan('skip', '99')).stderr).toContain('has no step 99: it has steps 1 to 3');
    expect(await plan('retry', '99')).toMatchObject({ code: 1 });
    expect((await plan('retry', '1')).stderr).toContain('step 1 is pending already');
  });

  test('replan prints what is new', async () => {
    await fresh('again');
    const { code, stdout } = await plan('replan', 'do', 'it', 'better');
    expect(code).toBe(0);
    expect(stdout).toBe('Replanned: 3 new steps.\n1. [ ] read the notes\n2. [ ] write the file\n3. [ ] check it\n');
  });

  test('explore with a provider that refuses says so once and exits 7', async () => {
    await fresh('unseen');
    const { code, stdout, stderr } = await plan('explore');
    expect([code, stdout]).toEqual([7, '']);
    expect(stderr.split('\n').filter((line) => line.includes('task explore failed'))).toHaveLength(1);
    expect(stderr).not.toContain('did not describe');
  });

  test('new with an explorer whose provider refuses warns of it once, and makes the plan (07 §4.4.1)', async () => {
    const { code, stdout, stderr } = await plan('new', '--explore', 'unseen');
    expect([code, stdout.split('\n')[0]]).toEqual([0, expect.stringContaining(' with 3 steps. Now active.')]);
    expect(stderr.split('\n')).toEqual([
      'Looking at the workspace with tester…',
      expect.stringMatching(/^reins: warning: the workspace was not explored: task explore failed after 1 attempt: /),
      'Planning with tester…',
      '',
    ]);
  });

  test('explore with the demo of the program prints one line', async () => {
    await fresh('explored');
    const { code, stdout } = await world.run(['plan', 'explore', ...scripted, '--model', 'demo']);
    expect([code, stdout]).toEqual([0, 'Explored: no languages; 0 entry points, 0 test commands.\n']);
  });

  test('switch, archive, delete and clean say what they did', async () => {
    const first = await fresh('first');
    const second = await fresh('second');
    expect((await plan('switch', first)).stdout).toBe(`Switched to plan "${first}".\n`);
    expect(await plan('switch', 'nope')).toMatchObject({ code: 1 });
    expect((await plan('archive')).stdout).toBe(`Archived plan "${first}".\n`);
    expect(await plan('show')).toMatchObject({ code: 1 });
    expect((await plan('delete', second)).stdout).toBe(`Deleted plan "${second}".\n`);
    expect((await plan('clean', '--force')).stdout).toMatch(/^Deleted \d+ plans?\.\n$/);
    expect((await plan('clean', '--force')).stdout).toBe('Nothing to clean.\n');
  });

  test('an unwritable directory of mirror files only warns', async () => {
    const world2 = world;
    rmSync(join(world2.workspace, '.reins/plans'), { recursive: true, force: true });
    writeFileSync(join(world2.workspace, '.reins/plans'), 'a file in its place');
    try {
      const { code, stdout, stderr } = await plan('new', 'no mirror');
      expect(code).toBe(0);
      expect(stdout).toContain('Created plan');
      expect(stderr).toMatch(/ of the plan could not be written: not a directory\n/);
    } finally {
      rmSync(join(world2.workspace, '.reins/plans'));
    }
  });

  test('show --markdown prints what the mirror file says', async () => {
    const name = await fresh('in words');
    const { stdout } = await plan('show', '--markdown');
    expect(readFileSync(join(world.workspace, '.reins/plans', `${name}.md`), 'utf8')).toContain(stdout);
    const both = await plan('show', '--markdown', '--json');
    expect([both.code, JSON.parse(both.stdout).error.message]).toEqual([
      2,
      '--markdown and a JSON output format exclude each other',
    ]);
  });
});

test('a plan goes on where it was made, also where the directories share a database', async () => {
  const shared = createWorld();
  try {
    await addScript(shared, [plans(['read the notes', 'check them']), ...done]);
    const [first, other] = [join(shared.dir, 'first'), join(shared.dir, 'other')];
    for (const directory of [first, other]) mkdirSync(directory);
    const at = (cwd: string, ...argv: string[]) => shared.run(['plan', ...argv, ...tester], { cwd });
    const name = /"([^"]+)"/.exec((await at(first, 'new', 'the goal')).stdout)?.[1];
    for (const argv of [['next'], ['next', '--auto'], ['explore']]) {
      const { code, stdout, stderr } = await at(other, ...argv);
      expect([code, stdout]).toEqual([3, '']);
      expect(stderr).toBe(
        `reins: Plan "${name}" belongs to the workspace ${first}.\n  cd ${first}\n  reins plan list\n`,
      );
    }
    expect((await at(other, 'show')).stdout).toContain('1. [ ] read the notes');
    expect((await at(first, 'next')).code).toBe(0);
    // Moved, it is found there.
    const moved = join(shared.dir, 'moved');
    renameSync(first, moved);
    expect((await at(moved, 'next')).stdout).toBe('Step 2 of 2 completed: It was done.\n');
  } finally {
    shared.remove();
  }
});
