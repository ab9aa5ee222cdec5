import { describe, expect, test } from 'vitest';
import { convertInput, readInputType } from '../../src/cli/input.ts';
import { jsonErrorPosition } from '../../src/text/json-position.ts';
import { readVariables } from '../../src/cli/start-run.ts';
import type { InputType } from '../../src/schema/run.ts';

describe('input types', () => {
  test.each<[InputType, string, unknown]>([
    ['string', ' as is \n', ' as is \n'],
    ['json', ' {"a": [1, "x"]} ', { a: [1, 'x'] }],
    ['json', 'null', null],
    ['json', '9007199254740993', '9007199254740993'],
    ['json', '{"id":-90071992547409931,"n":9007199254740992}', { id: '-90071992547409931', n: 9_007_199_254_740_992 }],
    ['int', ' 42\n', 42],
    ['int', '-9007199254740991', -9_007_199_254_740_991],
    ['float', '1.5e3', 1500],
    ['float', '.5', 0.5],
    ['bool', 'T', true],
    ['bool', 'False', false],
    ['bool', '0', false],
  ])('%s reads %j', (type, text, value) => {
    expect(convertInput(text, type)).toEqual({ type, value });
  });

  test.each<[InputType, string, string]>([
    ['int', 'x', '--input is not an integer: "x"'],
    ['int', '1.5', '--input is not an integer: "1.5"'],
    ['int', '9007199254740993', '--input is not an integer within ±9007199254740991: "9007199254740993"'],
    ['float', 'Infinity', '--input is not a number: "Infinity"'],
    ['float', '1e999', '--input is not a number: "1e999"'],
    ['bool', 'yes', '--input is not a boolean: "yes"'],
    ['bool', 'toString', '--input is not a boolean: "toString"'],
    ['json', '{"a":x}', '--input is not valid JSON at line 1, column 6'],
    ['json', '{\n  "a": 1,\n}', '--input is not valid JSON at line 3, column 1'],
    ['json', '{"a":[1e999]}', '--input holds a number that is too large'],
    ['json', `${'['.repeat(501)}${']'.repeat(501)}`, '--input is nested deeper than 500 levels'],
    ['json', ' \n\u00a0 {"a":x}', '--input is not valid JSON at line 2, column 8'],
  ])('%s refuses %j', (type, text, message) => {
    expect(() => convertInput(text, type)).toThrow(message);
  });

  test('the type is a word in any case', () => {
    expect([readInputType(null), readInputType('JSON'), readInputType('Bool')]).toEqual(['string', 'json', 'bool']);
    expect(() => readInputType('xml')).toThrow(
      '--input-type: "xml" is not one of string, chat, json, int, float, bool',
    );
  });
});

test('the position of a JSON error agrees with the parser about what is JSON', () => {
  const good = ['0', '-1.5e+3', '"a\\u00e9\\n"', '[]', '{}', '[1,{"a":[true,null]}]', ' [ 1 , 2 ] ', 'false'];
  const bad = [
    '',
    '01',
    '+1',
    '.5',
    '[1,]',
    '{,}',
    '{"a"}',
    '{"a":1,}',
    '"\n"',
    "'a'",
    '[1}',
    '1 2',
    'nul',
    '"\\x"',
    '[',
    '-',
  ];
  for (const text of good) expect([text, jsonErrorPosition(text)]).toEqual([text, null]);
  for (const text of bad) {
    expect(() => JSON.parse(text)).toThrow();
    expect([text, jsonErrorPosition(text) === null]).toEqual([text, false]);
  }
  expect(jsonErrorPosition('['.repeat(200_000))).toEqual({ line: 1, column: 200_001 });
  const long = ['x', '\\n', '\\u0041'].map((piece) => piece.repeat(9_500_000 / piece.length));
  for (const text of long) expect(jsonErrorPosition(`"${text}"`)).toBe(null);
  expect(jsonErrorPosition(`[1,${' '.repeat(9_500_000)}]`)).toEqual({ line: 1, column: 9_500_004 });
});

test('variables are name=value, once, and not those of the runtime', () => {
  expect(readVariables(['a=1', 'b=x=y', 'c='])).toEqual({ a: '1', b: 'x=y', c: '' });
  expect(() => readVariables(['a'])).toThrow('--var: "a" is not of the form name=value');
  expect(() => readVariables(['=a'])).toThrow('--var: "=a" is not of the form name=value');
  expect(() => readVariables(['a=1', 'a=2'])).toThrow('--var: "a" is given twice');
  expect(() => readVariables(['model=x'])).toThrow('--var: "model" is set by the runtime');
  expect(() => readVariables(['workspace=x'])).toThrow('--var: "workspace" is set by the runtime');
});
