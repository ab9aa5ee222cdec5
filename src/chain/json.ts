import { wellFormed } from './values.ts';

/** A JSON reader that keeps positions and goes on after what can be gone on after (04 §2). */

type Base = {
  /** Index of the value in the text. */
  readonly offset: number;
  readonly parent: JsonNode | null;
  /** Name or index in the parent, as written. */
  readonly key: string | number;
};
export type JsonObject = Base & { readonly kind: 'object'; readonly members: readonly JsonMember[] };
export type JsonArray = Base & { readonly kind: 'array'; readonly items: readonly JsonNode[] };
export type JsonString = Base & { readonly kind: 'string'; readonly value: string };
export type JsonNode =
  | JsonObject
  | JsonArray
  | JsonString
  | (Base & { readonly kind: 'number'; readonly value: number })
  | (Base & { readonly kind: 'boolean'; readonly value: boolean })
  | (Base & { readonly kind: 'null' });

export type JsonMember = { readonly name: string; readonly nameOffset: number; readonly value: JsonNode };

export type JsonProblem = {
  readonly code: 'not_json' | 'duplicate_key' | 'forbidden_key' | 'too_large' | 'too_deep' | 'out_of_range';
  readonly offset: number;
  readonly pointer: string;
  readonly message: string;
};

const maxDepth = 64;
const maxStringBytes = 256 * 1024;
const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** JSON Pointer of a node, in the names of the text. */
export function pointerOf(node: JsonNode): string {
  const { parent, key } = node;
  return parent === null ? '' : `${pointerOf(parent)}/${escapeSegment(key)}`;
}

const escapeSegment = (key: string | number): string => String(key).replaceAll('~', '~0').replaceAll('/', '~1');

/** The plain value of a node. */
export function plainValue(node: JsonNode): unknown {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries(node.members.map((member) => [member.name, plainValue(member.value)]));
    case 'array':
      return node.items.map(plainValue);
    case 'null':
      return null;
    default:
      return node.value;
  }
}

/** A place in a string: its index in the value, and where that is in the text. */
export type StringPlace = { readonly index: number; readonly offset: number };

/**
 * Where an index of a string's value is in the text.
 * @param from a place before it that is known already, which spares the way from the beginning
 */
export function placeInString(text: string, node: JsonString, index: number, from: StringPlace | null): StringPlace {
  let at = from?.offset ?? node.offset + 1;
  for (let left = index - (from?.index ?? 0); left > 0 && at < text.length; left -= 1) {
    if (text.charAt(at) !== '\\') at += 1;
    else at += text.charAt(at + 1) === 'u' ? 6 : 2;
  }
  return { index, offset: at };
}

/** Ends the reading: nothing behind this problem can be understood. */
class StopReading extends Error {}

/** Reads one JSON value. `root` is null when the text cannot be read to its end; problems are in order of the text. */
export function readJson(text: string): { readonly root: JsonNode | null; readonly problems: readonly JsonProblem[] } {
  const problems: JsonProblem[] = [];
  let at = 0;

  const problem = (code: JsonProblem['code'], offset: number, pointer: string, message: string): void => {
    problems.push({ code, offset, pointer, message });
  };
  const stop = (code: 'not_json' | 'too_deep', message: string, offset = at): never => {
    problem(code, offset, '', message);
    throw new StopReading(message);
  };
  const skipBlanks = (): void => {
    for (;;) {
      const code = text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      at += 1;
    }
  };
  const unexpected = (wanted: string): never => {
    const char = text.charAt(at);
    if (char === '') return stop('not_json', `the text ends where ${wanted} is expected`);
    if (char === '/' || char === '#') return stop('not_json', 'comments are not allowed; use a member _comment');
    return stop('not_json', `${JSON.stringify(char)} stands where ${wanted} is expected`);
  };

  const readText = (): string => {
    const start = at;
    let escaped = false;
    for (at += 1; ; at += 1) {
      const code = text.charCodeAt(at);
      if (code === 0x22) break;
      if (Number.isNaN(code)) return stop('not_json', 'a string is not closed', start);
      if (code < 0x20) return stop('not_json', 'a control character in a string must be escaped');
      if (code === 0x5c) {
        escaped = true;
        at += 1;
      }
    }
    at += 1;
    if (!escaped) return wellFormed(text.slice(start + 1, at - 1));
    try {
      // A quoted slice without control characters: what comes back is a string.
      return wellFormed(JSON.parse(text.slice(start, at)) as string);
    } catch {
      return stop('not_json', 'a string holds an escape that JSON does not know', start);
    }
  };

  const readValue = (parent: JsonNode | null, key: string | number, depth: number): JsonNode => {
    skipBlanks();
    const base = { offset: at, parent, key };
    const char = text.charAt(at);
    if (char === '{' || char === '[') {
      if (depth > maxDepth) stop('too_deep', `the document is nested deeper than ${maxDepth} levels`);
      return char === '{' ? readObject(base, depth) : readArray(base, depth);
    }
    if (char === '"') {
      const node: JsonString = { ...base, kind: 'string', value: readText() };
      // Three bytes a code unit at most, so short strings need no count.
      if (node.value.length * 3 > maxStringBytes && new TextEncoder().encode(node.value).length > maxStringBytes) {
        problem('too_large', base.offset, pointerOf(node), `a string is above ${maxStringBytes} bytes`);
      }
      return node;
    }
    return readWord(base);
  };

  const readWord = (base: Base): JsonNode => {
    for (const [word, value] of words) {
      if (!text.startsWith(word, at)) continue;
      at += word.length;
      return value === null ? { ...base, kind: 'null' } : { ...base, kind: 'boolean', value };
    }
    const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
    number.lastIndex = at;
    const match = number.exec(text);
    if (match === null) return unexpected('a value');
    at = number.lastIndex;
    const node: JsonNode = { ...base, kind: 'number', value: Number(match[0]) };
    if (!Number.isFinite(node.value)) problem('out_of_range', base.offset, pointerOf(node), 'a number is too large');
    return node;
  };

  const readObject = (base: Base, depth: number): JsonNode => {
    const members: JsonMember[] = [];
    const node: JsonObject = { ...base, kind: 'object', members };
    const seen = new Set<string>();
    at += 1;
    skipBlanks();
    if (text.charAt(at) === '}') {
      at += 1;
      return node;
    }
    for (;;) {
      skipBlanks();
      const nameOffset = at;
      if (text.charAt(at) === '}') stop('not_json', 'a comma before a closing brace is not allowed');
      if (text.charAt(at) !== '"') unexpected("a member's name in double quotes");
      const name = readText();
      skipBlanks();
      if (text.charAt(at) !== ':') unexpected('a colon');
      at += 1;
      const value = readValue(node, name, depth + 1);
      if (forbiddenKeys.has(name)) {
        problem('forbidden_key', nameOffset, pointerOf(value), `a member must not be named ${name}`);
      } else if (seen.has(name)) {
        problem('duplicate_key', nameOffset, pointerOf(value), `the member ${JSON.stringify(name)} occurs twice`);
      } else members.push({ name, nameOffset, value });
      seen.add(name);
      if (!goesOn('}', 'a comma or a closing brace')) return node;
    }
  };

  const readArray = (base: Base, depth: number): JsonNode => {
    const items: JsonNode[] = [];
    const node: JsonArray = { ...base, kind: 'array', items };
    at += 1;
    skipBlanks();
    if (text.charAt(at) === ']') {
      at += 1;
      return node;
    }
    for (;;) {
      skipBlanks();
      if (text.charAt(at) === ']') stop('not_json', 'a comma before a closing bracket is not allowed');
      items.push(readValue(node, items.length, depth + 1));
      if (!goesOn(']', 'a comma or a closing bracket')) return node;
    }
  };

  /** Behind an element: true at a comma, false at the end. */
  const goesOn = (close: string, wanted: string): boolean => {
    skipBlanks();
    const char = text.charAt(at);
    if (char !== ',' && char !== close) unexpected(wanted);
    at += 1;
    return char === ',';
  };

  try {
    const root = readValue(null, '', 1);
    skipBlanks();
    if (at < text.length) unexpected('the end of the document');
    return { root, problems };
  } catch (error) {
    if (error instanceof StopReading) return { root: null, problems };
    throw error;
  }
}

const words: readonly (readonly [string, boolean | null])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];
