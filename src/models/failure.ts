import { contextLengths } from './failure-words.ts';
import type { ModelFailure, ProviderErrorClass } from './model.ts';
import { classify, readErrorValue, readServerError } from './server-error.ts';

/** The backend that a failure is about, with the values that its text may not show. */
export type Origin = {
  readonly backend: string;
  readonly base_url: string;
  readonly key: string | null;
  /** Name of the variable that the key was read from. */
  readonly key_env?: string | null;
  readonly headers: Readonly<Record<string, string>>;
};

type Details = { readonly status?: number; readonly request_id?: string; readonly retry_after_ms?: number };

const maxMessage = 1000;

/** Makes a failure whose message is masked (08 §11.4) and at most 1000 characters long. */
export function failure(
  origin: Origin,
  errorClass: ProviderErrorClass,
  message: string,
  details: Details = {},
): ModelFailure {
  const told = errorClass === 'context_exceeded' ? contextIn(message) : null;
  return {
    class: errorClass,
    message: maskSecrets(message, origin).slice(0, maxMessage).toWellFormed(),
    ...details,
    ...(told === null ? {} : { context_tokens: told }),
  };
}

/** The beginning of what a server sent, quoted. Masked before it is cut: half a key would not be known again. */
export const excerpt = (origin: Origin, text: string, length: number): string =>
  JSON.stringify(maskSecrets(text, origin).slice(0, length));

/** A smaller number is a status or a position, not a context. */
const leastContext = 512;

function contextIn(message: string): number | null {
  for (const pattern of contextLengths) {
    const tokens = Number(pattern.exec(message)?.[1] ?? 0);
    if (tokens >= leastContext) return tokens;
  }
  return null;
}

/** Replaces key and header values of at least 8 characters, plain, percent-encoded and in base64 (11 §5.3.1). */
function maskSecrets(text: string, origin: Origin): string {
  let masked = text;
  const hide = (value: string, field: string): void => {
    if (value.length < 8) return;
    const base64 = Buffer.from(value).toString('base64').replace(/=+$/, '');
    for (const form of [value, encodeURIComponent(value.toWellFormed()), base64]) {
      if (masked.includes(form)) masked = masked.replaceAll(form, `•••(${origin.backend}.${field})`);
    }
  };
  if (origin.key !== null) hide(origin.key, 'key');
  for (const [name, value] of Object.entries(origin.headers)) {
    hide(value, name);
    // `Bearer <token>`: an echo may hold the token alone.
    hide(value.slice(value.indexOf(' ') + 1), name);
  }
  return masked;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const headerOf = (headers: Headers, name: string): string | null => {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
};

/**
 * Milliseconds that a reply asks to wait: `retry-after-ms`, or `retry-after` in seconds or as an HTTP date, which is
 * counted from the reply's own `date` where it has one; null when it says nothing (08 §9.3.3).
 */
export function retryAfter(headers: Headers, now: number): number | null {
  const exact = Number(headerOf(headers, 'retry-after-ms') ?? Number.NaN);
  if (exact >= 0) return Math.ceil(exact);
  const value = headerOf(headers, 'retry-after')?.trim();
  if (value === undefined) return null;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000);
  const at = Date.parse(value);
  if (Number.isNaN(at)) return null;
  const sent = Date.parse(headerOf(headers, 'date') ?? '');
  return Math.max(0, at - (Number.isNaN(sent) ? now : sent));
}

/** What whoever runs the server finds a request by; it is shown, so it is nothing but letters, digits and joints. */
const isId = /^[\w.:-]{1,200}$/;

/** The failure of an HTTP reply whose status is not 2xx. */
export function httpFailure(
  origin: Origin,
  reply: { readonly status: number; readonly headers: Headers; readonly body: string; readonly now: number },
): ModelFailure {
  // Masked before anything is cut: half a key would not be known again.
  const error = readServerError(maskSecrets(reply.body, origin));
  const reset = error.resets_at === undefined ? null : Math.max(0, error.resets_at - reply.now);
  const wait = retryAfter(reply.headers, reply.now) ?? error.retry_after_ms ?? reset;
  const named = headerOf(reply.headers, 'x-request-id') ?? headerOf(reply.headers, 'request-id') ?? '';
  // A key that comes back as an id is not one.
  const requestId = isId.test(maskSecrets(named, origin)) ? named : null;
  const said = error.message === '' ? '' : `: ${error.message}`;
  const errorClass = classify(reply.status, error);
  // Nothing stands at this path: asking the server again would only tell that it answers.
  const astray = errorClass === 'invalid_request' && (reply.status === 404 || reply.status === 405);
  const advice = astray ? `; check its URL: reins backend show ${origin.backend}` : keySource(origin, errorClass);
  return failure(origin, errorClass, `backend "${origin.backend}" answered ${reply.status}${said}${advice}`, {
    status: reply.status,
    ...(requestId === null ? {} : { request_id: requestId }),
    ...(wait === null ? {} : { retry_after_ms: wait }),
  });
}

/** A key that is refused is looked for where it came from. */
const keySource = ({ key_env }: Origin, errorClass: ProviderErrorClass): string =>
  errorClass === 'auth' && key_env != null ? `; its key is that of ${key_env}` : '';

/** The failure of an error object inside a stream that began with status 200. */
export function streamFailure(origin: Origin, value: unknown): ModelFailure {
  const error = readErrorValue(value);
  const status = error.status ?? 0;
  const errorClass = classify(status, error);
  // There are no headers to say it in.
  const wait = error.retry_after_ms ?? (errorClass === 'rate_limit' ? waitIn(error.message) : null);
  return failure(
    origin,
    errorClass,
    `backend "${origin.backend}" reported an error: ${error.message === '' ? 'no reason was given' : error.message}${keySource(origin, errorClass)}`,
    {
      ...(status === 0 ? {} : { status }),
      ...(wait === null ? {} : { retry_after_ms: wait }),
    },
  );
}

/** Milliseconds of a sentence such as "Please try again in 1m11.05s."; null where it says none. */
function waitIn(message: string): number | null {
  const [, hours, minutes, rest, unit] =
    /try again in (?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)(ms|s))?/i.exec(message) ?? [];
  const wait =
    Number(hours ?? 0) * 3_600_000 + Number(minutes ?? 0) * 60_000 + Number(rest ?? 0) * (unit === 'ms' ? 1 : 1000);
  return wait > 0 ? Math.ceil(wait) : null;
}
