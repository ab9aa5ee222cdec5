import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Context } from '../../src/cli/context.ts';
import { createProgress, type Progress } from '../../src/cli/progress.ts';
import type { RunEvent } from '../../src/schema/event.ts';

let said: (string | null)[];
let progress: Progress;
let asking: boolean;
let lines: string[];
beforeEach(() => {
  vi.useFakeTimers();
  said = [];
  asking = false;
  lines = [];
  // What the waiting line needs of a terminal.
  const context = {
    terminal: {
      live: true,
      stderrIsTerminal: true,
      quiet: false,
      columns: 80,
      style: (_stream: string, _look: string, text: string) => text,
      status: (text: string | null) => said.push(text),
      err: (text: string) => lines.push(text),
    },
    globals: { trace: false, steps: false, think: { show: false, level: null } },
    process: { now: () => Date.now() },
    safe: (text: string) => text,
  } as unknown as Context;
  progress = createProgress(context, () => asking);
});
afterEach(() => {
  progress.stop();
  vi.useRealTimers();
});

const step = (task_handler: string) => ({ kind: 'step_started', task_id: 't', task_handler }) as unknown as RunEvent;

test('a model that is quiet for long has its seconds and bytes told', () => {
  progress.event(step('chat_completion'));
  vi.advanceTimersByTime(9000);
  expect([said[0], said.at(-1)]).toEqual(['waiting for the model, 1 s', 'waiting for the model, 9 s, 0 B received']);
});

test('no waiting line is drawn under a question that stands on the terminal', () => {
  progress.event({ kind: 'ask' } as unknown as RunEvent);
  asking = true;
  vi.advanceTimersByTime(20_000);
  expect(said).toEqual([]);
});

test('a model call that is tried again is told with its class and the seconds until then', () => {
  const message = 'backend "far" answered 429: slow down';
  const retry = { kind: 'model_retry', class: 'rate_limit', message, wait_ms: 1500, next_attempt: 2, model: 'm' };
  progress.event(retry as unknown as RunEvent);
  expect(lines).toEqual([`m: ${message} (rate_limit); trying again in 2 s\n`]);
});

test('an answer that comes from elsewhere is waited for without counting bytes', () => {
  progress.event({ kind: 'ask' } as unknown as RunEvent);
  vi.advanceTimersByTime(9000);
  expect(said.at(-1)).toBe('waiting for an answer, 9 s');
});

test('a denied call is said to be denied once', () => {
  const call = { call_id: 'c', tools: 'local_fs', tool: 'write_file' };
  progress.event({ kind: 'tool_call_pending', ...call, args: { path: 'a.txt' } } as unknown as RunEvent);
  progress.event({ kind: 'verdict', ...call, verdict: 'denied', by: 'operator:cli' } as unknown as RunEvent);
  progress.event({ kind: 'tool_call', ...call, ok: false, error: 'denied' } as unknown as RunEvent);
  expect(lines).toEqual(['  → local_fs.write_file a.txt · denied by operator:cli\n']);
});

test('a call that fails before it is judged has a line of its own', () => {
  const call = { call_id: 'c', tools: 'local_fs', tool: 'write_file' };
  progress.event({ kind: 'tool_call_pending', ...call, args: { path: 'a.txt' } } as unknown as RunEvent);
  progress.event({ kind: 'tool_call', ...call, ok: false, error: 'read_first' } as unknown as RunEvent);
  const unknown = { call_id: 'u', tools: '', tool: 'no_such_tool' };
  progress.event({ kind: 'tool_call_pending', ...unknown, args: {} } as unknown as RunEvent);
  progress.event({ kind: 'tool_call', ...unknown, ok: false, error: 'not_found' } as unknown as RunEvent);
  const next = { ...call, call_id: 'd' };
  progress.event({ kind: 'tool_call_pending', ...next, args: { path: 'b.txt' } } as unknown as RunEvent);
  progress.event({ kind: 'policy_decision', ...next, action: 'allow', rule: 4 } as unknown as RunEvent);
  progress.event({ kind: 'tool_call', ...next, ok: false, error: 'failed' } as unknown as RunEvent);
  expect(lines).toEqual([
    '  → local_fs.write_file a.txt · read_first\n',
    '  → no_such_tool · not_found\n',
    '  → local_fs.write_file b.txt · allowed (rule 5)\n',
    '    failed\n',
  ]);
});

test('reasoning is printed by whole lines, blank ones too, and before the answer that follows it', () => {
  const context = {
    terminal: { live: false, stderrIsTerminal: false, quiet: false, err: (text: string) => lines.push(text) },
    globals: { trace: false, steps: false, think: { show: true, level: null } },
    process: { now: () => 0 },
    safe: (text: string) => text,
  } as unknown as Context;
  const thinking = createProgress(context);
  const chunk = (part: Readonly<Record<string, string>>) => ({ kind: 'step_chunk', ...part }) as unknown as RunEvent;
  for (const text of ['First', ' this.\n', '\n', 'Then\n\nthat']) thinking.event(chunk({ thinking: text }));
  const printed = ['First this.', '', 'Then', ''].map((line) => `thinking: ${line}\n`);
  expect(lines).toEqual(printed);
  thinking.event(chunk({ content: 'The answer' }));
  expect(lines).toEqual([...printed, 'thinking: that\n']);
  thinking.event({ kind: 'step_stream_end' } as unknown as RunEvent);
  expect(lines).toEqual([...printed, 'thinking: that\n']);
});
