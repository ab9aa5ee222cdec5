import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../src/text/tokens.ts';

describe('estimated tokens (04 §13.2)', () => {
  it.each([
    ['', 0],
    ['abcd', 1],
    ['abcde', 2],
    ['äöü', 3],
    ['😀', 1],
    ['ab😀', 2],
  ])('counts %j as %i', (text, expected) => {
    expect(estimateTokens(text)).toBe(expected);
  });
});
