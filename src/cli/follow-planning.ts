import type { RuntimeClient } from '../client/operations.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { PlanningStep } from '../schema/plan.ts';
import type { Context } from './context.ts';
import { followRun } from './follow.ts';
import type { Output } from './output.ts';

/** What a planner says is read by the program; people see that it works. */
const silent: Output = {
  full: false,
  started: async () => undefined,
  event: async () => undefined,
  finished: async () => undefined,
  failed: async () => undefined,
};

const phases = { explore: 'Looking at the workspace', plan: 'Planning', repair: 'Planning once more' } as const;

/**
 * Follows one run of a planning after the other.
 * @returns what they came to, or the exit code of the one that failed, which has been said
 * @throws RuntimeError task_error when the planner's answer cannot be used; its beginning has been shown
 */
export async function followPlanning(
  context: Context,
  client: RuntimeClient,
  first: PlanningStep,
): Promise<Exclude<PlanningStep, { kind: 'run' }> | number> {
  let step = first;
  while (step.kind === 'run') {
    const { phase, run, warning } = step;
    if (warning !== null) context.warn(warning);
    context.hint(`${phases[phase]} with ${run.model}…`);
    const exit = await followRun(context, client, run, { onAsk: 'deny', output: silent, heading: () => phases[phase] });
    // Without what the explorer found a plan can be made all the same, unless somebody stopped it.
    const stopped = exit === 130 || exit === 143 || exit === 124;
    if (exit !== 0 && (phase !== 'explore' || stopped)) return exit;
    try {
      step = await client.planningStep({ run_id: run.run_id });
    } catch (error) {
      const answer = error instanceof RuntimeError ? error.data : undefined;
      if (typeof answer === 'object' && answer !== null && 'answer' in answer && typeof answer.answer === 'string') {
        context.terminal.err(`${context.safe(answer.answer)}\n`);
      }
      throw error;
    }
  }
  return step;
}
