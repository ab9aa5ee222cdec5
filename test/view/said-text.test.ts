import { expect, it } from 'vitest';
import type { EventBody, RunEvent } from '../../src/schema/event.ts';
import { reduceSaid, saidNothing } from '../../src/view/said-text.ts';

const task = { task_id: 't', task_handler: 'chat_completion', attempt: 1 } as const;
const event = (body: EventBody): RunEvent => ({
  ...{ v: 1, seq: 0, timestamp: '2026-01-05T10:00:00.000Z', run_id: 'run_1', session_id: null, chain_id: 'c' },
  ...body,
});
const chunk = (content: string, more: object = {}) =>
  event({ ...task, kind: 'step_chunk', content, index: 0, ...more });
const message = (content: string, more: object = {}) =>
  event({
    ...{ ...task, kind: 'message', number: 1 },
    message: { id: content, role: 'assistant', content, timestamp: '' },
    ...more,
  });
const whole = (...events: readonly RunEvent[]): string => {
  const { before, message: last } = reduceSaid(saidNothing, events);
  return before + last;
};

it('says a message once that is told from its start again, behind a lost connection', () => {
  const pieces = [message('First. '), chunk('one '), chunk('two ')];
  expect(whole(...pieces, chunk('one two three ', { from_start: true }), chunk('four'))).toBe(
    'First. one two three four',
  );
  expect(whole(chunk('one '), message('one two'), chunk('Next.'))).toBe('one twoNext.');
});

it('keeps what was heard of a message that is cut in its event, and shows what was never heard in pieces', () => {
  expect(whole(chunk('a long text'), message('a long', { truncated: ['message'] }))).toBe('a long text');
  expect(whole(message('a long', { truncated: ['message'] }))).toBe('a long');
  expect(whole(chunk('kept'), message('of the history', { working: true }))).toBe('kept');
});
