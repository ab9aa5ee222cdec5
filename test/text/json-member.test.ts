import { describe, expect, it } from 'vitest';
import { withMember } from '../../src/text/json-member.ts';

describe('withMember', () => {
  it('replaces the value of one member and nothing else', () => {
    expect(withMember('{"a":1,"b":{"b":[1,"}"]},"c":3}', 'b', { x: [1] })).toBe('{"a":1,"b":{"x":[1]},"c":3}');
    expect(withMember('{ "b" : null }\n', 'b', {})).toBe('{ "b" : {} }\n');
    expect(withMember('\ufeff{"b":"a\\"b,"}', 'b', 2)).toBe('\ufeff{"b":2}');
    expect(withMember('{"\\u0062":1}', 'b', 2)).toBe('{"\\u0062":2}');
    expect(withMember('{"a":{"b":1},"b":2}', 'b', 3)).toBe('{"a":{"b":1},"b":3}');
  });

  it('follows the lines and the indentation of the text', () => {
    const text = '{\n  "a": [\n    1\n  ],\r\n\n  "b": {"x": 1},\n  "c": true\n}\n';
    expect(withMember(text, 'b', { y: { z: [2] } })).toBe(
      '{\n  "a": [\n    1\n  ],\r\n\n  "b": {\n    "y": {\n      "z": [\n        2\n      ]\n    }\n  },\n  "c": true\n}\n',
    );
    expect(withMember('{\n\t"a": 1\n}', 'b', { x: 1 })).toBe('{\n\t"a": 1,\n\t"b": {\n\t\t"x": 1\n\t}\n}');
  });

  it('adds a member that is not there behind the last one', () => {
    expect(withMember('{}', 'b', 1)).toBe('{"b":1}');
    expect(withMember(' { } ', 'b', 1)).toBe(' {"b":1} ');
    expect(withMember('{"a":1 }', 'b', 1)).toBe('{"a":1,"b":1 }');
    expect(withMember('{"//": "}{", "a": [[{}]]\n}', 'b', [])).toBe('{"//": "}{", "a": [[{}]],"b":[]\n}');
  });
});
