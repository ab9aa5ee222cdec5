import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/text/canonical-json.ts';

describe('canonicalJson', () => {
  it('sorts members by UTF-16 units at every depth and writes no blanks', () => {
    const value = { b: [1, { z: null, a: true }], '\ud83d\ude00': 1, '\ufb33': 2, a: 'é' };
    expect(canonicalJson(value)).toBe('{"a":"é","b":[1,{"a":true,"z":null}],"\ud83d\ude00":1,"\ufb33":2}');
  });

  it('writes numbers in their shortest form', () => {
    expect(canonicalJson([1_000_000, 1.5, 1e21, 1e-7, -0, 1 / 3])).toBe(
      '[1000000,1.5,1e+21,1e-7,0,0.3333333333333333]',
    );
  });

  it('escapes only what JSON must', () => {
    expect(canonicalJson('\u20ac$\u000f\nA\'B"\\\\"/')).toBe('"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"');
  });

  it('leaves out members that are undefined', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 1n, () => 1, Symbol('x')])('refuses %s', (value) => {
    expect(() => canonicalJson({ value })).toThrow(TypeError);
  });

  it('is the same text after a round trip, whatever the order of the members was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
        expect(canonicalJson(reversed(value))).toBe(text);
      }),
    );
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}
