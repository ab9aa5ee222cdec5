import { isObject } from '../text/json-object.ts';
import { ownMember } from '../text/own-member.ts';
import { classByLooseText, classByLooseWord, classByText, classByWord, usedUp } from './failure-words.ts';
import type { ProviderErrorClass } from './model.ts';

/** What a server says about an error, taken from any of the usual shapes. */
type ServerError = {
  readonly message: string;
  /** `type`, `code` and `status` words of the error object, in lower case. */
  readonly words: readonly string[];
  /** A numeric code inside the error object, when the reply had no status of its own. */
  readonly status?: number;
  readonly retry_after_ms?: number;
  /** When a limit ends, in milliseconds since the epoch. */
  readonly resets_at?: number;
};

/** The service tells to try again in seconds, whatever the limit. */
const dayOver = '; the limit is one of the day, so trying again soon is of no use';

/** Reads an error body: `{error: {…}}`, `{error: "…"}`, `{message}`, `{detail}`, a list of one, or plain text. */
export function readServerError(body: string): ServerError {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return {
      message: body
        .replace(/<(style|script)\b.*?(?:<\/\1\s*>|$)/gis, ' ')
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim()
        .slice(0, 300),
      words: [],
    };
  }
  return readErrorValue(value);
}

/** The same of a value that was read already. */
export function readErrorValue(value: unknown): ServerError {
  const outer = Array.isArray(value) ? value[0] : value;
  if (typeof outer === 'string') return { message: outer, words: [] };
  if (!isObject(outer)) return { message: '', words: [] };
  const inner = outer['error'] ?? outer['detail'] ?? outer;
  if (typeof inner === 'string') {
    // Ollama asks for an account of its own where it passes a request on to a hosted model.
    const signIn = typeof outer['signin_url'] === 'string' ? '; sign in with: ollama signin' : '';
    return { message: `${inner}${signIn}`, words: wordsOf(outer) };
  }
  if (!isObject(inner)) return { message: JSON.stringify(inner).slice(0, 300), words: wordsOf(outer) };
  const { message, code, param } = inner;
  const quotas = quotaWords(inner['details']);
  const delay = retryInfoOf(inner['details']);
  const own = typeof message === 'string' ? message : JSON.stringify(inner).slice(0, 300);
  // A router says that a provider failed, and encloses what the provider said.
  const { metadata } = inner;
  const enclosed =
    isObject(metadata) && typeof metadata['raw'] === 'string' ? readServerError(metadata['raw']).message : '';
  const said = (enclosed === '' ? own : `${own}: ${enclosed}`) + (quotas.includes('quota_of_day') ? dayOver : '');
  const reset =
    isObject(metadata) && isObject(metadata['headers']) ? Number(metadata['headers']['X-RateLimit-Reset']) : 0;
  return {
    // The field that a server refuses is named here even where the sentence does not say it.
    message: typeof param === 'string' && !noParam.has(param) && !said.includes(param) ? `${said} (${param})` : said,
    words: [...wordsOf(inner), ...quotas],
    ...statusOf(code),
    ...(reset > 0 ? { resets_at: reset } : {}),
    ...(delay === null ? {} : { retry_after_ms: delay }),
  };
}

/** What stands in `param` where no field is meant; a proxy writes the null of its own language. */
const noParam: ReadonlySet<string> = new Set(['', 'None', 'null']);

/** A status as the code of an error; a proxy writes it as text. */
function statusOf(code: unknown): { readonly status?: number } {
  const status = typeof code === 'string' && /^[45]\d\d$/.test(code) ? Number(code) : code;
  return typeof status === 'number' && status >= 400 && status < 600 ? { status } : {};
}

const wordsOf = (error: Readonly<Record<string, unknown>>): string[] =>
  [error['type'], error['code'], error['status']]
    .filter((word) => typeof word === 'string')
    .map((word) => word.toLowerCase());

const detailsOf = (details: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(details) ? details.filter(isObject) : [];

/** What Gemini says of a used-up quota: that it is one, and whether it is one of the day. */
function quotaWords(details: unknown): readonly string[] {
  const quotas = detailsOf(details).filter((entry) => String(entry['@type']).endsWith('QuotaFailure'));
  const ofDay = quotas.some((entry) =>
    detailsOf(entry['violations']).some(({ quotaId }) => /PerDay/.test(String(quotaId))),
  );
  return [...(ofDay ? ['quota_of_day'] : []), ...(quotas.length > 0 ? ['quota_failure'] : [])];
}

/** Gemini's `RetryInfo.retryDelay`, `"34s"` or `"0.5s"` (08 §9.3.3). */
function retryInfoOf(details: unknown): number | null {
  for (const entry of detailsOf(details)) {
    const delay = entry['retryDelay'];
    if (typeof delay !== 'string') continue;
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1];
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1000);
  }
  return null;
}

const firstMatch = (
  table: readonly (readonly [RegExp, ProviderErrorClass])[],
  text: string,
): ProviderErrorClass | null => table.find(([pattern]) => pattern.test(text))?.[1] ?? null;

function firstWord(
  table: Readonly<Record<string, ProviderErrorClass>>,
  words: readonly string[],
): ProviderErrorClass | null {
  for (const word of words) {
    const found = ownMember(table, word);
    if (found !== undefined) return found;
  }
  return null;
}

/** Class of an error by its words, then its status, then its text (08 §9.2). `status` 0: none was given. */
export function classify(status: number, error: ServerError): ProviderErrorClass {
  const { words, message } = error;
  const settled = firstWord(classByWord, words);
  if ((settled ?? 'rate_limit') === 'rate_limit' && (status === 429 || status === 0) && usedUp.test(message))
    return 'quota';
  if (settled === 'rate_limit' && status !== 0 && status !== 429) return byStatus(status, error);
  // More than a whole minute allows: waiting changes nothing, a shorter request does.
  if (settled === 'rate_limit' && /^request too large\b/i.test(message)) return 'context_exceeded';
  if (settled !== null) return settled;
  // Gemini: a used-up quota comes with its details and a wait; without them the service is out of capacity.
  if (words.includes('resource_exhausted')) return words.includes('quota_failure') ? 'rate_limit' : 'overloaded';
  if (status !== 0) return byStatus(status, error);
  return (
    firstWord(classByLooseWord, words) ??
    firstMatch(classByText, message) ??
    firstMatch(classByLooseText, message) ??
    'permanent'
  );
}

function byStatus(status: number, { message, words }: ServerError): ProviderErrorClass {
  switch (status) {
    case 401:
      return 'auth';
    case 402:
      return 'quota';
    case 403:
      if (words.some((word) => word.includes('billing'))) return 'quota';
      return /\binput was flagged\b/i.test(message) ? 'content_filter' : 'permission';
    case 404: {
      const named = firstMatch(classByText, message);
      return named ?? (/\bmodels?\b/i.test(message) ? 'model_not_found' : 'invalid_request');
    }
    case 408:
    case 504:
      return 'timeout';
    case 413:
      // Too large for the server, or for what stands before it: a shorter request may not be.
      return firstMatch(classByText, message) ?? 'context_exceeded';
    case 429:
      return /billing|insufficient_quota/i.test(words.length === 0 ? message : words.join(' '))
        ? 'quota'
        : 'rate_limit';
    case 503:
    case 529:
      return 'overloaded';
    default:
  }
  // Ollama and others answer 500 with a text that says more.
  if (status >= 500) return firstMatch(classByText, message) ?? 'server_error';
  if (status >= 400) return firstMatch(classByText, message) ?? 'invalid_request';
  return 'permanent';
}
