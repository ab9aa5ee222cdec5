import { expect, test } from 'vitest';
import { runTitle } from '../../src/view/run-title.ts';

const run = { input: '', kind: 'chat', plan: null } as const;

test.each([
  ['what was asked', { ...run, input: ' what is this?\n' }, 'what is this?'],
  ['the first line of more', { ...run, input: 'review this\n\n+ a\n- b' }, 'review this…'],
  ['nothing where nothing was said', run, ''],
  [
    'the plan that it plans anew, not what the planner was told',
    { ...run, kind: 'plan_replan' as const, plan: 'move-house', input: '# Goal\nmove\n\n# Steps so far\nnone' },
    'replan of move-house',
  ],
  ['its text where the plan is gone', { ...run, kind: 'plan_replan' as const, input: '# Goal\nmove' }, '# Goal…'],
])('a run is called by %s', (_, given, expected) => {
  expect(runTitle(given)).toBe(expected);
});
