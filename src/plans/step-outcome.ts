import { RuntimeError } from '../schema/errors.ts';
import type { StepOutcome } from '../schema/plan.ts';
import type { StepRow } from '../store/plan-steps.ts';
import type { PlanListRow } from '../store/plans.ts';
import { stepCommands, stepWaits } from '../view/plan-lines.ts';
import { waysOn } from './plan-view.ts';
import { pidOf } from './plans.ts';

/** Exit code and word of 07 §4.11. */
export function endOf(
  step: StepRow,
  plan: PlanListRow,
  timedOut: boolean,
): Pick<StepOutcome, 'exit_code' | 'stopped_by'> {
  switch (step.status) {
    case 'completed':
    case 'skipped':
      return { exit_code: 0, stopped_by: plan.done === plan.total ? 'done' : 'step' };
    case 'waiting':
      return { exit_code: 4, stopped_by: 'suspended' };
    case 'pending':
      return { exit_code: 130, stopped_by: 'signal' };
    case 'running':
      return { exit_code: 143, stopped_by: 'signal' };
    case 'failed':
      if (timedOut) return { exit_code: 124, stopped_by: 'timeout' };
      if (step.failure_class === 'bound') return { exit_code: 6, stopped_by: 'bound' };
      return { exit_code: { denied: 5, transient: 7 }[step.failure_class as string] ?? 1, stopped_by: 'failed' };
  }
}

/** @param active whether it is the plan that commands without `--plan` are about */
export const hasFailed = (
  plan: PlanListRow,
  { ordinal, failure_class, failure_text }: StepRow,
  active: boolean,
): RuntimeError =>
  new RuntimeError(
    'in_use',
    `Step ${ordinal} of ${plan.total} has failed (${failure_class ?? 'logic'}): ${(failure_text ?? '').split('\n', 1)[0]}`,
    {
      data: { ordinal },
      hints: stepCommands({ name: plan.name, active }, ordinal),
    },
  );

export const isRunning = (plan: PlanListRow, step: StepRow): RuntimeError => {
  const since = step.started_at === null ? '' : ` since ${new Date(step.started_at).toISOString()}`;
  return new RuntimeError(
    'in_use',
    `Step ${step.ordinal} of ${plan.total} is running in process ${pidOf(step)}${since}.`,
    { data: { ordinal: step.ordinal, run_id: step.run_id } },
  );
};

/** @param active as with `hasFailed` */
export const waits = ({ name }: PlanListRow, step: StepRow, active: boolean): RuntimeError =>
  new RuntimeError('run_suspended', `Step ${step.ordinal} ${stepWaits(step)}: ${step.ask_id}`, {
    data: { ordinal: step.ordinal, run_id: step.run_id, ask_ids: [step.ask_id] },
    hints: waysOn({ name, active }, step),
  });
