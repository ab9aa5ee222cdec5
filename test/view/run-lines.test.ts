import { expect, it } from 'vitest';
import type { RunDetails } from '../../src/schema/run-record.ts';
import { runParts } from '../../src/view/run-lines.ts';

const at = (time: string): string => `2026-01-05T${time}.000Z`;
const step = (index: number, time: string) => ({
  index,
  task_id: 'work',
  task_handler: 'noop',
  duration_ms: 5,
  eval: 'ok',
  error: null,
  started_at: at(time),
});
const call = (number: number, planned: string, ended: string) => ({
  tools: 'local_fs',
  tool: `tool_${number}`,
  args: {},
  decision: null,
  state: 'done',
  error: null,
  result_bytes: 2,
  planned_at: at(planned),
  started_at: at(planned),
  ended_at: at(ended),
  ask_id: null,
});

it('keeps steps and calls in their order where the clock was set back on the way', () => {
  const run = {
    id: 'run_a',
    status: 'completed',
    kind: 'run',
    session: null,
    model: null,
    backend: null,
    provider: null,
    cwd: '/',
    duration_ms: 0,
    chain: { id: 'c' },
    policy: { name: 'p', source: 'user' },
    usage: { input_tokens: 0, output_tokens: 0 },
    bounds: { turns: { used: 0, max: null }, tool_calls: { used: 0, max: null }, tokens: { used: 0, max: null } },
    input: '',
    result: '',
    error: null,
    waiting_on: null,
    exit_code: null,
    started_at: null,
    plan: null,
    steps: [step(1, '10:00:00'), step(2, '10:00:02'), step(3, '09:00:05')],
    calls: [call(1, '10:00:01', '09:00:01'), call(2, '10:00:03', '10:00:04')],
    waits: [],
    messages: [],
  };
  // A test makes of a run what its time line reads.
  const { steps } = runParts(run as never as RunDetails, { id: String, when: String });
  expect(steps).toEqual([
    '  1. work (noop) 5ms ok',
    '     → local_fs.tool_1 · done, 2 bytes, 0ms',
    '  2. work (noop) 5ms ok',
    '  3. work (noop) 5ms ok',
    '     → local_fs.tool_2 · done, 2 bytes, 1.0s',
  ]);
});
