import { describe, expect, it } from 'vitest';
import { shiftBetween, shifted } from '../../ui/shift.ts';

const page = (from: number, count = 20) => Array.from({ length: count }, (_, index) => `line ${from + index}`);

describe('rows that moved', () => {
  it('are found between a head and a foot that stay', () => {
    const before = ['tabs', ...page(0), 'rule', 'status'];
    const after = ['tabs', ...page(2), 'rule', 'status'];
    const shift = shiftBetween(before, after);
    expect(shift).toEqual({ top: 1, bottom: 20, by: 2 });
    expect(shifted(before, shift as NonNullable<typeof shift>)).toEqual([
      'tabs',
      ...page(2, 18),
      '',
      '',
      'rule',
      'status',
    ]);
  });

  it('are found downwards too', () => {
    expect(shiftBetween(page(5), page(4))).toEqual({ top: 0, bottom: 19, by: -1 });
  });

  it('are not seen in rows that only changed', () => {
    expect(shiftBetween(page(0), page(100))).toBeNull();
    expect(shiftBetween(page(0), page(0))).toBeNull();
    expect(shiftBetween(['a', 'b'], ['b', 'c'])).toBeNull();
  });
});
