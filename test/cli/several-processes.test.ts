import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { brokenAudit, createCrashWorld, expectSound, madeCalls, rows, startLoop } from '../crash/support.ts';
import { startCli } from '../support/run-cli.ts';
import { tester, type World } from './world.ts';

/** Several programs on one database. */

let world: World;
beforeEach(async () => {
  world = await createCrashWorld();
});
afterEach(() => world.remove());

describe('two programs that chat in one session', () => {
  test('take turns: the second waits for the first, and no message of one stands inside the other', async () => {
    const first = startLoop(world, 'chat', 'approve');
    await first.saw('reins: answer with: reins approvals respond');
    const second = world.run(['chat', ...tester, 'here', 'again']);
    const third = startLoop(world, 'chat', 'allow');
    await third.saw('is busy with run');
    first.child.kill('SIGINT');
    expect((await first.ended).code).toBe(130);
    expect((await second).code).toBe(0);
    expect((await third.ended).code).toBe(0);
    const runs = rows(world, 'SELECT run_id FROM messages ORDER BY seq').map((row) => row['run_id']);
    const blocks = runs.filter((run, index) => run !== runs[index - 1]);
    expect(blocks).toHaveLength(3);
    expect(new Set(blocks).size).toBe(3);
    expect(madeCalls(world)).toEqual(['1', '2', '3']);
    expectSound(world);
  });

  test('that begin in the same moment both get their turn', async () => {
    const all = await Promise.all([1, 2, 3].map(() => world.run(['chat', ...tester, 'here', 'again'])));
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
    const runs = rows(world, 'SELECT run_id FROM messages ORDER BY seq').map((row) => row['run_id']);
    expect(runs.filter((run, index) => run !== runs[index - 1])).toHaveLength(3);
    expectSound(world);
  });

  test('one turn after another leave whole turns, and numbers without a gap', async () => {
    const turns = 5;
    const talk = async () => {
      for (let turn = 1; turn <= turns; turn += 1)
        expect((await world.run(['chat', ...tester, 'here', 'again'])).code).toBe(0);
    };
    await Promise.all([talk(), talk()]);
    const stored = rows(world, 'SELECT seq, role, run_id FROM messages ORDER BY seq');
    expect(stored.map(({ seq }) => seq)).toEqual(Array.from({ length: 4 * turns }, (_, index) => index + 1));
    for (let at = 0; at < stored.length; at += 2) {
      const [asked, answered] = [stored[at], stored[at + 1]];
      expect([asked?.['role'], answered?.['role'], answered?.['run_id']]).toEqual([
        'user',
        'assistant',
        asked?.['run_id'],
      ]);
    }
    expectSound(world);
  });
});

describe('a clock that jumps ahead, past the lease of a turn', () => {
  /** What every clock of the machine being set ahead by an hour does to the lease. */
  const jump = (): void => {
    const database = new Database(join(world.workspace, '.reins/local.db'));
    database.exec('UPDATE run_state SET lease_until = lease_until - 3600000');
    database.close();
  };

  test('takes nothing from a program that is there: the next turn waits until the lease is renewed, and for its end', async () => {
    const first = startLoop(world, 'chat', 'approve');
    await first.saw('reins: answer with: reins approvals respond');
    jump();
    const second = startCli(world, ['chat', ...tester, 'here', 'again']);
    await second.saw('is busy with run');
    const renewed = `SELECT 1 FROM run_state WHERE lease_until > ${Date.now()}`;
    await expect.poll(() => rows(world, renewed), { timeout: 10_000 }).toHaveLength(1);
    first.child.kill('SIGINT');
    expect((await first.ended).code).toBe(130);
    expect((await second.ended).code).toBe(0);
    expect(rows(world, 'SELECT status FROM runs ORDER BY created_at')).toEqual([
      { status: 'cancelled' },
      { status: 'completed' },
    ]);
  });

  test('lets the next turn take over from a program that does not renew its lease, which then writes nothing more', async () => {
    const first = startLoop(world, 'chat', 'approve');
    await first.saw('reins: answer with: reins approvals respond');
    first.child.kill('SIGSTOP');
    jump();
    expect(await world.run(['chat', ...tester, 'here', 'again'])).toMatchObject({ code: 0, stdout: 'Here again.\n' });
    first.child.kill('SIGCONT');
    const { code, stderr } = await first.ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining('taken over by another process')]);
    expect(rows(world, 'SELECT status FROM runs ORDER BY created_at')).toEqual([
      { status: 'interrupted' },
      { status: 'completed' },
    ]);
  });
});

test('a program that slept past its lease finds its run taken: it starts nothing more, writes nothing more, and says so', async () => {
  const first = startLoop(world, 'run', 'approve');
  await first.saw('reins: answer with: reins approvals respond');
  first.child.kill('SIGSTOP');
  const database = new Database(join(world.workspace, '.reins/local.db'));
  database.exec('UPDATE run_state SET lease_until = lease_until - 3600000');
  database.close();
  const [run] = rows(world, 'SELECT id FROM runs');
  expect((await world.run(['state', 'resume', String(run?.['id'])])).code).toBe(4);
  let code: number | null = 4;
  while (code === 4) {
    const { asks } = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout);
    ({ code } = await world.run(['approvals', 'respond', asks[0].id, '--approve']));
  }
  expect([code, madeCalls(world)]).toEqual([0, ['1', '2', '3']]);
  const written = rows(world, 'SELECT count(*) AS n FROM events');
  first.child.kill('SIGCONT');
  const ended = await first.ended;
  expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('the run was taken over by another process')]);
  expect(madeCalls(world)).toEqual(['1', '2', '3']);
  expect(rows(world, 'SELECT count(*) AS n FROM events')).toEqual(written);
  expectSound(world);
});

test('an answer to a run that another program drives leaves it there; --wait waits for its end', async () => {
  const first = startLoop(world, 'run', 'approve');
  for (let call = 1; call <= 3; call += 1) {
    await expect
      .poll(() => rows(world, "SELECT id FROM asks WHERE state = 'pending'"), { timeout: 10_000 })
      .toHaveLength(1);
    const [ask] = rows(world, "SELECT id FROM asks WHERE state = 'pending'");
    const last = call === 3 ? ['--wait'] : [];
    const answered = await world.run(['approvals', 'respond', String(ask?.['id']), '--approve', ...last]);
    expect(answered).toMatchObject({ code: 0, stdout: `approved ${ask?.['id']}\n` });
  }
  // Waited for: the row says so before anybody looks at the other program.
  expect(rows(world, 'SELECT status FROM runs')).toEqual([{ status: 'completed' }]);
  expect((await first.ended).stdout).toBe('All three are made.\n');
});

test('who waits for the end of a run hears that the program that drove it was killed', async () => {
  const killed = startLoop(world, 'run', 'approve', 'after tool_call_started');
  await killed.saw('reins: answer with');
  const [ask] = rows(world, "SELECT id, run_id FROM asks WHERE state = 'pending'");
  const waited = await world.run(['approvals', 'respond', String(ask?.['id']), '--approve', '--wait']);
  expect((await killed.ended).signal).toBe('SIGKILL');
  expect(waited).toMatchObject({
    code: 4,
    stdout: `approved ${ask?.['id']}\n`,
    stderr: `reins: warning: the process that drove ${ask?.['run_id']} is gone; reins state resume ${ask?.['run_id']} goes on with it\n`,
  });
});

test('three programs that append to the audit log keep one chain', async () => {
  const all = await Promise.all([1, 2, 3].map(() => startLoop(world, 'run', 'allow').ended));
  expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
  const entries = rows(world, 'SELECT * FROM audit ORDER BY seq');
  expect(new Set(entries.map((entry) => entry['run_id']).filter((id) => id !== null)).size).toBe(3);
  expect(brokenAudit(entries)).toEqual([]);
});

test.each([
  // The same of the same person is the stored result, as of a reply that got lost (03 §5); the run rests again with its next call.
  ['the same thing', ['--approve', '--approve'], [0, 4]],
  ['two things', ['--approve', '--deny'], [1, 4]],
])('two answers at once that say %s take up a run that rests once', async (_what, outcomes, codes) => {
  const go = ['run', ...tester, '--shell', '--policy', join(world.dir, 'approve.json'), '--input', 'go'];
  expect((await world.run(go)).code).toBe(4);
  const [ask] = rows(world, "SELECT id FROM asks WHERE state = 'pending'");
  const respond = ['approvals', 'respond', String(ask?.['id'])];
  const answers = await Promise.all(outcomes.map((outcome) => world.run([...respond, outcome])));
  expect(answers.map(({ code }) => code).sort()).toEqual(codes);
  const [{ state } = {}] = rows(world, `SELECT state FROM asks WHERE id = '${ask?.['id']}'`);
  expect(madeCalls(world)).toEqual(state === 'approved' ? ['1'] : []);
  expect(rows(world, "SELECT kind FROM events WHERE kind = 'chain_resumed'")).toHaveLength(1);
  expect(rows(world, "SELECT seq FROM audit WHERE type = 'verdict'")).toHaveLength(1);
  expectSound(world);
});

test('three answers from three programs make one verdict', async () => {
  const waiting = startLoop(world, 'run', 'approve');
  await waiting.saw('reins: answer with: reins approvals respond');
  const [ask] = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout).asks;
  const outcomes = ['--approve', '--deny', '--cancel'];
  const answers = await Promise.all(outcomes.map((outcome) => world.run(['approvals', 'respond', ask.id, outcome])));
  expect(answers.map(({ code }) => code).sort()).toEqual([0, 1, 1]);
  const winner = answers.findIndex(({ code }) => code === 0);
  expect(rows(world, `SELECT state FROM asks WHERE id = '${ask.id}'`)).toEqual([
    { state: ['approved', 'denied', 'cancelled'][winner] },
  ]);
  expect(rows(world, `SELECT seq FROM audit WHERE type = 'verdict' AND body LIKE '%${ask.id}%'`)).toHaveLength(1);
  expect(rows(world, `SELECT seq FROM events WHERE kind = 'verdict' AND ask_id = '${ask.id}'`)).toHaveLength(1);
  waiting.child.kill('SIGINT');
  await waiting.ended;
  expectSound(world);
});
