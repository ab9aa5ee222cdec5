import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { offeredDefinition } from '../../../src/tools/definition.ts';
import { inputSchemaOf, membersOf } from '../../../src/tools/openapi/members.ts';
import { operationsOf } from '../../../src/tools/openapi/operations.ts';
import { readDocument } from '../../../src/tools/openapi/read-document.ts';
import { requestOf } from '../../../src/tools/openapi/request.ts';

const documents = ['ledger.json', 'shop.json'].map(
  (name) => JSON.parse(readFileSync(new URL(`../../fixtures/openapi/${name}`, import.meta.url), 'utf8')) as object,
);

/** What stands where something else should. */
const odd: readonly unknown[] = [
  null,
  -1,
  '',
  true,
  [],
  {},
  [null],
  { $ref: '#/paths' },
  { $ref: '#/' },
  { $ref: 5 },
  { type: 'object', properties: 5 },
  { allOf: [1] },
  { oneOf: [null, {}] },
  { discriminator: { propertyName: 'x', mapping: [1] }, oneOf: [{ $ref: '#/nowhere' }] },
  { in: 'query', name: 'x' },
  { required: 'yes' },
];

/** The document with one odd value; each choice says which member to go down. */
function damaged(document: object, choices: readonly number[], value: unknown): object {
  const root = structuredClone(document) as Record<string, unknown>;
  let at = root;
  for (const [index, choice] of choices.entries()) {
    const keys = Object.keys(at);
    const key = keys[choice % Math.max(keys.length, 1)];
    if (key === undefined) break;
    const next = at[key];
    if (index === choices.length - 1 || typeof next !== 'object' || next === null) {
      at[key] = structuredClone(value);
      break;
    }
    // It was just found to be an object or a list.
    at = next as Record<string, unknown>;
  }
  return root;
}

test('a damaged document gives fewer tools or none, and never an error', async () => {
  const damage = fc.array(fc.nat(50), { minLength: 1, maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...documents),
      damage,
      fc.constantFrom(...odd),
      async (document, choices, value) => {
        const read = await readDocument(Buffer.from(JSON.stringify(damaged(document, choices, value))));
        if (!read.ok) {
          expect(read.message).not.toContain('\n');
          return;
        }
        for (const definition of operationsOf(read.document, null).definitions) {
          const members = membersOf(definition);
          offeredDefinition(definition.description, inputSchemaOf(members, new Set()));
          const given = requestOf(
            definition,
            members,
            Object.fromEntries(members.list.map((one) => [one.argument, value])),
          );
          if ('path' in given) expect(given.path.split('/').length).toBe(definition.path.split('/').length);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test.each([
  ['label', false, ['a', 'b/c'], '/x/.a,b%2Fc'],
  ['label', true, ['a', 'b'], '/x/.a.b'],
  ['label', false, '.', null],
  ['matrix', false, 'v', '/x/;p=v'],
  ['matrix', false, ['a', 'b'], '/x/;p=a,b'],
  ['matrix', true, ['a', 'b'], '/x/;p=a;p=b'],
  ['matrix', true, { k: 'v', l: 1 }, '/x/;k=v;l=1'],
  ['simple', true, { k: 'v' }, '/x/k=v'],
])('a parameter of a path is written in its style: %s, explode %s, %j', async (style, explode, value, expected) => {
  const parameter = { name: 'p', in: 'path', required: true, style, explode, schema: {} };
  const paths = { '/x/{p}': { get: { parameters: [parameter] } } };
  const read = await readDocument(Buffer.from(JSON.stringify({ openapi: '3.1.0', paths })));
  const [definition] = read.ok ? operationsOf(read.document, null).definitions : [];
  const given = definition === undefined ? null : requestOf(definition, membersOf(definition), { p: value });
  expect(given !== null && 'path' in given && given.path.startsWith('/x') ? given.path : null).toBe(expected);
});

test.each([
  [{ tenant: 'theirs' }, 'filter.tenant'],
  [{ Tenant: 'theirs' }, 'filter.Tenant'],
  [{ 'tenant[0]': 'theirs' }, 'filter.tenant[0]'],
  // No operation declares it: the operator adds it to every call.
  [{ added: 'theirs' }, 'filter.added'],
  [{ a: 'b', filter: 'c' }, null],
])('the members of an object take the name of no other parameter: %j', async (filter, path) => {
  const parameters = ['tenant', 'filter'].map((name) => ({ name, in: 'query', schema: {} }));
  const paths = { '/q': { get: { parameters } } };
  const read = await readDocument(Buffer.from(JSON.stringify({ openapi: '3.1.0', paths })));
  const [definition] = read.ok ? operationsOf(read.document, null).definitions : [];
  if (definition === undefined) throw new Error('the document has one operation');
  const given = requestOf(definition, membersOf(definition), { tenant: 'mine', added: 'ours', filter });
  if (path === null) expect(given).toMatchObject({ path: '/q?tenant=mine&a=b&filter=c&added=ours' });
  else expect(given).toMatchObject({ error: 'invalid_arguments', extra: { path } });
});
