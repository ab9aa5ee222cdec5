import { boolean, enums, nullable, number, object, string } from 'superstruct';
import {
  NewPlan,
  NextStep,
  type NextStarted,
  Plan,
  type PlanHead,
  type PlanningStep,
  PlanRunOptions,
  planStatuses,
  type StepOutcome,
} from '../../schema/plan.ts';
import { masked, operation, returns } from '../operation.ts';

/** Null names the active plan. */
const named = { plan: nullable(string()) };
const step = object({ ...named, ordinal: number() });

/** Plans (07 §3 and §4). */
export const plans = {
  /** Last changed first, without steps. */
  listPlans: operation('reads', object({ status: nullable(enums(planStatuses)) }), returns<readonly PlanHead[]>()),
  showPlan: operation('reads', object(named), masked(Plan)),
  /** Starts the first run of a planning, or makes the plan of a step file at once. */
  newPlan: operation('acts', NewPlan, returns<PlanningStep>()),
  /** What followed a run of a planning that this process started: another run, or the plan. */
  planningStep: operation('reads', object({ run_id: string() }), returns<PlanningStep>()),
  switchPlan: operation('acts', object({ plan: string() }), masked(Plan)),
  /** Starts the next step, or goes on with one that nobody works on any more. */
  nextStep: operation('acts', NextStep, returns<NextStarted>()),
  /** How the step of a run stands, after its run has ended or rests. */
  stepOutcome: operation('reads', object({ run_id: string() }), returns<StepOutcome>()),
  retryStep: operation(
    'acts',
    step,
    returns<{ readonly plan: Plan; readonly warning: string | null; readonly was_pending: boolean }>(),
  ),
  skipStep: operation('acts', step, masked(Plan)),
  /** Starts a planner's run for 2 to 5 steps in the place of one that had no room. */
  splitStep: operation(
    'acts',
    object({ ...named, ordinal: number(), shell: boolean(), run: PlanRunOptions }),
    returns<PlanningStep>(),
  ),
  replan: operation(
    'acts',
    object({ ...named, instruction: string(), shell: boolean(), run: PlanRunOptions }),
    returns<PlanningStep>(),
  ),
  explorePlan: operation('acts', object({ ...named, run: PlanRunOptions }), returns<PlanningStep>()),
  archivePlan: operation('acts', object({ ...named, force: boolean() }), masked(Plan)),
  deletePlan: operation('acts', object({ plan: string(), force: boolean() }), returns<{ readonly name: string }>()),
  cleanPlans: operation('acts', object({ force: boolean() }), returns<{ readonly names: readonly string[] }>()),
} as const;
