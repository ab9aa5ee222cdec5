import type { Message } from '../schema/message.ts';
import { isObject } from '../text/json-object.ts';

/** Values whose text is known: `encodeBody` takes it where they are members of a body. */
const known = new WeakMap<object, readonly Buffer[]>();

/**
 * JSON in UTF-8, and in well-formed Unicode (08 §1 rule 5), in pieces that follow each other. Members that `keep` or a
 * list writer made are not written again.
 */
export function encodeBody(body: unknown): readonly Buffer[] {
  if (!isObject(body)) return [Buffer.from(textOf(body))];
  const pieces: Buffer[] = [];
  let text = '{';
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    text += `${text === '{' && pieces.length === 0 ? '' : ','}${textOf(name)}:`;
    const before = typeof value === 'object' && value !== null ? known.get(value) : undefined;
    if (before === undefined) {
      text += textOf(value);
      continue;
    }
    pieces.push(Buffer.from(text), ...before);
    text = '';
  }
  pieces.push(Buffer.from(`${text}}`));
  return pieces;
}

/** A lone surrogate is the one thing that is written as `\ud…`. */
function textOf(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes('\\ud') ? text.replace(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, '$1\ufffd') : text;
}

/** Remembers the text of a value, which must never change from here on. @returns the value */
export function keep<T extends object>(value: T): T {
  known.set(value, [Buffer.from(textOf(value))]);
  return value;
}

/** Stands in a body for a list that is written already. `weight` is the sum over its elements. */
export type WrittenList = { readonly weight: number };

type Last<Names> = {
  readonly messages: readonly Message[];
  readonly names: Names;
  /** The elements without brackets, with room behind them. The part that was handed out is never written over. */
  readonly bytes: Buffer;
  readonly length: number;
  readonly weight: number;
};

/**
 * Writes the messages of a conversation as a JSON list. A history grows at its end: what the request before has written
 * is taken as it is, and only what is new is written.
 * @param make the form of a message on the wire; a list where it is several elements
 * @param weigh what an element adds to `weight`
 */
export function createListWriter<Names extends object, T extends object>(
  make: (message: Message, names: Names) => T | readonly T[],
  weigh: (element: T) => number = () => 0,
) {
  let last: Last<Names> | null = null;

  /** @param head elements in front of the messages */
  return (head: readonly T[], messages: readonly Message[], names: Names): WrittenList => {
    const before: Last<Names> | null =
      last !== null && last.names === names && begins(messages, last.messages) ? last : null;
    const added = messages.slice(before?.messages.length ?? 0).flatMap((message) => make(message, names));
    const weight = (before?.weight ?? 0) + sum(added, weigh);
    const text = added.length === 0 ? '' : textOf(added).slice(1, -1);
    const { bytes, length } = append(before, text);
    last = { messages, names, bytes, length, weight };
    const front = head.length === 0 ? '[' : `${textOf(head).slice(0, -1)}${length === 0 ? '' : ','}`;
    const list: WrittenList = { weight: weight + sum(head, weigh) };
    known.set(list, [Buffer.from(front), bytes.subarray(0, length), Buffer.from(']')]);
    return list;
  };
}

const begins = (messages: readonly Message[], head: readonly Message[]): boolean =>
  messages.length >= head.length && head.every((message, index) => message === messages[index]);

const sum = <T>(elements: readonly T[], weigh: (element: T) => number): number =>
  elements.reduce((total, element) => total + weigh(element), 0);

function append(before: { readonly bytes: Buffer; readonly length: number } | null, text: string) {
  if (before === null || before.length === 0) {
    const bytes = Buffer.from(text);
    return { bytes, length: bytes.length };
  }
  if (text === '') return before;
  const more = `,${text}`;
  const start = before.length;
  const length = start + Buffer.byteLength(more);
  let { bytes } = before;
  if (bytes.length < length) {
    bytes = Buffer.allocUnsafe(length * 2);
    before.bytes.copy(bytes, 0, 0, start);
  }
  bytes.write(more, start);
  return { bytes, length };
}
