import type { RuntimeClient } from '../client/operations.ts';
import { playPlanning, type PlanningEnd } from '../client/play-plan.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { PlanningStep } from '../schema/plan.ts';
import { type RunResult, wasStopped } from '../schema/run.ts';
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

const failed = (result: RunResult): boolean => result.status !== 'completed' && !wasStopped(result);

const phases = { explore: 'Looking at the workspace', plan: 'Planning', repair: 'Planning once more' } as const;

/**
 * Follows one run of a planning after the other.
 * @param exploring whether the workspace is looked at for its own sake
 * @returns what they came to, or the exit code of the one that failed, which has been said
 * @throws RuntimeError task_error when the planner's answer cannot be used; its beginning has been shown
 */
export async function followPlanning(
  context: Context,
  client: RuntimeClient,
  first: PlanningStep,
  exploring = false,
): Promise<PlanningEnd | number> {
  return showingAnswer(context, () =>
    playPlanning(client, first, followPlanner(context, client, exploring), exploring),
  );
}

/** Shows the beginning of an answer that could not be used, and passes the error on. */
export async function showingAnswer<T>(context: Context, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const answer = error instanceof RuntimeError ? error.data : undefined;
    if (typeof answer === 'object' && answer !== null && 'answer' in answer && typeof answer.answer === 'string') {
      context.terminal.err(`${context.safe(answer.answer)}\n`);
    }
    throw error;
  }
}

/**
 * Follows one run of a planning to its exit code.
 * @param exploring as for `followPlanning`
 */
export const followPlanner =
  (context: Context, client: RuntimeClient, exploring = false) =>
  async ({ phase, run, warning }: Extract<PlanningStep, { readonly kind: 'run' }>): Promise<number> => {
    if (warning !== null) context.warn(warning);
    context.hint(`${phases[phase]} with ${run.model}…`);
    return followRun(context, client, run, {
      onAsk: 'deny',
      output: silent,
      heading: () => phases[phase],
      // The planning goes on without what was to be found, and its next run brings the reason as a warning (07 §4.4.1).
      ended: (result) => (phase === 'explore' && !exploring && failed(result) ? 1 : null),
    });
  };
