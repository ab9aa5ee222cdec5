import type { PlanningStep, StepOutcome } from '../schema/plan.ts';
import type { RunStarted } from '../schema/run.ts';
import { messageOf } from '../text/thrown.ts';

export type AutoDeps = {
  readonly stepOutcome: (input: { readonly run_id: string }) => Promise<StepOutcome>;
  /** Starts the next step; null when nothing of the plan is open. */
  readonly next: (plan: string) => Promise<{ readonly run: RunStarted; readonly ordinal: number } | null>;
  /** Starts what splits a step that had no room. */
  readonly split: (plan: string, ordinal: number) => Promise<PlanningStep>;
  readonly planningStep: (input: { readonly run_id: string }) => Promise<PlanningStep>;
  /** Resolves after something has changed, in whatever process, since it was called; at once when the signal aborts. */
  readonly change: (signal: AbortSignal) => Promise<{ readonly seen: Promise<void>; close(): void }>;
  readonly warn: (line: string) => void;
};

type Begun = { readonly run_id: string; readonly ordinal: number };

/**
 * Steps that follow one another in this process (07 §4.6), also over a question that somebody answers elsewhere. It ends
 * with the last step, with one that fails, and when it is stopped.
 */
export function createAuto(deps: AutoDeps) {
  const going = new Map<string, AbortController>();

  /** How a step ended, once it rests on nobody any more; null when this was stopped before. */
  const outcomeOf = async (runId: string, signal: AbortSignal): Promise<StepOutcome | null> => {
    while (!signal.aborted) {
      // Listening begins before the look, so that nothing falls between the two.
      const change = await deps.change(signal);
      try {
        const outcome = await deps.stepOutcome({ run_id: runId });
        const { status, interrupted } = outcome.step;
        if (status !== 'waiting' && (status !== 'running' || interrupted)) return outcome;
        await change.seen;
      } finally {
        change.close();
      }
    }
    return null;
  };

  const splitStep = async (plan: string, ordinal: number): Promise<void> => {
    let step = await deps.split(plan, ordinal);
    while (step.kind === 'run') step = await deps.planningStep({ run_id: step.run.run_id });
  };

  const drive = async (plan: string, first: Begun, signal: AbortSignal): Promise<void> => {
    let begun = first;
    for (;;) {
      const outcome = await outcomeOf(begun.run_id, signal);
      if (outcome === null || signal.aborted) return;
      if (outcome.exit_code !== 0 && !outcome.can_split) return;
      if (outcome.exit_code !== 0) await splitStep(plan, begun.ordinal);
      else if (outcome.stopped_by === 'done') return;
      if (signal.aborted) return;
      const next = await deps.next(plan);
      if (next === null) return;
      begun = { run_id: next.run.run_id, ordinal: next.ordinal };
    }
  };

  return {
    isOn: (plan: string): boolean => going.has(plan),

    /** Goes on behind a step that has been started. Never rejects: what ends it is in the plan. */
    follow(plan: string, first: Begun): void {
      going.get(plan)?.abort();
      const stop = new AbortController();
      going.set(plan, stop);
      void drive(plan, first, stop.signal)
        .catch((error: unknown) => {
          const why = messageOf(error);
          deps.warn(`plan "${plan}" does not go on by itself: ${why}`);
        })
        .finally(() => {
          if (going.get(plan) === stop) going.delete(plan);
        });
    },

    /** The step that is worked on goes on; no other follows it. */
    stop(plan: string): void {
      going.get(plan)?.abort();
      going.delete(plan);
    },

    stopAll(): void {
      for (const stop of going.values()) stop.abort();
      going.clear();
    },
  };
}

export type Auto = ReturnType<typeof createAuto>;
