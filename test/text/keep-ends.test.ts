import { describe, expect, it } from 'vitest';
import { keepEnds } from '../../src/text/keep-ends.ts';

const ends = (text: string, maxBytes: number) => keepEnds(new TextEncoder().encode(text), maxBytes);

describe('the ends of a long text', () => {
  it('are cut at the last line end of the first part and the first line start of the last', () => {
    expect(ends(`abcdefghijkl\nmnop${'-'.repeat(100)}\n${'z'.repeat(70)}`, 100)).toEqual({
      first: 'abcdefghijkl\n',
      left: 105,
      last: 'z'.repeat(70),
    });
  });

  it('keep most of their room where the line ends far from the cut', () => {
    expect(ends(`ab\n${'-'.repeat(200)}\nz`, 100)).toEqual({
      first: `ab\n${'-'.repeat(17)}\n`,
      left: 105,
      last: `${'-'.repeat(78)}\nz`,
    });
  });

  it('count the bytes between them without the line end that is added', () => {
    expect(ends('€'.repeat(40), 50)).toEqual({ first: '€€€\n', left: 72, last: '€'.repeat(13) });
  });

  it('begin with nothing where there is no room', () => {
    expect(ends('abc', 0)).toEqual({ first: '', left: 3, last: '' });
  });
});
