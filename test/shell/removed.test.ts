import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { remaining } from '../../src/shell/removed.ts';

const values = ['', 'a', 'ab', 'a.b.c', '.env', 'x.env', 'a/b/c', '/a/b/', 'aaa', 'abab', 'a*b', 'a?b'];
const patterns = [
  '',
  'a',
  'b',
  'ab',
  '.',
  'a.',
  '/',
  '*',
  '**',
  '*/',
  '*.',
  '/*',
  '.*',
  'a*',
  '*a',
  '*b',
  '?',
  '??',
  '?b',
  'a?',
  '???',
];
const operators = ['#', '##', '%', '%%'];

it('leaves what the shell leaves', () => {
  const cases = values.flatMap((value) =>
    patterns.flatMap((pattern) => operators.map((operator) => ({ value, operator, pattern }))),
  );
  const script = cases.map(({ operator, pattern }, index) => `printf '%s\\n' "\${V${index}${operator}${pattern}}"`);
  const env = Object.fromEntries(cases.map(({ value }, index) => [`V${index}`, value]));
  const printed = execFileSync('/bin/sh', ['-c', script.join('\n')], { env, encoding: 'utf8' })
    .split('\n')
    .slice(0, -1);
  const told = cases.map(({ value, operator, pattern }) => remaining(value, { operator, pattern }));
  expect(told.map((left, index) => left ?? printed[index])).toEqual(printed);
  expect(told.filter((left) => left === null)).toEqual([]);
});

it.each(['[ab]', 'a*b', '*a*', '\\a', '*?'])('tells nothing of %s', (pattern) => {
  expect(remaining('abc', { operator: '#', pattern })).toBeNull();
  expect(remaining('abc', { operator: '#', pattern: null })).toBeNull();
});
