import { describe, expect, it } from 'vitest';
import { compileRegex, loadRegexEngine, RegexSyntaxError } from '../../src/text/linear-regex.ts';

describe('compileRegex', () => {
  it('tells a match anywhere from a match of the whole text', async () => {
    const regex = await compileRegex('dr[ao]p');
    expect([regex.test('please drop it'), regex.matchWhole('please drop it'), regex.matchWhole('drop')]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('reads flags inline and as options', async () => {
    expect((await compileRegex('(?i)a.b')).matchWhole('A\nB')).toBe(false);
    expect((await compileRegex('a.b', { ignoreCase: true, dotAll: true })).matchWhole('A\nB')).toBe(true);
    expect((await compileRegex('^b$', { multiline: true })).test('a\nb\nc')).toBe(true);
  });

  it('gives place and groups of the leftmost match behind a place', async () => {
    const regex = await compileRegex('(?P<key>[a-z]+)=(\\d+)?');
    expect(regex.exec('😀 a=1 bc=')).toEqual({
      index: 3,
      end: 6,
      groups: ['a=1', 'a', '1'],
      named: { key: 'a' },
    });
    expect(regex.exec('😀 a=1 bc=', 6)).toEqual({
      index: 7,
      end: 10,
      groups: ['bc=', 'bc', undefined],
      named: { key: 'bc' },
    });
    expect(regex.exec('nothing')).toBeNull();
    expect(regex.exec('a=1', 99)).toBeNull();
  });

  it.each(['(?=a)b', '(?<!a)b', '(a)\\1', '(a', 'a{1001}', '[b-a]'])(
    'refuses %s and says what is wrong',
    async (source) => {
      const failure = await compileRegex(source).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(RegexSyntaxError);
      expect(failure).toMatchObject({ message: expect.stringMatching(/^[a-z].*: `/) });
    },
  );

  it('finishes on what makes a backtracking engine explode', async () => {
    const regex = await compileRegex('(a+)+$');
    expect(regex.matchWhole(`${'a'.repeat(50_000)}b`)).toBe(false);
  });
});

describe('an expression that is read', () => {
  it.each(['(?=a)b', '(a)\\1', '(a', 'a**', 'a{1001}', '((a{100}){100}){100}', '\\pX', '(?P<n>a)(?P<n>b)'])(
    'is refused as if it were compiled: %s',
    async (source) => {
      const engine = await loadRegexEngine();
      const refusal = (read: () => unknown): unknown => {
        try {
          return read();
        } catch (error) {
          return error;
        }
      };
      const failure = refusal(() => engine.read(source, { dotAll: true }));
      expect(failure).toBeInstanceOf(RegexSyntaxError);
      expect(failure).toEqual(refusal(() => engine.compile(source, { dotAll: true })));
    },
  );

  it('answers as the compiled one does', async () => {
    const engine = await loadRegexEngine();
    const regex = engine.read('(?P<key>[a-c]+).', { ignoreCase: true, dotAll: true });
    expect([regex.source, regex.size, regex.test('-aB\n'), regex.matchWhole('aB\n'), regex.matchWhole('d')]).toEqual([
      '(?P<key>[a-c]+).',
      engine.compile('(?P<key>[a-c]+).', { ignoreCase: true, dotAll: true }).size,
      true,
      true,
      false,
    ]);
    expect(regex.exec('-aB\n')).toEqual({ index: 1, end: 4, groups: ['aB\n', 'aB'], named: { key: 'aB' } });
  });
});
