import { expect, it } from 'vitest';
import findInLine from '../../workers/find-in-line.ts';

it('finds literal texts and expressions, each job for itself', async () => {
  const literal = { pattern: 'a.c', regex: false, ignoreCase: false };
  const line = 'xxABC abc a.c';
  expect(await findInLine({ ...literal, line })).toBe(10);
  expect(await findInLine({ ...literal, regex: true, line })).toBe(6);
  expect(await findInLine({ ...literal, regex: true, ignoreCase: true, line })).toBe(2);
  expect(await findInLine({ ...literal, regex: true, ignoreCase: true, line: 'xyz' })).toBe(-1);
});
