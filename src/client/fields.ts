import { boolean, coerce, define, integer, max, min, optional, type Struct, size, string } from 'superstruct';

/** Fields of requests. In an address they are text (`fromAddress`); in a body they are what they are. */

/** A whole number. */
export const count = (least: number, most: number): Struct<number, null> => min(max(integer(), most), least);

export const flag = (): Struct<boolean, null> => boolean();

/** What the text of a member says that stands in an address: the digits of a number, `true` or `false`. */
export function fromAddress({ type }: Struct<unknown, unknown>, text: string): unknown {
  if (type === 'integer') return /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (type !== 'boolean') return text;
  return text === 'true' ? true : text === 'false' ? false : text;
}

/** Members of every listing (09 §5.3): how many items, and where the page begins, as the page before said. */
export const page = { limit: optional(count(1, 1000)), cursor: optional(size(string(), 1, 512)) };

/** Any value, but one. */
export const given = (): Struct<unknown, null> =>
  define<unknown>('given', (value) => value !== undefined || 'must be given');

/** Text that is not blank, of at most so many bytes in UTF-8. */
export const text = (mostBytes: number): Struct<string, null> =>
  define<string>('text', (value) => {
    if (typeof value !== 'string' || value.trim() === '') return 'must be text that is not blank';
    const bytes = new TextEncoder().encode(value).length;
    return bytes <= mostBytes || `must be at most ${mostBytes} bytes, and is ${bytes}`;
  });

/** A date or a time of RFC 3339, or milliseconds since the epoch. */
export const time = (): Struct<number, null> =>
  coerce(
    define<number>('time', (value) => (Number.isSafeInteger(value) && Number(value) >= 0) || 'must be a time'),
    string(),
    (text) => (/^\d{11,15}$/.test(text) ? Number(text) : rfc3339.test(text) ? Date.parse(text) : Number.NaN),
  );

const rfc3339 = /^\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d))?$/;
