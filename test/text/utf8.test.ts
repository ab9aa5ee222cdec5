import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exceedsBytes, utf8Length } from '../../src/text/utf8.ts';

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
