import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forbiddenCharacter, rawPieces, splitWords, ungrantableElement } from '../../src/text/posix-words.ts';

describe('splitWords', () => {
  it.each([
    [`-a 'b c' "d e"f`, ['-a', 'b c', 'd ef'], null],
    [`"a\\"b\\$c\\x" g\\ h`, ['a"b$c\\x', 'g h'], null],
    ['$HOME ~/x *.ts', ['$HOME', '~/x', '*.ts'], null],
    [`''`, [''], null],
    ['', [], null],
    ['a;b', ['a;b'], 'the operator ;'],
    ['a > b', ['a', '>', 'b'], 'the operator >'],
    [`'$(id)'`, ['$(id)'], 'a command substitution'],
    ['a\nb', ['a', 'b'], 'a line break'],
    [`'open`, ['open'], 'an open quote'],
    ['end\\', ['end'], 'a backslash at the end'],
  ])('splits %j', (text, words, ungrantable) => {
    expect(splitWords(text)).toEqual({ words, ungrantable });
  });

  it('gives back what was quoted the way a shell needs it', () => {
    const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
    fc.assert(
      fc.property(fc.array(fc.string()), (words) => {
        expect(splitWords(words.map(quoted).join(' ')).words).toEqual(words);
      }),
    );
  });
});

describe('ungrantableElement', () => {
  it.each([
    ['&&', 'the operator &&'],
    ['a\nb', 'a line break'],
    ['a`b`', 'a command substitution'],
    ['x$(y)', 'a command substitution'],
    ['<(ls)', 'a process substitution'],
    ['a;b', null],
    ['', null],
  ])('of %j is %s', (element, why) => {
    expect(ungrantableElement(element)).toBe(why);
  });
});

describe('rawPieces', () => {
  it('splits at everything that is no letter, digit or one of ._+-/~$', () => {
    const text = 'x=/bin/rm; "$\u007bHOME}"/a.b -l ~/c-d|é_1';
    expect(rawPieces(text)).toEqual(['x', '/bin/rm', '$HOME', '/a.b', '-l', '~/c-d', 'é_1']);
  });
});

describe('forbiddenCharacter', () => {
  it.each([
    ['ls\u0000', 0x00, 2],
    ['a\rb', 0x0d, 1],
    ['\u007f', 0x7f, 0],
    ['\u0085', 0x85, 0],
    ['x\u00a0y', 0xa0, 1],
    ['\u1680', 0x1680, 0],
    ['\u200b', 0x200b, 0],
    ['ls \u202e', 0x202e, 3],
    ['\u2066', 0x2066, 0],
    ['\u3000', 0x3000, 0],
    ['\ufeff', 0xfeff, 0],
    ['😀\u{e0041}', 0xe0041, 2],
    ['\ud800x', 0xd800, 0],
  ])('finds the one in %j', (text, codePoint, index) => {
    expect(forbiddenCharacter(text)).toEqual({ codePoint, index });
  });

  it('lets other letters, tab and line feed pass', () => {
    expect(forbiddenCharacter('a\tb\nс日本 😀\u2010')).toBeNull();
  });
});
