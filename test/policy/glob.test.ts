import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGlob, type GlobPlaces, matchGlob, type StepCounter } from '../../src/policy/glob.ts';
import { foldCase } from '../../src/text/fold-case.ts';

const places: GlobPlaces = { workspaces: ['/srv/p', '/real/p'], home: '/home/u', fold: false };

const matches = (pattern: string, path: string, more: Partial<GlobPlaces> = {}): boolean => {
  const result = compileGlob(pattern);
  if (!result.ok) throw new Error(result.message);
  return matchGlob(result.glob, path, { ...places, ...more });
};

describe('a glob', () => {
  it.each([
    ['*.go', '/srv/p/main.go', true],
    ['*.go', '/srv/p/sub/main.go', false],
    ['src/**', '/srv/p/src', true],
    ['src/**', '/real/p/src/a/b', true],
    ['src/**', '/srv/p/srcx', false],
    ['a/**/b', '/srv/p/a/b', true],
    ['a/**/b', '/srv/p/a/x/y/b', true],
    ['a/**/**/b', '/srv/p/a/b', true],
    ['**', '/', true],
    ['/', '/', true],
    ['/', '/a', false],
    ['.', '/srv/p', true],
    ['.', '/srv/p/a', false],
    ['**.go', '/x/y/z.go', true],
    ['foo**', '/srv/p/foo/bar/baz', true],
    ['foo**', '/srv/p/foobar', true],
    ['**/a**', '/q/abc/d', true],
    ['~/.ssh/**', '/home/u/.ssh/id', true],
    ['~/.ssh/**', '/home/ux/.ssh/id', false],
    ['/etc//passwd/', '/etc/passwd', true],
    ['./src/./x/../a', '/srv/p/src/a', true],
    ['../q/*', '/srv/q/a', true],
    ['../q/*', '/real/q/a', true],
    ['../../../../x', '/x', true],
    ['C:/x/*', 'C:/x/y', true],
    ['**/x/*', 'C:/x/y', true],
    ['a?c', '/srv/p/a😀c', true],
    ['a?c', '/srv/p/a/c', false],
    ['[a-c]x', '/srv/p/bx', true],
    ['[!a-c]x', '/srv/p/dx', true],
    ['[^a]x', '/srv/p/ax', false],
    ['[a\\]]x', '/srv/p/]x', true],
    ['[a-]x', '/srv/p/-x', true],
    ['[{,}]x', '/srv/p/{x', true],
    ['a[!x]b', '/srv/p/a/b', false],
    ['\\*x', '/srv/p/*x', true],
    ['\\*x', '/srv/p/ax', false],
    ['\\{a,b\\}', '/srv/p/{a,b}', true],
    ['{a,b/c,}x', '/srv/p/b/cx', true],
    ['{a,b/c,}x', '/srv/p/x', true],
    ['{/etc,~}/x', '/home/u/x', true],
    ['{a}{b,{c,d}}', '/srv/p/ad', true],
    ['caf\u00e9', '/srv/p/caf\u00e9', true],
    ['cafe\u0301', '/srv/p/caf\u00e9', true],
    ['a,b', '/srv/p/a,b', true],
    ['*😀', '/srv/p/x😀', true],
    ['*.{go,c}', '/srv/p/x.c', true],
    ['*.go', '/srv/p/x.gO', false],
    ['x/**/*', '/srv/p/x', false],
    ['**/😀é*é', '/q/😀é-é', true],
  ])('%s against %s: %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  it('folds case where the file system does, in classes too', () => {
    const folded = { workspaces: ['/srv/p'], fold: true };
    expect(matches('**/.SSH/[A-C]*', '/home/u/.ssh/bx', folded)).toBe(true);
    expect(matches('**/.ſsh/**', '/home/u/.ssh/bx', folded)).toBe(true);
    expect(matches('**/[!A-C]x', '/q/bx', folded)).toBe(false);
    expect(matches('**/*ΟΔΟΣ', foldCase('/q/Οδος'), folded)).toBe(true);
  });

  it.each([
    ['', 'a glob must not be empty'],
    ['a\u0000', 'a glob must not hold U+0000'],
    ['a}b', 'a closing brace has no opening one'],
    ['{a,b', 'a brace is not closed'],
    ['[]', 'a character class is empty or not closed'],
    ['[!]', 'a character class is empty or not closed'],
    ['[a', 'a character class is empty or not closed'],
    ['[a/b]', 'a character class is empty or not closed'],
    ['[b-a]', 'a character class is empty, not closed or runs backwards'],
    ['a\\', 'a backslash has nothing behind it'],
    ['{1,2,3,4}'.repeat(6), 'the braces stand for more than 1024 patterns, or for too long ones'],
    [`${'{a,b}'.repeat(10)}${'x'.repeat(2000)}`, 'the braces stand for more than 1024 patterns, or for too long ones'],
    ['{'.repeat(40), 'the braces are nested more than 32 deep'],
  ])('%j is refused', (pattern, message) => {
    expect(compileGlob(pattern)).toEqual({ ok: false, message });
  });

  it('may stand for 1,024 patterns', () => {
    expect(matches('{0,1}'.repeat(10), '/srv/p/0101010101')).toBe(true);
  });
});

const segment = fc
  .array(fc.constantFrom('a', 'b', '*', '?', '**'), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join(''));
const pattern = fc.array(segment, { minLength: 1, maxLength: 8 }).map((parts) => `/${parts.join('/')}`);
const path = fc
  .array(fc.stringMatching(/^[ab]{1,6}$/), { minLength: 1, maxLength: 12 })
  .map((parts) => `/${parts.join('/')}`);

/** The same meaning for an engine that backtracks; only for the small samples above. */
const expression = (source: string): RegExp => {
  const parts = source
    .slice(1)
    .split('/')
    .map((part) => {
      if (part === '**') return '(?:/[^/]*)*';
      return `/${part.replace(/\*{2,}|\*|\?/g, (mark) => (mark === '?' ? '[^/]' : mark === '*' ? '[^/]*' : '.*'))}`;
    });
  return new RegExp(`^${parts.join('')}$`);
};

describe('matching', () => {
  it('agrees with the meaning of the wildcards', () => {
    fc.assert(
      fc.property(pattern, path, (source, text) => matches(source, text) === expression(source).test(text)),
      { numRuns: 2000 },
    );
  });

  it('takes at most a few steps for each character of the path and of the pattern', () => {
    fc.assert(
      fc.property(pattern, fc.nat(400), (source, length) => {
        const counter: StepCounter = { steps: 0 };
        const result = compileGlob(source);
        const text = `/${'ab/'.repeat(length)}c`;
        if (result.ok) matchGlob(result.glob, text, places, counter);
        expect(counter.steps).toBeLessThanOrEqual((2 * source.length + 2) * text.length);
      }),
    );
  });

  it('does not blow up where backtracking would', () => {
    const counter: StepCounter = { steps: 0 };
    const source = `/${'**/a*a*a*/'.repeat(20)}x`;
    const result = compileGlob(source);
    const text = `/${'aaaaaaaa/'.repeat(5000)}x/y`;
    expect(result.ok && matchGlob(result.glob, text, places, counter)).toBe(false);
    expect(counter.steps).toBeLessThanOrEqual((2 * source.length + 2) * text.length);
  });
});
