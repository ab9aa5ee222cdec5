import { cutTail } from '../chain/cap.ts';
import { type FailureClass, maxResultBytes, type StepSummary } from '../schema/plan.ts';
import type { RunFailure, RunStatus } from '../schema/run.ts';
import type { StepChange } from '../store/plan-steps.ts';
import { exceedsBytes, utf8Length } from '../text/utf8.ts';

/** How the run of a step ended, from its rows. */
export type EndedRun = {
  readonly status: RunStatus;
  /** The last text of its model; empty when there is none. */
  readonly text: string;
  readonly error: Pick<RunFailure, 'class' | 'message'> | null;
  /** Its calls in order, as `<tools>.<tool> (<state>)`. */
  readonly calls: readonly string[];
};

const maxFailureChars = 4000;

const transient: ReadonlySet<string> = new Set([
  'rate_limit',
  'server_error',
  'model_timeout',
  'timeout',
  'empty_reply',
  'connect',
  'overloaded',
  'auth',
  'permanent',
  'model_unavailable',
]);
const bounds: ReadonlySet<string> = new Set(['compute_exhausted', 'round_limit', 'loop_detected', 'step_limit']);

/** The class of a failed run (07 §3.4). What a provider refuses for good counts as `transient` too: a retry is all one can do. */
function failureClass(code: string): FailureClass {
  if (code === 'capacity' || code === 'input_too_large') return 'capacity';
  if (code === 'denied') return 'denied';
  if (bounds.has(code)) return 'bound';
  return transient.has(code) ? 'transient' : 'logic';
}

const blockedMark = 'BLOCKED:';

/** Whether the model itself says that it could not do the step (07 §3.3). */
export const saysBlocked = (text: string): boolean => text.trimStart().startsWith(blockedMark);

/** What a step becomes when its run has ended (07 §3.3). @param summary as the summariser stored it, or null */
export function stepEnd(run: EndedRun, summary: StepSummary | null, at: number): StepChange {
  const result_text = exceedsBytes(run.text, maxResultBytes)
    ? cutTail(run.text, maxResultBytes, utf8Length(run.text))
    : run.text;
  const failed = (failure_class: FailureClass, text: string): StepChange => ({
    status: 'failed',
    result_text,
    failure_class,
    failure_text: text.slice(0, maxFailureChars),
    finished_at: at,
  });
  switch (run.status) {
    case 'completed':
      if (saysBlocked(run.text)) {
        const reason = run.text.trimStart().slice(blockedMark.length).trim();
        return failed('blocked', reason === '' ? 'the model gave no reason' : reason);
      }
      if (summary?.outcome === 'blocked') return failed('blocked', summary.summary);
      return { status: 'completed', result_text, finished_at: at, failure_class: null, failure_text: null };
    case 'exhausted':
      return failed('bound', 'a compute bound was exhausted; the result is the last word of the model');
    case 'failed':
      return failed(failureClass(run.error?.class ?? ''), run.error?.message ?? 'the run failed without saying why');
    default:
      return { status: 'pending', result_text: null, finished_at: at, last_failure_summary: interruption(run) };
  }
}

function interruption(run: EndedRun): string {
  const done = run.calls.length === 0 ? 'No tool call had run.' : `Tool calls so far: ${run.calls.join(', ')}.`;
  const text = run.text === '' ? '' : `\nLast words: ${run.text}`;
  return `Interrupted. ${done}${text}`.slice(0, maxFailureChars);
}
