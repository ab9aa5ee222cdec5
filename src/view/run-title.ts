import type { RunSummary } from '../schema/run-record.ts';

/**
 * What a run is about, in one line of a list; empty where nothing was said. The text for a planner is put together by the
 * program; what a person knows of it is the plan.
 */
export function runTitle({ input, kind, plan }: Pick<RunSummary, 'input' | 'kind' | 'plan'>): string {
  if (kind === 'plan_replan' && plan !== null) return `replan of ${plan}`;
  const text = input.trim();
  const [line = ''] = text.split('\n');
  return line === text ? line : `${line}…`;
}
