import type { PlanListRow, Plans } from '../store/plans.ts';
import { planView } from './plan-view.ts';

/** Goal, what has been done, what failed, and the wish, for the steps that remain (07 §4.7). */
export function replanText(plan: PlanListRow, plans: Plans, instruction: string): string {
  const steps = planView(plan, plans.steps(plan.id), null, 0).steps;
  const told = steps
    .filter(({ status }) => status !== 'pending')
    .map((step) => {
      const text = step.failure_text ?? step.summary?.summary ?? step.result_text ?? step.note ?? '';
      const word = step.status === 'completed' ? 'done' : step.status === 'skipped' ? 'skipped' : 'failed';
      return `${step.ordinal}. ${word}: ${step.description}${text === '' ? '' : `\n   ${text.slice(0, 2000)}`}`;
    });
  const left = steps.filter(({ status }) => status === 'pending').map((step) => `${step.ordinal}. ${step.description}`);
  return [
    `# Goal\n${plan.goal}`,
    `# Steps so far\n${told.length === 0 ? 'none' : told.join('\n')}`,
    `# Steps that were planned next, to be replaced\n${left.length === 0 ? 'none' : left.join('\n')}`,
    ...(instruction === '' ? [] : [`# What to change\n${instruction}`]),
    '# Task\nPlan the remaining steps only, from the present state to the goal. Do not repeat what is done.',
  ].join('\n\n');
}

/** The step that had no room, for the parts that take its place (07 §4.6). */
export const splitText = (plan: PlanListRow, description: string, failure: string): string =>
  [
    `# Goal of the whole plan\n${plan.goal}`,
    `# Step that was too large to be carried out at once\n${description}`,
    `# What happened\n${failure}`,
    '# Task\nSplit this step into 2 to 5 smaller ones that together do exactly the same. Plan nothing else.',
  ].join('\n\n');
