import { isObject, type JsonObject } from '../../text/json-object.ts';

/** Keywords of an object schema that can be put together with those of another one. */
const plain: ReadonlySet<string> = new Set(
  'type properties required additionalProperties title description default deprecated'.split(' '),
);

/**
 * A schema without `allOf`, where its parts are plain objects: their members together, as whoever wrote them meant it.
 * Documents close parts that are only ever used together, which JSON Schema reads as "nothing fits"; that is not kept. Any
 * other schema comes back as it is.
 */
export function withoutAllOf(schema: JsonObject): JsonObject {
  const { allOf, ...own } = schema;
  if (!Array.isArray(allOf)) return schema;
  const parts: unknown[] = allOf.map((part) => (isObject(part) ? withoutAllOf(part) : part));
  const [only] = parts;
  if (parts.length === 1 && isObject(only) && Object.keys(only).every((key) => !(key in own) || isNote(key))) {
    return { ...only, ...own };
  }
  const all = [own, ...parts];
  if (!all.every(isPlainObject)) return { ...own, allOf: parts };
  let properties: JsonObject = {};
  const required = new Set<string>();
  let more: unknown;
  for (const part of all) {
    properties = together(properties, isObject(part['properties']) ? part['properties'] : {});
    for (const name of Array.isArray(part['required']) ? part['required'] : []) required.add(String(name));
    if (part['additionalProperties'] !== false) more ??= part['additionalProperties'];
  }
  const notes = Object.fromEntries(all.flatMap((part) => Object.entries(part).filter(([key]) => isNote(key))));
  return {
    type: 'object',
    ...notes,
    ...Object.fromEntries(Object.entries(own).filter(([key]) => isNote(key))),
    properties,
    ...(required.size === 0 ? {} : { required: [...required] }),
    ...(more === undefined ? {} : { additionalProperties: more }),
  };
}

const isNote = (key: string): boolean => ['title', 'description', 'default', 'deprecated'].includes(key);

const isPlainObject = (part: unknown): part is JsonObject =>
  isObject(part) &&
  Object.keys(part).every((key) => plain.has(key)) &&
  (part['type'] === undefined || part['type'] === 'object');

/** A member that several parts describe has to fit them all. */
function together(one: JsonObject, other: JsonObject): JsonObject {
  const merged = new Map<string, unknown>(Object.entries(one));
  for (const [name, member] of Object.entries(other)) {
    const before = merged.get(name);
    merged.set(name, before === undefined ? member : both(before, member));
  }
  return Object.fromEntries(merged);
}

function both(before: unknown, member: unknown): unknown {
  if (JSON.stringify(before) === JSON.stringify(member)) return member;
  const isChoice = isObject(member) && Object.keys(member).join() === 'enum';
  if (isChoice && isObject(before) && !('enum' in before)) return { ...before, ...member };
  return { allOf: [before, member] };
}
