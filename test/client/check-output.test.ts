import {
  any,
  array,
  boolean,
  coerce,
  defaulted,
  enums,
  integer,
  literal,
  mask,
  max,
  number,
  nullable,
  object,
  optional,
  record,
  type Struct,
  size,
  string,
  tuple,
  type,
  union,
} from 'superstruct';
import { expect, test } from 'vitest';
import { checkOutput } from '../../src/client/check-output.ts';

const row = object({
  id: string(),
  name: nullable(string()),
  status: enums(['open', 'closed']),
  kind: literal('row'),
  count: integer(),
  share: max(number(), 1),
  pinned: boolean(),
  note: optional(size(string(), 0, 4)),
  more: optional(object({ list: array(object({ at: number() })) })),
});
const good = { id: 'a', name: null, status: 'open', kind: 'row', count: 1, share: 0.5, pinned: false };
const structs: readonly (readonly [string, Struct<never, never>, readonly unknown[]])[] = [
  [
    'an object',
    row,
    [
      good,
      { ...good, secret: 'x', name: 'n', note: 'four' },
      { ...good, note: undefined },
      { ...good, more: { list: [{ at: 1, secret: 'x' }], secret: 'x' } },
      { ...good, name: undefined },
      { ...good, status: 'toString' },
      { ...good, status: 'neither' },
      { ...good, kind: 'rows' },
      { ...good, count: 1.5 },
      { ...good, share: 2 },
      { ...good, share: Number.NaN },
      { ...good, note: 'longer' },
      { ...good, more: { list: [{ at: 1 }, { at: '2' }] } },
      { ...good, more: [] },
      Object.assign(Object.create({ name: 'inherited' }) as object, good),
      {},
      [],
      null,
      undefined,
      'text',
    ],
  ],
  ['a list', array(row), [[], [good, { ...good, secret: 'x' }], [good, null], {}, good, null]],
  [
    'an open object',
    type({ id: string(), of: row }),
    [{ id: 'a', of: { ...good, secret: 'x' }, kept: [1] }, { id: 'a' }],
  ],
  [
    'what has defaults',
    defaulted(object({ a: defaulted(string(), 'a'), b: coerce(number(), string(), Number) }), { b: 2 }),
    [{}, { b: '3', c: 1 }, undefined, { b: 'x' }, { a: 1, b: 1 }],
  ],
  [
    'the rest',
    object({
      any: any(),
      either: union([object({ a: string() }), object({ b: array(number()) })]),
      record: record(string(), object({ n: number() })),
      pair: tuple([string(), object({ n: number() })]),
      bare: array(),
    }),
    [
      {
        any: { kept: 1 },
        either: { b: [1], c: 2 },
        record: { k: { n: 1, m: 2 } },
        pair: ['a', { n: 1, m: 2 }],
        bare: [{}],
      },
      { any: null, either: { c: 1 }, record: {}, pair: ['a', { n: 1 }], bare: [] },
      { either: { a: 'x' }, record: { k: { n: 'x' } }, pair: ['a', { n: 1 }], bare: [] },
      { either: { a: 'x' }, record: {}, pair: ['a'], bare: 1 },
    ],
  ],
] as unknown as readonly (readonly [string, Struct<never, never>, readonly unknown[]])[];

const tried = (check: () => unknown): unknown => {
  try {
    return { passed: check() };
  } catch (error) {
    return { message: (error as Error).message };
  }
};

test.each(structs)(
  '%s goes out as the library lets it out, and is refused as the library refuses it',
  (_, struct, values) => {
    for (const value of values) {
      const before = structuredClone(value);
      const ours = tried(() => checkOutput(value, struct));
      expect(ours).toStrictEqual(tried(() => mask(value, struct)));
      expect(JSON.stringify(ours)).not.toContain('secret');
      expect(structuredClone(value)).toEqual(before);
    }
  },
);

test('what goes out is not what was given', () => {
  const list = [{ ...good, more: { list: [] } }];
  const [out] = checkOutput(list, array(row)) as [typeof good & { more: object }];
  expect(out).toEqual(list[0]);
  expect(out).not.toBe(list[0]);
  expect(out.more).not.toBe(list[0]?.more);
});
