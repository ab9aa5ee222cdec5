import type { Value } from '../chain/values.ts';
import type { Message } from '../schema/message.ts';
import { RuntimeError, shownClass } from '../schema/errors.ts';
import type { RunEnd } from '../schema/protocol.ts';
import type { Attempted, Taken } from './attempt.ts';
import type { Failure } from './failure.ts';
import { leftOpen, ownResult, recordUnsent } from './messages.ts';
import { type At, adopt, type Run, recordMessage } from './run.ts';
import { historyOf, historyValue, shownValue } from './run-state.ts';
import { captured, emit, lasted, type Step, type StepEnd } from './step.ts';

/** A run that moves from task to task more often than this fails (04 §8.3). */
const mostMoves = 10_000;
const mostRetries = 20;

/** What follows an attempt: another attempt or task (the state says which), or the end of the run. */
export type Settled = { readonly kind: 'go_on' } | { readonly kind: 'end'; readonly end: RunEnd };

/** Writes what an attempt came to into the run's state and its record. */
export function settle(step: Step, attempted: Attempted): Settled {
  switch (attempted.kind) {
    case 'done':
      return succeed(step, attempted);
    case 'failed':
      return fail(step, attempted.failure, attempted.partial);
    case 'cancelled':
      return cancel(step);
    case 'suspended':
      // The attempt goes on where it stands in the checkpoint; it did not end.
      return { kind: 'end', end: { kind: 'suspended' } };
  }
}

function succeed(step: Step, taken: Taken): Settled {
  const { run, task } = step;
  const { state } = run;
  adopt(run, step.at, taken.output);
  adopt(run, step.at, taken.carried);
  const composed = taken.composedAs === null ? {} : { [taken.composedAs]: taken.carried };
  state.variables = { ...state.variables, [task.id]: taken.output, ...composed };
  state.previous = taken.carried;
  if (state.root !== null && state.root.target !== task.id) state.root = null;
  emit(step, {
    kind: 'step_completed',
    output_type: taken.output.type,
    eval: taken.evalText,
    next: taken.next,
    duration_ms: lasted(step),
  });
  record(step, { output: taken.output, evalText: taken.evalText, next: taken.next, failure: null, cancelled: false });
  if (taken.next !== 'end') return move(step, taken.next);
  const output = closed(step, taken.carried);
  return {
    kind: 'end',
    end: {
      kind: 'completed',
      status: taken.exhausted ? 'exhausted' : 'completed',
      output_type: output.type,
      output: shownValue(output, run.ledger),
    },
  };
}

/** Another attempt, the `on_failure` edge, or the end (04 §15.1 to §15.4). */
function fail(step: Step, cause: Failure, partial: Value | null): Settled {
  const { run, task, at } = step;
  const { state } = run;
  const retries = Math.min(Math.max(0, task.retry_on_failure ?? 0), mostRetries);
  const willRetry = cause.retriable && at.attempt <= retries;
  const target = cause.final || willRetry ? '' : (task.transition?.on_failure ?? '');
  emit(step, {
    kind: 'step_failed',
    error: { class: shownClass(cause.code), message: cause.message },
    will_retry: willRetry,
    ...(target === '' ? {} : { on_failure: target }),
    duration_ms: lasted(step),
  });
  record(step, {
    output: null,
    evalText: null,
    next: target === '' ? null : target,
    failure: cause,
    cancelled: false,
  });
  if (willRetry) {
    state.attempt += 1;
    run.changed();
    return { kind: 'go_on' };
  }
  const message = cause.final ? cause.message : `task ${task.id} failed after ${triesOf(step)}: ${cause.message}`;
  if (target === '') return endFailed(step, cause, message);

  const error: Value = { type: 'string', value: message };
  const left = partial ?? step.received;
  state.variables = { ...state.variables, last_error: error, [`${task.id}_error`]: error, [task.id]: left };
  state.previous = left;
  state.root ??= { message, target };
  const settled = move(step, target);
  state.entered = { task_id: task.id, message };
  return settled;
}

/** Attempts of the task, and what its model call was tried again within the last of them: both were seen. */
function triesOf({ at: { attempt }, record: { retries } }: Step): string {
  if (retries === 0) return attempt === 1 ? '1 attempt' : `${attempt} attempts`;
  const again = retries === 1 ? '1 retry' : `${retries} retries`;
  return attempt === 1 ? `1 attempt and ${again}` : `${attempt} attempts, the last with ${again}`;
}

function endFailed(step: Step, cause: Failure, message: string): Settled {
  const { run, task } = step;
  const root = run.state.root?.message;
  return {
    kind: 'end',
    end: {
      kind: 'failed',
      error: {
        class: cause.code,
        message,
        task_id: task.id,
        ...(root === undefined || root === message ? {} : { root }),
      },
    },
  };
}

function cancel(step: Step): Settled {
  const { run } = step;
  const { reason } = run.signal;
  const timedOut = reason instanceof RuntimeError && reason.code === 'timeout';
  const code = timedOut ? 'timeout' : 'cancelled';
  const message = timedOut ? 'the time limit of the run has passed' : 'the run was cancelled';
  emit(step, {
    kind: 'step_failed',
    error: { class: code, message },
    will_retry: false,
    duration_ms: lasted(step),
  });
  record(step, {
    output: null,
    evalText: null,
    next: null,
    failure: { code, message, final: true, retriable: false },
    cancelled: !timedOut,
  });
  return { kind: 'end', end: { kind: 'cancelled' } };
}

/** Takes an edge: counts it and stands at the next task (04 §8.3). */
function move(step: Step, to: string): Settled {
  const { run, task } = step;
  const { state } = run;
  const edge = `${task.id}->${to}`;
  state.moves += 1;
  if (state.moves > mostMoves) {
    const message = `the run has moved ${mostMoves} times from task to task, the most that is allowed`;
    return endFailed(step, { code: 'step_limit', message, final: true, retriable: false }, message);
  }
  state.edgeCounts = { ...state.edgeCounts, [edge]: (state.edgeCounts[edge] ?? 0) + 1 };
  state.taskId = to;
  state.attempt = 1;
  state.working = null;
  state.entered = null;
  state.callTries = 0;
  run.changed();
  return { kind: 'go_on' };
}

function record(step: Step, end: StepEnd): void {
  step.run.host.emit({ kind: 'captured_step', step: captured(step, end) });
  step.run.state.stepIndex += 1;
}

/** The output of a run whose last calls nobody answered, with the results that say so (04 §14.6). */
function closed(step: Step, output: Value): Value {
  const { run } = step;
  const results = closeCalls(run, step.at);
  let history = historyOf(output);
  if (history === null) return output;
  for (const result of results) {
    const isOwn = history.messages.some((message) =>
      message.tool_calls?.some((call) => call.id === result.tool_call_id),
    );
    if (isOwn) history = run.ledger.append(history, result);
  }
  return historyValue(history);
}

/** Gives every call that nothing answered a result that says why; no transcript ends with an open call. */
export function closeCalls(run: Run, at: At): readonly Message[] {
  return run.ledger.openCalls().map(({ message, call }) => {
    const kind = leftOpen(run, message);
    const result = ownResult(run, call, kind);
    if (kind === 'not_executed')
      recordUnsent(run, call, message.tool_calls?.indexOf(call) ?? 0, result, run.deps.now());
    recordMessage(run, at, result);
    return result;
  });
}
