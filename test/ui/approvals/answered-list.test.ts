import { expect, test } from 'vitest';
import { textOf } from '../../../src/view/line.ts';
import { emptyApprovals } from '../../../ui/approvals/approvals-state.ts';
import { approvalsLines } from '../../../ui/approvals/list-view.ts';
import { verdictWords } from '../../../ui/approvals/result-line.ts';
import { shippedKeyMap } from '../../../ui/keys/key-map.ts';
import { anAsk } from './an-ask.ts';

test('what was answered is told in the words of the answer: a call that was skipped was not denied', () => {
  const at = '2026-01-01T00:00:26.000Z';
  const given = { by: 'operator:tui', at, binding: '' } as const;
  const answered = (id: string, state: 'denied' | 'approved', treat_as?: 'skip' | 'done' | 'run_again') =>
    anAsk({
      id,
      state,
      resolved_at: at,
      verdict: { outcome: treat_as === undefined ? 'deny' : 'answer', ...given, ...(treat_as && { treat_as }) },
    });
  const history = [
    answered('ask_1', 'denied', 'skip'),
    answered('ask_2', 'approved', 'done'),
    answered('ask_3', 'approved', 'run_again'),
    answered('ask_4', 'denied'),
    anAsk({
      id: 'ask_5',
      state: 'cancelled',
      resolved_at: at,
      verdict: { outcome: 'cancel', ...given, by: 'system:superseded', edited: { args: {}, by: 'operator:tui' } },
    }),
  ];
  expect(verdictWords(history[4] ?? anAsk(), true)).toMatch(/^edited [\d:]+ by you$/);
  const state = { ...emptyApprovals, asks: [anAsk()], history };
  const view = {
    place: { columns: 80, rows: 20, glyphs: 'unicode' as const },
    keys: shippedKeyMap(),
    guardMs: 400,
    now: Date.parse(at),
    covered: false,
  };
  const lines = approvalsLines(state, view, { columns: 80, rows: 20 }, 'policy default').map(textOf);
  expect(lines.flatMap((line) => /^ +\d\d:\d\d {2}(\w+) +operator:tui/.exec(line)?.[1] ?? [])).toEqual([
    'skipped',
    'done',
    'again',
    'denied',
    'edited',
  ]);
});
