import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../../src/tools/arguments.ts';
import { type Definition, readDefinition } from '../../../src/tools/mcp/definition.ts';
import { mcpTool } from '../../../src/tools/mcp/tool.ts';

const server = (inject: Readonly<Record<string, string>> = {}) => ({
  name: 'one',
  directory: null,
  inject,
  credentials: 'none' as const,
  expand: (value: string) => ({ kind: 'value' as const, value }),
  call: async () => ({ kind: 'cancelled' as const }),
});
const definition = (over: Partial<Definition> = {}): Definition => ({
  name: 'look',
  description: 'looks',
  inputSchema: { type: 'object' },
  ...over,
});

describe('a tool of a server, as a model is offered it', () => {
  it('has no hidden characters and at most 4 KiB of description', () => {
    const description = `reads\u200b a file\u202e \u001b[31m ${'and more '.repeat(25_000)}`;
    const { spec } = mcpTool(server(), definition({ description }));
    expect(spec.description.startsWith('reads a file [31m and more ')).toBe(true);
    expect(Buffer.byteLength(spec.description)).toBeLessThanOrEqual(4096);
  });

  it('is described in no characters that only a model reads, and in emoji', () => {
    // Variation selectors, tags, fillers and separators: each of them has no width.
    const unseen = [
      '\u{e0101}\u{e01ef}',
      '\ufe00\ufe0f',
      '\u{e0041}',
      '\u3164\uffa0\u115f',
      '\u034f\u180b\u17b4',
      '\u2028\u206a',
    ];
    const text = `reads${unseen.join('')} ❤\ufe0f`;
    const inputSchema = { type: 'object', properties: { a: { description: text } } };
    const { spec } = mcpTool(server(), definition({ description: text, inputSchema }));
    expect(spec.description).toBe('reads ❤\ufe0f');
    expect(spec.input_schema).toEqual({ type: 'object', properties: { a: { description: 'reads ❤\ufe0f' } } });
  });

  it('shows no value with hidden characters, and leaves the others to be chosen', async () => {
    const unseen = 'a\u{e0041}\u{e0042}';
    const family = '\u{1f469}\u200d\u{1f467}';
    const persian = '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645';
    const properties = {
      mode: { enum: ['fast', unseen, '\r\n', family, persian, 'fa\u200dst', { deep: unseen }], default: unseen },
      end: { type: 'string', default: '\r\n', pattern: `^[^${unseen}]`, examples: [unseen, 'x'], $comment: unseen },
      default: { type: 'string', title: unseen },
      enum: { description: unseen },
    };
    const tool = mcpTool(server(), definition({ inputSchema: { type: 'object', properties, required: ['mode'] } }));
    expect(tool.spec.input_schema).toEqual({
      type: 'object',
      properties: {
        mode: { enum: ['fast', '\r\n', family, persian] },
        end: { type: 'string', default: '\r\n', examples: ['x'], $comment: 'a' },
        default: { type: 'string', title: 'a' },
        enum: { description: 'a' },
      },
      required: ['mode'],
    });
    // Who repeats it all the same is right, and who errs is told nothing hidden either.
    await tool.load?.();
    expect(parseArguments(tool, JSON.stringify({ mode: unseen }), false)).toMatchObject({ ok: true });
    expect(parseArguments(tool, '{"mode":"x"}', false)).toMatchObject({
      message: expect.stringContaining('must be one of ["fast","a",'),
    });
    expect(parseArguments(tool, '{"mode":"fast","end":"a"}', false)).toMatchObject({
      message: '"end" must match pattern "^[^a]".',
    });
  });

  it.each([
    ['a name', { properties: { 'path\u{e0041}': {} } }],
    ['a name below', { properties: { a: { properties: { 'b\u200b': {} } } } }],
    ['a name that looks like another', { properties: { path: {}, 'pa\u200dth': {} } }],
    ['the only value', { properties: { a: { const: 'x\ufe01' } } }],
    ['every value', { properties: { a: { enum: ['x\u2060', 'y\u2060'] } } }],
    ['a keyword', { properties: { a: { 'x\u{e0101}': 1 } } }],
    ['a reference', { properties: { a: { $ref: '#/$defs/b\u202e' } } }],
  ])('is not offered where %s holds what nobody sees', (_what, members) => {
    const tool = mcpTool(server(), definition({ inputSchema: { type: 'object', ...members } }));
    expect(tool.spec).toMatchObject({ description: '', input_schema: { type: 'object' } });
    expect(Object.keys(tool.spec.input_schema)).toEqual(['type']);
  });

  it.each(['read_file\u3164', 'read\ufe0f', 're\u034fad', 'read\u2800', 'read\u{e0101}', 'read\u200b'])(
    'is none where its name holds what nobody sees (%j)',
    (name) => {
      expect(readDefinition({ name, inputSchema: { type: 'object' } })).toBe(null);
    },
  );

  it('loses the descriptions of its members before it is left out for its size, but no member of that name', () => {
    const text = { type: 'string', description: 'more '.repeat(2000) };
    const properties = {
      description: text,
      a: { ...text, items: [text] },
      b: { type: 'object', properties: { c: text } },
    };
    const { spec } = mcpTool(server(), definition({ inputSchema: { type: 'object', properties } }));
    const plain = { type: 'string' };
    expect(spec.input_schema).toEqual({
      type: 'object',
      properties: {
        description: plain,
        a: { ...plain, items: [plain] },
        b: { type: 'object', properties: { c: plain } },
      },
    });
    const wide = { type: 'string', enum: Array.from({ length: 5000 }, (_, index) => `value ${index}`) };
    const refused = mcpTool(server(), definition({ inputSchema: { type: 'object', properties: { wide } } }));
    expect(refused.offered).toBe(false);
  });

  it('is never one that only reads, whatever the server says', () => {
    expect(mcpTool(server(), definition({ annotations: { readOnlyHint: true } })).spec.read_only).toBe(false);
  });

  it.each([{}, { type: 'object' }, { type: ['object', 'null'], properties: null }])(
    'has a schema that services take, where the server says only %j',
    (inputSchema) => {
      const { spec } = mcpTool(server(), definition({ inputSchema }));
      expect(spec.input_schema).toEqual({ type: 'object', properties: {} });
    },
  );

  it('has the members of all branches, where services take no branches', () => {
    const branch = (name: string) => ({ properties: { [name]: { type: 'string' } }, required: [name] });
    const inputSchema = {
      type: 'object',
      ...branch('q'),
      allOf: [branch('page')],
      oneOf: [branch('id'), branch('name')],
    };
    const text = { type: 'string' };
    expect(mcpTool(server({ name: 'x' }), definition({ inputSchema })).spec.input_schema).toEqual({
      type: 'object',
      properties: { page: text, id: text, q: text },
      required: ['q', 'page'],
    });
  });

  it('does not name what the operator adds', () => {
    const properties = { q: { type: 'string' }, tenant: { type: 'string' } };
    const inputSchema = { type: 'object', properties, required: ['q', 'tenant'] };
    const { spec } = mcpTool(server({ tenant: 'acme' }), definition({ inputSchema }));
    expect(spec.input_schema).toEqual({ type: 'object', properties: { q: { type: 'string' } }, required: ['q'] });
  });
});

describe('the arguments of a call', () => {
  const inputSchema = {
    type: 'object',
    properties: { path: { type: 'string' }, depth: { type: 'integer' } },
    required: ['path'],
    additionalProperties: false,
  };
  it.each([
    ['{}', 'The argument "path" is missing.'],
    ['{"path":7}', '"path" must be string.'],
    ['{"path":"a","x":1}', '"x" is not an argument of one.look, which takes path, depth.'],
  ])('are held against the schema: %s', async (text, message) => {
    const tool = mcpTool(server(), definition({ inputSchema }));
    await tool.load?.();
    expect(parseArguments(tool, text, false)).toMatchObject({ ok: false, message });
  });

  it('give way to what the operator adds, also under its name in another case, unless the server tells the two apart', () => {
    const said = { q: 'x', tenant: 'mine', Tenant: 'mine', TENANT: 'mine' };
    const added = (properties: object) =>
      mcpTool(server({ tenant: 'acme' }), definition({ inputSchema: { type: 'object', properties } })).inject?.(said);
    expect(added({ tenant: {} })).toEqual({ args: { q: 'x', tenant: 'acme' }, hidden: ['tenant'] });
    expect(added({ tenant: {}, Tenant: {} })).toMatchObject({ args: { q: 'x', tenant: 'acme', Tenant: 'mine' } });
  });

  it('are not held for ever against a schema that asks for more steps than there is time for', async () => {
    const doubled = (number: number) => ({ allOf: [1, 2].map(() => ({ $ref: `#/$defs/d${number + 1}` })) });
    const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, number) => [`d${number}`, doubled(number)]));
    const inputSchema = { type: 'object', $defs: { ...$defs, d40: { type: 'object' } }, $ref: '#/$defs/d0' };
    const tool = mcpTool(server(), definition({ inputSchema }));
    await tool.load?.();
    expect(parseArguments(tool, '{}', false)).toMatchObject({
      ok: false,
      message: expect.stringContaining('must match a schema that is checked in time'),
    });
  });

  it('are held against what only draft 7 has', async () => {
    const pair = { type: 'array', items: [{ type: 'integer' }, { type: 'string' }] };
    const $schema = 'http://json-schema.org/draft-07/schema#';
    const tool = mcpTool(server(), definition({ inputSchema: { $schema, type: 'object', properties: { pair } } }));
    await tool.load?.();
    expect(parseArguments(tool, '{"pair":[1,"a"]}', false)).toMatchObject({ ok: true });
    expect(parseArguments(tool, '{"pair":["a",1]}', false)).toMatchObject({ message: '"pair[0]" must be integer.' });
  });
});
