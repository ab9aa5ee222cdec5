import { usage } from '../schema/errors.ts';
import type { ProviderType } from '../schema/registry.ts';
import type { BackendRow } from '../store/registry.ts';
import { parseUrl } from '../text/parse-url.ts';

/** What a person may say about a backend; null = not said. */
export type BackendFields = {
  readonly url: string | null;
  readonly key_env: string | null;
  readonly key_literal: string | null;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly proxy: string | null;
  readonly connect_timeout_ms: number | null;
  readonly first_byte_timeout_ms: number | null;
  readonly idle_timeout_ms: number | null;
};

const keyless: ReadonlySet<ProviderType> = new Set(['local', 'scripted']);
const maxHeaders = 50;
const maxHeaderBytes = 8192;
/** Framing and the like belong to the client (05 §5.2.2); `cookie`, `origin` and `referer` may be set. */
const notSettable =
  /^(?:host|content-length|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|sec-.*)$/i;

export const isVariableName = (text: string): boolean => /^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(text);

/** A key or token that a header can carry. */
export const isKey = (text: string): boolean => /^[\x21-\x7e]{1,8192}$/.test(text);

/** Checks what was given for a backend, but for its URL (06 §17, 08 §2). @throws RuntimeError usage */
export function checkFields(type: ProviderType, fields: BackendFields): void {
  const { key_env, key_literal, headers, proxy } = fields;
  if (key_env !== null && key_literal !== null) {
    throw usage('Give the key by --api-key-env or by --api-key, not by both.');
  }
  if (keyless.has(type) && ((key_env !== null && key_env !== '') || key_literal !== null)) {
    throw usage(`A ${type} backend takes no key.`);
  }
  if (key_env !== null && key_env !== '' && !isVariableName(key_env)) {
    // Not shown: it is the key itself as often as not.
    throw usage('--api-key-env takes the name of a variable (letters, digits and "_"), not the key.');
  }
  if (key_literal !== null && !isKey(key_literal)) {
    throw usage('The key is empty or holds blanks, line breaks or other characters that a header cannot carry.');
  }
  checkHeaders(headers ?? {}, 'A backend');
  if (proxy !== null && proxy !== '' && proxy !== 'none' && !isProxy(proxy)) {
    throw usage('--proxy takes an http or https URL, or none.');
  }
  checkTime('--connect-timeout', fields.connect_timeout_ms);
  checkTime('--first-byte-timeout', fields.first_byte_timeout_ms);
  checkTime('--idle-timeout', fields.idle_timeout_ms);
}

/** @param what takes the headers, as a sentence begins. @throws RuntimeError usage */
export function checkHeaders(headers: Readonly<Record<string, string>>, what: string): void {
  const names = Object.keys(headers);
  if (names.length > maxHeaders) throw usage(`${what} takes at most ${maxHeaders} headers.`);
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw usage(`"${name.slice(0, 64)}" is not the name of a header.`);
    if (notSettable.test(name)) throw usage(`The header ${name} cannot be set.`);
    if (value.length > maxHeaderBytes || /[\r\n\u0000]/.test(value)) {
      throw usage(`The value of header ${name} is longer than 8 KiB or holds a line break.`);
    }
  }
}

/** 08 §9.4: 1 s to 3600 s. */
function checkTime(flag: string, ms: number | null): void {
  if (ms === null || (Number.isInteger(ms) && ms >= 1000 && ms <= 3_600_000)) return;
  throw usage(`${flag} takes a time from 1s to 3600s.`);
}

const isProxy = (text: string): boolean => /^https?:\/\//i.test(text) && parseUrl(text) !== null;

/** The headers of a stored backend; none where the column does not parse. */
export const readHeaders = (row: Pick<BackendRow, 'headers'>): Readonly<Record<string, string>> =>
  readTexts(row.headers);

/** A column with a map of texts; an empty one where it does not parse. */
export function readTexts(column: string): Readonly<Record<string, string>> {
  try {
    const value: unknown = JSON.parse(column);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
    return Object.fromEntries(
      Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
  } catch {
    return {};
  }
}
