import { describe, expect, it } from 'vitest';
import { createNotifier } from '../../ui/notify.ts';
import type { State } from '../../ui/state.ts';
import { anAsk } from './approvals/an-ask.ts';
import { readyState } from './reducing.ts';
import { turnFrom } from '../../ui/sending.ts';

/** What is sent to somebody who looks elsewhere while the states follow one another, ten seconds apart. */
function told(...states: readonly State[]): readonly string[] {
  const sent: string[] = [];
  let now = 0;
  const signal = (bytes: string) => sent.push(bytes);
  const notifier = createNotifier({ now: () => now, way: () => 'osc', program: '', inTmux: false, signal });
  notifier.focus(false);
  for (const state of states) {
    notifier.look(state);
    now += 10_000;
  }
  return sent.map((bytes) => bytes.replace(/^\u001b\]777;notify;reins;(.*)\u0007$/, '$1'));
}

const turn = { ...turnFrom(0), run_id: 'r' };
const over = { name: 'work', failed: false, ms: 12_000 };

describe('a notification', () => {
  it('names the session that asks, not the one in view', () => {
    const asks = [{ ...anAsk(), session_name: 'other' }];
    expect(told(readyState(), readyState({ asks }))).toEqual([
      'reins: other needs an answer (local_shell.local_shell)',
    ]);
  });

  it('tells of the end of what took long, and of nothing when another session is opened meanwhile', () => {
    const other = { id: 's2', name: 'other', before: null, loading: false, deleted: false };
    expect(told(readyState({ turn }), readyState({ session: other }))).toEqual([]);
    expect(told(readyState({ turn }), readyState({ over }))).toEqual(['reins: work done']);
    expect(told(readyState({ turn }), readyState({ over: { ...over, failed: true } }))).toEqual(['reins: work failed']);
    expect(told(readyState({ turn }), readyState({ over: { ...over, ms: 9000 } }))).toEqual([]);
  });

  it('gives a name that holds nothing to be shown no empty place', () => {
    expect(told(readyState(), readyState({ over: { ...over, name: '한글' } }))).toEqual(['reins: a run done']);
  });
});
