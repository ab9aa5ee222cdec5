import { expect, it } from 'vitest';
import type { Ask } from '../../src/schema/ask.ts';
import { emptyCall } from '../../src/view/transcript.ts';
import { reduce } from '../../ui/reducer.ts';
import { createLineCache } from '../../ui/transcript/line-cache.ts';
import { anAsk } from './approvals/an-ask.ts';
import { readyState } from './reducing.ts';

it('a call of a run that rested says who answered it, though the events behind which it goes on do not', () => {
  const call = { ...emptyCall('c1', 'run_1'), ask_id: anAsk().id };
  const other = { ...call, id: 'c2', ask_id: 'ask_other' };
  const at = '2026-01-01T01:02:03.000Z';
  const verdict = { outcome: 'approve', by: 'operator:tui', at, binding: '' } as Ask['verdict'];
  const { state } = reduce(
    readyState({ items: [call, other] }),
    {
      type: 'approve',
      action: { type: 'resolved', ask: anAsk({ state: 'approved', verdict }), mine: true, told: null },
      now: 0,
    },
    { cache: createLineCache(), glyphs: 'unicode' },
  );
  const given = { ask_id: anAsk().id, verdict: 'approved', by: 'operator:tui', at };
  expect(state.items).toEqual([{ ...call, verdict: given }, other]);
});
