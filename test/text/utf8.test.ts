import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundaryBefore, boundaryBehind, exceedsBytes, utf8Length } from '../../src/text/utf8.ts';

describe('utf8Length', () => {
  it('counts what the encoder writes, unpaired surrogates too', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀', '\ud800', '\udc00') });
    fc.assert(fc.property(text, (sample) => utf8Length(sample) === Buffer.byteLength(sample)));
  });
});

describe('exceedsBytes', () => {
  it('compares bytes, not characters', () => {
    expect([exceedsBytes('€€', 6), exceedsBytes('€€', 5), exceedsBytes('abc', 3), exceedsBytes('abcd', 3)]).toEqual([
      false,
      true,
      false,
      true,
    ]);
  });
});

describe('boundaries', () => {
  const bytes = new TextEncoder().encode('a€b');

  it('stand between two characters, before a place and behind it', () => {
    expect([0, 1, 2, 3, 4, 5].map((at) => boundaryBefore(bytes, at))).toEqual([0, 1, 1, 1, 4, 5]);
    expect([0, 1, 2, 3, 4, 5].map((at) => boundaryBehind(bytes, at))).toEqual([0, 1, 4, 4, 4, 5]);
  });

  it('stay within the bytes', () => {
    expect([boundaryBefore(bytes, -1), boundaryBefore(bytes, 9)]).toEqual([0, 5]);
    expect([boundaryBehind(bytes, -1), boundaryBehind(bytes, 9)]).toEqual([0, 5]);
  });
});
