import { utf8Length } from '../text/utf8.ts';
import { isObject } from '../text/json-object.ts';

/** Bytes that one rendering may write (04 §9.8). */
const maxOutputBytes = 4 * 1024 * 1024;

/** A limit that was reached while rendering: a signal of our own, also through a library that wraps what is thrown. */
export class LimitError extends Error {}

export type Names = Readonly<Record<string, unknown>>;

/** All names that a template sees; members of the output win over variables (04 §9.6). */
export function templateNames(variables: Names, output?: { readonly value: unknown }): Record<string, unknown> {
  const members = output !== undefined && isObject(output.value) ? output.value : {};
  const own = output === undefined ? {} : { output: output.value };
  return Object.assign(Object.create(null), variables, { vars: variables }, members, own);
}

const forbidden: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** An own member, as the template language reads one; forbidden names and missing ones are undefined (04 §9.9). */
export function member(value: unknown, name: string): unknown {
  if (value === null || value === undefined || forbidden.has(name) || !Object.hasOwn(Object(value), name)) {
    return undefined;
  }
  // An own member of it exists, so it can be read by name, also on text (`length`).
  return (value as Names)[name];
}

/** How a value is written into text (04 §9.7). @throws LimitError for a text above the limit of an output */
export function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  if (text.length > maxOutputBytes) throw outputLimit();
  return text;
}

const outputLimit = (): LimitError => new LimitError(`the output is above ${maxOutputBytes} bytes`);

/** The same value without members of forbidden names, at any depth; the same reference if it has none. */
export function clean(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(clean);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const entries = Object.entries(value);
  const kept = entries
    .filter(([name]) => !forbidden.has(name))
    .map(([name, item]): [string, unknown] => [name, clean(item)]);
  const same = kept.length === entries.length && kept.every(([, item], index) => item === entries[index]?.[1]);
  return same ? value : Object.fromEntries(kept);
}

/** The names with every value cleaned when it is first read: a history of thousands of messages often is not. */
export function cleanedNames(names: Names): object {
  const scope: object = Object.create(null);
  for (const name of Object.keys(names)) {
    if (forbidden.has(name)) continue;
    let cleaned: { readonly value: unknown } | null = null;
    Object.defineProperty(scope, name, {
      enumerable: true,
      get: () => {
        cleaned ??= { value: clean(names[name]) };
        return cleaned.value;
      },
      // A counter of the template (`increment`) may have the name of a variable; the variable stays what it is.
      set: (value: unknown) => {
        cleaned = { value };
      },
    });
  }
  return scope;
}

/** Takes what a rendering writes. @throws LimitError */
export function boundedWriter(): { buffer: string; write(value: unknown): void } {
  let bytes = 0;
  return {
    buffer: '',
    write(value) {
      const text = toText(value);
      bytes += utf8Length(text);
      if (bytes > maxOutputBytes) throw outputLimit();
      this.buffer += text;
    },
  };
}
