import { describe, expect, it } from 'vitest';
import { reduceSchema } from '../../src/models/gemini-schema.ts';

describe('schemas for Gemini (08 §5.4.4)', () => {
  it('keeps what the service reads and drops the rest', () => {
    expect(
      reduceSchema({
        $schema: 'x',
        type: 'object',
        title: 'T',
        description: 'd',
        additionalProperties: false,
        required: ['a', 'missing'],
        properties: {
          a: { type: 'string', minLength: 1, pattern: '^x', enum: ['x', 'y'], default: 'x' },
          b: { type: 'array', items: { type: 'integer', format: 'int32', minimum: 1 }, maxItems: 3 },
          c: { type: 'string', format: 'email' },
          d: { type: 'string', format: 'date-time', examples: [] },
        },
      }),
    ).toEqual({
      type: 'object',
      description: 'd',
      required: ['a'],
      properties: {
        a: { type: 'string', enum: ['x', 'y'] },
        b: { type: 'array', items: { type: 'integer', format: 'int32' } },
        c: { type: 'string' },
        d: { type: 'string', format: 'date-time' },
      },
    });
  });

  it.each([
    [{ type: ['string', 'null'] }, { type: 'string', nullable: true }],
    [{ type: ['null', 'integer', 'string'] }, { type: 'integer', nullable: true }],
    [
      { type: 'string', nullable: true },
      { type: 'string', nullable: true },
    ],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'string', nullable: true }],
    [{ oneOf: [{ type: 'string' }, { type: 'integer' }] }, { anyOf: [{ type: 'string' }, { type: 'integer' }] }],
    [{ const: 'x' }, { type: 'string', enum: ['x'] }],
    [{ enum: ['', 'a', null] }, { type: 'string', enum: ['a'] }],
    [{ type: 'integer', enum: ['1', '2'] }, { type: 'integer' }],
    [{}, { type: 'string' }],
    [{ description: 'any' }, { type: 'string', description: 'any' }],
    [{ type: 'any' }, { type: 'string' }],
    [{ type: 'object', properties: {} }, { type: 'object' }],
    [
      { properties: { a: { type: 'string' } }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      { type: 'object', properties: { a: { type: 'string' } } },
    ],
    [{ type: 'string', anyOf: [{ format: 'uri' }, { maxLength: 3 }] }, { type: 'string' }],
    [{ allOf: [{ type: 'integer' }, { minimum: 1 }] }, { type: 'integer' }],
    [
      { allOf: [{ anyOf: [{ type: 'string' }, { type: 'number' }] }] },
      { anyOf: [{ type: 'string' }, { type: 'number' }] },
    ],
    [
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: { items: { type: 'number' } } }, required: ['b'] },
        ],
      },
      {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'array', items: { type: 'number' } } },
        required: ['a', 'b'],
      },
    ],
    [{ type: 'integer', enum: [1, 2] }, { type: 'integer' }],
    [{ type: 'array' }, { type: 'array', items: { type: 'object' } }],
    [
      { type: 'array', prefixItems: [{ type: 'string' }, {}] },
      { type: 'array', items: { type: 'string' } },
    ],
    [
      { type: 'array', items: true },
      { type: 'array', items: { type: 'object' } },
    ],
  ])('writes %j as %j', (schema, expected) => {
    expect(reduceSchema(schema)).toEqual(expected);
  });

  it('resolves references inside the schema and keeps the description beside them', () => {
    expect(
      reduceSchema({
        type: 'object',
        properties: {
          pet: { $ref: '#/$defs/a~1b', description: 'mine' },
          list: { type: 'array', items: { $ref: '#/definitions/x%20y' } },
          gone: { $ref: '#/$defs/none' },
          far: { $ref: 'https://example.com/schema' },
        },
        $defs: { 'a/b': { type: 'string', description: 'any' } },
        definitions: { 'x y': { type: 'number' } },
      }),
    ).toEqual({
      type: 'object',
      properties: {
        pet: { type: 'string', description: 'mine' },
        list: { type: 'array', items: { type: 'number' } },
        gone: { type: 'object' },
        far: { type: 'object' },
      },
    });
  });

  it('cuts a cycle to object', () => {
    expect(
      reduceSchema({
        type: 'object',
        properties: { next: { $ref: '#/$defs/node' }, self: { $ref: '#' } },
        $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
      }),
    ).toEqual({
      type: 'object',
      properties: {
        next: { type: 'object', properties: { next: { type: 'object' } } },
        self: { type: 'object' },
      },
    });
  });

  it('ends on a schema that multiplies itself', () => {
    const $defs: Record<string, unknown> = { d0: { type: 'string' } };
    for (let level = 1; level < 30; level += 1) {
      const half = { $ref: `#/$defs/d${level - 1}` };
      $defs[`d${level}`] = { type: 'object', properties: { a: half, b: half } };
    }
    const reduced = JSON.stringify(reduceSchema({ $ref: '#/$defs/d29', $defs }));
    expect(reduced.length).toBeLessThan(200_000);
  });

  it('keeps a property that is called __proto__', () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}');
    expect(JSON.stringify(reduceSchema(schema))).toBe('{"type":"object","properties":{"__proto__":{"type":"string"}}}');
  });
});
