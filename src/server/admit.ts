import type { IncomingMessage } from 'node:http';
import { principalKey, type Principal } from '../schema/login.ts';
import { checkAccess, type Presented } from './access.ts';
import { checkMediaType, hasBody, jsonBodyBytes, readJson } from './body.ts';
import { refuse } from './error-body.ts';
import type { LiveCall } from './live-calls.ts';
import { peerBucket, type Rates } from './rates.ts';
import type { Peer, Route } from './route.ts';

export type AdmitDeps = {
  readonly rates: Rates;
  readonly now: () => number;
  /** The client is what a tool call has started. */
  comesFromTool(request: IncomingMessage): boolean;
  /** Nothing is begun any more. */
  isStopping(): boolean;
  /** What is said of a path that has no route, or not for this method. */
  noRoute(request: IncomingMessage): Error;
};

/** A request that the guard has let in, and that has shown who it comes from. */
export type Arrived = {
  readonly request: IncomingMessage;
  readonly peer: Peer;
  readonly route: Route | null;
  readonly presented: Presented;
  readonly live: LiveCall;
};

/** A request that its handler may answer. */
export type Admitted = {
  readonly route: Route;
  /** Null on a public route, whatever was presented there. */
  readonly principal: Principal | null;
  readonly body: unknown;
};

/**
 * Steps 5 to 9 of the gate (09 §3): rate, route, credential and class, mutation rules, body.
 * @throws RuntimeError the first refusal; nothing behind it was looked at
 */
export async function admit(deps: AdmitDeps, { request, peer, route, presented, live }: Arrived): Promise<Admitted> {
  takeRate(deps.rates, presented, peer);
  // On whichever address it came: every address of this machine leads here from within, too.
  if (presented.kind === 'valid' && deps.comesFromTool(request)) {
    throw refuse('not_allowed', 'What a tool call has started is not served.');
  }
  const refused = checkAccess(route ?? { access: 'any' }, presented, deps.now());
  if (refused !== null) throw refused;
  if (route === null) throw deps.noRoute(request);
  if (deps.isStopping() && route.method !== 'GET') throw refuse('shutting_down', 'The server is stopping.');
  const principal = usable(request, route, presented);
  const body = await bodyOf(request, route);
  // The body may have taken a minute to come.
  if (live.ended() === 'credential') throw refuse('invalid_token', 'The session has ended meanwhile.');
  return { route, principal, body };
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
