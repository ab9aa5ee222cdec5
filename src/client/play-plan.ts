import type { PlanningStep, PlanRunOptions, StepOutcome, StepStarted } from '../schema/plan.ts';
import { wasStopped } from '../schema/run.ts';
import type { RuntimeClient } from './operations.ts';

/** Below this much of a time limit no further step is claimed (07 §4.6). */
const leastMs = 1000;

type PlanningRun = Extract<PlanningStep, { readonly kind: 'run' }>;
export type PlanningEnd = Exclude<PlanningStep, { readonly kind: 'run' }>;

/** What a face does while steps are played. */
export type StepsFace = {
  /** Follows the run of a step until it ends or rests. @returns the milliseconds that count against the time limit */
  step(started: StepStarted): Promise<number>;
  ended(outcome: StepOutcome, started: StepStarted): Promise<void>;
  /** Follows one run of a planning. @returns its exit code */
  planning(run: PlanningRun): Promise<number>;
  /** A step that had no room was taken apart. */
  split(end: PlanningEnd): Promise<void>;
  /** No further step was begun: the time limit leaves no room, or none is open. */
  none(why: 'time' | 'complete'): void | Promise<void>;
  /** Whether another step is begun after one that ended well; asked anew after each. */
  goesOn(): boolean;
};

export type StepsEnd = {
  /** Its name; null where none was found. */
  readonly plan: string | null;
  readonly stopped_by: StepOutcome['stopped_by'];
  readonly exit_code: number;
};

/**
 * Plays steps of a plan, one after the other as long as the face goes on (07 §4.6). It stops at the first failure, and a
 * step that had no room is split once. Refusals of the operations are thrown.
 * @param given `run.timeout_ms` is for all of them together; 0 = none
 */
export async function playSteps(
  client: RuntimeClient,
  given: { readonly plan: string | null; readonly shell: boolean; readonly run: PlanRunOptions },
  face: StepsFace,
): Promise<StepsEnd> {
  const { shell } = given;
  const limit = given.run.timeout_ms;
  let { plan } = given;
  let used = 0;
  for (;;) {
    const left = limit === 0 ? 0 : limit - used;
    if (limit > 0 && left < leastMs) {
      await face.none('time');
      return { plan, stopped_by: 'timeout', exit_code: 124 };
    }
    const run = { ...given.run, timeout_ms: left };
    const started = await client.nextStep({ plan, shell, run });
    plan = started.plan;
    if (started.kind === 'done') {
      await face.none('complete');
      return { plan, stopped_by: 'done', exit_code: 0 };
    }
    used += await face.step(started);
    const outcome = await client.stepOutcome({ run_id: started.run.run_id });
    await face.ended(outcome, started);
    const { exit_code, stopped_by, can_split } = outcome;
    const isOver = exit_code === 0 ? stopped_by === 'done' : !can_split;
    if (isOver || !face.goesOn()) return { plan, stopped_by, exit_code };
    if (exit_code === 0) continue;
    const rest = limit === 0 ? 0 : limit - used;
    if (limit > 0 && rest < leastMs) {
      await face.none('time');
      return { plan, stopped_by: 'timeout', exit_code: 124 };
    }
    const step = { plan, ordinal: started.ordinal, shell, run: { ...run, timeout_ms: rest } };
    const apart = await takeApart(client, step, face);
    if (apart.exit !== 0) return { plan, stopped_by: 'failed', exit_code: apart.exit };
    used += apart.active;
  }
}

/** @returns 0, or the exit code of the planning's run that failed; and the milliseconds that count against the time limit */
async function takeApart(
  client: RuntimeClient,
  step: Parameters<RuntimeClient['splitStep']>[0],
  face: Pick<StepsFace, 'planning' | 'split'>,
): Promise<{ readonly exit: number; readonly active: number }> {
  let active = 0;
  const end = await playPlanning(client, await client.splitStep(step), async (run) => {
    const exit = await face.planning(run);
    const { duration_ms, waited_ms } = await client.awaitRun({ run_id: run.run.run_id });
    active += Math.max(0, duration_ms - waited_ms);
    return exit;
  });
  if (typeof end === 'number') return { exit: end, active };
  await face.split(end);
  return { exit: 0, active };
}

/**
 * Follows one run of a planning after the other (07 §4.4).
 * @param exploring whether the workspace is looked at for its own sake (07 §4.8), and no plan follows without it
 * @returns what they came to, or the exit code of the one that ended it
 * @throws RuntimeError task_error when the planner's answer cannot be used; its beginning is in `data.answer`
 */
export async function playPlanning(
  client: RuntimeClient,
  first: PlanningStep,
  follow: (run: PlanningRun) => Promise<number>,
  exploring = false,
): Promise<PlanningEnd | number> {
  let step = first;
  while (step.kind === 'run') {
    const exit = await follow(step);
    if (exit !== 0 && (exploring || step.phase !== 'explore')) return exit;
    // Without what the explorer found a plan can be made all the same, unless somebody stopped it.
    if (exit !== 0 && wasStopped(await client.awaitRun({ run_id: step.run.run_id }))) return exit;
    step = await client.planningStep({ run_id: step.run.run_id });
  }
  return step;
}
