import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { offeredDefinition } from '../../../src/tools/definition.ts';
import { inputSchemaOf, membersOf } from '../../../src/tools/openapi/members.ts';
import { type HookDefinition, operationsOf } from '../../../src/tools/openapi/operations.ts';
import { readDocument } from '../../../src/tools/openapi/read-document.ts';

const fixture = (name: string): Buffer => readFileSync(new URL(`../../fixtures/openapi/${name}`, import.meta.url));

async function operations(text: string | Uint8Array) {
  const read = await readDocument(typeof text === 'string' ? Buffer.from(text) : text);
  if (!read.ok) throw new Error(read.message);
  return operationsOf(read.document, '/openapi.json');
}
const of = (paths: object, more: object = {}) => operations(JSON.stringify({ openapi: '3.0.3', paths, ...more }));
const schemaOf = (definition: HookDefinition | undefined, hidden: readonly string[] = []) => {
  if (definition === undefined) throw new Error('there is no such operation');
  return inputSchemaOf(membersOf(definition), new Set(hidden));
};
const named = (definitions: readonly HookDefinition[], name: string) =>
  definitions.find((definition) => definition.name === name);

describe('large documents of different style', () => {
  it.each([
    ['weather.json', 49, 4],
    ['tracker.yaml', 96, 3],
    ['shop.json', 94, 1],
    ['ledger.json', 3, 1],
  ])('%s gives tools whose schemas are valid and small enough for a model', async (file, tools, skipped) => {
    const found = await operations(fixture(file));
    expect([found.definitions.length, found.skipped.length]).toEqual([tools, skipped]);
    const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: true });
    const names = new Set<string>();
    for (const definition of found.definitions) {
      const schema = schemaOf(definition);
      expect(ajv.validateSchema(schema), definition.name).toBe(true);
      expect(offeredDefinition(definition.description, schema)).toMatchObject({ ok: true, flags: [] });
      expect(definition.name).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
      for (const argument of Object.keys(schema['properties'] as object)) expect(argument).toMatch(/^[\w.-]{1,64}$/);
      names.add(definition.name);
    }
    expect(names.size).toBe(tools);
  });

  it('leaves out what is no tool, with the reason', async () => {
    expect((await operations(fixture('weather.json'))).skipped).toEqual([
      { operation: 'GET /healthz', reason: 'it is a check of the service itself' },
      { operation: 'GET /openapi.json', reason: 'it is the description itself' },
      { operation: 'GET /private/desk', reason: 'it has x-reins-ignore' },
      { operation: 'POST /uploads', reason: 'its body is multipart/form-data, which is not sent' },
    ]);
    expect((await operations(fixture('tracker.yaml'))).skipped.map(({ reason }) => reason)).toEqual([
      'it refers to "https://schemas.example.org/import.json#/Import", which is outside the document and is not fetched',
      'it refers to "file:///etc/passwd", which is outside the document and is not fetched',
      'it refers to "#/components/parameters/Nowhere", which is not in the document',
    ]);
  });

  it('keeps what a schema of 3.0 says in the words of JSON Schema', async () => {
    const { definitions } = await operations(fixture('weather.json'));
    const reported = schemaOf(named(definitions, 'reportObservation'));
    expect(reported).toMatchObject({
      required: ['station_id', 'observed_at', 'position', 'values'],
      additionalProperties: false,
    });
    expect(reported['properties']).toMatchObject({
      station_id: { type: 'string', pattern: '^[A-Z]{4}$', description: 'Identifier of a station, four letters.' },
      remarks: { type: ['string', 'null'], maxLength: 2000 },
      position: { additionalProperties: false },
      values: {
        additionalProperties: {
          properties: {
            value: { type: ['number', 'null'] },
            quality: { type: ['string', 'null'], enum: ['verified', 'estimated', 'rejected', null] },
          },
        },
      },
    });
    expect(schemaOf(named(definitions, 'pointRadius'))['properties']).toMatchObject({
      km: { type: 'number', exclusiveMinimum: 0, maximum: 200 },
    });
    // What only answers have is no argument.
    expect(Object.keys(schemaOf(named(definitions, 'subscribe'))['properties'] as object)).toEqual([
      'callback',
      'zones',
      'severities',
      'quiet_hours',
      'contact',
    ]);
  });

  it('puts the parts of allOf together, tells variants apart by their member, and ends circles', async () => {
    const { definitions } = await operations(fixture('shop.json'));
    expect(schemaOf(named(definitions, 'placeOrder'))).toMatchObject({
      required: ['Idempotency-Key', 'items', 'ship_to'],
      properties: { bill_to: { type: ['object', 'null'] }, notes: { type: ['string', 'null'] } },
    });
    const { body } = schemaOf(named(definitions, 'createProduct'))['properties'] as { body: { anyOf: unknown[] } };
    expect(body.anyOf).toHaveLength(3);
    expect(body.anyOf[0]).toMatchObject({
      required: ['title', 'price', 'kind', 'isbn'],
      properties: { kind: { type: 'string', enum: ['Book'] }, price: { anyOf: [{ type: 'object' }, {}] } },
    });
    const check = new Ajv2020({ strict: false, validateFormats: false }).compile(
      schemaOf(named(definitions, 'createProduct')),
    );
    const book = { kind: 'Book', title: 'Tides', price: 'on_request', isbn: '9780000000002' };
    const garment = { kind: 'Garment', title: 'Scarf', price: { amount: '9.50', currency: 'EUR' }, size: 'm' };
    expect(check({ body: { ...book, related: [garment, book] } })).toBe(true);
    expect(check({ body: { ...book, kind: 'Garment' } })).toBe(false);
  });

  it('gives arguments names that every model service takes, and each its own', async () => {
    const { definitions } = await operations(fixture('tracker.yaml'));
    expect(Object.keys(schemaOf(named(definitions, 'search'))['properties'] as object)).toEqual([
      '_top',
      'search_text_',
      'body',
    ]);
    expect(Object.keys(schemaOf(named(definitions, 'projects_update'))['properties'] as object)).toEqual([
      'project',
      'If-Match',
      'slug',
      'archived',
      'body_project',
    ]);
  });
});

describe('names', () => {
  it('are the operation id, the tool name, or made of path and method', async () => {
    const { definitions } = await of({
      '/': { get: {} },
      '/points/{id}': {
        parameters: [{ name: 'id', in: 'path', schema: {} }],
        get: {},
        put: { 'x-tool-name': 'move it' },
      },
      '/{id}': { parameters: [{ name: 'id', in: 'path', schema: {} }], delete: {} },
      '/a': { get: { operationId: 'x' }, post: { operationId: 'x' }, put: { operationId: 'x' } },
      '/b': { get: { operationId: `${'y'.repeat(70)}` }, post: { operationId: `${'y'.repeat(70)}` } },
    });
    expect(definitions.map(({ name }) => name)).toEqual([
      'root_get',
      'points_by_id_get',
      'move_it',
      'root_by_id_delete',
      'x',
      'x_2',
      'x_3',
      'y'.repeat(64),
      `${'y'.repeat(62)}_2`,
    ]);
  });

  it('have the summary and the description, each once, and say what is deprecated', async () => {
    const { definitions } = await of({
      '/a': { get: { summary: 'Lists.', description: 'Lists. All of them.', deprecated: true } },
      '/b': { get: { summary: 'Short', description: 'Long' } },
    });
    expect(definitions.map(({ description }) => description)).toEqual([
      '(deprecated) Lists. All of them.',
      'Short\nLong',
    ]);
  });
});

describe('arguments', () => {
  it('are not what belongs to the connection, and what needs it is left out', async () => {
    const header = (name: string, required = false) => ({ name, in: 'header', required, schema: { type: 'string' } });
    const { definitions, skipped } = await of({
      '/a': {
        get: { parameters: [header('Host'), header('Accept', true), header('X-Own'), header('transfer-encoding')] },
      },
      '/b': { get: { parameters: [header('Cookie', true)] } },
      '/c': { get: { parameters: [{ name: 's', in: 'cookie', required: true }] } },
    });
    expect(schemaOf(definitions[0])['properties']).toEqual({ 'X-Own': { type: 'string' } });
    expect(skipped.map(({ reason }) => reason)).toEqual([
      'it needs the header Cookie, which is not sent',
      'it needs the cookie s, and cookies are not sent',
    ]);
  });

  it('that the operator injects are neither members nor required', async () => {
    const parameters = [{ name: 'tenant[id]', in: 'query', required: true, schema: { type: 'string' } }];
    const { definitions } = await of({ '/a': { get: { parameters } } });
    const closed = { type: 'object', properties: {}, additionalProperties: false };
    expect(schemaOf(definitions[0], ['tenant[id]'])).toEqual(closed);
    expect(schemaOf(definitions[0], ['tenant_id_'])).toEqual(closed);
  });

  it('never have the name of a prototype', async () => {
    const parameters = ['__proto__', 'constructor'].map((name) => ({ name, in: 'query', schema: { type: 'string' } }));
    const { definitions } = await of({ '/a': { get: { parameters } } });
    expect(Object.keys(schemaOf(definitions[0])['properties'] as object)).toEqual(['__proto___2', 'constructor_2']);
  });
});

describe('bad documents', () => {
  const fault = async (text: string | Uint8Array) => {
    const read = await readDocument(typeof text === 'string' ? Buffer.from(text) : text);
    return read.ok ? null : read.message;
  };

  it.each([
    ['', 'the description is empty'],
    ['<!doctype html><p>hello', 'the description is HTML or XML, not OpenAPI'],
    ['[1, 2]', 'the description is no object'],
    ['just words', 'the description is no object'],
    ['{"openapi": "3.0.0"', 'the description is neither JSON nor YAML at line 1: it does not parse'],
    ['{"swagger": "1.2", "paths": {}}', 'the description is of version 1.2; 3.0, 3.1 and Swagger 2.0 are read'],
    ['{"openapi": "4.0.0", "paths": {}}', 'the description is of version 4.0.0; 3.0, 3.1 and Swagger 2.0 are read'],
    ['{"name": "x"}', 'the description names no OpenAPI version: it is something else'],
    ['{"openapi": "3.0.0"}', 'the description has no paths'],
    [
      'openapi: 3.0.0\npaths: !!js/function "x"',
      'the description is neither JSON nor YAML at line 2: it has a tag of its own',
    ],
  ])('%j is refused in one line', async (text, message) => {
    expect(await fault(text)).toBe(message);
  });

  it('is refused above 10 MiB, beyond 200,000 values, and with aliases that grow', async () => {
    expect(await fault(Buffer.alloc(10 * 1024 * 1024 + 1, ' '))).toBe('the description is larger than 10485760 bytes');
    const many = JSON.stringify({ openapi: '3.0.0', paths: {}, x: Array.from({ length: 200_001 }, () => 0) });
    expect(await fault(many)).toBe('the description has more than 200000 values');
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
    for (const [before, name] of ['ab', 'bc', 'cd', 'de'].map((two) => [...two])) {
      bomb.push(`${name}: &${name} [${Array.from({ length: 10 }, () => `*${before}`).join(', ')}]`);
    }
    expect(await fault(['openapi: 3.0.0', 'paths: {}', ...bomb].join('\n'))).toBe(
      'the description has more than 100 aliases',
    );
    expect(await fault(Buffer.from([0xff, 0xfe, 0x00]))).toBe('the description is not UTF-8 text');
  });

  it.each([
    ['JSON', `{"openapi": "3.0.0", "paths": {}, "x": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['YAML between brackets', `openapi: 3.0.0\npaths: {}\nx: ${'['.repeat(25_000)}${']'.repeat(25_000)}`],
    ['YAML in a line', `openapi: 3.0.0\npaths: {}\nx:\n  ${'- '.repeat(25_000)}y`],
    ['YAML that never ends', '{a: '.repeat(15_000)],
  ])('that is nested thousands deep is refused, in %s', async (_form, text) => {
    expect(await fault(text)).toBe('the description is nested deeper than 500 levels');
  });

  it('in YAML is one document, and may be nested as deep as in JSON', async () => {
    const deep = `openapi: 3.0.0\npaths: {}\nx: ${'['.repeat(400)}${']'.repeat(400)}\n`;
    expect((await readDocument(Buffer.from(deep))).ok).toBe(true);
    expect(await fault(`${deep}---\na: 1\n`)).toBe(
      'the description is neither JSON nor YAML at line 4: it does not parse',
    );
  });

  it('in long YAML is handed to whoever reads that beside the main thread, JSON of any length is not', async () => {
    const handed: number[] = [];
    const readLong = async (text: string) => {
      handed.push(text.length);
      return { fault: 'takes too much time or memory to read' };
    };
    const describing = (length: number) => Buffer.from(`openapi: 3.0.3\npaths: {}\nx: ${'y'.repeat(length)}\n`);
    const json = { openapi: '3.0.3', paths: {}, x: 'y'.repeat(100_000) };
    expect((await readDocument(Buffer.from(JSON.stringify(json)), readLong)).ok).toBe(true);
    expect((await readDocument(describing(60_000), readLong)).ok).toBe(true);
    expect(await readDocument(describing(100_000), readLong)).toEqual({
      ok: false,
      message: 'the description takes too much time or memory to read',
    });
    expect(handed).toEqual([describing(100_000).length]);
    expect(await fault('openapi: 3.0.0\npaths: {}\nx: &x [*x]\n')).toMatch(/aliases|itself/);
  });

  it('with circles in every place, and with references that multiply, stays bounded (HOOK-005)', async () => {
    const schemas: Record<string, unknown> = { Self: { $ref: '#/components/schemas/Self' } };
    for (let level = 0; level < 30; level += 1) {
      const next = { $ref: `#/components/schemas/L${level + 1}` };
      schemas[`L${level}`] = { type: 'object', properties: { a: next, b: next, c: next } };
    }
    schemas['L30'] = { type: 'string' };
    const body = (name: string) => ({
      requestBody: { content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } } },
    });
    const { definitions, skipped } = await of(
      {
        '/self': { post: body('Self') },
        '/many': { post: body('L0') },
        '/item': { $ref: '#/paths/~1item' },
        '/body': { post: { requestBody: { $ref: '#/components/requestBodies/A' } } },
      },
      { components: { schemas, requestBodies: { A: { $ref: '#/components/requestBodies/A' } } } },
    );
    expect(definitions.map((definition) => schemaOf(definition))).toEqual([
      { type: 'object', properties: { body: {} }, additionalProperties: false },
    ]);
    expect(skipped).toEqual([
      { operation: 'POST /many', reason: 'its schema has more than 4000 values or 128 levels' },
      { operation: '/item', reason: 'its references go round in a circle' },
      { operation: 'POST /body', reason: 'its references go round in a circle' },
    ]);
  });

  it('of 10,000 operations gives 2,000', async () => {
    const paths = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`/p${at}`, { get: {} }]));
    const { definitions, skipped } = await of(paths);
    expect([definitions.length, skipped.length]).toEqual([2000, 8000]);
    expect(skipped[0]?.reason).toBe('a service has at most 2000 operations here');
  });
});
