import { createSecretKey } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Routed } from '../../src/client/operation.ts';
import { answered, routed } from '../../src/client/routes.ts';
import { signToken } from '../../src/server/token.ts';
import { type Served, served } from './served.ts';

let server: Served;
beforeAll(async () => {
  server = await served({ turns: [] });
});
afterAll(() => server.close());

type AnyRouted = Routed<Readonly<Record<string, unknown>>, unknown>;
const table = Object.entries(routed as unknown as Readonly<Record<string, AnyRouted>>);
const addressOf = (path: string): string => path.replace(/\{(\w+)\}/g, 'nothing');
const codeOf = (json: Readonly<Record<string, unknown>>): unknown => (json['error'] as { code?: string })?.code;

const stranger = signToken(
  createSecretKey(Buffer.alloc(32, 7)),
  { aud: 'x', sid: 'x', jti: 'x', ver: 0, amr: 'pwd' },
  { issuedAt: Date.now(), expiresAt: Date.now() + 86_400_000 },
);
const none = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${stranger.split('.')[1]}.`;

test.each(table)('HTTP-001: %s answers nobody without a credential', async (_, { method, path, route }) => {
  expect(route.access).not.toBe('public');
  const tokens = [null, stranger, none, 'rbt_wrong'];
  const answers = await Promise.all(tokens.map((token) => server.call(method, addressOf(path), { token })));
  expect(answers.map(({ status, json }) => [status, codeOf(json)])).toEqual([
    [401, 'unauthenticated'],
    [401, 'invalid_token'],
    [401, 'invalid_token'],
    [401, 'invalid_token'],
  ]);
  for (const answer of answers) expect(answer.headers.get('www-authenticate')).toBe('Bearer');
});

test.each(table)('%s keeps to its class', async (_, { method, path, route }) => {
  const answer = await server.call(method, addressOf(path), { token: server.accessToken });
  const refusal = { operator: 'operator_required', recent: 'session_required' }[route.access as string];
  if (refusal === undefined) expect([401, 403]).not.toContain(answer.status);
  else expect([answer.status, codeOf(answer.json)]).toEqual([403, refusal]);
});

test.each(table)('HTTP-002: %s is not reached from another site', async (_, { method, path }) => {
  const foreign = [
    { origin: 'https://evil.test' },
    { origin: 'null' },
    { origin: 'http://localhost.evil.test:1' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];
  const answers = await Promise.all(
    foreign.map((headers) => server.call(method, addressOf(path), { headers: headers as Record<string, string> })),
  );
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
});

test.each(table)('%s says what was wrong with a body', async (_, { method, path }) => {
  if (method === 'GET' || method === 'DELETE') return;
  const ifMatch = { 'if-match': '"x"' };
  const plain = await fetch(`${server.url}${addressOf(path)}`, {
    method,
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'text/plain' },
    body: '{}',
  });
  expect([plain.status, codeOf((await plain.json()) as Record<string, unknown>)]).toEqual([415, 'json_required']);
  const extra = await server.call(method, addressOf(path), { body: { nobody_knows: 1 }, headers: ifMatch });
  expect([extra.status, codeOf(extra.json)]).toEqual([400, 'unknown_field']);
  expect(extra.json).toMatchObject({ error: { param: 'nobody_knows' } });
  const list = await server.call(method, addressOf(path), { body: [], headers: ifMatch });
  expect([list.status, codeOf(list.json)]).toEqual([400, 'invalid_body']);
});

type Described = {
  readonly operationId?: string;
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
  readonly parameters: readonly { readonly name: string; readonly required: boolean }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { readonly 'application/json': { schema: { required: string[] } } };
  };
};

test('the description names every route of the table, and each with what it refuses', async () => {
  const { json } = await server.call('GET', '/api/openapi.json');
  const paths = json['paths'] as Record<string, Record<string, Described>>;
  expect(json['openapi']).toBe('3.1.0');
  for (const [name, { method, path, route }] of Object.entries(answered as unknown as Record<string, AnyRouted>)) {
    expect(paths[path]?.[method.toLowerCase()]).toMatchObject({ operationId: name, 'x-access': route.access });
  }
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/api/health', '/api/events', '/api/openapi.json']));
  // What a request must bring, in each place that it may stand in; what may be null where there are choices; both spellings.
  const of = (method: string, path: string) => paths[path]?.[method];
  const needs = (method: string, path: string) => of(method, path)?.parameters.filter(({ required }) => required);
  expect(needs('patch', '/api/backends/{name}')?.map(({ name }) => name)).toEqual(['name', 'If-Match']);
  expect(needs('delete', '/api/approvals/remembered')?.map(({ name }) => name)).toEqual(['session']);
  expect(of('get', '/api/events')?.parameters.map(({ name }) => name)).toEqual(['topics', 'after', 'Last-Event-ID']);
  expect([of('post', '/api/runs')?.requestBody?.required, of('post', '/api/sessions')?.requestBody?.required]).toEqual([
    true,
    false,
  ]);
  expect(of('post', '/login')?.requestBody).toEqual(of('post', '/api/login')?.requestBody);
  expect(JSON.stringify(paths['/api/plans/{name}'])).toContain('"bound","logic",null]');
  // Where the output decides, each status is named; what has a value of its own need not be given.
  expect(Object.keys(paths['/api/plans']?.['post']?.responses ?? {})).toEqual(['201', '202', 'default']);
  expect(Object.keys(paths['/api/events']?.['get']?.responses['200']?.content ?? {})).toEqual(['text/event-stream']);
  expect(paths['/api/runs']?.['post']?.requestBody?.content['application/json'].schema.required).toEqual(['input']);
});

/** Every object of a document, wherever it stands. */
function* partsOf(value: unknown): Generator<Readonly<Record<string, unknown>>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Readonly<Record<string, unknown>>;
  for (const member of Object.values(value)) yield* partsOf(member);
}

test('the description is sound, and has nothing but what is answered', async () => {
  const { json } = await server.call('GET', '/api/openapi.json');
  const paths = json['paths'] as Record<string, Record<string, Described>>;
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
  );
  const own = new Set(
    Object.values(answered as unknown as Record<string, AnyRouted>).map(({ method, path }) => `${method} ${path}`),
  );
  expect(
    described
      .map(({ method, path }) => `${method} ${path}`)
      .filter((name) => !own.has(name))
      .sort(),
  ).toEqual(['GET /api/events', 'GET /api/health', 'GET /api/openapi.json', 'POST /login', 'POST /ui/login']);
  for (const { method, path } of described) {
    // A stream of all events does not end.
    if (path === '/api/events') continue;
    const answer = await server.call(method, addressOf(path), { token: server.accessToken });
    expect([method, path, codeOf(answer.json)]).not.toEqual([
      method,
      path,
      expect.stringMatching(/^(route_not_found|method_not_allowed)$/),
    ]);
  }
  const names = described.flatMap(({ operationId }) => operationId ?? []);
  expect(new Set(names).size).toBe(names.length);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  for (const { method, path, parameters, responses } of described) {
    const inPath = parameters
      .filter((parameter) => (parameter as { in?: string }).in === 'path')
      .map(({ name }) => name);
    expect([method, path, inPath.sort()]).toEqual([
      method,
      path,
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort(),
    ]);
    expect(Object.keys(responses).filter((status) => !/^(?:[1-5]\d\d|default)$/.test(status))).toEqual([]);
  }
  const refs = new Set([...partsOf(json)].flatMap(({ $ref }) => ($ref === undefined ? [] : [$ref])));
  expect([...refs].sort()).toEqual(['#/components/responses/Error', '#/components/schemas/Error']);
  expect(json['components']).toMatchObject({ responses: { Error: {} }, schemas: { Error: { type: 'object' } } });
  const schemas = [...partsOf(json)].flatMap(({ schema }) => (schema === undefined ? [] : [schema as object]));
  expect(schemas.length).toBeGreaterThan(described.length);
  expect(schemas.filter((schema) => ajv.validateSchema(schema) !== true)).toEqual([]);
});

test('HTTP-001: of everything that is described, these routes alone answer a stranger, and nothing runs', async () => {
  const { json } = await server.call('GET', '/api/openapi.json');
  const paths = json['paths'] as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const open: string[] = [];
  for (const [path, methods] of Object.entries(paths)) {
    for (const method of Object.keys(methods)) {
      const body = method === 'get' || method === 'delete' ? {} : { body: { input: 'go', code: 'x' } };
      const answer = await server.call(method.toUpperCase(), addressOf(path), {
        token: null,
        ...(path.endsWith('/events') ? { headers: { accept: 'text/event-stream' } } : body),
      });
      if (codeOf(answer.json) !== 'unauthenticated') open.push(`${method} ${path} ${answer.status}`);
    }
  }
  expect(open.sort()).toEqual([
    'get /api/auth/status 200',
    'get /api/health 200',
    'post /api/auth/link 400',
    'post /api/auth/logout 204',
    'post /api/login 400',
    'post /api/ui/login 400',
    'post /login 400',
    'post /ui/login 400',
  ]);
  expect(server.app.rows('SELECT id FROM runs')).toEqual([]);
});

test('a setting that gives a model the shell takes a recent proof, as the others that decide who may do what', () => {
  const { route } = answered.putConfigItem;
  const classes = ['shell', 'max-rounds', 'beam-port', 'think'].map((key) => route.accessFor?.({ key, value: 'true' }));
  expect(classes).toEqual(['recent', 'recent', 'recent', null]);
});

test('a place in a path has one name in all routes', () => {
  const names = new Map<string, string>();
  for (const [, { path }] of table) {
    const shape = path.replace(/\{\w+\}/g, '{}');
    expect(names.get(shape) ?? path).toBe(path);
    names.set(shape, path);
  }
});
