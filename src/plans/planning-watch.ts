import { RuntimeError } from '../schema/errors.ts';
import type { PlanningStep } from '../schema/plan.ts';
import { messageOf } from '../text/thrown.ts';

/** How a planning stands (09 §6.5); `run_id` is the run that is going or was the last. */
type PlanningState = {
  readonly state: 'running' | 'done' | 'failed';
  readonly phase: 'explore' | 'plan' | 'repair';
  readonly run_id: string;
  readonly plan: string | null;
  readonly added: number;
  readonly question: string | null;
  readonly warnings: string[];
  readonly error: { readonly code: string; readonly message: string; readonly answer: string | null } | null;
};

/** What a planning is for: a new plan of a goal, or one that is there. */
export type PlannedFor = { readonly goal: string | null; readonly plan: string | null };
/** A planning that goes on: `run_id` is its first run. */
export type PlanningHead = PlannedFor & { readonly run_id: string };

type Held = { readonly head: PlanningHead; current: PlanningState };

export type PlanningWatchDeps = {
  readonly planningStep: (input: { readonly run_id: string }) => Promise<PlanningStep>;
  /** Notes on a run which plan came of it. */
  readonly linkRun: (runId: string, planId: string) => void;
};

/** How many plannings are remembered; older ones are in the rows of their runs. */
const mostRemembered = 200;

/** What became of the plannings of this process, for those who ask later or never. */
export function createPlanningWatch(deps: PlanningWatchDeps) {
  const states = new Map<string, Held>();

  const remember = (runId: string, state: Held): void => {
    states.set(runId, state);
    const [oldest] = states.keys();
    if (states.size > mostRemembered && oldest !== undefined) states.delete(oldest);
  };

  const follow = async (first: PlanningStep & { readonly kind: 'run' }, state: Held) => {
    let step: PlanningStep = first;
    try {
      while (step.kind === 'run') {
        const { phase, run, warning } = step;
        const warnings = [...state.current.warnings, ...(warning === null ? [] : [warning])];
        state.current = { ...state.current, phase, run_id: run.run_id, warnings };
        remember(run.run_id, state);
        step = await deps.planningStep({ run_id: run.run_id });
      }
      if (step.kind === 'context') state.current = { ...state.current, state: 'done', plan: step.plan };
      else {
        deps.linkRun(state.current.run_id, step.plan.id);
        const { plan, added, question } = step;
        state.current = { ...state.current, state: 'done', plan: plan.name, added, question };
      }
    } catch (error) {
      state.current = { ...state.current, state: 'failed', error: failureOf(error) };
    }
  };

  return {
    /** Follows a planning to its end. @returns the id of its first run */
    begin(first: PlanningStep & { readonly kind: 'run' }, wanted: PlannedFor): string {
      const { phase, run } = first;
      const nothing = { plan: null, added: 0, question: null, warnings: [], error: null };
      const state: Held = {
        head: { ...wanted, run_id: run.run_id },
        current: { state: 'running', phase, run_id: run.run_id, ...nothing },
      };
      remember(run.run_id, state);
      // It never rejects, and whoever asks reads how it stands.
      void follow(first, state);
      return run.run_id;
    },

    /** Those that go on, in the order in which they were begun. */
    going: (): PlanningHead[] =>
      [...new Set(states.values())].filter(({ current }) => current.state === 'running').map(({ head }) => head),

    /** @throws RuntimeError not_found for a run that is of no planning of this process */
    of(runId: string): PlanningState {
      const found = states.get(runId);
      if (found !== undefined) return found.current;
      throw new RuntimeError('not_found', `Run ${runId} is of no planning that this server has started.`);
    },
  };
}

function failureOf(error: unknown): NonNullable<PlanningState['error']> {
  const message = messageOf(error);
  if (!(error instanceof RuntimeError)) return { code: 'internal', message, answer: null };
  const { data } = error;
  const answer = typeof data === 'object' && data !== null && 'answer' in data ? data.answer : null;
  return { code: error.code, message, answer: typeof answer === 'string' ? answer : null };
}
