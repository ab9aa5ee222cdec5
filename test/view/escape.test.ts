import { describe, expect, test } from 'vitest';
import { createStreamEscaper, type EscapeOptions, escapeText, hiddenCharacters } from '../../src/view/escape.ts';

const prose = (text: string) => escapeText(text, { mode: 'prose' });
const line = (text: string) => escapeText(text, { mode: 'line' });

describe('escapeText', () => {
  test('shows control characters as their pictures and keeps line breaks and tabs of prose', () => {
    expect(prose('a\x1b]0;x\x07b\r\nc\td\x00\x7f\b')).toBe('a␛]0;x␇b\nc\td␀␡␈');
  });

  test.each<[string, string, string]>([
    ['a C1 control', 'a\u0090b', 'a⟨U+0090⟩b'],
    ['a right-to-left override', 'a\u202eb', 'a⟨U+202E⟩b'],
    ['an isolate', '\u2066x\u2069', '⟨U+2066⟩x⟨U+2069⟩'],
    ['a zero-width blank', 'pay\u200bpal', 'pay⟨U+200B⟩pal'],
    ['a soft hyphen', 'a\u00adb', 'a⟨U+00AD⟩b'],
    ['a tag character', 'a\u{e0041}b', 'a⟨U+E0041⟩b'],
    ['a line separator', 'a\u2028b', 'a⟨U+2028⟩b'],
    ['a lone surrogate', 'a\ud83db', 'a⟨U+D83D⟩b'],
    ['our own brackets', '⟨U+202E⟩', '⟨U+27E8⟩U+202E⟩'],
    ['a control picture', 'a␛b', 'a⟨U+241B⟩b'],
    ['a joiner outside a cluster', 'a\u200db', 'a⟨U+200D⟩b'],
    ['a variation selector on a letter', 'a\ufe0fb', 'a⟨U+FE0F⟩b'],
  ])('shows %s', (_name, given, shown) => {
    expect(prose(given)).toBe(shown);
  });

  test('keeps joined emoji, keycaps and scripts that need a joiner', () => {
    const text = '👩‍💻 1️⃣ ❤️ می‌خواهم';
    expect(prose(text)).toBe(text);
  });

  test('keeps eight combining marks and counts the rest', () => {
    expect(prose(`e${'\u0301'.repeat(20)}x`)).toBe(`e${'\u0301'.repeat(8)}⟨+12 marks⟩x`);
  });

  test('marks line ends, tabs, long blanks and odd blanks in arguments', () => {
    expect(line('a\nb\r\nc')).toBe('a⏎b␍⏎c');
    expect(escapeText('a\nb', { mode: 'lines' })).toBe('a⏎\nb');
    expect(line('ls\tx')).toBe('ls⇥ x');
    expect(line(`ls${' '.repeat(800)}; rm`)).toBe('ls⟨blank x 800⟩; rm');
    expect(line('a        b')).toBe('a        b');
    expect(line('a\u00a0b')).toBe('a⟨U+00A0⟩b');
    expect(prose('a\u3000b')).toBe('a\u3000b');
  });

  test('has an ascii notation that stays unambiguous', () => {
    const ascii: EscapeOptions = { mode: 'line', glyphs: 'ascii' };
    expect(escapeText('\x1b[2J\r\n\t\u202e<U+202E>', ascii)).toBe('<ESC>[2J<CR><LF><TAB><U+202E><U+003C>U+202E>');
  });

  test('leaves plain text as it is', () => {
    expect(prose('Hello, "world" – déjà vu 漢字\n')).toBe('Hello, "world" – déjà vu 漢字\n');
  });
});

test('a stream escaper joins what was cut between two pieces', () => {
  const escaper = createStreamEscaper();
  const pieces = ['a👩', '\u200d', '💻\x1b', '[31m b', '\r', '\nc'].map((piece) => escaper.push(piece));
  expect([...pieces, escaper.end()].join('')).toBe('a👩‍💻␛[31m b\nc');
});

test('names the hidden characters and mixed words of a command', () => {
  expect(hiddenCharacters('rm \u202e-rf\u200b')).toEqual(['U+202E', 'U+200B']);
  expect(hiddenCharacters('cat p\u0430sswd')).toEqual(['p\u0430sswd (U+0430)']);
  expect(hiddenCharacters('ls -la\n\t.')).toEqual([]);
});
