import { expect, test } from 'vitest';
import { withinTime } from '../../workers/within-time.ts';

test('gives what the work gives, and what it throws', () => {
  expect(withinTime(1000, () => 7)).toEqual({ value: 7 });
  const broken = new RangeError('no');
  expect(() =>
    withinTime(1000, () => {
      throw broken;
    }),
  ).toThrow(broken);
});

test('stops a loop, a regular expression and work that catches everything', () => {
  const forever = (): never => {
    for (;;);
  };
  const caught = (): unknown => {
    try {
      return forever();
    } catch {
      return 'caught';
    }
  };
  for (const work of [forever, caught, () => /^(a+)+$/.test(`${'a'.repeat(40)}!`)]) {
    expect(withinTime(20, work)).toBeNull();
  }
});
