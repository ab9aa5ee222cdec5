import { describe, expect, it } from 'vitest';
import { parseDuration, parseSize } from '../../src/text/quantities.ts';

describe('durations', () => {
  it.each([
    ['500ms', 500],
    ['90s', 90_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['0.5h', 1_800_000],
    ['0', 0],
    ['0s', 0],
    ['0.2ms', 1],
  ])('reads %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '5', '1d', '-5m', '5 m', '5M', 'm', '1h 30m', '1.h', `${'1h'.repeat(40)}`])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeNull();
  });
});

describe('sizes', () => {
  it('are whole numbers, by thousands and millions', () => {
    expect(['32768', '32k', '1m', '0'].map(parseSize)).toEqual([32_768, 32_000, 1_000_000, 0]);
    expect(['', '-1', '1.5k', '1K', '1g', '9'.repeat(16)].map(parseSize)).toEqual([null, null, null, null, null, null]);
  });
});
