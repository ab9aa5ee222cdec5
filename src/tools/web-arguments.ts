import { fail, type ToolFailure } from './failure.ts';
import { own } from './input-schema.ts';
import { isObject } from '../text/json-object.ts';

/** Never set by a caller (05 §5.2.2): they belong to the connection, or would impersonate a browser. */
const notSettable: ReadonlySet<string> = new Set(
  'host content-length connection keep-alive transfer-encoding te trailer upgrade expect cookie origin referer user-agent accept-encoding'.split(
    ' ',
  ),
);
const maxHeaders = 32;
const maxHeaderBytes = 8192;
const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

type Scalar = string | number | boolean;
export type Query = Readonly<Record<string, Scalar | readonly Scalar[]>>;
export type Headers = Readonly<Record<string, string>>;

export const headersStruct = () => own<Headers>('headers', headersFault);
export const queryStruct = () =>
  own<Query>('query', (value) => isQuery(value) || 'must be an object of texts, numbers, booleans or lists of these');
const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);

export const isQuery = (value: unknown): value is Query =>
  isObject(value) &&
  Object.values(value).every((member) => isScalar(member) || (Array.isArray(member) && member.every(isScalar)));

/** @returns true, or the end of a sentence about the headers. */
export function headersFault(value: unknown): true | string {
  if (!isObject(value)) return 'must be an object of texts';
  const entries = Object.entries(value);
  if (entries.length > maxHeaders) return `must have at most ${maxHeaders} members`;
  for (const [name, text] of entries) {
    const shown = JSON.stringify(name.slice(0, 60));
    if (!token.test(name)) return `must have header names; ${shown} is none`;
    const lower = name.toLowerCase();
    if (notSettable.has(lower) || /^(?:proxy|sec)-/.test(lower)) return `must not set ${shown}`;
    if (typeof text !== 'string') return `must have texts as values; that of ${shown} is none`;
    if (/[\r\n\0]/.test(text)) return `must not hold CR, LF or U+0000 in the value of ${shown}`;
    if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) return `must hold only Latin-1 characters in the value of ${shown}`;
    if (Buffer.byteLength(text) > maxHeaderBytes) return `must have values of at most ${maxHeaderBytes} bytes`;
  }
  return true;
}

/** Appends to what the URL already has. */
export function withQuery(url: URL, query: Query | string | undefined): URL {
  const result = new URL(url);
  const members: readonly (readonly [string, unknown])[] =
    query === undefined ? [] : typeof query === 'string' ? [...new URLSearchParams(query)] : Object.entries(query);
  for (const [name, value] of members) {
    for (const one of Array.isArray(value) ? value : [value]) result.searchParams.append(name, String(one));
  }
  return result;
}

export type Body = { readonly bytes: Buffer; readonly type: string };

/** A text is sent as it is, anything else as JSON (05 §5.1). */
export const bodyOf = (body: unknown, type?: string): Body =>
  typeof body === 'string'
    ? { bytes: Buffer.from(body), type: type ?? 'text/plain; charset=utf-8' }
    : { bytes: Buffer.from(JSON.stringify(body)), type: type ?? 'application/json' };

/** `input` of a webhook: JSON text is JSON, other text becomes a message (05 §5.1). */
export function inputBody(input: unknown): Body {
  if (typeof input !== 'string') return bodyOf(input);
  try {
    JSON.parse(input);
    return { bytes: Buffer.from(input), type: 'application/json' };
  } catch {
    return bodyOf({ message: input });
  }
}

/** The headers of a webhook may come as the JSON text of the object. */
export function headersOf(value: Headers | string | undefined): Headers | ToolFailure {
  if (typeof value !== 'string') return value ?? {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    return fail('invalid_arguments', '"headers" is neither an object nor the JSON text of one.', { path: 'headers' });
  }
  const fault = headersFault(parsed);
  // True because the check has just found an object of texts.
  return fault === true ? (parsed as Headers) : fail('invalid_arguments', `"headers" ${fault}.`, { path: 'headers' });
}
