import type { Struct } from 'superstruct';
import type { Routed } from '../client/operation.ts';
import { answered } from '../client/routes.ts';
import { jsonSchema, type Schema } from './json-schema.ts';
import type { Route } from './route.ts';

type AnyRouted = Routed<Readonly<Record<string, unknown>>, unknown>;

/** The routes of a server as an OpenAPI 3.1 document (09 §6.1). What the table says of an operation is in it whole. */
export function describe(version: string, routes: readonly Route[]): Schema {
  // Entries differ in the types of their structs alone, which a description does not need.
  const table = Object.entries(answered as unknown as Readonly<Record<string, AnyRouted>>);
  const paths: Record<string, Record<string, Schema>> = {};
  for (const { method, path, access } of routes) {
    const found = table.find(([, entry]) => entry.method === method && entry.path === path);
    const shared = {
      security: access === 'public' ? [] : [{ bearer: [] }, { cookie: [] }],
      'x-access': access,
    };
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]:
        found === undefined ? { ...shared, ...plainOperation(path) } : { ...shared, ...operationOf(...found) },
    };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Reins', version },
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'reins_session' },
      },
      schemas: { Error: errorSchema },
      responses: { Error: { description: 'Refused', content: json({ $ref: '#/components/schemas/Error' }) } },
    },
  };
}

const text: Schema = { type: 'string' };
const errorSchema: Schema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'code'],
      properties: { message: text, type: text, code: text, param: text },
    },
    findings: { type: 'array', items: { type: 'object' } },
  },
};

const json = (schema: Schema): Schema => ({ 'application/json': { schema } });
const refusals = { default: { $ref: '#/components/responses/Error' } };
const pathNames = (path: string): readonly string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');

/** A route that is written by hand: the login, the streams, what the server says of itself. */
function plainOperation(path: string): Schema {
  return {
    parameters: pathNames(path).map((name) => ({ name, in: 'path', required: true, schema: text })),
    responses: { '200': { description: 'Done' }, ...refusals },
  };
}

function operationOf(name: string, { method, path, input, output, route }: AnyRouted): Schema {
  const members = Object.entries((input.schema ?? {}) as Readonly<Record<string, Struct<unknown, unknown>>>);
  const inPath = new Set(pathNames(path));
  const bodied = method !== 'GET' && method !== 'DELETE';
  const isHeader = (member: string): boolean => member === 'if_match' || member === 'if_none_match';
  const place = (member: string): 'path' | 'header' | 'query' | 'body' => {
    if (inPath.has(member)) return 'path';
    if (isHeader(member)) return 'header';
    return bodied && !route.query.includes(member) ? 'body' : 'query';
  };
  const parameters = members
    .filter(([member]) => place(member) !== 'body')
    .map(([member, struct]) => ({
      name: isHeader(member) ? (member === 'if_match' ? 'If-Match' : 'If-None-Match') : member,
      in: place(member),
      required: place(member) === 'path',
      schema: jsonSchema(struct),
    }));
  if (route.repeatable) parameters.push({ name: 'Idempotency-Key', in: 'header', required: false, schema: text });
  const body = members.filter(([member]) => place(member) === 'body');
  const status = typeof route.status === 'function' ? 200 : route.status;
  return {
    operationId: name,
    parameters,
    ...(body.length === 0 ? {} : { requestBody: { content: json(objectOf(body)) } }),
    responses: { [status]: { description: 'Done', ...contentOf(route, status, output.struct) }, ...refusals },
  };
}

function contentOf(
  route: AnyRouted['route'],
  status: number,
  struct: Struct<unknown, unknown> | null,
): { readonly content?: Schema } {
  if (status === 204 || struct === null) return {};
  if (route.form === 'attachment') return { content: { '*/*': { schema: text } } };
  const schema = jsonSchema(struct);
  if (route.form !== 'items') return { content: json(schema) };
  const next = { type: ['string', 'null'] };
  return { content: json({ type: 'object', properties: { items: schema, next_cursor: next }, required: ['items'] }) };
}

const objectOf = (members: readonly (readonly [string, Struct<unknown, unknown>])[]): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(members.map(([name, struct]) => [name, jsonSchema(struct)])),
  required: members.filter(([, struct]) => !struct.is(undefined)).map(([name]) => name),
});
