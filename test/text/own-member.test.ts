import { expect, it } from 'vitest';
import { ownMember } from '../../src/text/own-member.ts';

it('finds what a table has itself, and nothing that every object knows', () => {
  const table: Readonly<Record<string, number>> = { stop: 1 };
  expect(['stop', 'other', 'constructor', '__proto__', 'toString'].map((word) => ownMember(table, word))).toEqual([
    1,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
