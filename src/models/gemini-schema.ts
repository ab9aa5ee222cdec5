import { isObject } from './shape.ts';

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
    const { type, nullable } = readType(value['type']);
    const choices = value['anyOf'] ?? value['oneOf'];
    const options = Array.isArray(choices) ? choices.filter((choice) => !isNull(choice)) : [];
    const mayBeNull = nullable || value['nullable'] === true || (Array.isArray(choices) && choices.some(isNull));
    const words = enumOf(value);
    const format = typeof value['format'] === 'string' && formats[type ?? '']?.includes(value['format']) === true;
    const properties = isObject(value['properties']) ? Object.entries(value['properties']) : null;
    const names = new Set(properties?.map(([name]) => name));
    const required = Array.isArray(value['required']) ? value['required'].filter((name) => names.has(name)) : [];
    const [only] = options;
    const merged: Schema = options.length === 1 && type === null ? reduce(only, open, depth + 1) : {};
    return described(value, {
      ...merged,
      ...(type === null ? {} : { type }),
      ...(words === null ? {} : { enum: words }),
      ...(format ? { format: value['format'] } : {}),
      ...(type === 'array' ? { items: reduce(itemsOf(value), open, depth + 1) } : {}),
      // Entries, not assignments: a property may be called __proto__.
      ...(properties === null
        ? {}
        : {
            properties: Object.fromEntries(properties.map(([name, inner]) => [name, reduce(inner, open, depth + 1)])),
          }),
      ...(required.length === 0 ? {} : { required }),
      ...(options.length > 1 ? { anyOf: options.map((option) => reduce(option, open, depth + 1)) } : {}),
      ...(mayBeNull ? { nullable: true } : {}),
    });
  };
  return reduce(root, ['#'], 0);
}

const described = (from: Schema, schema: Schema): Schema =>
  typeof from['description'] === 'string' ? { ...schema, description: from['description'] } : schema;

/** A type list becomes its first entry that is not null. */
function readType(value: unknown): { readonly type: string | null; readonly nullable: boolean } {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const words = list.filter((word) => typeof word === 'string');
  return { type: words.find((word) => word !== 'null') ?? null, nullable: words.includes('null') };
}

const isNull = (schema: unknown): boolean => isObject(schema) && schema['type'] === 'null';

/** The service takes enums of strings only; a constant is an enum of one. */
function enumOf(schema: Schema): readonly string[] | null {
  const values: unknown = schema['enum'] ?? (schema['const'] === undefined ? undefined : [schema['const']]);
  if (!Array.isArray(values)) return null;
  const words = values.filter((value) => typeof value === 'string');
  return words.length > 0 && words.length === values.filter((value) => value !== null).length ? words : null;
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
