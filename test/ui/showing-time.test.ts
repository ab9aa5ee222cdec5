import { expect, test } from 'vitest';
import { turnFrom } from '../../ui/sending.ts';
import { showsTime } from '../../ui/showing-time.ts';
import { anAsk } from './approvals/an-ask.ts';
import { readyState } from './reducing.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const due = (ms: number | null) => anAsk({ expires_at: ms === null ? null : new Date(now + ms).toISOString() });

test('a frame is due every second only where seconds are shown, and by the minute for a deadline that is far', () => {
  const at = (over: Parameters<typeof readyState>[0]) =>
    [1, 10, 60].map((seconds) => showsTime(readyState(over), now, seconds));
  expect(at({})).toEqual([false, false, false]);
  expect(at({ turn: turnFrom(0) })).toEqual([true, true, true]);
  expect(at({ asks: [due(3_599_000)] })).toEqual([true, true, true]);
  expect(at({ asks: [due(5 * 3_600_000)] })).toEqual([false, false, true]);
  // Its age is in the list.
  expect(at({ asks: [due(null)], pane: 'approvals' })).toEqual([false, true, true]);
});
