import { expect, it } from 'vitest';
import { compileGlob } from '../../../src/tools/files/glob.ts';

const matches = (pattern: string, path: string): boolean => {
  const glob = compileGlob(pattern);
  if (typeof glob === 'string') throw new Error(glob);
  return glob.matches(path);
};

it.each([
  ['*.ts', 'a/b.ts', true],
  ['*.ts', '.ts', true],
  ['*.ts', 'b.tsx', false],
  ['a/*.ts', 'a/b/c.ts', false],
  ['a/**', 'a', true],
  ['a/**', 'a/b/c', true],
  ['**/c', 'c', true],
  ['**/c', 'a/b/c', true],
  ['a/**/c/**/e', 'a/b/c/d/c/d/e', true],
  ['a/**/c', 'a/b/d', false],
  ['./a.ts', 'a.ts', true],
  ['a?c', 'abc', true],
  ['a?c', 'a😀c', true],
  ['a?c', 'ac', false],
  ['[!a-c]x', 'dx', true],
  ['[!a-c]x', 'bx', false],
  ['[]a]x', ']x', true],
  ['[a-]x', '-x', true],
  ['{a,b/{c,d},}x', 'b/dx', true],
  ['{a,b/{c,d},}x', 'x', true],
  ['{x}', 'x', true],
  ['\\*', '*', true],
  ['\\*', 'a', false],
  ['*a*b*c', 'xaybzc', true],
  ['*a*b*c', 'xaybz', false],
])('%s against %s is %s', (pattern, path, expected) => {
  expect(matches(pattern, path)).toBe(expected);
});

it.each([
  ['{a', 'has a { without a }'],
  ['a}', 'has a } without a {'],
  ['[a', 'has a [ without a ]'],
  ['{1,2}'.repeat(11), 'stands for more than 1024 patterns'],
  [
    '/home/me/p/src/**',
    'must not begin with a directory from outside; it is matched against paths relative to "path": give the directory there',
  ],
  ['../*.ts', 'must not hold ".."; it is matched against paths relative to "path": give the directory there'],
  ['src/', 'must not end in "/", since it names files; all below a directory is "dir/**"'],
])('refuses %s', (pattern, reason) => {
  expect(compileGlob(pattern)).toBe(reason);
});

it('takes a pattern of many stars in steps of pattern times path', () => {
  expect(matches(`${'*a'.repeat(50)}b`, 'a'.repeat(250))).toBe(false);
  expect(matches(`${'**/a/'.repeat(50)}b`, 'a/'.repeat(250))).toBe(false);
});
