import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { parseSync } from 'vite';
import { readFixture } from './policy/virtual-host.ts';

/** Cases that no test can hold: what they ask for is a figure, and no test asserts one of time or of a whole process. */
const measured: Readonly<Record<string, string>> = {
  'DUR-006': 'memory and idle processor time of a full screen: npm run bench -- --scenarios tui',
};

type Case = { readonly id: string; readonly checks?: readonly unknown[] };
// A format fixed by the case file itself.
const { cases } = readFixture('attack-cases.json') as { readonly cases: readonly Case[] };
const kinds = [...new Set(cases.map(({ id }) => id.replace(/-.*/, '')))];
const idOf = new RegExp(`\\b(?:${kinds.join('|')})-\\d{3}\\b`, 'g');

/** A node of a parsed file; its members depend on its type. */
type Node = { readonly type: string; readonly [member: string]: unknown };
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;
const nodesIn = (node: Node): readonly Node[] => Object.values(node).flat().filter(isNode);

it('every attack is checked by a loader, named by the test that carries it out, or measured', () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
  const titled = new Map<string, string>();
  for (const file of files) {
    if (!/\.test\.tsx?$/.test(file) || file.startsWith('.build')) continue;
    for (const id of titledIn(join(import.meta.dirname, file))) titled.set(id, file);
  }
  const loaded = cases.flatMap(({ id, checks = [] }) => (checks.length > 0 ? [id] : []));
  const held = new Set([...loaded, ...titled.keys(), ...Object.keys(measured)]);
  expect(cases.filter(({ id }) => !held.has(id)).map(({ id }) => id)).toEqual([]);
  // A title that is about no case is a slip, and so is a figure for a case that a test holds.
  const known = new Set(cases.map(({ id }) => id));
  expect([...titled].filter(([id]) => !known.has(id))).toEqual([]);
  expect(Object.keys(measured).filter((id) => titled.has(id) || loaded.includes(id) || !known.has(id))).toEqual([]);
});

/** Ids in the titles of a file: in what `describe`, `it` and `test` are told, and in the rows of a table that a title shows. */
function titledIn(path: string): readonly string[] {
  const text = readFileSync(path, 'utf8');
  // Most files name none, and reading one as a program takes longer than looking.
  if (!/[A-Z]-\d{3}/.test(text)) return [];
  const program = parseSync(relative(import.meta.dirname, path), text).program as unknown as Node;
  const constants = new Map<string, Node>();
  const found: string[] = [];
  const walk = (node: Node): void => {
    if (node.type === 'VariableDeclarator' && isNode(node['id']) && isNode(node['init'])) {
      constants.set(String(node['id']['name']), node['init']);
    }
    const given = node.type === 'CallExpression' ? runnerCall(node['callee']) : null;
    if (given?.skipped === true) return;
    if (given !== null) {
      const title = literalOf((node['arguments'] as readonly Node[])[0]);
      found.push(...(title.match(idOf) ?? []));
      if (/%s|\$/.test(title)) found.push(...given.tables.flatMap((table) => rowsOf(table, constants)));
    }
    for (const below of nodesIn(node)) walk(below);
  };
  walk(program);
  return found;
}

/** `it(`, `describe.each(table)(` and the like. @returns null for a call of anything else */
function runnerCall(callee: unknown): { readonly skipped: boolean; readonly tables: readonly Node[] } | null {
  if (!isNode(callee)) return null;
  if (callee.type === 'Identifier') {
    return ['it', 'test', 'describe'].includes(String(callee['name'])) ? { skipped: false, tables: [] } : null;
  }
  const inner = runnerCall(callee.type === 'CallExpression' ? callee['callee'] : callee['object']);
  if (inner === null) return null;
  if (callee.type === 'CallExpression') {
    return { ...inner, tables: [...inner.tables, ...(callee['arguments'] as readonly Node[])] };
  }
  const word = isNode(callee['property']) ? callee['property']['name'] : '';
  return { ...inner, skipped: inner.skipped || word === 'skip' || word === 'todo' };
}

const literalOf = (node: Node | undefined): string => {
  if (node?.type === 'Literal') return String(node['value']);
  if (node?.type !== 'TemplateLiteral') return '';
  return (node['quasis'] as readonly { readonly value: { readonly raw: string } }[])
    .map(({ value }) => value.raw)
    .join('$');
};

/** Texts of a table that are ids and nothing else; a table by its name is that constant of the file. */
function rowsOf(table: Node, constants: ReadonlyMap<string, Node>): readonly string[] {
  const idsIn = (node: Node): readonly string[] => {
    if (node.type !== 'Literal') return nodesIn(node).flatMap(idsIn);
    const text = String(node['value']);
    return text.match(idOf)?.[0] === text ? [text] : [];
  };
  const named = table.type === 'Identifier' ? constants.get(String(table['name'])) : undefined;
  return idsIn(named ?? table);
}
