import type { Plan, PlanStep } from '../../../src/schema/plan.ts';

/** A step that nothing has happened to. */
export const stepOf = (ordinal: number, over: Partial<PlanStep> = {}): PlanStep => ({
  id: `step${ordinal}`,
  ordinal,
  description: `do ${ordinal}`,
  status: 'pending',
  interrupted: false,
  run_id: null,
  attempts: 0,
  result_text: null,
  summary: null,
  summary_error: null,
  failure_class: null,
  failure_text: null,
  last_failure_summary: null,
  started_at: null,
  finished_at: null,
  ask_id: null,
  ask_kind: null,
  note: null,
  run_by: null,
  ...over,
});

export const planOf = (...steps: readonly PlanStep[]): Plan => ({
  id: 'plan1',
  name: 'ship',
  active: true,
  goal: 'ship it',
  status: 'active',
  done: 0,
  total: steps.length,
  workspace: '/w',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  completed_at: null,
  steps: [...steps],
});
