import { expect, test } from 'vitest';
import type { RunResult } from '../../src/schema/run.ts';
import type { LiveRun } from '../../src/runs/live-run.ts';
import { createHeap } from '../../ui/heap.ts';
import { createLiveRuns } from '../../src/runs/live-runs.ts';

// Neither is looked into here.
const live = {} as LiveRun;
const result = (id: string) => ({ run_id: id }) as RunResult;

test('keeps the results of many runs, and the whole histories of the newest four', async () => {
  const lives = createLiveRuns();
  const histories: WeakRef<object>[] = [];
  const add = async (run: number): Promise<void> => {
    const history = { text: `history ${run}` };
    histories.push(new WeakRef(history));
    const finished = Promise.resolve({ result: result(`r${run}`), output: () => history.text });
    lives.add(`r${run}`, live, finished);
    await finished;
  };
  for (let run = 1; run <= 6; run += 1) await add(run);
  await new Promise(setImmediate);
  createHeap().collect();
  expect(histories.map((history) => history.deref() !== undefined)).toEqual([false, false, true, true, true, true]);

  const outputs: string[] = [];
  for (let run = 1; run <= 6; run += 1) {
    const finished = await lives.finished(`r${run}`);
    expect(finished.result.run_id).toBe(`r${run}`);
    try {
      outputs.push(String(finished.output()));
    } catch (error) {
      outputs.push(String(error));
    }
  }
  const gone = (run: string) => `RuntimeError: run ${run} is not running in this process`;
  expect(outputs).toEqual([gone('r1'), gone('r2'), 'history 3', 'history 4', 'history 5', 'history 6']);
});
