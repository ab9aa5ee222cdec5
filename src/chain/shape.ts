import { ownMember } from '../text/own-member.ts';
import { placeOf, placeOfMember, type Findings } from './findings.ts';
import type { JsonArray, JsonMember, JsonNode, JsonObject, JsonString } from './json.ts';
import { memberAdvice, type MemberType, members, type Owner } from './members.ts';

const wanted: Readonly<Record<MemberType, string>> = {
  string: 'a string',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  object: 'an object',
  array: 'a list',
  strings: 'a list of strings',
  allowlist: 'a list of strings',
  duration: 'a duration such as "1m30s", or whole nanoseconds',
  text_or_integer: 'a whole number or a string',
};

const isInteger = (node: JsonNode): boolean => node.kind === 'number' && Number.isSafeInteger(node.value);
const isStrings = (node: JsonNode): boolean =>
  node.kind === 'array' && node.items.every((item) => item.kind === 'string');

const tests: Readonly<Record<MemberType, (node: JsonNode) => boolean>> = {
  string: (node) => node.kind === 'string',
  boolean: (node) => node.kind === 'boolean',
  integer: isInteger,
  number: (node) => node.kind === 'number',
  object: (node) => node.kind === 'object',
  array: (node) => node.kind === 'array',
  strings: isStrings,
  allowlist: (node) => node.kind === 'null' || isStrings(node),
  duration: (node) => node.kind === 'string' || isInteger(node),
  text_or_integer: (node) => node.kind === 'string' || isInteger(node),
};

/** The members of one object that are known and have their type; all others were reported. */
export type Shape = {
  readonly node: JsonObject;
  member(name: string): JsonMember | null;
  value(name: string): JsonNode | null;
  /** Present in the text, whatever its type. */
  has(name: string): boolean;
  string(name: string): JsonString | null;
  text(name: string): string | null;
  number(name: string): (JsonNode & { readonly kind: 'number' }) | null;
  object(name: string): JsonObject | null;
  array(name: string): JsonArray | null;
};

/** Reads the members of an object by its table, reporting `unknown_member` and `bad_type`. */
export function readShape(node: JsonObject, owner: Owner, findings: Findings): Shape {
  const good = new Map<string, JsonMember>();
  for (const member of node.members) {
    const type = ownMember<MemberType>(members[owner], member.name);
    if (type === undefined) {
      if (!isFree(member.name)) {
        findings.warning(
          'unknown_member',
          placeOfMember(member),
          `${owner} has no member ${JSON.stringify(member.name)}; ${memberAdvice(owner, member.name)}`,
        );
      }
    } else if (tests[type](member.value)) good.set(member.name, member);
    else findings.error('bad_type', placeOf(member.value), `${member.name} must be ${wanted[type]}`);
  }
  const value = (name: string): JsonNode | null => good.get(name)?.value ?? null;
  const string = (name: string): JsonString | null => {
    const found = value(name);
    return found?.kind === 'string' ? found : null;
  };
  return {
    node,
    value,
    string,
    member: (name) => good.get(name) ?? null,
    has: (name) => node.members.some((member) => member.name === name),
    text: (name) => string(name)?.value ?? null,
    number: (name) => {
      const found = value(name);
      return found?.kind === 'number' ? found : null;
    },
    object: (name) => {
      const found = value(name);
      return found?.kind === 'object' ? found : null;
    },
    array: (name) => {
      const found = value(name);
      return found?.kind === 'array' ? found : null;
    },
  };
}

/** Members that people may add without a warning (04 §2.3). */
const isFree = (name: string): boolean => name === '$schema' || name.startsWith('x-') || name.startsWith('_comment');

/** Strings of a list that was read as one. */
export const stringsOf = (node: JsonNode | null): readonly JsonString[] =>
  node?.kind === 'array' ? node.items.filter((item): item is JsonString => item.kind === 'string') : [];

/** Reports a number outside its limits. */
export function checkRange(
  node: (JsonNode & { readonly kind: 'number' }) | null,
  name: string,
  least: number,
  most: number,
  findings: Findings,
): void {
  if (node === null || (node.value >= least && node.value <= most)) return;
  const range = most === Number.POSITIVE_INFINITY ? `at least ${least}` : `between ${least} and ${most}`;
  findings.error('out_of_range', placeOf(node), `${name} must be ${range}, not ${node.value}`);
}
