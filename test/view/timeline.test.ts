import { expect, it } from 'vitest';
import type { RunEvent } from '../../src/schema/event.ts';
import { emptyTimeline, reduceTimeline, scaleOf } from '../../src/view/timeline.ts';

const start = Date.parse('2026-01-05T10:00:00.000Z');
let seq = 0;
/** An event so many milliseconds behind the start; only what the picture reads of it. */
const event = (ms: number, body: object): RunEvent => {
  seq += 1;
  // A test makes of each kind what the picture reads.
  return { v: 1, seq, timestamp: new Date(start + ms).toISOString(), run_id: 'r', ...body } as unknown as RunEvent;
};
const task = { task_id: 'work', task_handler: 'chat_completion', attempt: 1 };
const tool = { tools: 'local_fs', tool: 'write_file', call_id: 'c' };

it('draws a task of a loop as often as it began, and a wait with who ended it', () => {
  const events = [
    event(0, { kind: 'step_started', ...task }),
    event(10, { kind: 'step_completed', ...task, next: 'run_tools' }),
    event(10, { kind: 'step_started', ...task }),
    event(12, { kind: 'policy_decision', ...tool, action: 'approve', rule: 3, reason: 'matched_rule' }),
    event(13, { kind: 'ask', ...tool, ask_id: 'a' }),
    event(60_013, { kind: 'verdict', ...tool, ask_id: 'a', verdict: 'approved', by: 'operator:web' }),
    event(60_014, { kind: 'tool_call_started', ...tool }),
    event(60_020, { kind: 'tool_call', ...tool, ok: false, error: 'io' }),
    event(60_021, { kind: 'chain_completed' }),
  ];
  const whole = reduceTimeline(emptyTimeline, events);
  expect(
    whole.spans.map(({ lane, state, detail, from, to }) => [lane, state, detail, from - start, (to ?? 0) - start]),
  ).toEqual([
    ['steps', 'plain', 'chat_completion, then run_tools', 0, 10],
    ['steps', 'unknown', 'chat_completion', 10, 60_021],
    ['policy', 'plain', 'approve, rule 4', 12, 12],
    ['waiting', 'plain', 'approved by operator:web', 13, 60_013],
    ['tools', 'failed', 'io', 60_014, 60_020],
  ]);
  // One event at a time gives the same picture.
  expect(events.reduce((before, each) => reduceTimeline(before, [each]), emptyTimeline)).toEqual(whole);
});

it('draws a minute in which only somebody is waited for as two seconds, and says so', () => {
  const timeline = reduceTimeline(emptyTimeline, [
    event(0, { kind: 'ask', ...tool, ask_id: 'b' }),
    event(60_000, { kind: 'verdict', ...tool, ask_id: 'b', verdict: 'denied', by: 'operator:cli' }),
    event(60_100, { kind: 'chain_completed' }),
  ]);
  const scale = scaleOf(timeline, start + 60_100);
  expect(scale.gaps).toEqual([{ at: 0, ms: 60_000 }]);
  expect(scale.total).toBe(2100);
  expect(scale.at(start + 60_000)).toBe(2000);
});
