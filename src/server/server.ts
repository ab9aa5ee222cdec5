import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerGround } from '../app-options.ts';
import type { RuntimeClient } from '../client/operations.ts';
import type { RouteClient } from '../client/routes.ts';
import type { Address } from './address.ts';
export { parseAddress } from './address.ts';
import { apiRoutes } from './api-routes.ts';
import { createAuthenticator } from './authenticate.ts';
import { type Authorities, authoritiesOf } from './authorities.ts';
import { createDispatch, type TraceLine } from './dispatch.ts';
import { errorReply, refuse } from './error-body.ts';
import type { StreamLimits } from './event-stream.ts';
import { areaOf, guard, pathOf } from './guard.ts';
import { setSecurityHeaders } from './headers.ts';
import { listen, peerOf } from './listener.ts';
import { createLiveCalls } from './live-calls.ts';
import { createRates, type Rates } from './rates.ts';
import { respond } from './respond.ts';
import type { Route } from './route.ts';
import { systemRoutes } from './system-routes.ts';

export type BeamOptions = {
  readonly client: RuntimeClient;
  /** Those that have routes. */
  readonly operations: RouteClient;
  readonly ground: ServerGround;
  readonly version: string;
  readonly address: Address;
  readonly port: number;
  readonly alsoSix: boolean;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly publicOrigins: readonly string[];
  /** Texts of the signing secret and the access token that override the stored ones. */
  readonly overrides: { readonly secret: Uint8Array | null; readonly token: string | null };
  readonly now: () => number;
  trace(line: TraceLine): void;
  /** Absent: the limits of 09 §10.2. */
  readonly rates?: Rates;
  /** Absent: the limits of 09 §7.4. */
  readonly streams?: StreamLimits;
};

export type Beam = {
  readonly port: number;
  readonly url: string;
  /** Stops accepting, ends the streams, answers what has arrived within 10 s. */
  stop(): Promise<void>;
};

const stopLimitMs = 10_000;

/**
 * Serves the operations of this process. Every request, whatever it asks for, meets the same layers in the same order:
 * headers, guard (Host, Origin, fetch metadata), then the routes with rate, credential, class, mutation rules and body.
 */
export async function startBeam(options: BeamOptions): Promise<Beam> {
  const { now, ground, tls } = options;
  const live = createLiveCalls();
  let authorities: Authorities | null = null;
  let dispatch: ReturnType<typeof createDispatch> | null = null;
  const state = { stopping: false };

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const id = randomUUID();
    const area = areaOf(request.method ?? '', pathOf(request.url ?? ''));
    setSecurityHeaders(response, id, area === 'api' ? null : randomBytes(16).toString('base64'), tls !== null);
    // A client that goes away in the middle of a reply is no fault of ours.
    response.on('error', () => undefined);
    const refused = authorities === null ? refuse('shutting_down', 'Not ready yet.') : guard(request, authorities);
    if (refused !== null || dispatch === null) {
      respond(request, response, errorReply(refused, id));
      return;
    }
    if (area === 'api') dispatch(request, response, { id, peer: peerOf(request) });
    else respond(request, response, errorReply(refuse('route_not_found', 'There is no such page.'), id));
  };

  const { address, port, alsoSix } = options;
  const listener = await listen({ address, port, alsoSix, tls, onRequest });
  authorities = authoritiesOf({
    port: listener.port,
    tls: tls !== null,
    bound: address,
    publicOrigins: options.publicOrigins,
  });
  const authenticator = createAuthenticator({
    ground,
    authorities,
    tls: tls !== null,
    port: listener.port,
    now,
    overrides: options.overrides,
  });
  const own: readonly Route[] = [...systemRoutes({ state })];
  const { client, operations, version, streams } = options;
  const routes: readonly Route[] = [...own, ...apiRoutes({ client, operations, now, version, others: own, streams })];
  dispatch = createDispatch({
    routes,
    rates: options.rates ?? createRates(now),
    live,
    now,
    authenticate: authenticator.authenticate,
    clearCookie: authenticator.clearCookie,
    trace: options.trace,
  });

  const host = address.family === 6 ? `[${address.address}]` : address.address;
  return {
    port: listener.port,
    url: `${tls === null ? 'http' : 'https'}://${host}:${listener.port}`,
    async stop() {
      state.stopping = true;
      live.stop();
      const timer = setTimeout(() => listener.cut(), stopLimitMs);
      await listener.close();
      clearTimeout(timer);
    },
  };
}
