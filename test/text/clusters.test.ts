import { describe, expect, it } from 'vitest';
import { clusters } from '../../src/text/clusters.ts';
import { wrap } from '../../src/view/format.ts';
import { columnsOf } from '../../src/view/wrap.ts';

const family = '👩‍👩‍👧';

describe('clusters', () => {
  it.each([
    ['a cluster that lies on the border of what is segmented at a time', `${'a'.repeat(508)}${family}b`],
    ['flags, which go by twos', `a${'🇩🇪'.repeat(400)}`],
    ['a cluster that is longer than what is segmented at a time', `a${'\u0301'.repeat(3000)}b`],
    ['a modifier whose pair of surrogates lies on the border', `${'a'.repeat(510)}👍🏽${'b'.repeat(600)}`],
    ['a line break of two characters', `${'é'.repeat(511)}\r\n${'é'.repeat(600)}`],
    ['halves of pairs', `${'\ud800'.repeat(700)}\udc00`],
  ])('takes together what the segmenter takes together: %s', (_case, text) => {
    const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
    expect([...clusters(text)]).toEqual(Array.from(segmenter.segment(text), ({ segment }) => segment));
  });

  it('has nothing of an empty text', () => {
    expect([...clusters('')]).toEqual([]);
  });

  // The segmenter alone takes a minute and gigabytes for this text, so the limit of a test is the assertion.
  it('takes, measures and wraps a long line of other than ASCII in passing', () => {
    const line = `${'x=1;'.repeat(75_000)}…`;
    expect([...clusters(line)]).toHaveLength(300_001);
    expect(columnsOf(line)).toBe(300_001);
    expect(wrap(line, 100, columnsOf)).toHaveLength(3001);
  });
});
