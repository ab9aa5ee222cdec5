import type { CallRequest, ToolOutcome } from '../schema/protocol.ts';
import type { KnownCall } from '../store/calls.ts';

/** What a run that was resumed has on record of its calls, by call id. */
export type KnownCalls = ReadonlyMap<string, KnownCall>;

/**
 * The outcome of a call that has ended, as the model was or would have been told: never executed again (03 §11.5).
 * @returns null for a call that is still open, or whose outcome nobody knows and nobody has settled
 */
export function recordedOutcome(known: KnownCall, request: CallRequest): ToolOutcome | null {
  const { result, state } = known;
  if (result === undefined || state === 'planned' || state === 'started') return null;
  const ok = state === 'done';
  const content = typeof result === 'string' ? result : JSON.stringify(result);
  const error = ok ? null : errorOf(result);
  return {
    kind: 'result',
    ok,
    content,
    ...(error === null ? {} : { error }),
    ...(request.direct && ok && typeof result !== 'string' ? { value: result } : {}),
    ...(known.output_ref === null ? {} : { output_ref: known.output_ref }),
  };
}

function errorOf(result: unknown): string {
  const error: unknown = typeof result === 'object' && result !== null ? Reflect.get(result, 'error') : null;
  return typeof error === 'string' ? error : 'tool_error';
}
