import { describe, expect, it } from 'vitest';
import { nearNames } from '../../src/tools/near.ts';
import { distance, nearest } from '../../src/text/nearest.ts';

it('counts edits, a swap of neighbours as one, and no more of them than are asked for', () => {
  const cases = [
    ['model', 'modle', 1],
    ['kitten', 'sitting', 3],
    ['', 'abc', 3],
    ['same', 'same', 0],
    ['a\u{1f600}', 'a\u{1f601}', 1],
  ] as const;
  for (const [a, b, edits] of cases) {
    expect([a, b, distance(a, b), distance(b, a)]).toEqual([a, b, edits, edits]);
  }
  expect(distance('kitten', 'sitting', 1)).toBe(2);
  expect(distance('a'.repeat(500), 'b'.repeat(500), 2)).toBe(3);
});

describe('a word is near', () => {
  it('when at least half of the longer one stays', () => {
    const words = ['a', 'b', 'run', 'noop', 'answer', 'az'];
    expect(nearest('zz', words, 2, 9)).toEqual(['az']);
    expect(nearest('q', words, 2, 9)).toEqual([]);
    expect(nearest('nop', words, 2, 9)).toEqual(['noop']);
    expect(nearest('anwser', words, 2, 1)).toEqual(['answer']);
    expect(nearNames('zz', words, 9)).toEqual(['az']);
    expect(nearNames('q', words, 9)).toEqual([]);
  });
});
