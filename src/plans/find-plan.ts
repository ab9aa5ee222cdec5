import { existsSync } from 'node:fs';
import { RuntimeError } from '../schema/errors.ts';
import type { StepRow } from '../store/plan-steps.ts';
import type { PlanListRow, Plans } from '../store/plans.ts';
import { quote } from '../text/quote.ts';

/** The named plan, or the active one without a name (07 §3.2). @throws RuntimeError not_found */
export function findPlan(
  plans: Pick<Plans, 'byId' | 'byName' | 'activeId' | 'names'>,
  name: string | null,
): PlanListRow {
  if (name === null) {
    const id = plans.activeId();
    const row = id === null ? undefined : plans.byId(id);
    if (row !== undefined) return row;
    throw new RuntimeError('not_found', 'No plan is active.', {
      hints: plans.names().length === 0 ? ['reins plan new "<goal>"'] : ['reins plan list', 'reins plan switch <name>'],
    });
  }
  const wanted = name.normalize('NFC');
  const row = plans.byName(wanted);
  if (row !== undefined) return row;
  const near = plans.names().filter((other) => other.startsWith(wanted) || wanted.startsWith(other));
  const hint = near.length === 0 ? '' : ` Near names: ${near.slice(0, 5).join(', ')}.`;
  throw new RuntimeError('not_found', `There is no plan "${wanted}".${hint}`, { hints: ['reins plan list'] });
}

/** @throws RuntimeError not_found with the valid range */
export function findStep(plans: Pick<Plans, 'steps' | 'activeId'>, plan: PlanListRow, ordinal: number): StepRow {
  const step = plans.steps(plan.id).find((row) => row.ordinal === ordinal);
  if (step !== undefined) return step;
  throw new RuntimeError('not_found', `Plan "${plan.name}" has no step ${ordinal}: it has steps 1 to ${plan.total}.`, {
    hints: [plan.id === plans.activeId() ? 'reins plan show' : `reins plan show ${plan.name}`],
  });
}

/**
 * A plan is carried out where it was made (07 §3.1), as a run goes on there: a database may serve many directories, and its
 * active plan is that of all of them. One whose directory is gone has moved with it, and goes on wherever it is found.
 * @throws RuntimeError not_resumable_here
 */
export function checkPlace({ name, workspace }: PlanListRow, here: string): void {
  if (workspace === here || !existsSync(workspace)) return;
  throw new RuntimeError('not_resumable_here', `Plan "${name}" belongs to the workspace ${workspace}.`, {
    hints: [`cd ${quote(workspace)}`, 'reins plan list'],
  });
}
