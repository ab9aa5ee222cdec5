import type { RunSummary } from '../schema/run-record.ts';

/**
 * What a run is about, in one line of a list. The text for a planner is put together by the program; what a person knows of
 * it is the plan.
 */
export function runTitle({ id, input, kind, plan }: Pick<RunSummary, 'id' | 'input' | 'kind' | 'plan'>): string {
  const words = kind.replaceAll('_', ' ');
  if (kind === 'plan_replan' && plan !== null) return `replan of ${plan}`;
  const text = input.trim();
  if (text === '') return `${words} ${id.slice(-8)}`;
  const [line = ''] = text.split('\n');
  return line === text ? line : `${line}…`;
}
