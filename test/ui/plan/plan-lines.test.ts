import { expect, test } from 'vitest';
import type { Plan, PlanStep } from '../../../src/schema/plan.ts';
import { textOf } from '../../../src/view/line.ts';
import { columnsOf } from '../../../src/view/wrap.ts';
import { planPaneLines } from '../../../ui/plan/plan-lines.ts';
import { emptyPlan, type PlanState } from '../../../ui/plan/plan-state.ts';
import { createLineCache } from '../../../ui/transcript/line-cache.ts';
import { hintLine } from '../../../ui/hint-line.ts';
import { anAsk } from '../approvals/an-ask.ts';
import { pressAll, readyState } from '../reducing.ts';
import { planOf, stepOf } from './a-plan.ts';

const pane = (plan: Partial<PlanState>, columns = 80, rows = 24) =>
  readyState({ pane: 'plan', size: { columns, rows }, plan: { ...emptyPlan, loaded: true, ...plan } });
const lines = (state: ReturnType<typeof pane>): readonly string[] =>
  planPaneLines(state, createLineCache(), 'unicode', []).map((line) => textOf(line).trimEnd());
const long = 'say in the documentation of the helper what its budget is and where it comes from, once more';
const summary = {
  outcome: 'success',
  summary: 'Done.',
  handover_for_next: '',
  artifacts: [{ kind: 'file', ref: 'a.ts', note: '' }],
  caveats: [],
} satisfies PlanStep['summary'];
const many: Plan = planOf(
  stepOf(1, { status: 'completed', summary, description: long }),
  ...[2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((ordinal) => stepOf(ordinal)),
);

test('says what was refused under a list that is longer than its half of the screen', () => {
  const shown = lines(pane({ plan: many, chosen: 'step9', said: { text: 'step 2 failed: retry it', bad: true } }));
  expect(shown[0]).toBe(' Goal  ship it');
  expect(shown.findIndex((line) => line.includes('! step 2 failed'))).toBe(9);
  expect(shown[10]).toMatch(/^─ step 9 of 11 · pending ─+$/);
});

test('counts every step once, also the one that is being worked on', () => {
  const steps = [
    stepOf(1, { status: 'completed', summary }),
    stepOf(2, { status: 'running' }),
    stepOf(3),
    stepOf(4, { status: 'running', ask_id: 'ask_1' }),
  ];
  const shown = lines(pane({ plan: planOf(...steps) }, 120, 40));
  expect(shown.find((line) => line.startsWith(' Done'))).toMatch(
    /^ Done 1 {2}Waiting 1 {2}Failed 0 {2}Skipped 0 {2}Left 2 /,
  );
});

test('cuts the description before what came of the step, and loses no word of it beside the list', () => {
  const shown = lines(pane({ plan: many, chosen: 'step1' }));
  expect(shown[1]).toMatch(/^ > \[x\] 1\. say in .*… · success · 1 file$/);
  const timed = { started_at: '2026-01-01T00:00:00.000Z', finished_at: '2026-01-01T00:03:12.000Z' };
  const wide = planOf(stepOf(1, { status: 'completed', description: long, ...timed }));
  const rows = lines(pane({ plan: wide, chosen: 'step1' }, 120, 40)).map((line) => line.slice(0, 57).trimEnd());
  expect(rows.slice(2, 5)).toEqual([
    ' > [x] 1. say in the documentation of the helper   03:12',
    '          what its budget is and where it comes',
    '          from, once more',
  ]);
});

test('has no row that is wider than the smallest screen, and names the ask of a step that waits on it', () => {
  const asked = anAsk({ id: 'ask_yhxsfh', created_at: '2025-12-31T23:00:00.000Z' });
  const waits = { status: 'running', run_id: 'run_123456', ask_id: asked.id, description: long } as const;
  const state = pane({ plan: planOf(stepOf(1), stepOf(2, waits)), chosen: 'step2', run: 'run_123456' }, 60, 16);
  const shown = lines({ ...state, asks: [asked], now: Date.parse('2026-01-01T00:00:00.000Z') });
  for (const line of shown) expect(columnsOf(line)).toBeLessThanOrEqual(60);
  expect(shown[2]).toContain('needs an answer: ask_yhxsfh');
  expect(shown[3]).toContain('waiting for you 1h 00m');
});

test('names the process that works on a step, and only keys that do something', () => {
  const driven = planOf(stepOf(1, { status: 'running', run_id: 'r1', run_by: { pid: 4127, surface: 'cli' } }));
  expect(lines(pane({ plan: driven })).join('\n')).toContain('run by pid 4127 (cli)');
  expect(textOf(hintLine(pane({})))).toMatch(/^ N new plan {2}o switch {2}F1 help {2}Tab panes/);
  expect(textOf(hintLine(pane({ plan: many })))).toMatch(
    /^ n next {2}a auto .* N new plan {2}Enter details {2}F1 help/,
  );
});

test('scrolls what is over from its first row, there and back', () => {
  const failed = planOf(stepOf(1, { status: 'failed', failure_text: many.goal, description: long.repeat(20) }));
  const start = pane({ plan: failed, chosen: 'step1', run: null });
  expect(lines(start)[3]).toContain(long.slice(0, 40));
  const down = pressAll(start, 'pagedown').state;
  expect(lines(down)).not.toEqual(lines(start));
  expect(lines(pressAll(down, 'pageup').state)).toEqual(lines(start));
  const end = pressAll(start, 'ctrl+end').state;
  expect(lines(end).at(-1)).toContain('r retry   s skip   R replan');
});
