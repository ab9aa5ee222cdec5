import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { App } from '@tinyhttp/app';
import type { RuntimeError } from '../schema/errors.ts';
import type { Presented } from './access.ts';
import { admit, type AdmitDeps, type Arrived } from './admit.ts';
import { errorReply, refuse } from './error-body.ts';
import { pathOf } from './guard.ts';
import type { LiveCall, LiveCalls } from './live-calls.ts';
import { respond, respondInPieces } from './respond.ts';
import type { Call, Peer, Reply, Route } from './route.ts';

/** What is known of a request once the guard has let it in. */
type Arrival = { readonly id: string; readonly peer: Peer };

export type DispatchDeps = Omit<AdmitDeps, 'noRoute'> & {
  readonly routes: readonly Route[];
  readonly live: LiveCalls;
  authenticate(request: IncomingMessage): Presented;
  /** The Set-Cookie header that takes a dead cookie away. */
  clearCookie(request: IncomingMessage): string;
  /** One line per request, and what a 500 was. */
  trace(line: TraceLine): void;
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

/** Finds the route of a request, admits it, has its handler answer (09 §3), and says in one line what became of it. */
export function createDispatch(deps: DispatchDeps) {
  const arrivals = new WeakMap<IncomingMessage, Arrival>();
  const createRouter = () =>
    new App({
      settings: { xPoweredBy: false },
      applyExtensions: (_request, _response, next) => next?.(),
      noMatchHandler: (request, response) => void serve(request, response, null),
      onError: (error, request, response) => answer(request, response, failed(error, request)),
    });
  // A router tries each of its routes, twice: one for each subject tries a handful of them.
  const routers = new Map<string, ReturnType<typeof createRouter>>();
  const noRoutes = createRouter();
  const routerOf = (path: string) => routers.get(subjectOf(path)) ?? noRoutes;

  const arrivalOf = (request: IncomingMessage): Arrival =>
    arrivals.get(request) ?? { id: randomUUID(), peer: { address: '', loopback: false } };
  const failed = (error: unknown, request: IncomingMessage): Reply => errorReply(error, arrivalOf(request).id);

  const answer = (request: IncomingMessage, response: ServerResponse, reply: Reply): void => {
    if (reply === 'written' || 'pieces' in reply || response.destroyed || response.writableEnded) return;
    respond(request, response, reply);
  };

  /** A path under other methods, for 405; tinyhttp keeps what it has parsed. */
  const methodsOf = (path: string): readonly string[] => {
    const found = routerOf(path).middleware.filter(({ regex }) => regex?.pattern.test(path));
    return [...new Set(found.flatMap(({ method }) => (method === undefined ? [] : [method as string])))];
  };

  const unknown = (request: IncomingMessage): RuntimeError => {
    const allowed = methodsOf(pathOf(request.url ?? ''));
    return allowed.length === 0
      ? refuse('route_not_found', 'There is no such route.')
      : refuse('method_not_allowed', `This path takes ${allowed.join(', ')}.`);
  };

  const admission: AdmitDeps = { ...deps, noRoute: unknown };

  /** Admits the request and has its handler answer it. */
  const handled = async (arrived: Arrived, response: ServerResponse): Promise<Reply> => {
    const { request, live } = arrived;
    const { route, principal, body } = await admit(admission, arrived);
    const { url = '' } = request;
    const call: Call = {
      request,
      response,
      ...arrivalOf(request),
      principal,
      // tinyhttp has put them there, each decoded once.
      params: (request as IncomingMessage & { readonly params?: Record<string, string> }).params ?? {},
      query: queryOf(url),
      body,
      signal: live.signal,
    };
    return route.streams === true ? route.handle(call) : inTime(route.handle(call));
  };

  /** What a refusal says in headers: a dead cookie is taken away, and the methods of the path are named. */
  const explain = (response: ServerResponse, status: number, { request, route, presented }: Omit<Arrived, 'live'>) => {
    const deadCookie = presented.kind === 'invalid' && presented.deadCookie;
    if (status === 401 && deadCookie && route?.access !== 'public') {
      response.setHeader('Set-Cookie', deps.clearCookie(request));
    }
    const allowed = route === null && status === 405 ? methodsOf(pathOf(request.url ?? '')) : [];
    if (allowed.length > 0) response.setHeader('Allow', allowed.join(', '));
  };

  const serve = async (request: IncomingMessage, response: ServerResponse, route: Route | null): Promise<void> => {
    const began = deps.now();
    const { id, peer } = arrivalOf(request);
    let presented: Presented = { kind: 'none' };
    let error: unknown;
    let reply: Reply;
    let live: LiveCall | null = null;
    try {
      presented = deps.authenticate(request);
      live = deps.live.open(response, presented.kind === 'valid' ? presented.principal : null, route?.streams === true);
      reply = await handled({ request, peer, route, presented, live }, response);
    } catch (thrown) {
      error = thrown;
      reply = errorReply(thrown, id);
      explain(response, reply.status, { request, peer, route, presented });
    }
    if (reply !== 'written' && 'pieces' in reply && live !== null) {
      // It stays a call that is being answered until the last of them.
      await respondInPieces(request, response, reply, live.signal()).catch((cut: unknown) => {
        error = cut;
      });
    }
    if (reply !== 'written') live?.close();
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
    const router = routers.get(subjectOf(path)) ?? createRouter();
    routers.set(subjectOf(path), router);
    const register = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;
    router[register[route.method]](path, (request, response) => {
      // The router gives HEAD to every route of the path, those that change something among them.
      const isHead = request.method === 'HEAD' && route.method !== 'GET';
      return void serve(request, response, isHead ? null : route);
    });
  }

  return (request: IncomingMessage, response: ServerResponse, arrival: Arrival): void => {
    arrivals.set(request, arrival);
    const router = routerOf(pathOf(request.url ?? ''));
    // The router's types name the members that its extensions would add; nothing here reads them.
    router.handler(request as Parameters<typeof router.handler>[0], response as Parameters<typeof router.handler>[1]);
  };
}

const noQuery = new URLSearchParams();

/** Most requests have none; nobody changes what is here. */
const queryOf = (url: string): URLSearchParams => {
  const from = url.indexOf('?');
  return from === -1 ? noQuery : new URLSearchParams(url.slice(from));
};

/** The first two words of a path, which are the same for all routes of a subject (`/api/runs`); a router takes them in any case. */
const subjectOf = (path: string): string => path.split('/', 3).join('/').toLowerCase();

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
