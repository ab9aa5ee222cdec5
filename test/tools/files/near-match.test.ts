import { expect, it } from 'vitest';
import { nearMatch } from '../../../src/tools/files/near-match.ts';

const source = 'function add(a, b) {\n  const value = 1;\n\tif (a) {\n    return a + b;\n  }\n}\n\nsay("hi")\n';
const said = (find: string, text = source) => nearMatch(text, find)?.said ?? null;

it.each([
  ['2:   const value = 1;\n3: \tif (a) {', 'lines 2 to 3'],
  ['     2\t  const value = 1;', 'line 2'],
  ['2|  const value = 1;\n3|    if (a) {', 'lines 2 to 3, but for blanks and tabs'],
])('tells of numbers of lines that were copied: %j', (find, where) => {
  expect(said(find)).toBe(`It has the numbers of lines in it, which the file has not; without them it is ${where}.`);
});

it.each([
  ['  const value = 1;\\n\\tif (a) {', 'lines 2 to 3'],
  ['say(\\"hi\\")', 'line 8'],
])('tells of escapes that were written out: %s', (find, where) => {
  expect(said(find)).toBe(
    `It has escapes written out (a backslash and a letter) where the file has the character; without them it is ${where}.`,
  );
});

it('shows the first line that differs in blanks, with what it has', () => {
  expect(said('  const value = 1;  \n\tif (a) {')).toBe(
    'Lines 2 to 3 differ from it only in what stands at the end of a line: line 2 of the file is "  const value = 1;", and the text has "  const value = 1;  ".',
  );
  expect(said('  const value = 1;\n    if (a) {\n    return')).toBe(
    'Lines 2 to 4 differ from it only in blanks and tabs: line 3 of the file is "\\tif (a) {", and the text has "    if (a) {".',
  );
  expect(said('one\ntwo', 'one\r\ntwo\nthree\n')).toMatch(/line 1 of the file is "one\\r", and the text has "one"\.$/);
  expect(said('x\ny\n', 'x\ny')).toBe('It would be the end of the file, which has no line end there.');
});

it('names characters that look alike by their codes', () => {
  const only = 'Line 2 differs from it only in characters that look alike: line 2 of the file is';
  expect(said('say(\u201chi\u201d)', 'x\nsay("hi")\n')).toBe(
    `${only} "say(\\"hi\\")", and the text has "say(\\u201chi\\u201d)".`,
  );
  expect(said('caf\u00e9', 'x\ncafe\u0301\n')).toBe(`${only} "cafe\\u0301", and the text has "caf\u00e9".`);
  expect(said('a b', 'x\na\u00a0b\n')).toBe(`${only} "a\\u00a0b", and the text has "a b".`);
});

it('names the place with most of its lines, and the first one that is another', () => {
  expect(said('  const value = 1;\n\tif (b) {\n    return a + b;')).toBe(
    'Lines 2 to 4 come nearest: line 3 of the file is "\\tif (a) {", and the text has "\\tif (b) {".',
  );
  expect(said('nothing\nof this\nis there')).toBeNull();
  expect(said('const other = 2;')).toBeNull();
});

it('compares no more than takes no time', () => {
  expect(nearMatch('}\n'.repeat(250_000), `${'}\n'.repeat(16_000)}x`)).toBeNull();
  expect(nearMatch('  }\n'.repeat(100_000), `${'}\n'.repeat(16_000)}x`)).toBeNull();
  expect(nearMatch(`${'a'.repeat(500_000)}\n`, `${'a'.repeat(16_000)}b`)).toBeNull();
  expect(nearMatch('x'.repeat(513 * 1024), ' x')).toBeNull();
});
