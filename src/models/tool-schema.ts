import { isObject } from './shape.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A schema may be built to explode: what lies deeper is left as it is. */
const maxDepth = 32;

const choices = ['allOf', 'anyOf', 'oneOf'] as const;
/** What services refuse where the arguments of a tool are described as a whole. */
const refusedAtTop: ReadonlySet<string> = new Set([...choices, 'not', 'enum', 'const', '$schema']);

const known = new WeakMap<Schema, Schema>();

/**
 * The schema of a tool's arguments in a form that services take: an object with `properties` at the top and no choice
 * between forms there (the members of all of them are offered), and `items` in every list. It allows no less than the
 * one it is made of, which is what a call is held against.
 */
export function argumentsSchema(schema: Schema): Schema {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const rest = Object.fromEntries(Object.entries(schema).filter(([name]) => !refusedAtTop.has(name)));
  const parts = choices.flatMap((name) => (Array.isArray(schema[name]) ? schema[name].filter(isObject) : []));
  const all = Array.isArray(schema['allOf']) ? schema['allOf'].filter(isObject) : [];
  const required = new Set([...namesOf(schema), ...all.flatMap(namesOf)]);
  const open = parts.length === 0 ? {} : { additionalProperties: undefined };
  const made = withItems(
    {
      ...rest,
      ...open,
      type: 'object',
      properties: Object.fromEntries([...parts.flatMap(membersOf), ...membersOf(schema)]),
      ...(required.size === 0 ? {} : { required: [...required] }),
    },
    0,
  );
  known.set(schema, made);
  return made;
}

const membersOf = (schema: Schema): readonly [string, unknown][] =>
  isObject(schema['properties']) ? Object.entries(schema['properties']) : [];

const namesOf = (schema: Schema): readonly unknown[] => (Array.isArray(schema['required']) ? schema['required'] : []);

/** Members whose value is a schema, a list of them, or schemas by name. */
const inner: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not', ...choices, 'prefixItems']);
const named: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'patternProperties']);

/** The same schema with `items` in each list that says nothing of its elements; the same reference where it has them. */
function withItems<T>(value: T, depth: number): T {
  if (!isObject(value) || depth > maxDepth) return value;
  let changed = false;
  const entries = Object.entries(value).map(([name, member]): [string, unknown] => {
    const made = named.has(name) && isObject(member) ? mapMembers(member, depth) : ofMember(name, member, depth);
    changed ||= made !== member;
    return [name, made];
  });
  const { type } = value;
  const lacks =
    (type === 'array' || (Array.isArray(type) && type.includes('array'))) &&
    value['items'] === undefined &&
    value['prefixItems'] === undefined;
  if (lacks) entries.push(['items', {}]);
  // Entries of the value itself, some of them replaced by schemas of the same meaning.
  return changed || lacks ? (Object.fromEntries(entries) as T) : value;
}

function ofMember(name: string, member: unknown, depth: number): unknown {
  if (!inner.has(name)) return member;
  if (!Array.isArray(member)) return withItems(member, depth + 1);
  const made = member.map((one: unknown) => withItems(one, depth + 1));
  return made.every((one, index) => one === member[index]) ? member : made;
}

function mapMembers(members: Schema, depth: number): Schema {
  const made = Object.entries(members).map(([name, member]): [string, unknown] => [name, withItems(member, depth + 1)]);
  return made.every(([name, member]) => member === members[name]) ? members : Object.fromEntries(made);
}
