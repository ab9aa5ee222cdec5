import { isObject } from '../text/json-object.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A schema comes from a tool server or a hook and may be built to explode: what lies beyond becomes `object`. */
const maxNodes = 2000;
const maxDepth = 32;
const cut: Schema = { type: 'object' };

/** Formats that the service knows, by type; it refuses a request with any other. */
const formats: Readonly<Record<string, readonly string[]>> = {
  string: ['enum', 'date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

/**
 * Reduces a JSON Schema to what Gemini reads (08 §5.4.4): `type`, `description`, `enum`, `format`, `items`,
 * `properties`, `required`, `nullable`, `anyOf`. `$ref` is resolved inside the schema; a cycle is cut to `object`.
 */
export function reduceSchema(root: Schema): Schema {
  let nodes = 0;

  const reduce = (value: unknown, open: readonly string[], depth: number): Schema => {
    nodes += 1;
    // `true` and everything unreadable: any value is allowed, and the service has no word for that.
    if (!isObject(value) || nodes > maxNodes || depth > maxDepth) return cut;
    const ref = value['$ref'];
    if (typeof ref === 'string') {
      const target = open.includes(ref) ? null : resolve(root, ref);
      return target === null ? cut : described(value, reduce(target, [...open, ref], depth + 1));
    }
    const inner = (member: unknown): Schema => reduce(member, open, depth + 1);
    const { type, nullable } = readType(value['type']);
    const choices = choicesOf(value);
    const words = type === null || type === 'string' ? enumOf(value) : null;
    const parts = [
      ...listOf(value['allOf']),
      ...(type === null && choices.options.length === 1 ? choices.options : []),
    ];
    const merged = together(parts.filter(saysType).map(inner));
    const known = type ?? merged['type'] ?? typeByMembers(value, words);
    // The service takes no type beside a choice.
    const isChoice = known === null && (choices.options.length > 1 || merged['anyOf'] !== undefined);
    const isList = type === 'array' || (type === null && known === 'array' && merged['items'] === undefined);
    return described(value, {
      ...merged,
      ...(isChoice ? {} : { type: known ?? 'string' }),
      ...(words === null ? {} : { enum: words }),
      ...formatOf(value, type),
      ...(isList ? { items: inner(itemsOf(value)) } : {}),
      ...membersOf(value, merged, inner),
      ...(isChoice && choices.options.length > 1 ? { anyOf: choices.options.map(inner) } : {}),
      ...(nullable || value['nullable'] === true || choices.nullable ? { nullable: true } : {}),
    });
  };
  return reduce(root, ['#'], 0);
}

/** The schemas of which one holds, and whether null is among them. */
function choicesOf(schema: Schema): { readonly options: readonly unknown[]; readonly nullable: boolean } {
  const choices = listOf(schema['anyOf'] ?? schema['oneOf']);
  const options = choices.filter((choice) => !isNull(choice));
  return { options, nullable: options.length < choices.length };
}

function formatOf({ format }: Schema, type: string | null): Schema {
  return typeof format === 'string' && formats[type ?? '']?.includes(format) === true ? { format } : {};
}

/** `properties` and `required`, with those of the merged parts in front. */
function membersOf(schema: Schema, merged: Schema, inner: (member: unknown) => Schema): Schema {
  const properties = entriesOf(schema['properties']);
  const names = new Set(properties.map(([name]) => name));
  const required = listOf(schema['required']).filter((name) => typeof name === 'string' && names.has(name));
  const own = properties.map(([name, member]) => [name, inner(member)] as const);
  return {
    // Entries, not assignments: a property may be called __proto__.
    ...(own.length === 0 ? {} : { properties: Object.fromEntries([...entriesOf(merged['properties']), ...own]) }),
    ...(required.length === 0 ? {} : { required: [...listOf(merged['required']), ...required] }),
  };
}

const described = (from: Schema, schema: Schema): Schema =>
  typeof from['description'] === 'string' ? { ...schema, description: from['description'] } : schema;

const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  isObject(value) ? Object.entries(value) : [];

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const typeWords = ['type', '$ref', 'properties', 'items', 'enum', 'const', 'anyOf', 'oneOf', 'allOf'] as const;

/** Whether a part of a schema says what a value is, not only what is refused. */
const saysType = (part: unknown): boolean => isObject(part) && typeWords.some((word) => part[word] !== undefined);

/** What holds of all of several reduced schemas, in one: `allOf` has no form of its own. */
function together(schemas: readonly Schema[]): Schema {
  const [first, ...rest] = schemas;
  if (first === undefined || rest.length === 0) return first ?? {};
  const required = schemas.flatMap((schema) => listOf(schema['required']));
  const properties = schemas.flatMap((schema) => entriesOf(schema['properties']));
  return {
    ...Object.assign({}, ...schemas),
    ...(properties.length === 0 ? {} : { type: 'object', properties: Object.fromEntries(properties) }),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** The type of a schema that names none, which the service refuses; null where its members do not tell it. */
function typeByMembers(schema: Schema, words: readonly string[] | null): string | null {
  if (words !== null) return 'string';
  if (isObject(schema['properties'])) return 'object';
  return schema['items'] !== undefined || schema['prefixItems'] !== undefined ? 'array' : null;
}

const types: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object']);

/** A type list becomes its first entry that is not null. */
function readType(value: unknown): { readonly type: string | null; readonly nullable: boolean } {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const words = list.filter((word) => typeof word === 'string');
  return { type: words.find((word) => types.has(word)) ?? null, nullable: words.includes('null') };
}

const isNull = (schema: unknown): boolean => isObject(schema) && schema['type'] === 'null';

/** The service takes enums of strings only; a constant is an enum of one. */
function enumOf(schema: Schema): readonly string[] | null {
  const values: unknown = schema['enum'] ?? (schema['const'] === undefined ? undefined : [schema['const']]);
  if (!Array.isArray(values)) return null;
  const words = values.filter((value) => typeof value === 'string');
  if (words.length !== values.filter((value) => value !== null).length) return null;
  // An empty word is refused.
  const said = words.filter((word) => word !== '');
  return said.length === 0 ? null : said;
}

/** A tuple has no form of its own: its first entry stands for all. */
const itemsOf = (schema: Schema): unknown => {
  const items: unknown = schema['items'] ?? schema['prefixItems'];
  return Array.isArray(items) ? items[0] : items;
};

/** A `#/a/b` pointer inside the schema; null when it leads nowhere or outside. */
function resolve(root: Schema, ref: string): unknown {
  if (ref !== '#' && !ref.startsWith('#/')) return null;
  let value: unknown = root;
  for (const step of ref.split('/').slice(1)) {
    const key = unescapePointer(step);
    if (Array.isArray(value)) value = value[Number(key)];
    else if (isObject(value) && Object.hasOwn(value, key)) value = value[key];
    else return null;
  }
  return value ?? null;
}

function unescapePointer(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
}
