import type { Message } from '../schema/message.ts';
import { isObject } from './shape.ts';

/** Text of values that stand in one request after the other and do not change. */
const written = new WeakMap<object, Buffer>();

/**
 * JSON in UTF-8, and in well-formed Unicode (08 §1 rule 5). Elements of the body's lists that `createForms` or `keep`
 * made are written once: a long history costs a copy a request, not the writing of every message anew.
 */
export function encodeBody(body: unknown): Buffer {
  if (!isObject(body)) return Buffer.from(textOf(body));
  const pieces: Buffer[] = [];
  let text = '';
  const add = (value: unknown): void => {
    const known = isObject(value) ? written.get(value) : undefined;
    if (known === undefined) {
      text += textOf(value);
      return;
    }
    pieces.push(Buffer.from(text), known);
    text = '';
  };
  let before = '{';
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    text += `${before}${textOf(name)}:`;
    before = ',';
    if (!Array.isArray(value)) {
      add(value);
      continue;
    }
    text += '[';
    value.forEach((element, index) => {
      if (index > 0) text += ',';
      add(element ?? null);
    });
    text += ']';
  }
  pieces.push(Buffer.from(before === '{' ? '{}' : `${text}}`));
  return pieces.length === 1 ? (pieces[0] ?? Buffer.alloc(0)) : Buffer.concat(pieces);
}

/** A lone surrogate is the one thing that is written as `\ud…`. */
function textOf(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes('\\ud') ? text.replace(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, '$1\ufffd') : text;
}

/** Has a value, which never changes from here on, written once. @returns the value */
export function keep<T extends object>(value: T): T {
  written.set(value, Buffer.from(textOf(value)));
  return value;
}

/** What a message is on a wire: made and written once for each map of tool names. */
export function createForms<Names extends object, T extends object>(
  make: (message: Message, names: Names) => T,
): (message: Message, names: Names) => T {
  const known = new WeakMap<Names, WeakMap<Message, T>>();
  return (message, names) => {
    const forms = known.get(names) ?? new WeakMap<Message, T>();
    known.set(names, forms);
    const before = forms.get(message);
    if (before !== undefined) return before;
    const made = keep(make(message, names));
    forms.set(message, made);
    return made;
  };
}
