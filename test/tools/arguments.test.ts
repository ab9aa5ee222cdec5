import { array, boolean, enums, integer, number, object, optional, string } from 'superstruct';
import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../src/tools/arguments.ts';
import { between, bytes, inputSchema, json } from '../../src/tools/input-schema.ts';
import { defineTool } from '../../src/tools/tool.ts';

const args = object({
  path: bytes(string(), 1, 20),
  count: optional(between(integer(), 1, 10)),
  factor: optional(number()),
  all: optional(boolean()),
  names: optional(array(string())),
  format: optional(enums(['text', 'raw'])),
  any: optional(json()),
});
const note = { description: 'x' };
const tool = defineTool({
  spec: {
    tools: 'demo',
    tool: 'one',
    description: 'x',
    input_schema: inputSchema(args, {
      path: { description: 'A path.', minLength: 1 },
      count: { ...note, minimum: 1 },
      factor: note,
      all: { ...note, default: false },
      names: note,
      format: note,
      any: note,
    }),
    read_only: true,
  },
  args,
  prepare: () => ({ ok: true, facts: null, cwd: '/', summary: 'x' }),
  execute: async () => ({ ok: true, value: null }),
});

const parse = (text: string, direct = false) => parseArguments(tool, text, direct);
const reason = (text: string, direct = false) => {
  const parsed = parse(text, direct);
  return parsed.ok ? 'ok' : [parsed.path, parsed.message];
};

describe('parseArguments', () => {
  it('gives policy and tool one and the same object', () => {
    const parsed = parse('{"path":"a","count":3}');
    expect(parsed).toEqual({ ok: true, args: { path: 'a', count: 3 }, record: { path: 'a', count: 3 } });
    expect(parsed.ok && parsed.args === parsed.record).toBe(true);
  });

  it('reads empty text as no arguments', () => {
    expect(reason('')).toEqual(['path', 'The argument "path" is missing.']);
  });

  it.each([
    ['[1]', '', 'The arguments must be one JSON object.'],
    ['null', '', 'The arguments must be one JSON object.'],
    ['{"path":"a","path":"b"}', 'path', 'The key "path" stands twice.'],
    ['{"path":"a","any":{"b":1,"\\u0062":2}}', 'b', 'The key "b" stands twice.'],
    ['{"path":"a","__proto__":{}}', '__proto__', 'The key "__proto__" is not accepted.'],
    ['{"path":"a","any":[{"constructor":1}]}', 'constructor', 'The key "constructor" is not accepted.'],
    ['{"path":"a\\u0000b"}', 'path', '"path" contains U+0000 at position 1.'],
    ['{"path":"a","any":{"x":["\\ud800"]}}', 'any.x[0]', '"any.x[0]" contains an unpaired surrogate at position 0.'],
    ['{"path":1}', 'path', '"path" must be a string.'],
    ['{"path":""}', 'path', '"path" must be 1 to 20 bytes long, not 0.'],
    ['{"path":"a","count":"5"}', 'count', '"count" must be an integer.'],
    ['{"path":"a","count":1.5}', 'count', '"count" must be an integer.'],
    ['{"path":"a","count":11}', 'count', '"count" must be 1 to 10.'],
    [
      '{"path":"a","any":{"id":12345678901234567890}}',
      '',
      'The number 12345678901234567890 has more digits than a number keeps, so another one would be sent.',
    ],
    ['{"path":"a","all":"true"}', 'all', '"all" must be true or false.'],
    ['{"path":"a","names":["a",1]}', 'names[1]', '"names[1]" must be a string.'],
    ['{"path":"a","format":"pdf"}', 'format', '"format" must be one of text, raw.'],
    [
      '{"path":"a","frobnicate":1}',
      'frobnicate',
      '"frobnicate" is not an argument of demo.one, which takes path, count, factor, all, names, format, any.',
    ],
  ])('refuses %s', (text, path, message) => {
    expect(reason(text)).toEqual([path, message]);
  });

  it('keeps a surrogate pair that is written as two escapes', () => {
    expect(parse('{"path":"\\ud83d\\ude00"}')).toMatchObject({ ok: true, args: { path: '😀' } });
  });

  it('does not take quotes and braces inside texts for structure', () => {
    expect(reason('{"path":"{\\"a\\":1,","any":"}]\\\\"}')).toBe('ok');
  });

  it('refuses more than 64 levels and takes 64', () => {
    const nested = (levels: number) => `{"path":"a","any":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(reason(nested(63))).toBe('ok');
    expect(reason(nested(64))).toEqual(['', 'The arguments are nested deeper than 64 levels.']);
  });

  it('refuses more than 1 MiB without parsing it', () => {
    const text = `{"path":"${'a'.repeat(1024 * 1024)}"}`;
    expect(reason(text)).toEqual(['', 'The arguments are 1048587 bytes long; at most 1048576 are accepted.']);
  });

  it('says that text is no JSON', () => {
    expect(reason('{path:1}')).toMatchObject([
      '',
      expect.stringMatching(/^The arguments are not valid JSON: .+ Send one JSON object\.$/),
    ]);
  });

  it('converts texts of a chain to the declared types, and only those', () => {
    expect(parse('{"path":"7","count":"7","factor":" 1.5 ","all":"true"}', true)).toMatchObject({
      args: { path: '7', count: 7, factor: 1.5, all: true },
    });
    expect(reason('{"path":"a","count":"7.5"}', true)).toEqual(['count', '"count" must be an integer.']);
    expect(reason('{"path":"a","all":"yes"}', true)).toEqual(['all', '"all" must be true or false.']);
  });
});

describe('inputSchema', () => {
  it('writes types, choices and notes, and what is required', () => {
    expect(tool.spec.input_schema).toEqual({
      type: 'object',
      properties: {
        path: { type: 'string', description: 'A path.', minLength: 1 },
        count: { type: 'integer', description: 'x', minimum: 1 },
        factor: { type: 'number', description: 'x' },
        all: { type: 'boolean', description: 'x', default: false },
        names: { type: 'array', items: { type: 'string' }, description: 'x' },
        format: { type: 'string', enum: ['text', 'raw'], description: 'x' },
        any: { description: 'x' },
      },
      required: ['path'],
      additionalProperties: false,
    });
  });
});
