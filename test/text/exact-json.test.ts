import { expect, it } from 'vitest';
import { parseExactJson, quoteInexact } from '../../src/text/exact-json.ts';

it('makes a text of each integer that a number does not hold, and of nothing else', () => {
  expect(quoteInexact('[1234567890123456789,-9007199254740993,9007199254740992,1e16,0.12345678901234567]')).toBe(
    '["1234567890123456789","-9007199254740993",9007199254740992,1e16,0.12345678901234567]',
  );
  expect(parseExactJson('{"1234567890123456789":"12345678901234567890"}')).toEqual({
    '1234567890123456789': '12345678901234567890',
  });
});

it('takes a number of ten million digits', () => {
  const digits = '1'.repeat(10_000_000);
  expect(parseExactJson(`{"a":${digits}}`)).toEqual({ a: digits });
});
