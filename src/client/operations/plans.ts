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
  listPlans: operation(
    'GET',
    '/api/plans',
    'read',
    object({ status: nullable(enums(planStatuses)) }),
    returns<readonly PlanHead[]>(),
  ),
  showPlan: operation('GET', '/api/plans/{plan}', 'read', object(named), masked(Plan)),
  /** Starts the first run of a planning, or makes the plan of a step file at once. */
  newPlan: operation('POST', '/api/plans', 'run', NewPlan, returns<PlanningStep>()),
  /** What followed a run of a planning that this process started: another run, or the plan. */
  planningStep: operation(
    'GET',
    '/api/plans/planning/{run_id}',
    'read',
    object({ run_id: string() }),
    returns<PlanningStep>(),
  ),
  switchPlan: operation('POST', '/api/plans/{plan}/activate', 'run', object({ plan: string() }), masked(Plan)),
  /** Starts the next step, or goes on with one that nobody works on any more. */
  nextStep: operation('POST', '/api/plans/{plan}/next', 'run', NextStep, returns<NextStarted>()),
  /** How the step of a run stands, after its run has ended or rests. */
  stepOutcome: operation(
    'GET',
    '/api/plans/steps/{run_id}',
    'read',
    object({ run_id: string() }),
    returns<StepOutcome>(),
  ),
  retryStep: operation(
    'POST',
    '/api/plans/{plan}/steps/{ordinal}/retry',
    'run',
    step,
    returns<{ readonly plan: Plan; readonly warning: string | null; readonly was_pending: boolean }>(),
  ),
  skipStep: operation('POST', '/api/plans/{plan}/steps/{ordinal}/skip', 'run', step, masked(Plan)),
  /** Starts a planner's run for 2 to 5 steps in the place of one that had no room. */
  splitStep: operation(
    'POST',
    '/api/plans/{plan}/steps/{ordinal}/split',
    'run',
    object({ ...named, ordinal: number(), shell: boolean(), run: PlanRunOptions }),
    returns<PlanningStep>(),
  ),
  replan: operation(
    'POST',
    '/api/plans/{plan}/replan',
    'run',
    object({ ...named, instruction: string(), shell: boolean(), run: PlanRunOptions }),
    returns<PlanningStep>(),
  ),
  explorePlan: operation(
    'POST',
    '/api/plans/{plan}/explore',
    'run',
    object({ ...named, run: PlanRunOptions }),
    returns<PlanningStep>(),
  ),
  archivePlan: operation(
    'POST',
    '/api/plans/{plan}/archive',
    'run',
    object({ ...named, force: boolean() }),
    masked(Plan),
  ),
  deletePlan: operation(
    'DELETE',
    '/api/plans/{plan}',
    'operator',
    object({ plan: string(), force: boolean() }),
    returns<{ readonly name: string }>(),
  ),
  cleanPlans: operation(
    'POST',
    '/api/plans/clean',
    'operator',
    object({ force: boolean() }),
    returns<{ readonly names: readonly string[] }>(),
  ),
} as const;
