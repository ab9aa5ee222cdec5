import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import { createContext, Script } from 'node:vm';
import { loadRegexEngine, type RegexEngine } from '../text/linear-regex.ts';
import { once } from '../text/once.ts';
import { withoutHidden } from './hidden-characters.ts';

/** Where and how a value differs from a schema. */
export type SchemaFault = {
  readonly path: readonly (string | number)[];
  /** The end of a sentence that begins with the name of the member: "must be …". */
  readonly message: string;
  /** `never`: a member that the schema does not have. */
  readonly type: string;
};

/** @returns the first difference, or null */
export type JsonCheck = (value: unknown) => SchemaFault | null;

/** Nothing is fetched: a reference that leaves the schema makes it unreadable (05 §2.1.3). */
// The class is a member of the default export both bundled and not.
const loadAjv = once(async () => (await import('ajv/dist/2020.js')).default.Ajv2020);
const loadDraft7 = once(async () => (await import('ajv')).default.Ajv);
const loadRegexes = once(loadRegexEngine);

/** A schema of a few lines can ask for more steps than there is time for, and nobody else gets a turn meanwhile. */
const compileMs = 3_000;
const checkMs = 1_000;
/** Only a script can be stopped in the middle of what it does. */
const stoppable = once(() => ({ script: new Script('work()'), context: createContext({ work: () => {} }) }));

/**
 * Compiles a JSON Schema of draft 7 or 2020-12, as services and tool servers give them (05 §2.1.3): unknown keywords and
 * formats say nothing, expressions run in linear time or say nothing. Never rejects: what cannot be compiled accepts no
 * value.
 */
export async function jsonCheck(schema: Readonly<Record<string, unknown>>): Promise<JsonCheck> {
  // The engine is needed by few schemas, and takes a while to load.
  const regexes = /"pattern(?:Properties)?"/.test(JSON.stringify(schema)) ? await loadRegexes() : null;
  const options: Options = {
    strict: false,
    validateFormats: false,
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
    code: { regExp: Object.assign((pattern: string) => linear(regexes, pattern), { code: 'linear' }) },
  };
  const { $schema: _dialect, ...own } = schema;
  // Most schemas read the same in both. What only draft 7 has, such as a list of schemas as `items`, the later one refuses.
  const validate = compiled(new (await loadAjv())(options), own) ?? compiled(new (await loadDraft7())(options), own);
  if (validate === null)
    return () => ({ path: [], type: 'schema', message: 'must match a schema that cannot be read' });
  return (value) => {
    const checked = inTime(checkMs, () => validate(value));
    if (checked === null) return { path: [], type: 'schema', message: 'must match a schema that is checked in time' };
    return checked.value ? null : faultOf(validate.errors?.[0]);
  };
}

/** @returns null when it took longer than so many milliseconds and was stopped */
function inTime<T>(timeout: number, work: () => T): { readonly value: T } | null {
  const { script, context } = stoppable();
  let done: { readonly value: T } | null = null;
  context['work'] = () => {
    done = { value: work() };
  };
  try {
    script.runInContext(context, { timeout });
  } catch (error) {
    if (!isTimeout(error)) throw error;
  } finally {
    context['work'] = () => {};
  }
  return done;
}

function compiled(ajv: { compile(schema: object): ValidateFunction }, schema: object): ValidateFunction | null {
  try {
    return inTime(compileMs, () => ajv.compile(schema))?.value ?? null;
  } catch {
    return null;
  }
}

/** The error is one of the script's own world, which is no `Error` of ours. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/** What the engine does not take, such as a look-ahead, holds of every text. */
function linear(engine: RegexEngine | null, pattern: string): RegExp {
  const compiled = once(() => {
    try {
      return engine?.compile(pattern) ?? null;
    } catch {
      return null;
    }
  });
  // The compiled check calls `test` and nothing else, and tells expressions apart by their text.
  return { test: (text: string) => compiled()?.test(text) ?? true, toString: () => `/${pattern}/` } as RegExp;
}

function faultOf(error: ErrorObject | undefined): SchemaFault {
  if (error === undefined) return { path: [], type: 'schema', message: 'must match its schema' };
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const { params } = error;
  if (error.keyword === 'required') {
    return { path: [...path, String(params['missingProperty'])], type: 'missing', message: 'must be given' };
  }
  if (error.keyword === 'additionalProperties') {
    const type = path.length === 0 ? 'never' : 'unknown';
    return { path: [...path, String(params['additionalProperty'])], type, message: 'must not be given' };
  }
  return { path, type: error.keyword, message: messageOf(error) };
}

/** It quotes the schema, of which a model is told no hidden character. */
function messageOf({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'enum') return `must be one of ${shown(params['allowedValues'])}`;
  if (keyword === 'const') return `must be ${shown(params['allowedValue'])}`;
  if (message?.startsWith('must ') !== true) return `must match its schema (${keyword})`;
  return withoutHidden(message).slice(0, 300);
}

const shown = (value: unknown): string => withoutHidden(JSON.stringify(value)).slice(0, 300);
