import { boolean, coerce, define, integer, max, min, optional, type Struct, size, string } from 'superstruct';

/** Fields of requests: what stands in an address is text, and becomes what it says. */

/** A whole number; in an address its digits. */
export const count = (least: number, most: number): Struct<number, null> =>
  coerce(min(max(integer(), most), least), string(), (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN));

/** `true` or `false`. */
export const flag = (): Struct<boolean, null> =>
  coerce(boolean(), string(), (text) => (text === 'true' ? true : text === 'false' ? false : text));

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

/** RFC 3339, or milliseconds since the epoch where a face of this process calls. */
export const time = (): Struct<number, null> => coerce(min(integer(), 0), string(), (text) => Date.parse(text));
