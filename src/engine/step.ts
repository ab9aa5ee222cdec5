import type { Value } from '../chain/values.ts';
import type { Task } from '../schema/chain.ts';
import { shownClass } from '../schema/errors.ts';
import type { CapturedStep, EngineEvent } from '../schema/event.ts';
import type { Usage } from '../schema/message.ts';
import type { Route } from '../schema/protocol.ts';
import type { Failure } from './failure.ts';
import type { At, Run } from './run.ts';
import { timestamp } from './run.ts';
import { shownValue } from './run-state.ts';
import type { TaskClock } from './task-clock.ts';

/** What the attempt's model calls and tool calls leave for its captured step (04 §17). */
export type StepRecord = {
  /** The input after its template and its cap; null until it is known. */
  input: Value | null;
  route: Route | null;
  toolNames: readonly string[];
  usage: Usage | null;
  finishReason: string | null;
  retries: number;
  /** Received before the attempt failed. */
  partial: string | null;
};

/** One attempt at a task. */
export type Step = {
  readonly run: Run;
  readonly task: Task;
  readonly at: At;
  /** Milliseconds since the epoch; the one instant of the attempt (04 §10.2). */
  readonly startedAt: number;
  readonly clock: TaskClock;
  readonly record: StepRecord;
  /** Type and value as the task received it; `nil` when it could not be resolved. */
  readonly received: Value;
};

export const newRecord = (): StepRecord => ({
  input: null,
  route: null,
  toolNames: [],
  usage: null,
  finishReason: null,
  retries: 0,
  partial: null,
});

/** An event body without the members that a step adds. */
type InStep<T> = T extends At ? Omit<T, keyof At> : never;

/** Reports something that belongs to this attempt. */
export function emit(step: Step, body: InStep<EngineEvent>): void {
  // Adding the three members of At to a body without them gives back the event it was taken from.
  step.run.host.emit({ ...step.at, ...body } as EngineEvent);
}

export const notice = (step: Step, code: string, message: string): void =>
  emit(step, { kind: 'notice', level: 'warn', code, message });

/** How an attempt ended, for its record. */
export type StepEnd = {
  readonly output: Value | null;
  readonly evalText: string | null;
  readonly next: string | null;
  readonly failure: Failure | null;
  readonly cancelled: boolean;
};

const timeLimits: ReadonlySet<string> = new Set(['timeout', 'model_timeout']);

/** Milliseconds since the step began; never less than 0, also where the clock was set back. */
export const lasted = ({ run, startedAt }: Pick<Step, 'run' | 'startedAt'>): number =>
  Math.max(0, run.deps.now() - startedAt);

/** One record per attempt; histories are ranges (04 §17). */
export function captured(step: Step, end: StepEnd): CapturedStep {
  const { run, record, at, task } = step;
  const { usage, route } = record;
  const input = record.input ?? step.received;
  return {
    ...at,
    index: run.state.stepIndex,
    started_at: timestamp({ now: () => step.startedAt }),
    duration_ms: lasted(step),
    input_type: input.type,
    output_type: end.output?.type ?? null,
    input_var: task.input_var ?? '',
    eval: end.evalText,
    next: end.next,
    input: shownValue(input, run.ledger),
    output: end.output === null ? null : shownValue(end.output, run.ledger),
    partial: record.partial,
    provider: route?.type ?? null,
    backend: route?.backend ?? null,
    model: route?.model ?? null,
    model_digest: route?.digest ?? null,
    tool_names: record.toolNames,
    usage:
      usage === null
        ? null
        : {
            prompt: usage.input_tokens,
            completion: usage.output_tokens,
            total: usage.total_tokens,
            estimated: usage.estimated,
          },
    finish_reason: record.finishReason,
    retries: record.retries,
    cancelled: end.cancelled,
    timed_out: end.failure !== null && timeLimits.has(end.failure.code),
    error: end.failure === null ? null : { class: shownClass(end.failure.code), message: end.failure.message },
  };
}
