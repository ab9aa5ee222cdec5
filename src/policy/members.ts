import { memberPath } from '../text/strict-json.ts';
import type { Findings } from './findings.ts';
import { isObject, type JsonObject } from '../text/json-object.ts';

/** One object of a document under validation: reads members by type and puts findings under their paths (02 §3). */
export type Members = {
  readonly path: string;
  /** The member as it stands; `undefined` when absent. */
  get(name: string): unknown;
  pathOf(name: string): string;
  /** Each reader gives `undefined` for an absent member and for one of another type, which is a finding. */
  text(name: string): string | undefined;
  boolean(name: string): boolean | undefined;
  integer(name: string): number | undefined;
  list(name: string, limit: number): readonly unknown[] | undefined;
};

const isAnnotation = (name: string): boolean => name === '$schema' || name.startsWith('//');

/** Opens an object with its known members; anything else but an annotation is unknown. Null when it is no object. */
export function readMembers(
  value: unknown,
  path: string,
  known: ReadonlySet<string>,
  findings: Findings,
): Members | null {
  if (!isObject(value)) {
    findings.add(path, 'wrong_type', `must be an object, not ${kindOf(value)}`);
    return null;
  }
  for (const name of Object.keys(value)) {
    if (known.has(name) || isAnnotation(name)) continue;
    findings.add(memberPath(path, name), 'unknown_member', `is not a member here; known are ${[...known].join(', ')}`);
  }
  return membersOf(value, path, findings);
}

function membersOf(value: JsonObject, path: string, findings: Findings): Members {
  const get = (name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined);
  const pathOf = (name: string): string => memberPath(path, name);
  const typed = <T>(name: string, kind: string, is: (member: unknown) => member is T): T | undefined => {
    const member = get(name);
    if (member === undefined) return undefined;
    if (is(member)) return member;
    findings.add(pathOf(name), 'wrong_type', `must be ${kind}, not ${kindOf(member)}`);
    return undefined;
  };
  return {
    path,
    get,
    pathOf,
    text: (name) => typed(name, 'a text', (member) => typeof member === 'string'),
    boolean: (name) => typed(name, 'true or false', (member) => typeof member === 'boolean'),
    integer: (name) => typed(name, 'a whole number', isInteger),
    list(name, limit) {
      const list = typed(name, 'a list', (member): member is readonly unknown[] => Array.isArray(member));
      if (list === undefined || list.length <= limit) return list;
      findings.add(pathOf(name), 'too_many', `has ${list.length} entries, at most ${limit} are allowed`);
      return list.slice(0, limit);
    },
  };
}

/** A number too large for a double is read as infinite; it counts as whole, so that its size is what is refused. */
const isInteger = (value: unknown): value is number =>
  typeof value === 'number' && (Number.isInteger(value) || !Number.isFinite(value));

/** The JSON type of a value, for a sentence. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : 'a fraction';
  if (typeof value === 'string') return 'a text';
  return typeof value === 'boolean' ? String(value) : 'an object';
}
