import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { RuntimeError } from '../../src/schema/errors.ts';
import { codeOf, messageOf } from '../../src/text/thrown.ts';

const thrown = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

it('says what was thrown, whatever it is', () => {
  const missing = thrown(() => readFileSync('/no/such/file'));
  expect(messageOf(missing)).toBe("ENOENT: no such file or directory, open '/no/such/file'");
  expect([messageOf('a word'), messageOf(undefined), messageOf(null), messageOf(7)]).toEqual([
    'a word',
    'undefined',
    'null',
    '7',
  ]);
});

it('lets the cause speak for an error without words, as newer versions of Node make them of what a stream says', () => {
  const wordless = new TypeError('', { cause: new Error('incorrect header check') });
  expect([messageOf(wordless), messageOf(new Error(''))]).toEqual(['incorrect header check', '']);
  expect(messageOf(new Error('outer', { cause: new Error('inner') }))).toBe('outer');
});

it('gives the code of the system and of our own errors, and null where there is none', () => {
  expect(codeOf(thrown(() => readFileSync('/no/such/file')))).toBe('ENOENT');
  expect(codeOf(new RuntimeError('not_found', 'There is none.'))).toBe('not_found');
  const numbered = Object.assign(new Error('status'), { code: 404 });
  expect([codeOf(new Error('bare')), codeOf(numbered), codeOf({ code: 'ENOENT' }), codeOf(null)]).toEqual([
    null,
    null,
    null,
    null,
  ]);
});
