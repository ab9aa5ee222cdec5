import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { App } from '@tinyhttp/app';
import { principalKey, type Principal } from '../schema/login.ts';
import type { RuntimeError } from '../schema/errors.ts';
import { checkAccess, type Presented } from './access.ts';
import { checkMediaType, hasBody, jsonBodyBytes, readJson } from './body.ts';
import { errorReply, refuse } from './error-body.ts';
import { pathOf } from './guard.ts';
import type { LiveCalls } from './live-calls.ts';
import { peerBucket, type Rates } from './rates.ts';
import { respond, respondInPieces } from './respond.ts';
import type { Call, Peer, Reply, Route } from './route.ts';

/** What is known of a request once the guard has let it in. */
export type Arrival = { readonly id: string; readonly peer: Peer };

export type DispatchDeps = {
  readonly routes: readonly Route[];
  readonly rates: Rates;
  readonly live: LiveCalls;
  readonly now: () => number;
  authenticate(request: IncomingMessage): Presented;
  /** The Set-Cookie header that takes a dead cookie away. */
  clearCookie(request: IncomingMessage): string;
  /** One line per request, and what a 500 was. */
  trace(line: TraceLine): void;
  /** The client is what a tool call has started. */
  comesFromTool(request: IncomingMessage): boolean;
  /** Nothing is begun any more. */
  isStopping(): boolean;
};

export type TraceLine = {
  readonly id: string;
  readonly method: string;
  /** The pattern of the route, never the address. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly peer: string;
  readonly credential: string;
  readonly error?: unknown;
};

const replyLimitMs = 30_000;

/**
 * Steps 5 to 9 of the gate, then the handler (09 §3): route, rate, credential and class, mutation rules, body. Each
 * refusal answers at once; nothing behind it runs.
 */
export function createDispatch(deps: DispatchDeps) {
  const arrivals = new WeakMap<IncomingMessage, Arrival>();
  const app = new App({
    settings: { xPoweredBy: false },
    applyExtensions: (_request, _response, next) => next?.(),
    noMatchHandler: (request, response) => void serve(request, response, null),
    onError: (error, request, response) => answer(request, response, failed(error, request)),
  });

  const arrivalOf = (request: IncomingMessage): Arrival =>
    arrivals.get(request) ?? { id: randomUUID(), peer: { address: '', loopback: false } };
  const failed = (error: unknown, request: IncomingMessage): Reply => errorReply(error, arrivalOf(request).id);

  const answer = (request: IncomingMessage, response: ServerResponse, reply: Reply): void => {
    if (reply === 'written' || 'pieces' in reply || response.destroyed || response.writableEnded) return;
    respond(request, response, reply);
  };

  /** A path under other methods, for 405; tinyhttp keeps what it has parsed. */
  const methodsOf = (path: string): readonly string[] => {
    const found = app.middleware.filter(({ regex }) => regex?.pattern.test(path));
    return [...new Set(found.flatMap(({ method }) => (method === undefined ? [] : [method as string])))];
  };

  const unknown = (request: IncomingMessage): RuntimeError => {
    const allowed = methodsOf(pathOf(request.url ?? ''));
    return allowed.length === 0
      ? refuse('route_not_found', 'There is no such route.')
      : refuse('method_not_allowed', `This path takes ${allowed.join(', ')}.`);
  };

  const serve = async (request: IncomingMessage, response: ServerResponse, route: Route | null): Promise<void> => {
    const began = deps.now();
    const { id, peer } = arrivalOf(request);
    let presented: Presented = { kind: 'none' };
    let error: unknown;
    let reply: Reply;
    let call: ReturnType<LiveCalls['open']> | null = null;
    try {
      presented = deps.authenticate(request);
      call = deps.live.open(response, presented.kind === 'valid' ? presented.principal : null, route?.streams === true);
      takeRate(deps.rates, presented, peer);
      if (peer.loopback && presented.kind === 'valid' && deps.comesFromTool(request)) {
        throw refuse('not_allowed', 'What a tool call has started is not served.');
      }
      const refused = checkAccess(route ?? { access: 'any' }, presented, deps.now());
      if (refused !== null) throw refused;
      if (route === null) throw unknown(request);
      if (deps.isStopping() && route.method !== 'GET') throw refuse('shutting_down', 'The server is stopping.');
      const principal = usable(request, route, presented);
      const body = await bodyOf(request, route);
      // It may have taken a minute to come.
      if (call.ended() === 'credential') throw refuse('invalid_token', 'The session has ended meanwhile.');
      const { signal } = call;
      const given: Call = {
        request,
        response,
        id,
        peer,
        principal,
        // tinyhttp has put them there, each decoded once.
        params: (request as IncomingMessage & { readonly params?: Record<string, string> }).params ?? {},
        query: new URLSearchParams((request.url ?? '').slice(pathOf(request.url ?? '').length)),
        body,
        get signal() {
          return signal();
        },
      };
      reply = route.streams === true ? await route.handle(given) : await inTime(route.handle(given));
    } catch (thrown) {
      error = thrown;
      reply = errorReply(thrown, id);
      if (reply.status === 401 && presented.kind === 'invalid' && presented.deadCookie && route?.access !== 'public') {
        response.setHeader('Set-Cookie', deps.clearCookie(request));
      }
      const allowed = route === null && reply.status === 405 ? methodsOf(pathOf(request.url ?? '')) : [];
      if (allowed.length > 0) response.setHeader('Allow', allowed.join(', '));
    }
    if (reply !== 'written' && 'pieces' in reply && call !== null) {
      // It stays a call that is being answered until the last of them.
      await respondInPieces(request, response, reply, call.signal()).catch((cut: unknown) => {
        error = cut;
      });
    }
    if (reply !== 'written') call?.close();
    answer(request, response, reply);
    deps.trace({
      id,
      method: request.method ?? '',
      route: route?.path ?? '-',
      status: reply === 'written' ? response.statusCode : reply.status,
      ms: deps.now() - began,
      peer: peer.address,
      credential: presented.kind === 'valid' ? presented.principal.kind : presented.kind,
      ...(error === undefined ? {} : { error }),
    });
  };

  // A fixed word in a path goes before a parameter, and what HEAD may be asked of before what it may not.
  const rank = ({ method, path }: Route): number => (method === 'GET' ? 0 : 2) + (path.includes('{') ? 1 : 0);
  const inOrder = [...deps.routes].sort((a, b) => rank(a) - rank(b));
  for (const route of inOrder) {
    const path = route.path.replace(/\{(\w+)\}/g, ':$1');
    const register = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;
    app[register[route.method]](path, (request, response) => {
      // The router gives HEAD to every route of the path, those that change something among them.
      const isHead = request.method === 'HEAD' && route.method !== 'GET';
      return void serve(request, response, isHead ? null : route);
    });
  }

  return (request: IncomingMessage, response: ServerResponse, arrival: Arrival): void => {
    arrivals.set(request, arrival);
    // The router's types name the members that its extensions would add; nothing here reads them.
    app.handler(request as Parameters<typeof app.handler>[0], response as Parameters<typeof app.handler>[1]);
  };
}

function takeRate(rates: Rates, presented: Presented, peer: Peer): void {
  const wait =
    presented.kind === 'valid'
      ? rates.take('credential', principalKey(presented.principal))
      : rates.take('peer', peerBucket(peer.address));
  if (wait > 0) throw refuse('rate_limited', 'Too many requests.', { retryAfterS: wait });
}

/** Step 8: a cookie counts for a change only together with the Origin of our own pages (09 §3.5). */
function usable(request: IncomingMessage, route: Route, presented: Presented): Principal | null {
  if (presented.kind !== 'valid') return null;
  const { principal } = presented;
  const bare = principal.kind === 'session' && principal.viaCookie && request.headers.origin === undefined;
  if (route.method === 'GET' || !bare) return principal;
  if (route.access === 'public') return null;
  throw refuse('origin_required', 'A request with a cookie needs an Origin.', { param: 'Origin' });
}

async function bodyOf(request: IncomingMessage, route: Route): Promise<unknown> {
  if (route.method === 'GET' || !hasBody(request)) return undefined;
  checkMediaType(request);
  return readJson(request, route.maxBodyBytes ?? jsonBodyBytes);
}

/** The operation itself is not undone when nobody waits for it any more. */
async function inTime(reply: Promise<Reply>): Promise<Reply> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(refuse('timeout', 'The operation takes longer than 30 s; it goes on.')),
      replyLimitMs,
    );
  });
  try {
    return await Promise.race([reply, late]);
  } finally {
    clearTimeout(timer);
  }
}
