import { codeOf } from '../text/thrown.ts';
import type { ToolErrorClass, ToolResult } from './tool.ts';

/** A call that did not do what was wanted: the same words before the gate (`prepare`) and after it (`execute`). */
export type ToolFailure = Extract<ToolResult, { ok: false }>;

/** @param message one or two sentences: what, which limit, what to do instead. */
export const fail = (error: ToolErrorClass, message: string, extra?: Readonly<Record<string, unknown>>): ToolFailure =>
  extra === undefined ? { ok: false, error, message } : { ok: false, error, message, extra };

export const isFailure = (value: unknown): value is ToolFailure =>
  typeof value === 'object' && value !== null && 'ok' in value && value.ok === false;

export const cancelled = (): ToolFailure => fail('cancelled', 'The call was cancelled; nothing was changed.');

/** A refusal of the system, by its code; paths of its message are not repeated (05 §11). */
export function ioFailure(error: unknown, what: string): ToolFailure {
  const code = codeOf(error);
  if (code === 'ELOOP') return fail('path_changed', `${what} became a link after it was checked. Call again.`);
  return fail('io_error', `${what} could not be used: ${code ?? 'the system refused it'}.`, {
    code: code ?? 'UNKNOWN',
  });
}
