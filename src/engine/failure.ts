import type { Value } from '../chain/values.ts';
import { type ErrorCode, RuntimeError } from '../schema/errors.ts';

/** Why an attempt or a run failed: data, not an exception. */
export type Failure = {
  readonly code: ErrorCode;
  readonly message: string;
  /** Ends the run: neither `retry_on_failure` nor `on_failure` sees it (04 §15). */
  readonly final: boolean;
  /** Whether another attempt of the task may help (04 §15.1). */
  readonly retriable: boolean;
};

/** What a handler comes back with. */
export type Handled =
  | {
      readonly kind: 'done';
      readonly output: Value;
      readonly evalText: string;
      /** Set when a bound ended the run with a last report (02 §11): the output is the run's. */
      readonly exhausted?: true;
    }
  | Failed
  | Stopped;

/** `partial`: an output that was under way, if it has the declared type. */
export type Failed = { readonly kind: 'failed'; readonly failure: Failure; readonly partial: Value | null };

/** The run rests at its last checkpoint, or was cancelled. */
export type Stopped = { readonly kind: 'suspended' } | { readonly kind: 'cancelled' };

const notRetried: ReadonlySet<ErrorCode> = new Set(['raised', 'denied', 'capacity', 'auth']);

/** Bounds, limits of 04 §14.8, storage, cancellation, bugs: nothing in a chain catches them. */
const finalCodes: ReadonlySet<ErrorCode> = new Set([
  'compute_exhausted',
  'round_limit',
  'loop_detected',
  'step_limit',
  'storage',
  'database_busy',
  'database_damaged',
  'database_newer',
  'database_foreign',
  'worker_crash',
  // The run's own; a task's limit is made by the engine itself.
  'timeout',
  'cancelled',
  'interrupted',
  'suspended',
  'internal',
]);

export function failure(code: ErrorCode, message: string): Failure {
  const final = finalCodes.has(code);
  return { code, message, final, retriable: !final && !notRetried.has(code) };
}

/** A failure that the host declared the end of the run, whatever its class (a run's own `timeout`). */
export const finalFailure = (code: ErrorCode, message: string): Failure => ({
  code,
  message,
  final: true,
  retriable: false,
});

export const failed = (cause: Failure, partial: Value | null = null): Failed => ({
  kind: 'failed',
  failure: cause,
  partial,
});

/** The bound's own sentence (02 §11). */
export const boundFailure = (bound: {
  readonly bound: string;
  readonly used: number;
  readonly limit: number;
}): Failure => failure('compute_exhausted', `compute bound exhausted: ${bound.bound} ${bound.used}/${bound.limit}`);

const restingCodes: ReadonlySet<string> = new Set(['suspended', 'interrupted']);

/** Whether an aborted run rests at its checkpoint (SIGTERM, quitting) or is cancelled. */
export function stoppedBy(signal: AbortSignal): Stopped {
  const reason: unknown = signal.reason;
  return reason instanceof RuntimeError && restingCodes.has(reason.code)
    ? { kind: 'suspended' }
    : { kind: 'cancelled' };
}

/** The calls that may have run when the run was aborted, by their ids; null where nobody can say. */
export function begunCalls(signal: AbortSignal): ReadonlySet<unknown> | null {
  const reason: unknown = signal.reason;
  const data: unknown = reason instanceof RuntimeError ? reason.data : undefined;
  const begun: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'begun') : undefined;
  return Array.isArray(begun) ? new Set<unknown>(begun) : null;
}

/** The stop that an error stands for: the run was aborted, or the host says that it is over. Null for any other error. */
export function stopOf(error: unknown, signal: AbortSignal): Stopped | null {
  if (signal.aborted) return stoppedBy(signal);
  if (!(error instanceof RuntimeError)) return null;
  if (error.code === 'cancelled') return { kind: 'cancelled' };
  return restingCodes.has(error.code) ? { kind: 'suspended' } : null;
}

/** What an error thrown inside an attempt means. A bug is not a failure of the task and goes on to the boundary. */
export function handledError(error: unknown, signal: AbortSignal): Failed | Stopped {
  if (!(error instanceof RuntimeError)) throw error;
  return stopOf(error, signal) ?? failed(failure(error.code, error.message));
}
