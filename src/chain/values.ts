import type { DataType } from '../schema/chain.ts';

/** A typed value of a task. */
export type Value = { readonly type: DataType; readonly value: unknown };

/** What makes up for members that a given history leaves out (04 §6.3). */
export type Fresh = { messageId(): string; callId(): string; readonly timestamp: string };

/** Narrows `any` (04 §6.1). A value that is no JSON (undefined, a function) becomes `nil`. */
export function narrow(value: unknown, _fresh: Fresh): Value {
  return { type: 'json', value };
}
/** The prompt of 04 §6.5. @throws RuntimeError task_error */
export function promptText(value: unknown, _type: DataType): string {
  return String(value);
}
/** Cuts an input to `input_max_bytes` (04 §6.6). @throws RuntimeError input_too_large */
export function capInput(value: Value, _maxBytes: number): Value {
  return value;
}
/** Number extraction of 04 §7.5; null when there is none. */
export function extractNumber(_text: string): number | null {
  return null;
}
/** Milliseconds of a duration (04 §4); null when it is zero, negative or unparsable. */
export function durationMs(_value: string | number): number | null {
  return null;
}
/** `min-max`, negatives allowed (`-10--2`); null when it is no range. Does not compare the two. */
export function parseRange(_text: string): readonly [number, number] | null {
  return null;
}
