import type { DataType } from '../schema/chain.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { History } from '../schema/message.ts';
import { utf8Length } from '../text/utf8.ts';
import { capHistory, cutHead, cutTail } from './cap.ts';
import { type Fresh, readHistory } from './read-history.ts';

/** A typed value of a task (04 §6.1). */
export type Value = { readonly type: DataType; readonly value: unknown };

/**
 * An error of 04 §§4 to 7: code `task_error`, the chapter's own word in front of the message and in `data.reason`.
 */
export const taskError = (reason: string, message: string): RuntimeError =>
  new RuntimeError('task_error', `${reason}: ${message}`, { data: { reason } });

/** Text as the type `string` holds it: lone surrogates are U+FFFD. */
export const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, '�');

/**
 * Narrows a JSON value from `any` (04 §6.1). Never throws; what no JSON can be (undefined, a function) becomes `nil`,
 * and a number that is not finite too.
 */
export function narrow(value: unknown, fresh: Fresh): Value {
  switch (typeof value) {
    case 'string':
      return { type: 'string', value: wellFormed(value) };
    case 'boolean':
      return { type: 'bool', value };
    case 'number':
      if (Number.isSafeInteger(value)) return { type: 'int', value: value + 0 };
      return Number.isFinite(value) ? { type: 'float', value } : { type: 'nil', value: null };
    case 'object': {
      if (value === null) return { type: 'nil', value: null };
      const history = readHistory(value, fresh);
      return history === null ? { type: 'json', value } : { type: 'chat_history', value: history };
    }
    default:
      return { type: 'nil', value: null };
  }
}

/**
 * What a handler with prompt input sends as the prompt (04 §6.5).
 * @throws RuntimeError task_error: `empty_prompt`, `no_prompt`
 */
export function promptText(value: unknown, type: DataType): string {
  const text = promptForm(value, type);
  if (text === null) throw taskError('no_prompt', `a value of type ${type} is no prompt: it holds no text`);
  if (text.trim() === '') throw taskError('empty_prompt', 'the prompt is empty; give the task an input with text');
  return text;
}

function promptForm(value: unknown, type: DataType): string | null {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : null;
    case 'int':
    case 'float':
    case 'bool':
      return String(value);
    case 'chat_history':
      return lastContent(value);
    case 'json':
    case 'any':
      return value === undefined || value === null ? null : JSON.stringify(value);
    case 'nil':
      return null;
  }
}

/** Content of the last message that has content; null when none has. */
function lastContent(value: unknown): string | null {
  // A value of type chat_history is made by readHistory or by a handler, both of which yield a History.
  const { messages } = value as History;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const content = messages[index]?.content ?? '';
    if (content !== '') return content;
  }
  return null;
}

/**
 * Cuts an input to `input_max_bytes` (04 §6.6): strings at the end, histories at their oldest kept unit.
 * @throws RuntimeError input_too_large for other types
 */
export function capInput(input: Value, maxBytes: number): Value {
  if (input.type === 'string' && typeof input.value === 'string') {
    const bytes = utf8Length(input.value);
    return bytes <= maxBytes ? input : { type: 'string', value: cutTail(input.value, maxBytes, bytes) };
  }
  if (input.type === 'chat_history') {
    // As in lastContent: a chat_history value is always a History.
    const history = input.value as History;
    const messages = capHistory(history.messages, maxBytes, cutHead);
    return messages === history.messages ? input : { type: 'chat_history', value: { ...history, messages } };
  }
  const bytes = utf8Length(JSON.stringify(input.value ?? null));
  if (bytes <= maxBytes) return input;
  throw new RuntimeError(
    'input_too_large',
    `The input of type ${input.type} has ${bytes} bytes, input_max_bytes allows ${maxBytes}; only text and histories are cut.`,
  );
}

const numberForm = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A whole decimal number, with or without fraction and exponent; null for anything else. */
export function strictNumber(text: string): number | null {
  const trimmed = text.trim();
  if (!numberForm.test(trimmed)) return null;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : null;
}

/** Number extraction (04 §7.5): the whole text, without quotes and blanks around it, else the first number in it. */
export function extractNumber(text: string): number | null {
  const plain = text.replace(/^[\s"'`]+/, '').replace(/(?<![\s"'`])[\s"'`]+$/, '');
  // One that is too large (`1e400`) is none, not the digits at its beginning.
  if (numberForm.test(plain)) return strictNumber(plain);
  const match = /-?\d+(?:\.\d+)?/.exec(text);
  if (match === null) return null;
  const value = Number(match[0]);
  return Number.isFinite(value) ? value : null;
}

const nanosecondsPer: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

/**
 * Milliseconds of a duration (04 §4): a Go duration string, or whole nanoseconds. May have a fraction.
 * Null when it is zero, negative or cannot be read.
 */
export function durationMs(value: string | number): number | null {
  const nanoseconds = typeof value === 'number' ? (Number.isInteger(value) ? value : null) : goDuration(value);
  if (nanoseconds === null || !(nanoseconds > 0) || !Number.isFinite(nanoseconds)) return null;
  return nanoseconds / 1e6;
}

function goDuration(text: string): number | null {
  const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;
  part.lastIndex = text.startsWith('+') ? 1 : 0;
  if (part.lastIndex >= text.length) return null;
  let total = 0;
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (match === null) return null;
    total += Number(match[1]) * (nanosecondsPer[match[2] ?? ''] ?? Number.NaN);
  }
  return Math.round(total);
}

/** `min-max` with optional minus signs (`-10--2`); null when the text is no range. The two are not compared. */
export function parseRange(text: string): readonly [number, number] | null {
  const match = /^(-?\d+(?:\.\d+)?)\s*-\s*(-?\d+(?:\.\d+)?)$/.exec(text.trim());
  if (match === null) return null;
  const low = Number(match[1]);
  const high = Number(match[2]);
  return Number.isFinite(low) && Number.isFinite(high) ? [low, high] : null;
}
