import { define, type Struct } from 'superstruct';
import { foldCase } from '../text/fold-case.ts';
import { fail, type ToolFailure } from './failure.ts';
import { type JsonCheck, jsonCheck } from './json-check.ts';
import type { ArgumentRecord, Tool } from './tool.ts';

/**
 * Arguments of a tool that somebody else defines, held against the schema that a model sees. What checks them is loaded
 * by the first call.
 * @param hidden names that an operator injects: a model's value for one is dropped, so it is not held against anything
 */
export function checkedArguments(
  schema: ArgumentRecord,
  hidden: ReadonlySet<string>,
): Pick<Tool<ArgumentRecord>, 'args' | 'load'> {
  let check: JsonCheck | null = null;
  const args: Struct<ArgumentRecord, null> = define<ArgumentRecord>('object', (value) => {
    if (check === null) return 'must be checked against a schema that was not loaded';
    // The reader of arguments has made an object.
    const fault = check(withoutNames(value as ArgumentRecord, hidden));
    return fault === null ? true : [{ path: [...fault.path], type: fault.type, message: fault.message }];
  });
  return {
    args,
    async load() {
      check ??= await jsonCheck(schema);
    },
  };
}

export const withoutNames = (record: ArgumentRecord, names: ReadonlySet<string>): ArgumentRecord =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.has(name)));

/**
 * The names of a model's arguments that the operator's stand for: also one in another case that the service does not
 * declare, and may read all the same.
 */
export function standIns(
  record: ArgumentRecord,
  hidden: ReadonlySet<string>,
  isDeclared: (name: string) => boolean,
): ReadonlySet<string> {
  const folded = new Set([...hidden].map(foldCase));
  const meant = (name: string): boolean => folded.has(foldCase(name)) && !isDeclared(name);
  return new Set([...hidden, ...Object.keys(record).filter(meant)]);
}

/** An injected value is registered as text. @returns it as the declared JSON type, where it denotes one; otherwise the text */
export function injectedValue(text: string, type: unknown): unknown {
  const types = Array.isArray(type) ? type : [type];
  if (types.includes('string') || type === undefined) return text;
  try {
    const value: unknown = JSON.parse(text);
    const kind = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
    const fits = types.includes(kind) || (kind === 'number' && types.includes('integer') && Number.isInteger(value));
    return fits ? value : text;
  } catch {
    return text;
  }
}

/** @param owner what needs the variable, in words: `hook tide` */
export const missingSecret = (variable: string, owner: string): ToolFailure =>
  fail(
    'missing_secret',
    `The variable ${variable}, which ${owner} needs, is not set. The operator sets it and starts anew.`,
  );
