import { afterEach, beforeEach, expect, test } from 'vitest';
import { tester, type World } from '../cli/world.ts';
import { createCrashWorld, rows, startLoop } from './support.ts';

/** A run whose process was killed is marked as interrupted by whoever finds it. */

let world: World;
beforeEach(async () => {
  world = await createCrashWorld();
});
afterEach(() => world.remove());

const statuses = (): unknown[] =>
  rows(world, 'SELECT status FROM runs ORDER BY created_at').map((row) => row['status']);
const rests = (): unknown[] =>
  rows(world, "SELECT data FROM events WHERE kind = 'chain_suspended'").map((row) => JSON.parse(String(row['data'])));

test('by doctor, once, with its question still open', async () => {
  const killed = startLoop(world, 'run', 'approve', 'after ask');
  expect((await killed.ended).signal).toBe('SIGKILL');
  expect(statuses()).toEqual([expect.stringMatching('running|waiting')]);
  await world.run(['doctor', '--skip-probe']);
  await world.run(['doctor', '--skip-probe']);
  expect(statuses()).toEqual(['interrupted']);
  const [ask] = rows(world, 'SELECT id, state FROM asks');
  expect(ask?.['state']).toBe('pending');
  const [asked] = rows(world, "SELECT max(seq) AS seq FROM events WHERE kind = 'message'");
  expect(rests()).toMatchObject([
    { reason: 'interrupted', ask_ids: [ask?.['id']], checkpoint_seq: Number(asked?.['seq']) },
  ]);
  expect(rows(world, 'SELECT lease_owner FROM run_state')).toEqual([{ lease_owner: null }]);
  expect(rows(world, 'SELECT ended_at FROM runs')).toEqual([{ ended_at: null }]);
});

test('and was cancelled says what may have run, and doctor speaks of it no more', async () => {
  await startLoop(world, 'run', 'allow', 'after tool_call_started').ended;
  const doctor = async () => (await world.run(['doctor'])).stdout;
  expect(await doctor()).toContain('outcome_unknown');
  const [run] = rows(world, 'SELECT id FROM runs');
  const cancelled = await world.run(['state', 'cancel', String(run?.['id'])]);
  expect(cancelled.stderr).toContain(
    'warning: local_shell.local_shell ./add 1 had started: it may have run, in part or not at all\n',
  );
  expect(await doctor()).not.toContain('outcome_unknown');
});

test('by the next run, when that has ended; a run that is going on is left alone', async () => {
  const going = startLoop(world, 'run', 'approve');
  await going.saw('reins: answer with: reins approvals respond');
  expect((await startLoop(world, 'run', 'allow', 'after tool_call_started').ended).signal).toBe('SIGKILL');
  expect((await world.run([...tester, 'here', 'again'])).code).toBe(0);
  expect(statuses()).toEqual(['waiting', 'interrupted', 'completed']);
  going.child.kill('SIGINT');
  expect((await going.ended).code).toBe(130);
});

test('in a session leaves one note when the next turn takes its place', async () => {
  expect((await startLoop(world, 'chat', 'allow', 'after tool_call').ended).signal).toBe('SIGKILL');
  await world.run(['doctor', '--skip-probe']);
  expect((await world.run(['chat', ...tester, 'here', 'again'])).code).toBe(0);
  expect(statuses()).toEqual(['interrupted', 'completed']);
  expect(rows(world, "SELECT seq FROM messages WHERE kind = 'note'")).toHaveLength(1);
  expect(rests()).toHaveLength(1);
});

test('in a session leaves the result of its call before the next message', async () => {
  expect((await startLoop(world, 'chat', 'allow', 'after tool_call').ended).signal).toBe('SIGKILL');
  expect((await world.run(['chat', ...tester, 'here', 'again'])).code).toBe(0);
  const { stdout } = await world.run(['session', 'show', '--tools', '--json']);
  const shown = JSON.parse(stdout).messages as { role: string; kind: string; text: string; tool_call_id: string }[];
  expect(shown.map(({ role, kind }) => (kind === 'note' ? kind : role))).toEqual([
    'user',
    'assistant',
    'tool',
    'note',
    'user',
    'assistant',
  ]);
  const calls = rows(world, 'SELECT call_id FROM tool_calls').map((row) => row['call_id']);
  expect([shown[2]?.tool_call_id]).toEqual(calls);
  expect(shown[2]?.text).toContain('exit');
});
