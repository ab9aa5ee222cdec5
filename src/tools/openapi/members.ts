import { isObject, type JsonObject } from '../../text/json-object.ts';
import type { HookDefinition, Parameter } from './operations.ts';

/** One argument of a tool, and where it goes in the request. */
export type Member = {
  /** Its name as an argument: safe for every model service, and of one member only. */
  readonly argument: string;
  readonly required: boolean;
  readonly schema: JsonObject;
  readonly goes:
    | { readonly to: 'parameter'; readonly parameter: Parameter }
    /** A member of an object body. */
    | { readonly to: 'field'; readonly name: string }
    /** The whole body. */
    | { readonly to: 'body' };
};

export type Members = {
  readonly list: readonly Member[];
  /** What an object body takes beside its members; null when there is nothing of the kind. */
  readonly more: JsonObject | true | null;
};

/** The arguments of an operation (05 §9.4.4, §9.4.5). Pure; the same definition always gives the same names. */
export function membersOf(definition: HookDefinition): Members {
  const taken = new Set<string>();
  const list: Member[] = definition.parameters.map((parameter) => ({
    argument: take(taken, parameter.name, `${parameter.in}_${parameter.name}`),
    required: parameter.required,
    schema: described(parameter.schema, parameter.description),
    goes: { to: 'parameter', parameter },
  }));
  const { requestBody: body } = definition;
  if (body === null) return { list, more: null };
  const fields = objectFields(body.schema);
  if (fields === null) {
    const argument = take(taken, 'body', 'body_body');
    const schema = described(body.schema, body.description);
    return { list: [...list, { argument, required: body.required, schema, goes: { to: 'body' } }], more: null };
  }
  for (const [name, schema] of Object.entries(fields.properties)) {
    list.push({
      argument: take(taken, name, `body_${name}`),
      required: body.required && fields.required.has(name),
      schema: isObject(schema) ? schema : schema === false ? { not: {} } : {},
      goes: { to: 'field', name },
    });
  }
  return { list, more: fields.more };
}

/** The JSON Schema that a model sees; hidden arguments are not in it. */
export function inputSchemaOf({ list, more }: Members, hidden: ReadonlySet<string>): JsonObject {
  const shown = list.filter((member) => !isHidden(member, hidden));
  const required = shown.filter((member) => member.required).map(({ argument }) => argument);
  return {
    type: 'object',
    properties: Object.fromEntries(shown.map(({ argument, schema }) => [argument, schema])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: more === null ? false : more,
  };
}

/** The operator names what a service calls it, or what it is called here. */
export const isHidden = ({ argument, goes }: Member, hidden: ReadonlySet<string>): boolean =>
  hidden.has(argument) || hidden.has(nameAt(goes));

const nameAt = (goes: Member['goes']): string =>
  goes.to === 'parameter' ? goes.parameter.name : goes.to === 'field' ? goes.name : 'body';

const maxArgument = 64;

function take(taken: Set<string>, name: string, otherwise: string): string {
  const safe = (text: string): string => text.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, maxArgument) || '_';
  let argument = safe(name);
  if (taken.has(argument)) argument = safe(otherwise);
  for (let number = 2; taken.has(argument) || argument === '__proto__' || argument === 'constructor'; number += 1) {
    const tail = `_${number}`;
    argument = `${safe(name).slice(0, maxArgument - tail.length)}${tail}`;
  }
  taken.add(argument);
  return argument;
}

const described = (schema: JsonObject, description: string): JsonObject =>
  description === '' ? schema : { ...schema, description };

type Fields = {
  readonly properties: JsonObject;
  readonly required: ReadonlySet<string>;
  readonly more: JsonObject | true | null;
};

/** Keywords of an object that can be taken apart into arguments. */
const flat: ReadonlySet<string> = new Set(
  'type properties required additionalProperties title description default deprecated'.split(' '),
);

/** The members of an object schema; null for any other schema, and for an object without members of its own. */
function objectFields(schema: JsonObject): Fields | null {
  if (Object.keys(schema).some((key) => !flat.has(key))) return null;
  if (schema['type'] !== undefined && schema['type'] !== 'object') return null;
  const properties: JsonObject = isObject(schema['properties']) ? schema['properties'] : {};
  if (Object.keys(properties).length === 0) return null;
  const required = new Set(namesIn(schema['required']));
  return { properties, required, more: moreOf(schema['additionalProperties']) };
}

const moreOf = (value: unknown): Fields['more'] =>
  value === true ? true : isObject(value) ? (Object.keys(value).length === 0 ? true : value) : null;

const namesIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
