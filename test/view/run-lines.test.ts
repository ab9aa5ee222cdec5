import { expect, it } from 'vitest';
import type { RunDetails } from '../../src/schema/run-record.ts';
import { runParts } from '../../src/view/run-lines.ts';

const at = (time: string): string => `2026-01-05T${time}.000Z`;
const step = (index: number, time: string, handler = 'noop') => ({
  index,
  task_id: 'work',
  task_handler: handler,
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

const runOf = (parts: object): RunDetails =>
  // A test makes of a run what its time line reads.
  ({
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
    waits: [],
    messages: [],
    ...parts,
  }) as never as RunDetails;
const stepsOf = (parts: object) => runParts(runOf(parts), { id: String, when: String }).steps;

it('keeps steps and calls in their order where the clock was set back on the way', () => {
  const steps = stepsOf({
    steps: [step(1, '10:00:00'), step(2, '10:00:02'), step(3, '09:00:05')],
    calls: [call(1, '10:00:01', '09:00:01'), call(2, '10:00:03', '10:00:04')],
  });
  expect(steps).toEqual([
    '  1. work (noop) 5ms ok',
    '     → local_fs.tool_1 · done, 2 bytes, 0ms',
    '  2. work (noop) 5ms ok',
    '  3. work (noop) 5ms ok',
    '     → local_fs.tool_2 · done, 2 bytes, 1.0s',
  ]);
});

it('says of an interrupted run that it took at least what is known', () => {
  const durationOf = (status: string) =>
    runParts(runOf({ status, duration_ms: 13, steps: [], calls: [] }), { id: String, when: String }).header.find(
      (line) => line.includes('duration'),
    );
  expect(durationOf('interrupted')).toMatch(/duration +at least 13ms$/);
  expect(durationOf('completed')).toMatch(/duration +13ms$/);
});

it('shows the beginning of an eval that is all that a model said', () => {
  const [line] = stepsOf({
    steps: [{ ...step(1, '10:00:00', 'prompt_to_string'), eval: 'one\ntwo' }],
    calls: [],
  });
  expect(line).toBe('  1. work (prompt_to_string) 5ms one…');
});

it('keeps a call with the step that made it where the next one began in the same millisecond', () => {
  const steps = stepsOf({
    steps: [
      step(1, '10:00:00', 'chat_completion'),
      step(2, '10:00:00', 'execute_tool_calls'),
      step(3, '10:00:00', 'chat_completion'),
      step(4, '10:00:01', 'execute_tool_calls'),
      step(5, '10:00:02', 'chat_completion'),
    ],
    calls: [call(1, '10:00:00', '10:00:00'), call(2, '10:00:02', '10:00:02')],
  });
  expect(steps).toEqual([
    '  1. work (chat_completion) 5ms ok',
    '  2. work (execute_tool_calls) 5ms ok',
    '     → local_fs.tool_1 · done, 2 bytes, 0ms',
    '  3. work (chat_completion) 5ms ok',
    '  4. work (execute_tool_calls) 5ms ok',
    '     → local_fs.tool_2 · done, 2 bytes, 0ms',
    '  5. work (chat_completion) 5ms ok',
  ]);
});
