import { isObject } from '../text/json-object.ts';
import { objectSchema } from '../text/object-schema.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A schema may be built to explode: what lies deeper is left as it is. */
const maxDepth = 32;

const known = new WeakMap<Schema, Schema>();

/**
 * The schema of a tool's arguments in a form that services take: one of an object (`objectSchema`), and `items` in every
 * list. It allows no less than the one it is made of.
 */
export function argumentsSchema(schema: Schema): Schema {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const { $schema: _, ...rest } = objectSchema(schema);
  const made = withItems(rest, 0);
  known.set(schema, made);
  return made;
}

/** Members whose value is a schema, a list of them, or schemas by name. */
const inner: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'not',
  'allOf',
  'anyOf',
  'oneOf',
  'prefixItems',
]);
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
