import type { Failure } from 'superstruct';
import { inexactIntegers, stringEnd } from '../text/exact-json.ts';
import { messageOf } from '../text/thrown.ts';
import type { Tool } from './tool.ts';

export type ParsedArguments =
  | {
      readonly ok: true;
      /** What the tool gets: the same object as `record`, seen through the tool's struct. */
      readonly args: unknown;
      /** What the policy judges, the ask binds and the audit records. */
      readonly record: Readonly<Record<string, unknown>>;
    }
  | { readonly ok: false; readonly path: string; readonly message: string };

/** How long and how deep arguments may be (04 §14.2.3). */
const maxBytes = 1024 * 1024;
const maxDepth = 64;
const prototypeKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

const refused = (path: string, message: string): ParsedArguments => ({ ok: false, path, message });

/**
 * Reads the arguments of a call as they came and checks them against the tool's struct (04 §14.2.3, 05 §2.1). Never
 * throws and never repairs; with `direct` the strings of a chain's `args` are converted to the declared types (04 §7.3).
 */
export function parseArguments(tool: Tool, text: string, direct: boolean): ParsedArguments {
  const read = readObject(text);
  if (!read.ok) return read;
  const converted = direct ? convert(read.record, tool.spec.input_schema) : read;
  if (!converted.ok) return converted;
  const { record } = converted;
  const [error] = tool.args.validate(record);
  const [failure] = error?.failures() ?? [];
  if (failure !== undefined) return describeFailure(failure, record, tool);
  return { ok: true, args: record, record };
}

type ReadRecord = { readonly ok: true; readonly record: Readonly<Record<string, unknown>> };
type Rejected = Extract<ParsedArguments, { ok: false }>;
const rejected = (path: string, message: string): Rejected => ({ ok: false, path, message });

/** The strict reading of the JSON text: one object, small, shallow, no key twice, no key that names a prototype. */
function readObject(text: string): ReadRecord | Rejected {
  if (text.trim() === '') return { ok: true, record: {} };
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) {
    return rejected('', `The arguments are ${bytes} bytes long; at most ${maxBytes} are accepted.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = messageOf(error).slice(0, 200);
    return rejected('', `The arguments are not valid JSON: ${reason}. Send one JSON object.`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return rejected('', 'The arguments must be one JSON object.');
  }
  const fault = scanKeys(text) ?? inexact(text) ?? badText(text, value);
  if (fault !== null) return fault;
  // True because a value that is neither null nor an array nor a scalar is a JSON object.
  return { ok: true, record: value as Record<string, unknown> };
}

/** A number that has become another one in reading is not what the model has sent. */
function inexact(text: string): Rejected | null {
  const [first] = inexactIntegers(text);
  if (first === undefined) return null;
  return rejected(
    '',
    `The number ${first.literal.slice(0, 40)} has more digits than a number keeps, so another one would be sent.`,
  );
}

/** Walks valid JSON text: depth, keys that stand twice, keys that name a prototype. JSON.parse hides all three. */
function scanKeys(text: string): Rejected | null {
  /** The keys of each open object; null for an array. */
  const open: (Set<string> | null)[] = [];
  let expectsKey = false;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = stringEnd(text, at);
        const keys = expectsKey ? (open.at(-1) ?? null) : null;
        const fault = keys === null ? null : takeKey(keys, JSON.parse(text.slice(at, end + 1)));
        if (fault !== null) return fault;
        expectsKey = false;
        at = end;
        break;
      }
      case openBrace:
        open.push(new Set());
        expectsKey = true;
        break;
      case openBracket:
        open.push(null);
        expectsKey = false;
        break;
      case closeBrace:
      case closeBracket:
        open.pop();
        expectsKey = false;
        break;
      case comma:
        expectsKey = (open.at(-1) ?? null) !== null;
    }
    if (open.length > maxDepth) return rejected('', `The arguments are nested deeper than ${maxDepth} levels.`);
  }
  return null;
}

function takeKey(keys: Set<string>, key: string): Rejected | null {
  if (prototypeKeys.has(key)) return rejected(key, `The key "${key}" is not accepted.`);
  if (keys.has(key)) return rejected(key.slice(0, 100), `The key "${key.slice(0, 100)}" stands twice.`);
  keys.add(key);
  return null;
}

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** U+0000 and unpaired surrogates (05 §2.1.2). They can only come from escapes or from ill-formed text. */
function badText(text: string, value: unknown): Rejected | null {
  if (!/\\u(?:0000|[dD][89a-fA-F])|[\ud800-\udfff]/.test(text)) return null;
  return findBadText(value, '');
}

function findBadText(value: unknown, path: string): Rejected | null {
  if (typeof value === 'string') return badString(value, path);
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, member] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${path}[${key}]` : joinPath(path, key);
    const found = badString(key, path) ?? findBadText(member, at);
    if (found !== null) return found;
  }
  return null;
}

function badString(text: string, path: string): Rejected | null {
  const zero = text.indexOf('\0');
  if (zero >= 0) return rejected(path, `"${path}" contains U+0000 at position ${zero}.`);
  const lone = text.search(/[\ud800-\udfff]/u);
  if (lone >= 0) return rejected(path, `"${path}" contains an unpaired surrogate at position ${lone}.`);
  return null;
}

const joinPath = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

/** 04 §7.3: a text rendered for an integer, number or boolean property becomes one. */
function convert(record: Readonly<Record<string, unknown>>, schema: ToolSchema): ReadRecord | Rejected {
  const properties = schema['properties'];
  if (typeof properties !== 'object' || properties === null) return { ok: true, record };
  const types = new Map<string, unknown>(
    Object.entries(properties).map(([name, property]) => [name, typeOf(property)] as const),
  );
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(record)) {
    const wanted = types.get(name);
    const converted = typeof value === 'string' ? convertText(value, wanted) : value;
    if (converted === undefined) return rejected(name, `"${name}" must be ${words(String(wanted))}.`);
    result[name] = converted;
  }
  return { ok: true, record: result };
}

type ToolSchema = Readonly<Record<string, unknown>>;

const typeOf = (property: unknown): unknown =>
  typeof property === 'object' && property !== null && 'type' in property ? property.type : undefined;

/** @returns undefined when the text does not denote a value of the type. */
function convertText(text: string, type: unknown): unknown {
  const trimmed = text.trim();
  if (type === 'boolean') return trimmed === 'true' ? true : trimmed === 'false' ? false : undefined;
  if (type !== 'integer' && type !== 'number') return text;
  const value = Number(trimmed);
  if (trimmed === '' || !Number.isFinite(value)) return undefined;
  return type === 'integer' && !Number.isSafeInteger(value) ? undefined : value;
}

/** Says what is wrong in words of the schema; the value itself is not repeated. */
function describeFailure(failure: Failure, record: Readonly<Record<string, unknown>>, tool: Tool): ParsedArguments {
  const path = pathOf(failure);
  if (failure.type === 'never') {
    const known = Object.keys(tool.spec.input_schema['properties'] ?? {});
    const takes = known.length === 0 ? 'no arguments' : known.join(', ');
    return refused(path, `"${path}" is not an argument of ${tool.spec.tools}.${tool.spec.tool}, which takes ${takes}.`);
  }
  const name: unknown = failure.path[0];
  if (failure.path.length === 1 && typeof name === 'string' && !Object.hasOwn(record, name)) {
    return refused(path, `The argument "${path}" is missing.`);
  }
  // Our own structs and refinements give the end of the sentence.
  const own = failure.message.startsWith('must ')
    ? failure.message
    : `must be ${listed(failure, tool) ?? words(failure.type)}`;
  return refused(path, path === '' ? `The arguments ${own}.` : `"${path}" ${own}.`);
}

/** The values that an argument of a few words may have. */
function listed(failure: Failure, tool: Tool): string | null {
  const [name]: readonly unknown[] = failure.path;
  const property = (tool.spec.input_schema['properties'] as Readonly<Record<string, unknown>> | undefined)?.[
    String(name)
  ];
  if (failure.type !== 'enums' || typeof property !== 'object' || property === null || !('enum' in property))
    return null;
  return Array.isArray(property.enum) ? `one of ${property.enum.join(', ')}` : null;
}

function pathOf(failure: Failure): string {
  let path = '';
  for (const key of failure.path as readonly unknown[]) {
    path = typeof key === 'number' ? `${path}[${key}]` : joinPath(path, String(key).slice(0, 100));
  }
  return path;
}

const names: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  enums: 'one of the values that the schema lists',
};
const words = (type: string): string => names[type] ?? 'of the type that the schema names';
