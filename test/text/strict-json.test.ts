import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readStrictJson } from '../../src/text/strict-json.ts';

describe('readStrictJson', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(undefined, 1, '\t'), (text, indent) => {
        const spaced = JSON.stringify(JSON.parse(text), null, indent);
        expect(readStrictJson(spaced, 1000)).toEqual({ ok: true, value: JSON.parse(spaced), duplicates: [] });
      }),
    );
  });

  it('refuses exactly what JSON.parse refuses', () => {
    const parses = (text: string): boolean => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    const noise = fc.string({ unit: fc.constantFrom(...'{}[]",:\\ntruefalse0123.-+eE \t\n\u0001é') });
    fc.assert(
      fc.property(noise, (text) => readStrictJson(text, 1000).ok === parses(text)),
      { numRuns: 2000 },
    );
  });

  it('names every member that stands twice, at any depth', () => {
    const text = '{"a":1,"a":2,"r":[{"x":{"k":1,"\\u006b":2}}],"b c":{"d":1,"d":1}}';
    expect(readStrictJson(text, 32)).toMatchObject({
      ok: true,
      duplicates: ['$.a', '$.r[0].x.k', '$["b c"].d'],
      value: { a: 2 },
    });
  });

  it.each([
    ['{"a:b":"{\\"a\\":1}","a:b":2}', ['$.a:b']],
    ['{"a":"::","b":":"}', []],
    ['[{"__proto__":1,"__proto__":2}]', ['$[0].__proto__']],
  ])('is not misled by what stands in strings: %s', (text, duplicates) => {
    expect(readStrictJson(text, 32)).toEqual({ ok: true, value: JSON.parse(text), duplicates });
  });

  it('keeps __proto__ as an ordinary member', () => {
    const read = readStrictJson('{"__proto__":{"a":1}}', 32);
    expect(read.ok && Object.keys(read.value as object)).toEqual(['__proto__']); // an object: the text is one
  });

  it.each([
    ['{"a":1,}', 'a comma has nothing behind it', 1, 8],
    ['{\n "a" 1}', 'expected ":", found "1"', 2, 6],
    ['{"a":"x', 'a string is not closed', 1, 8],
    ['', 'expected a value, found the end', 1, 1],
    ['{} {}', 'expected the end, found "{"', 1, 4],
    ['[1] // x', 'expected the end, found "/"', 1, 5],
  ])('says where %j breaks', (text, message, line, column) => {
    expect(readStrictJson(text, 32)).toEqual({ ok: false, problem: 'not_json', message, line, column });
  });

  it('stops at the depth it was given', () => {
    expect(readStrictJson('[[[1]]]', 3)).toMatchObject({ ok: true });
    expect(readStrictJson('[[[[1]]]]', 3)).toMatchObject({ ok: false, problem: 'too_deep' });
    expect(readStrictJson('['.repeat(1_000_000), 32)).toMatchObject({ ok: false, problem: 'too_deep' });
  });
});
