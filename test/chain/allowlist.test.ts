import { describe, expect, test } from 'vitest';
import { exposesNothing, isAllowed, isHidden } from '../../src/chain/allowlist.ts';

const tools = [
  ['local_fs', 'read_file'],
  ['local_fs', 'grep'],
  ['web', 'web_get'],
  ['petstore', 'pet.get'],
] as const;

const exposed = (list: readonly string[] | null | undefined): string =>
  tools
    .filter(([provider, tool]) => isAllowed(list, provider, tool))
    .map(([provider, tool]) => `${provider}.${tool}`)
    .join(' ');

describe('an allowlist exposes', () => {
  const all = 'local_fs.read_file local_fs.grep web.web_get petstore.pet.get';
  const cases: readonly (readonly [readonly string[] | null | undefined, string])[] = [
    [undefined, ''],
    [null, ''],
    [[], ''],
    [['*'], all],
    [['web', 'gone'], 'web.web_get'],
    [['*', '!local_fs'], 'web.web_get petstore.pet.get'],
    [['!local_fs', '*'], 'web.web_get petstore.pet.get'],
    [['!local_fs'], ''],
    [['local_fs.grep'], 'local_fs.grep'],
    [['local_fs', '!local_fs.grep'], 'local_fs.read_file'],
    [['!local_fs.grep', 'local_fs.grep', '*'], 'local_fs.read_file web.web_get petstore.pet.get'],
    [['*', '!local_fs', 'local_fs.grep'], 'local_fs.grep web.web_get petstore.pet.get'],
    [['petstore.pet.get'], 'petstore.pet.get'],
    [['*', '!*'], ''],
    [['Web'], ''],
  ];
  test.each(cases)('%j', (list, expected) => {
    expect(exposed(list)).toBe(expected);
  });
});

test('a tool is hidden by its name, its full name or its wire name', () => {
  for (const name of ['read_file', 'local_fs.read_file', 'local_fs_read_file']) {
    expect(isHidden([name], 'local_fs', 'read_file')).toBe(true);
  }
  expect(isHidden(['t_1up_grow'], '1up', 'grow')).toBe(true);
  expect(isHidden(['local_fs', 'read'], 'local_fs', 'read_file')).toBe(false);
  expect(isHidden(undefined, 'local_fs', 'read_file')).toBe(false);
});

test('a list that exposes nothing is recognised', () => {
  expect(exposesNothing([])).toBe(false);
  expect(exposesNothing(['!x'])).toBe(true);
  expect(exposesNothing(['x', '!x'])).toBe(true);
  expect(exposesNothing(['x', '!x.y'])).toBe(false);
  expect(exposesNothing(['*', '!*'])).toBe(true);
});
