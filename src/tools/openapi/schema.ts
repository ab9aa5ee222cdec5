import { isObject, type JsonObject } from '../../text/json-object.ts';
import { ownMember } from '../../text/own-member.ts';
import { withoutAllOf } from './all-of.ts';
import type { ServiceDocument } from './read-document.ts';
import { lookUp, Unusable } from './references.ts';

/** References on the way at which a circle is cut (05 §9.3.2), and where else when that is too much to read. */
const depths = [16, 8, 4, 2];
/** Values of one schema with everything that it refers to, each circle gone round once. */
const maxNodes = 4000;
const maxLevels = 128;
/** What a schema that repeats itself may be: values, and characters. */
const repeatedNodes = 600;
const repeatedText = 4096;

export type Schemas = (schema: unknown) => JsonObject;

/** The schemas of one document, each made once: operations refer to the same ones again and again. */
export function createSchemas(document: ServiceDocument): Schemas {
  const made = new Map<string, JsonObject>();
  return (schema) => {
    const reference = isObject(schema) && Object.keys(schema).length === 1 ? schema['$ref'] : undefined;
    if (typeof reference !== 'string') return standalone(document, schema);
    const known = made.get(reference) ?? standalone(document, schema);
    made.set(reference, known);
    return known;
  };
}

/**
 * A schema of the document as JSON Schema 2020-12 that stands for itself: references are put in place, a circle ends in a
 * schema that takes anything, and what only documents need is left out. Members that only answers have are left out too.
 * @throws Unusable for a reference that cannot be followed, and for a schema that stays too large
 */
function standalone(document: ServiceDocument, schema: unknown): JsonObject {
  const once = expandWithin(document, schema, 1, maxNodes);
  if (once === null) throw new Unusable(`its schema has more than ${maxNodes} values or ${maxLevels} levels`);
  if (!once.cut) return once.schema;
  for (const depth of depths) {
    const made = expandWithin(document, schema, depth, repeatedNodes);
    if (made !== null && JSON.stringify(made.schema).length <= repeatedText) return made.schema;
  }
  return once.schema;
}

class TooLarge extends Error {}

/** @returns null when it grows beyond bounds; `cut`: a circle was ended */
function expandWithin(
  document: ServiceDocument,
  schema: unknown,
  depth: number,
  limit: number,
): { readonly schema: JsonObject; readonly cut: boolean } | null {
  const state: State = { document, depth, limit, nodes: 0, level: 0, cut: false, loosened: 0, path: [] };
  try {
    return { schema: asObject(expand(state, schema)), cut: state.cut };
  } catch (error) {
    if (error instanceof TooLarge) return null;
    throw error;
  }
}

type State = {
  readonly document: ServiceDocument;
  readonly depth: number;
  readonly limit: number;
  nodes: number;
  level: number;
  cut: boolean;
  /** How often something was left out that would have kept values away. */
  loosened: number;
  /** References that led here. */
  readonly path: string[];
};

const asObject = (schema: unknown): JsonObject => (isObject(schema) ? schema : schema === false ? { not: {} } : {});

function expand(state: State, schema: unknown): unknown {
  state.nodes += 1;
  if (state.nodes > state.limit || state.level >= maxLevels) throw new TooLarge();
  state.level += 1;
  const expanded = expandOne(state, schema);
  state.level -= 1;
  return expanded;
}

function expandOne(state: State, schema: unknown): unknown {
  // True and false are schemas, too.
  if (!isObject(schema)) return schema === false ? false : {};
  const { $ref } = schema;
  return typeof $ref === 'string' ? expandReference(state, $ref, schema) : expandMembers(state, schema);
}

function expandReference(state: State, reference: string, schema: JsonObject): unknown {
  const found = lookUp(state.document.root, reference);
  if (state.path.includes(reference) && state.path.length >= state.depth) {
    state.cut = true;
    state.loosened += 1;
    return {};
  }
  state.path.push(reference);
  const target = expand(state, found);
  state.path.pop();
  const notes = expandMembers(
    state,
    pick(schema, (key) => notesBeside.has(key)),
  );
  const base = { ...asObject(target), ...notes };
  const whole = schema['nullable'] === true ? orNull(base) : base;
  // Before 3.1 nothing but the reference counts.
  if (state.document.version !== '3.1') return whole;
  const more = expandMembers(
    state,
    pick(schema, (key) => !notesBeside.has(key)),
  );
  return Object.keys(more).length === 0 ? whole : { allOf: [whole, more] };
}

/** What may stand beside a reference and only says more about it. */
const notesBeside: ReadonlySet<string> = new Set(['title', 'description', 'default', 'deprecated', 'nullable']);

const pick = (schema: JsonObject, wanted: (key: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$ref' && key !== 'nullable' && wanted(key)));

const schemaKeys: ReadonlySet<string> = new Set([
  'items',
  'contains',
  'additionalProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const listKeys: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const mapKeys: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas']);
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isText = (value: unknown): boolean => typeof value === 'string';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isNames = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const typeNames: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);

/** Keywords that hold no schema, and what each must be: a keyword that is written otherwise says nothing. */
const plainKeys: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: (value) =>
    Array.isArray(value) ? value.length > 0 && value.every((one) => typeNames.has(one)) : typeNames.has(value),
  enum: (value) => Array.isArray(value) && value.length > 0,
  const: () => true,
  multipleOf: (value) => isNumber(value) && Number(value) > 0,
  maximum: isNumber,
  exclusiveMaximum: (value) => isNumber(value) || isFlag(value),
  minimum: isNumber,
  exclusiveMinimum: (value) => isNumber(value) || isFlag(value),
  maxLength: isCount,
  minLength: isCount,
  pattern: isText,
  maxItems: isCount,
  minItems: isCount,
  uniqueItems: isFlag,
  maxContains: isCount,
  minContains: isCount,
  maxProperties: isCount,
  minProperties: isCount,
  required: isNames,
  dependentRequired: (value) => isObject(value) && Object.values(value).every(isNames),
  title: isText,
  description: isText,
  default: () => true,
  deprecated: isFlag,
  format: isText,
  contentEncoding: isText,
  contentMediaType: isText,
};

function expandMembers(state: State, schema: JsonObject): JsonObject {
  const result = new Map<string, unknown>();
  const variants = withDiscriminator(state, schema);
  for (const [key, value] of Object.entries(variants)) {
    const before = state.loosened;
    if (schemaKeys.has(key)) {
      const member = typeof value === 'boolean' ? value : expand(state, value);
      // What keeps values away must not keep more of them away than it says.
      if (state.loosened === before || !negative.has(key)) result.set(key, member);
    } else if (listKeys.has(key) && Array.isArray(value) && value.length > 0) {
      const list = value.map((one) => expand(state, one));
      // More than one may fit what was loosened, or what is told apart by a member alone.
      const isAny = key === 'oneOf' && (state.loosened > before || isObject(schema['discriminator']));
      if (isAny && schema['anyOf'] === undefined) result.set('anyOf', list);
      else if (!isAny) result.set(key, list);
    } else if (mapKeys.has(key) && isObject(value)) result.set(key, expandMap(state, key, value));
    else if (Object.hasOwn(plainKeys, key) && plainKeys[key]?.(value) === true) {
      state.nodes += Array.isArray(value) ? value.length : 1;
      result.set(key, value);
    }
  }
  const made = withoutAllOf(oldBounds(withoutAnswers(schema, Object.fromEntries(result), state.document)));
  return schema['nullable'] === true ? orNull(made) : made;
}

const negative: ReadonlySet<string> = new Set(['not', 'if', 'unevaluatedItems', 'unevaluatedProperties']);

/** Variants that a member tells apart: which value belongs to which is said by the document alone. */
function withDiscriminator(state: State, schema: JsonObject): JsonObject {
  const { discriminator } = schema;
  if (!isObject(discriminator) || typeof discriminator['propertyName'] !== 'string') return schema;
  const name = discriminator['propertyName'];
  const mapping = isObject(discriminator['mapping']) ? Object.entries(discriminator['mapping']) : [];
  const told = (variant: unknown): unknown => {
    const reference = isObject(variant) ? variant['$ref'] : undefined;
    if (typeof reference !== 'string') return variant;
    const named = reference.split('/').at(-1) ?? '';
    const values = mapping.filter(([, target]) => target === reference || target === named).map(([value]) => value);
    if (values.length === 0 && constrains(lookUp(state.document.root, reference), name)) return variant;
    const member = { enum: values.length === 0 ? [named] : values };
    return { allOf: [variant, { type: 'object', properties: { [name]: member }, required: [name] }] };
  };
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => [
    key,
    (key === 'oneOf' || key === 'anyOf') && Array.isArray(value) ? value.map(told) : value,
  ]);
  return Object.fromEntries(entries);
}

/** Whether a schema itself says which values the member has. */
function constrains(schema: unknown, name: string): boolean {
  const members = isObject(schema) ? schema['properties'] : undefined;
  const member = isObject(members) ? ownMember(members, name) : undefined;
  return isObject(member) && ('const' in member || 'enum' in member);
}

function expandMap(state: State, key: string, value: JsonObject): JsonObject {
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (key === 'properties' && isAnswer(member, state.document)) state.loosened += 1;
    else members.push([name, expand(state, member)]);
  }
  return Object.fromEntries(members);
}

/** A member that only answers have (05 §9.4.5), also where a reference says so. */
function isAnswer(schema: unknown, document: ServiceDocument): boolean {
  let found = schema;
  for (let steps = 0; steps < 16 && isObject(found); steps += 1) {
    if (found['readOnly'] === true) return true;
    const { $ref } = found;
    if (typeof $ref !== 'string') return false;
    found = lookUp(document.root, $ref);
  }
  return false;
}

/** What is left out of the members cannot be required of them. */
function withoutAnswers(schema: JsonObject, made: JsonObject, document: ServiceDocument): JsonObject {
  const { required } = made;
  const members = schema['properties'];
  if (!Array.isArray(required)) return made;
  const names = required.filter(
    (name): name is string =>
      typeof name === 'string' &&
      !(isObject(members) && Object.hasOwn(members, name) && isAnswer(members[name], document)),
  );
  if (names.length > 0) return { ...made, required: [...new Set(names)] };
  const { required: _none, ...rest } = made;
  return rest;
}

/** Before 3.1 the exclusive bounds were switches beside the bounds. */
function oldBounds(schema: JsonObject): JsonObject {
  let result = schema;
  for (const [bound, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (typeof result[exclusive] !== 'boolean') continue;
    const { [exclusive]: isExclusive, [bound]: value, ...rest } = result;
    if (value === undefined) result = rest;
    else result = { ...rest, [isExclusive === true ? exclusive : bound]: value };
  }
  return result;
}

/** `nullable` of 3.0 in the words of JSON Schema. */
function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema;
  if (Object.keys(schema).length === 0) return schema;
  if (typeof type !== 'string' || ['allOf', 'anyOf', 'oneOf', 'not', 'const'].some((key) => key in schema)) {
    const { title, description, default: fallback, ...rest } = schema;
    const notes = Object.entries({ title, description, default: fallback }).filter(([, value]) => value !== undefined);
    return { ...Object.fromEntries(notes), anyOf: [rest, { type: 'null' }] };
  }
  const withNull = Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {};
  return { ...schema, type: [type, 'null'], ...withNull };
}
