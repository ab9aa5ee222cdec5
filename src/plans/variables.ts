import type { StepRow } from '../store/plan-steps.ts';
import type { PlanListRow } from '../store/plans.ts';
import { summaryOf } from './plan-view.ts';

/** 07 §4.3. */
const maxOutputChars = 4000;

export type PlanModels = {
  /** Empty = the default of the run. */
  readonly planner_model: string;
  readonly planner_provider: string;
  readonly summarizer_model: string;
};

const given = (variables: Readonly<Record<string, string>>): Record<string, string> =>
  // An empty variable would hide the fallback of a macro.
  Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));

/** What the chains of a plan are given beside it. */
export type PlanMeans = {
  /** JSON of what the executor may use; empty = nothing is said of it. */
  readonly tools: string;
  readonly models: PlanModels;
};

/** Variables of a planner's run. */
export const plannerVariables = (
  goal: string,
  context: string | null,
  { tools, models }: PlanMeans,
): Record<string, string> => given({ ...models, plan_goal: goal, repo_context: context ?? '', executor_tools: tools });

/** Variables of the runs of a step: its executor and its summariser (07 §4.3). Values are data, never templates. */
export function stepVariables(
  plan: PlanListRow,
  steps: readonly StepRow[],
  step: StepRow,
  { tools, models }: PlanMeans,
): Record<string, string> {
  const before = steps.filter((other) => other.ordinal < step.ordinal);
  const previous = before.findLast((other) => other.status === 'completed');
  const summary = previous === undefined ? null : summaryOf(previous);
  const output = (previous?.result_text ?? '').slice(0, maxOutputChars);
  const next = steps.find((other) => other.ordinal > step.ordinal && other.status === 'pending');
  return given({
    ...models,
    plan_goal: plan.goal,
    plan_overview: steps.map((other) => `${other.ordinal}. ${other.description}`).join('\n'),
    plan_progress: steps.flatMap(progressLine).join('\n'),
    step_ordinal: String(step.ordinal),
    step_total: String(steps.length),
    current_step: step.description,
    next_step: next?.description ?? '',
    previous_output: output,
    previous_handover: summary?.handover_for_next ?? output,
    previous_artifacts: summary === null ? '' : JSON.stringify(summary.artifacts),
    previous_caveats: summary === null ? '' : summary.caveats.join('\n'),
    prior_failure_detail: (step.last_failure_summary ?? '').slice(0, maxOutputChars),
    repo_context: plan.repo_context ?? '',
    executor_tools: tools,
  });
}

/** `N. done|skipped|failed: <first line>` of a step that is over. */
function progressLine(step: StepRow): readonly string[] {
  const word = { completed: 'done', skipped: 'skipped', failed: 'failed' }[step.status as string];
  if (word === undefined) return [];
  const text = summaryOf(step)?.summary ?? step.failure_text ?? step.result_text ?? step.note ?? '';
  return [`${step.ordinal}. ${word}: ${text.trimStart().split('\n', 1)[0] ?? ''}`];
}
