import { describe, expect, test } from 'vitest';
import type { Flag } from '../../src/cli/command.ts';
import { parseSince, readValue, type ValueSite } from '../../src/cli/values.ts';

const site: ValueSite = { now: Date.parse('2026-01-31T12:00:00Z'), absolute: (path) => `/w/${path}` };
const flag = (kind: Flag['kind'], more: Partial<Flag> = {}): Flag => ({ name: 'x', kind, help: '', ...more });
const read = (definition: Flag, text: string) => readValue(definition, text, '--x', site);

test('durations have units', () => {
  expect(['500ms', '90s', '5m', '1h30m', '0.5h'].map((text) => read(flag('duration'), text))).toEqual([
    500, 90_000, 300_000, 5_400_000, 1_800_000,
  ]);
  for (const text of ['5', '1d', '-5m', '', '0', '5 m']) {
    expect(() => read(flag('duration'), text)).toThrow(`--x: "${text}" is not a duration (500ms, 90s, 5m, 1h30m)`);
  }
  expect(read(flag('duration', { zero: true }), '0')).toBe(0);
  expect(() => read(flag('duration', { zero: true }), '5')).toThrow('0 means none');
});

test('sizes are whole numbers of tokens', () => {
  expect(['32768', '32k', '1m', '0'].map((text) => read(flag('size'), text))).toEqual([32_768, 32_000, 1_000_000, 0]);
  for (const text of ['-1', '1.5k', '32K', 'many'])
    expect(() => read(flag('size'), text)).toThrow('not a number of tokens');
});

test('whole numbers keep their bounds', () => {
  expect(read(flag('int', { min: 0 }), '12')).toBe(12);
  expect(() => read(flag('int', { min: 0 }), '-1')).toThrow('--x: "-1" is not a whole number from 0');
  expect(() => read(flag('int', { min: 1, max: 9 }), '10')).toThrow('--x: "10" is not a whole number from 1 to 9');
  expect(() => read(flag('int'), '1.5')).toThrow('--x: "1.5" is not a whole number');
});

test('words are exact and listed', () => {
  const words = flag('enum', { words: ['wait', 'deny'] });
  expect(read(words, 'wait')).toBe('wait');
  expect(() => read(words, 'Wait')).toThrow('--x: "Wait" is not one of wait, deny');
});

test('a URL is no path', () => {
  for (const text of ['file:///a/b', 'https://a/b.json', 'FILE:///a']) {
    expect(() => read(flag('path'), text)).toThrow(`--x: "${text}" is a URL, and a path is needed`);
  }
  expect(read(flag('path'), 'file:a')).toBe('/w/file:a');
});

test('paths become absolute and are not empty', () => {
  expect(read(flag('path'), 'a/b')).toBe('/w/a/b');
  expect(() => read(flag('path'), '')).toThrow('--x needs a path');
});

describe('since', () => {
  test('is a span back or a date', () => {
    const day = 86_400_000;
    expect(parseSince('30d', site.now)).toBe(site.now - 30 * day);
    expect(parseSince('2w', site.now)).toBe(site.now - 14 * day);
    expect(parseSince('12h', site.now)).toBe(site.now - day / 2);
    expect(parseSince('2026-01-01', site.now)).toBe(Date.parse('2026-01-01T00:00:00Z'));
    expect(parseSince('2026-01-31T11:59:59Z', site.now)).toBe(site.now - 1000);
  });

  test.each(['30', '0', 'yesterday', '2027-01-01', '2026-13-01', ''])('refuses %j', (text) => {
    expect(parseSince(text, site.now)).toBeNull();
  });
});
