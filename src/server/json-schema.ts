import type { Struct } from 'superstruct';

export type Schema = { readonly [keyword: string]: unknown };
type AnyStruct = Struct<unknown, unknown>;

/**
 * The JSON Schema of a struct, for a description. Structs know types, members and choices; `optional`, `nullable` and
 * bounds leave no trace in one, so what may be null or absent is asked of the struct itself. What a struct of our own
 * means is any value.
 */
export function jsonSchema(struct: AnyStruct): Schema {
  const schema = typeSchema(struct);
  if (!('type' in schema) || !struct.is(null)) return schema;
  const choices = Array.isArray(schema['enum']) ? { enum: [...schema['enum'], null] } : {};
  return { ...schema, type: [schema['type'], 'null'].flat(), ...choices };
}

function typeSchema(struct: AnyStruct): Schema {
  switch (struct.type) {
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean':
      return { type: struct.type };
    case 'time':
      return { type: 'string', format: 'date-time' };
    case 'text':
    case 'hex':
      return { type: 'string' };
    case 'enums':
      // True because `enums` keeps its choices as the values of its schema; ours are strings.
      return { type: 'string', enum: Object.values(struct.schema as Readonly<Record<string, string>>) };
    case 'array':
      // True because `array` keeps the struct of its elements as its schema.
      return struct.schema === null
        ? { type: 'array' }
        : { type: 'array', items: jsonSchema(struct.schema as AnyStruct) };
    case 'record':
      return { type: 'object' };
    case 'object':
    case 'type':
      return membersOf(struct);
    default:
      return {};
  }
}

function membersOf(struct: AnyStruct): Schema {
  // True because both keep the structs of their members as their schema.
  const members = Object.entries((struct.schema ?? {}) as Readonly<Record<string, AnyStruct>>);
  return {
    type: 'object',
    properties: Object.fromEntries(members.map(([name, member]) => [name, jsonSchema(member)])),
    required: members.filter(([, member]) => !member.is(undefined)).map(([name]) => name),
  };
}
