import { expect, it } from 'vitest';
import { withMaskedTools } from '../../src/app/mask-tools.ts';
import { sourceTools } from '../../src/app/tool-sources.ts';
import { createMask } from '../../src/registry/mask.ts';
import { refusingTool, type SourceTools } from '../../src/tools/source.ts';

it('a service tells no model what it was given, also when its list comes later, and keeps its examples', () => {
  const mask = createMask();
  mask.register('db.URL', 'pg://me:word-of-pass@host');
  const tool = refusingTool({ tools: 'db', tool: 'query' }, 'quarantined', 'no');
  const saying = (description: string): SourceTools => ({
    name: 'db',
    tools: [
      {
        ...tool,
        spec: {
          ...tool.spec,
          description,
          input_schema: { type: 'object', properties: { q: { type: 'string', description } } },
        },
      },
    ],
    notices: [],
  });
  const heard: SourceTools[] = [];
  const made = withMaskedTools(mask, {
    opened: [saying('Asks pg://me:word-of-pass@host.'), saying('Sends Authorization: Bearer <token>.')],
    onChange: (listener) => listener(saying('Asked pg://me:word-of-pass@host.')),
    close: () => {},
  });
  made.onChange((tools) => heard.push(tools));
  const said = [...made.opened, ...heard].map(({ tools: [one] }) => [one?.spec.description, one?.spec.input_schema]);
  expect(said).toEqual(
    ['Asks •••(db.URL).', 'Sends Authorization: Bearer <token>.', 'Asked •••(db.URL).'].map((description) => [
      description,
      { type: 'object', properties: { q: { type: 'string', description } } },
    ]),
  );
});

it('nor the list of all tools', async () => {
  const mask = createMask();
  mask.register('db.URL', 'pg://me:word-of-pass@host');
  const listed = {
    tools: 'db',
    tool: 'query',
    source: 'mcp',
    description: 'Asks pg://me:word-of-pass@host.',
    schema: {},
    state: 'ready',
  } as const;
  const room = {
    names: () => ['db'],
    tools: async () => [listed],
    open: () => Promise.reject(new Error('not opened')),
    check: async () => [],
    argumentNames: async () => () => null,
  };
  expect(await sourceTools([room], mask)()).toEqual([{ ...listed, description: 'Asks •••(db.URL).' }]);
});
