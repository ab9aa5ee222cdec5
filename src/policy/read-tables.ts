import type { CommandTables } from '../schema/command-tables.ts';
import { compileRegex, type LinearRegex } from '../text/linear-regex.ts';
import { readStrictJson } from '../text/strict-json.ts';
import { isObject } from '../text/json-object.ts';
import { messageOf } from '../text/thrown.ts';

/** Deepest nesting of the document: subcommands of subcommands are rare. */
const maxDepth = 32;

export type TablesResult =
  | { readonly ok: true; readonly tables: CommandTables }
  /** What is wrong, and where, in one line. */
  | { readonly ok: false; readonly message: string };

/**
 * Reads option tables that an operator has written (02 §9.7). Every member is checked, because one that is not
 * understood would be a rule that does not hold. Never rejects.
 */
export async function parseCommandTables(text: string): Promise<TablesResult> {
  const json = readStrictJson(text, maxDepth);
  if (!json.ok) return { ok: false, message: `${json.message} (line ${json.line}, column ${json.column})` };
  const [twice] = json.duplicates;
  if (twice !== undefined) return { ok: false, message: `${twice}: the member stands twice` };
  const problem = check(json.value, top, '$');
  if (problem !== null) return { ok: false, message: problem };
  // What `check` has just looked at member by member.
  const tables = json.value as CommandTables;
  const compiled = new Map<string, LinearRegex>();
  for (const { path, source } of patternsIn(json.value, '$')) {
    try {
      compiled.set(source, await compileRegex(source, { dotAll: true }));
    } catch (error) {
      return { ok: false, message: `${path}: ${messageOf(error)}` };
    }
  }
  return { ok: true, tables: { ...tables, patterns: compiled } };
}

/** Looks at a value; the place and what must stand there, or null. */
type Check = (value: unknown, path: string) => string | null;
type Shape = Readonly<Record<string, Check>>;

const must =
  (holds: (value: unknown) => boolean, what: string): Check =>
  (value, path) =>
    holds(value) ? null : `${path}: must be ${what}`;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const oneOf = (...words: readonly string[]): Check =>
  must((value) => isText(value) && words.includes(value), `one of ${words.join(', ')}`);
const text = must(isText, 'a text');
const texts = must((value) => Array.isArray(value) && value.every(isText), 'a list of texts');
const yesOrNo = must((value) => typeof value === 'boolean', 'true or false');
const count = must((value) => Number.isInteger(value) && Number(value) >= 0, 'a whole number');
const kinds = ['none', 'text', 'read', 'file', 'write', 'rev', 'url'] as const;

const option: Shape = {
  name: text,
  kind: oneOf(...kinds, 'enum', 'int'),
  values: texts,
  optional: yesOrNo,
  deny_pattern: text,
};

const values: Check = (value, path) => {
  if (!Array.isArray(value)) return `${path}: must be a list`;
  for (const [index, one] of value.entries()) {
    const problem = isText(one) ? null : check(one, option, `${path}[${index}]`);
    if (problem !== null) return problem;
    if (!isText(one) && !isText(Reflect.get(one, 'name'))) return `${path}[${index}].name: is missing`;
  }
  return null;
};

const each =
  (shape: () => Shape): Check =>
  (value, path) => {
    if (!isObject(value)) return `${path}: must be an object`;
    for (const [name, one] of Object.entries(value)) {
      const problem = check(one, shape(), `${path}.${name}`);
      if (problem !== null) return problem;
    }
    return null;
  };

const table: Shape = {
  grant: oneOf('never'),
  extends: text,
  flags: texts,
  values,
  numeric: yesOrNo,
  style: oneOf('posix', 'go', 'find'),
  first_word: oneOf('option'),
  no_option: text,
  required: texts,
  operands: oneOf(...kinds),
  operands_need: texts,
  max_operands: count,
  first: oneOf(...kinds),
  first_unless: texts,
  pattern: text,
  index: count,
  deny_pattern: text,
  subcommands: each(() => table),
  globals: texts,
};

const top: Shape = { format: must((value) => value === 1, '1'), programs: each(() => table) };

function check(value: unknown, shape: Shape, path: string): string | null {
  if (!isObject(value)) return `${path}: must be an object`;
  for (const [name, one] of Object.entries(value)) {
    if (name === '$schema' || name.startsWith('//')) continue;
    const look = Object.hasOwn(shape, name) ? shape[name] : undefined;
    const problem = look === undefined ? `${path}.${name}: is not known` : look(one, `${path}.${name}`);
    if (problem !== null) return problem;
  }
  const missing = shape === top ? ['format', 'programs'].find((name) => !Object.hasOwn(value, name)) : undefined;
  return missing === undefined ? null : `${path}.${missing}: is missing`;
}

const patterned: ReadonlySet<string> = new Set(['pattern', 'deny_pattern', 'no_option']);

function* patternsIn(value: unknown, path: string): Generator<{ readonly path: string; readonly source: string }> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, one] of Object.entries(value)) {
    if (patterned.has(name) && isText(one)) yield { path: `${path}.${name}`, source: one };
    else yield* patternsIn(one, `${path}.${name}`);
  }
}
