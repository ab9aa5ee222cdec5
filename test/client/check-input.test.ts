import { array, boolean, enums, integer, max, min, nullable, number, object, string, union } from 'superstruct';
import { expect, it } from 'vitest';
import { checkInput } from '../../src/client/check-input.ts';

const input = object({
  name: string(),
  kind: enums(['run', 'chat']),
  size: max(min(integer(), 1), 9),
  either: union([string(), number()]),
  list: array(string()),
  flag: nullable(boolean()),
});
const good = { name: 'n', kind: 'run', size: 1, either: 1, list: [], flag: null };

it.each([
  [{ name: undefined }, 'name', 'name is missing.'],
  [{ name: 7 }, 'name', 'name must be a string.'],
  [{ kind: 'walk' }, 'kind', 'kind must be one of "run", "chat".'],
  [{ size: 1.5 }, 'size', 'size must be an integer.'],
  [{ size: 12 }, 'size', 'size must be an integer less than or equal to 9.'],
  [{ either: true }, 'either', 'either must be string or number.'],
  [{ list: 'a' }, 'list', 'list must be a list.'],
  [{ list: ['a', 3] }, 'list[1]', 'list[1] must be a string.'],
  [{ flag: 'secret-value' }, 'flag', 'flag must be true or false.'],
  [{ more: 1 }, 'more', 'There is no field more here.'],
])('says what would be taken, where, and not what was given (%j)', (change, param, message) => {
  let thrown: unknown;
  try {
    checkInput('startRun', { ...good, ...change }, input);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ message, data: { param } });
});

it('names the operation where the input is none', () => {
  expect(() => checkInput('startRun', 7, input)).toThrow('The input of startRun must be an object.');
});
