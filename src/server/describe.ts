import { type Struct, validate } from 'superstruct';
import type { Routed } from '../client/operation.ts';
import { answered } from '../client/routes.ts';
import { once } from '../text/once.ts';
import { jsonSchema, type Schema } from './json-schema.ts';
import { listParameters } from './list-page.ts';
import type { Route } from './route.ts';

type AnyRouted = Routed<Readonly<Record<string, unknown>>, unknown>;

/**
 * The routes of a server as an OpenAPI 3.1 document (09 §6.1). What the table says of an operation is in it whole.
 * @returns gives it with the name of a request's session cookie; the paths are written at the first one, since it takes long
 */
export function describing(version: string, routes: () => readonly Route[]): (cookieName: string) => Schema {
  const paths = once(() => pathsOf(routes()));
  return (cookieName) => ({
    openapi: '3.1.0',
    info: { title: 'Reins', version },
    paths: paths(),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        cookie: { type: 'apiKey', in: 'cookie', name: cookieName },
      },
      schemas: { Error: errorSchema },
      responses: { Error: { description: 'Refused', content: json({ $ref: '#/components/schemas/Error' }) } },
    },
  });
}

function pathsOf(routes: readonly Route[]): Schema {
  // Entries differ in the types of their structs alone, which a description does not need.
  const table = Object.entries(answered as unknown as Readonly<Record<string, AnyRouted>>);
  const paths: Record<string, Record<string, Schema>> = {};
  for (const { method, path, access, streams } of routes) {
    const found = table.find(([, entry]) => entry.method === method && entry.path === (twins[path] ?? path));
    const shared = {
      security: access === 'public' ? [] : [{ bearer: [] }, { cookie: [] }],
      'x-access': access,
    };
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]:
        found === undefined
          ? { ...shared, ...plainOperation(streams === true) }
          : { ...shared, ...operationOf(...found, { streams: streams === true, isTwin: path in twins }) },
    };
  }
  return paths;
}

/** Other spellings of a path (09 §4.8). */
const twins: Readonly<Record<string, string>> = { '/login': '/api/login', '/ui/login': '/api/ui/login' };

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
/** What it holds is told in 09 §7; a schema has no words for it. */
const eventStream: Schema = { 'text/event-stream': { schema: text } };
const refusals = { default: { $ref: '#/components/responses/Error' } };
const pathNames = (path: string): readonly string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');

/** Where a stream goes on (09 §7.2). */
const lastEvent: Schema = { name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'integer' } };

/** A route that is written by hand: the feed, what the server says of itself. */
function plainOperation(streams: boolean): Schema {
  const content = streams ? eventStream : json({ type: 'object' });
  const parameters = [
    { name: 'topics', in: 'query', required: false, schema: text },
    { name: 'after', in: 'query', required: false, schema: { type: 'integer' } },
    lastEvent,
  ];
  return { parameters: streams ? parameters : [], responses: { '200': { description: 'Done', content }, ...refusals } };
}

function operationOf(
  name: string,
  { method, path, input, output, route }: AnyRouted,
  { streams, isTwin }: { readonly streams: boolean; readonly isTwin: boolean },
): Schema {
  const members = Object.entries((input.schema ?? {}) as Readonly<Record<string, Struct<unknown, unknown>>>);
  const inPath = new Set(pathNames(path));
  const bodied = method !== 'GET' && method !== 'DELETE';
  const isHeader = (member: string): boolean => member === 'if_match' || member === 'if_none_match';
  const place = (member: string): 'path' | 'header' | 'query' | 'body' => {
    if (inPath.has(member)) return 'path';
    if (isHeader(member)) return 'header';
    return bodied && !route.query.includes(member) ? 'body' : 'query';
  };
  const needed = (member: string, struct: Struct<unknown, unknown>): boolean =>
    place(member) === 'path' || (isHeader(member) ? route.precondition === 'if-match' : isNeeded(struct));
  const parameters: Schema[] = members
    .filter(([member]) => place(member) !== 'body')
    .map(([member, struct]) => ({
      name: isHeader(member) ? (member === 'if_match' ? 'If-Match' : 'If-None-Match') : member,
      in: place(member),
      required: needed(member, struct),
      schema: jsonSchema(struct),
    }));
  if (route.form === 'items') {
    for (const name of listParameters) parameters.push({ name, in: 'query', required: false, schema: text });
  }
  if (route.repeatable) parameters.push({ name: 'Idempotency-Key', in: 'header', required: false, schema: text });
  if (streams) parameters.push(lastEvent);
  const body = members.filter(([member]) => place(member) === 'body');
  const statuses = typeof route.status === 'number' ? [route.status] : route.status.among;
  const done = statuses.map((status) => [
    status,
    { description: 'Done', ...contentOf(route, status, output.struct, streams) },
  ]);
  return {
    // One name for one operation: another spelling of its path has none.
    ...(isTwin ? {} : { operationId: name }),
    parameters,
    ...(body.length === 0
      ? {}
      : {
          requestBody: {
            required: body.some(([, struct]) => isNeeded(struct)),
            content: json(objectOf(body)),
          },
        }),
    responses: { ...Object.fromEntries(done), ...refusals },
  };
}

function contentOf(
  route: AnyRouted['route'],
  status: number,
  struct: Struct<unknown, unknown> | null,
  streams: boolean,
): { readonly content?: Schema } {
  if (status === 204 || struct === null) return {};
  if (route.form === 'attachment') return { content: { '*/*': { schema: text } } };
  const schema = jsonSchema(struct);
  if (route.form !== 'items') return { content: { ...json(schema), ...(streams ? eventStream : {}) } };
  const next = { type: ['string', 'null'] };
  return { content: json({ type: 'object', properties: { items: schema, next_cursor: next }, required: ['items'] }) };
}

const objectOf = (members: readonly (readonly [string, Struct<unknown, unknown>])[]): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(members.map(([name, struct]) => [name, jsonSchema(struct)])),
  required: members.filter(([, struct]) => isNeeded(struct)).map(([name]) => name),
});

/** A member that has a value of its own when it is left out may be. */
const isNeeded = (struct: Struct<unknown, unknown>): boolean =>
  validate(undefined, struct, { coerce: true })[0] !== undefined;
