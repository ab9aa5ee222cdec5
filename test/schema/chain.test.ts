import { expect, test } from 'vitest';
import { isModelHandler, thinkLevel } from '../../src/schema/chain.ts';

test('a reasoning level is known by its name and its other names', () => {
  const words = [
    '',
    'default',
    'OFF',
    ' none ',
    '0',
    'minimal',
    'low',
    'medium',
    'true',
    'high',
    'max',
    'hard',
    'toString',
  ];
  expect(words.map((word) => thinkLevel(word))).toEqual([
    'auto',
    'auto',
    'off',
    'off',
    'off',
    'minimal',
    'low',
    'medium',
    'high',
    'high',
    'xhigh',
    null,
    null,
  ]);
});

test('model handlers are those that call a model', () => {
  expect(isModelHandler('route')).toBe(true);
  expect(isModelHandler('execute_tool_calls')).toBe(false);
});
