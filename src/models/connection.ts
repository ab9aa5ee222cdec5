import type { Agent, IncomingMessage, RequestOptions } from 'node:http';
import { isLoopbackHost } from '../text/loopback.ts';
import { parseUrl } from '../text/parse-url.ts';
import { brokenFailure } from './broken.ts';
import { type Body, type Exchange, type Failed, startExchange, type Target } from './exchange.ts';
import { encodeBody } from './encode.ts';
import { failure } from './failure.ts';
import type { ModelFailure } from './model.ts';

declare const REINS_VERSION: string | undefined;

export type Outgoing = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Appended to the base URL; begins with a slash. */
  readonly path: string;
  readonly accept: string;
  readonly body?: unknown;
  /** Called when the bytes are there. Nothing is sent before it has resolved; it rejects on abort. */
  readonly leave?: () => Promise<void>;
};

/** A reply whose status and headers have come. */
export type Incoming = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Body;
};

/** The header that carries the key; null without a key. */
export type Auth = { readonly name: string; readonly value: string } | null;

export const bearer = (key: string): Auth => ({ name: 'authorization', value: `Bearer ${key}` });

/** Requests to one backend over kept connections, at most 8 at a time; those of runs wait for a place over all threads before they come here (08 §11.2). */
export type Client = {
  /** Sends one request and waits for status and headers. Never throws; on abort the failure is `cancelled`. */
  open(outgoing: Outgoing, signal: AbortSignal): Promise<{ readonly kind: 'reply'; readonly reply: Incoming } | Failed>;
  /** Closes kept connections. */
  close(): void;
};

const maxRedirects = 3;
const agentOptions = { keepAlive: true, maxSockets: 8, scheduling: 'lifo' } as const;
/** Always set: an environment variable of Node could turn the check of certificates off (08 §11.1). */
const verified = { rejectUnauthorized: true } as const;

/** Loads `node:http` or `node:https`, and a proxy agent where the target has a proxy. */
export async function createClient(target: Target, auth: Auth): Promise<Client> {
  const base = target.base_url.replace(/\/+$/, '');
  const origin = new URL(base);
  if (auth !== null && !sendable.test(auth.value)) {
    const message = `the key of backend "${target.backend}" holds a character that cannot be sent, such as a line break`;
    return refusing(failure(target, 'auth', message));
  }
  const secure = origin.protocol === 'https:';
  const transport = secure ? await import('node:https') : await import('node:http');
  const proxied = target.proxy !== null && !isLoopbackHost(origin.hostname);
  if (proxied && !isProxyUrl(target.proxy)) return unsendable(target);
  const agent: Agent = proxied
    ? await (await import('./proxy-agent.ts')).createProxyAgent(target.proxy, secure, { ...agentOptions, ...verified })
    : new transport.Agent(agentOptions);

  const send = (url: URL, outgoing: Outgoing, body: readonly Buffer[] | null, signal: AbortSignal): Exchange => {
    const headers = headersOf(target, auth, outgoing.accept, body);
    const options = { method: outgoing.method, agent, headers, ...verified };
    // `abandon` is for the proxy agent: a request that is given up takes its half-made tunnel with it.
    const start = (abandon: AbortSignal) => transport.request(url, { ...options, abandon } as RequestOptions);
    return startExchange(start, { target, body, signal, secure, proxied });
  };

  /** Sends a request to one address. Once more where a kept connection was closed before the request was read. */
  const exchanged = async (url: URL, outgoing: Outgoing, body: readonly Buffer[] | null, signal: AbortSignal) => {
    for (let isFirst = true; ; isFirst = false) {
      const exchange = send(url, outgoing, body, signal);
      const head = await exchange.head();
      if (head.kind === 'head') return { head, exchange };
      exchange.body.release(false);
      // Nothing was asked yet.
      if (head.stale && isFirst && !signal.aborted) continue;
      return { failure: brokenFailure(target, head.broken) };
    }
  };

  return {
    async open(outgoing, signal) {
      const body = outgoing.body === undefined ? null : encodeBody(outgoing.body);
      let url = new URL(base + outgoing.path);
      try {
        await outgoing.leave?.();
      } catch {
        return { kind: 'failure', failure: brokenFailure(target, { kind: 'cancelled' }) };
      }
      for (let redirects = 1; ; redirects += 1) {
        const done = await exchanged(url, outgoing, body, signal);
        if ('failure' in done) return { kind: 'failure', failure: done.failure };
        const { response } = done.head;
        const status = response.statusCode ?? 0;
        const { location } = response.headers;
        if (status < 300 || status > 399 || location === undefined) {
          return { kind: 'reply', reply: { status, headers: response.headers, body: done.exchange.body } };
        }
        done.exchange.body.release(true);
        const next = parseUrl(location, url.href);
        if (next === null || next.origin !== url.origin) {
          return refused(target, status, `redirected to ${next === null ? 'an unreadable address' : next.origin}`);
        }
        if (redirects > maxRedirects) return refused(target, status, `redirected more than ${maxRedirects} times`);
        // 303 asks for a GET, which would lose the request.
        if (status === 303 && outgoing.method !== 'GET') {
          return refused(target, status, 'redirected a request to a page');
        }
        url = next;
      }
    },
    close: () => agent.destroy(),
  };
}

const refused = (target: Target, status: number, what: string): Failed => ({
  kind: 'failure',
  failure: failure(target, 'invalid_request', `backend "${target.backend}" ${what}; its URL needs to be corrected`, {
    status,
  }),
});

const isProxyUrl = (url: string | null): boolean => url !== null && /^https?:$/.test(parseUrl(url)?.protocol ?? '');

/** A client of a backend whose proxy cannot be one: nothing is sent past it. */
function unsendable(target: Target): Client {
  const where = 'HTTP_PROXY, HTTPS_PROXY, or --proxy of the backend';
  const message = `the request to backend "${target.backend}" cannot be sent: its proxy is no http or https URL (${where})`;
  return refusing(failure(target, 'invalid_request', message));
}

/** What Node lets a header carry. */
const sendable = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A client that sends nothing. */
const refusing = (refusal: ModelFailure): Client => ({
  open: async () => ({ kind: 'failure', failure: refusal }),
  close: () => undefined,
});

const framing = new Set(['content-length', 'transfer-encoding', 'connection']);

/** Registered headers come last, but cannot replace the key or the framing (08 §5). */
function headersOf(target: Target, auth: Auth, accept: string, body: readonly Buffer[] | null): Record<string, string> {
  const headers: Record<string, string> = {
    'user-agent': `reins/${typeof REINS_VERSION === 'string' ? REINS_VERSION : 'dev'}`,
    accept,
  };
  if (body !== null) headers['content-type'] = 'application/json';
  for (const [name, value] of Object.entries(target.headers)) {
    const lower = name.toLowerCase();
    if (!framing.has(lower)) headers[lower] = value;
  }
  if (auth !== null) headers[auth.name] = auth.value;
  if (body !== null) headers['content-length'] = String(body.reduce((total, { length }) => total + length, 0));
  return headers;
}
