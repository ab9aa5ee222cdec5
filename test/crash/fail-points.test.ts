import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { World } from '../cli/world.ts';
import {
  createCrashWorld,
  expectGivenUp,
  expectGoneOn,
  expectSound,
  type Face,
  madeCalls,
  rows,
  startLoop,
} from './support.ts';

/** The program is killed at each durable write of a gated call; the next start must explain what is there. */

let world: World;
beforeEach(async () => {
  world = await createCrashWorld();
});
afterEach(() => world.remove());

const callStates = (): unknown[] => rows(world, 'SELECT state FROM tool_calls ORDER BY seq').map((row) => row['state']);
const runStates = (): unknown[] => rows(world, 'SELECT status FROM runs').map((row) => row['status']);

/** Point, calls that were made, states of call rows. */
const allowed = [
  ['before chain_started', [], []],
  ['after chain_started', [], []],
  ['after message', [], []],
  ['before tool_call_pending', [], []],
  ['before tool_call_started', [], []],
  ['after tool_call_started', [], ['started']],
  ['before tool_call', ['1'], ['started']],
  ['after tool_call', ['1'], ['done']],
  ['before chain_completed', ['1', '2', '3'], ['done', 'done', 'done']],
  ['after chain_completed', ['1', '2', '3'], ['done', 'done', 'done']],
] as const;

/** What happens next: the run goes on, or a new turn takes its place. A chat that goes on differs at its messages only. */
const ofSession = /chain_started|message|chain_completed|after ask|APR/;
const next = [
  ['run', 'goes on', (there: World) => expectGoneOn(there, 'run'), /./],
  ['chat', 'goes on', (there: World) => expectGoneOn(there, 'chat'), ofSession],
  ['chat', 'gives way', expectGivenUp, /./],
] as const satisfies readonly (readonly [Face, string, (there: World) => Promise<void>, RegExp])[];

describe.each(next)('%s that is killed and %s,', (face, _what, recover, points) => {
  test.each(allowed.filter(([point]) => points.test(point)))('%s of an allowed call', async (point, made, states) => {
    const { signal } = await startLoop(world, face, 'allow', point).ended;
    expect(signal).toBe('SIGKILL');
    expect(madeCalls(world)).toEqual(made);
    expect(callStates()).toEqual(states);
    await recover(world);
  });
});

/** An approved call, killed in the process that waits for the answer. */
const approved = [
  ['before ask', [], [], 'none'],
  ['after ask', [], ['planned'], 'pending'],
  ['before tool_call_started', [], ['planned'], 'approved'],
  ['after tool_call_started', [], ['started'], 'approved'],
  ['before tool_call', ['1'], ['started'], 'approved'],
  ['after tool_call', ['1'], ['done'], 'approved'],
] as const;

/** Answers the open question; a program that is already dead has none to answer. */
async function approveOpen(): Promise<void> {
  const { asks } = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout);
  expect((await world.run(['approvals', 'respond', asks[0].id, '--approve'])).code).toBe(0);
}

describe.each(next)('%s that is killed and %s,', (face, _what, recover, points) => {
  test.each(approved.filter(([point]) => points.test(point)))(
    '%s of a call that asks',
    async (point, made, states, ask) => {
      const started = startLoop(world, face, 'approve', point);
      if (ask === 'approved') {
        await started.saw('reins: answer with: reins approvals respond');
        await approveOpen();
      }
      const { signal, stderr } = await started.ended;
      expect(signal).toBe('SIGKILL');
      // Nobody is asked before the question is in the database for every reader.
      if (point.endsWith(' ask')) expect(stderr).not.toMatch(/count\.txt|approvals respond/);
      expect(madeCalls(world)).toEqual(made);
      expect(callStates()).toEqual(states);
      expect(rows(world, 'SELECT state FROM asks').map((row) => row['state'])).toEqual(ask === 'none' ? [] : [ask]);
      expect(runStates()).toEqual([
        ask === 'pending' || ask === 'none' ? expect.stringMatching('running|waiting') : 'running',
      ]);
      await recover(world);
    },
  );

  test('APR-002: after the verdict was written and before it was taken', async () => {
    const started = startLoop(world, face, 'approve');
    await started.saw('reins: answer with: reins approvals respond');
    started.child.kill('SIGSTOP');
    await approveOpen();
    started.child.kill('SIGKILL');
    await started.ended;
    expect(madeCalls(world)).toEqual([]);
    expect(callStates()).toEqual(['planned']);
    expect(rows(world, 'SELECT state, delivered_at FROM asks')).toEqual([{ state: 'approved', delivered_at: null }]);
    await recover(world);
  });
});

describe('an answering process, killed', () => {
  test.each([
    ['before verdict', 'pending'],
    ['after verdict', 'approved'],
  ])('%s, leaves one question with one answer, and the run goes on', async (point, state) => {
    const started = startLoop(world, 'run', 'approve');
    await started.saw('reins: answer with: reins approvals respond');
    const { asks } = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout);
    const answer = ['approvals', 'respond', asks[0].id, '--approve'];
    const killed = await world.run(answer, { environment: { REINS_FAIL_POINT: point } });
    expect(killed.signal).toBe('SIGKILL');
    const verdicts = () => rows(world, "SELECT count(*) AS n FROM audit WHERE type = 'verdict'");
    expect(rows(world, `SELECT state FROM asks WHERE id = '${asks[0].id}'`)).toEqual([{ state }]);
    expect(verdicts()).toEqual([{ n: state === 'pending' ? 0 : 1 }]);
    expect((await world.run(answer)).code).toBe(0);
    await expect.poll(() => madeCalls(world), { timeout: 10_000 }).toEqual(['1']);
    started.child.kill('SIGKILL');
    await started.ended;
    expect(verdicts()).toEqual([{ n: 1 }]);
    expectSound(world);
  });
});
