import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerGround } from '../app-options.ts';
import type { RuntimeClient } from '../client/operations.ts';
import type { RouteClient } from '../client/routes.ts';
import { accountRoutes } from './account.ts';
import { apiRoutes } from './api-routes.ts';
import { createAuthenticator } from './authenticate.ts';
import { type Authorities, authoritiesOf } from './authorities.ts';
import { createDispatch, type TraceLine } from './dispatch.ts';
import { errorReply, refuse } from './error-body.ts';
import type { BindPlan } from './bind.ts';
import type { StreamLimits } from './event-stream.ts';
import { areaOf, guard, methods, pathOf } from './guard.ts';
import { setSecurityHeaders } from './headers.ts';
import { listen, peerOf } from './listener.ts';
import { createLiveCalls } from './live-calls.ts';
import { type LoginDeps, loginRoutes } from './login.ts';
import { createOperator } from './operator.ts';
import { createRates, type Rates } from './rates.ts';
import { respond } from './respond.ts';
import type { Route } from './route.ts';
import { createStatic } from './static.ts';
import { systemRoutes } from './system-routes.ts';
import { createThrottle } from './throttle.ts';
import { createToolClients } from './tool-clients.ts';

export type BeamOptions = {
  readonly client: RuntimeClient;
  /** Those that have routes. */
  readonly operations: RouteClient;
  readonly ground: ServerGround;
  readonly version: string;
  readonly bind: BindPlan;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Directory URL of the built application. */
  readonly web: URL;
  /** Texts of the signing secret and the access token that override the stored ones. */
  readonly overrides: { readonly secret: Uint8Array | null; readonly token: string | null };
  readonly now: () => number;
  trace(line: TraceLine): void;
  loginFailed(peer: string, route: string): void;
  /** The program's files are those of another build; called once. */
  replaced(): void;
  /** Absent: the limits of 09 §10.2. */
  readonly rates?: Rates;
  /** Absent: the limits of 09 §7.4. */
  readonly streams?: StreamLimits;
  /** Time limits of a request in milliseconds; those of 09 §2 unless a test gives shorter ones. */
  readonly limits?: { readonly headersMs: number; readonly requestMs: number };
  /** Of bcrypt; 12 unless a test of something else gives less. */
  readonly passwordCost?: number;
};

export type Beam = {
  readonly port: number;
  readonly url: string;
  /** Stops accepting, ends the streams, answers what has arrived within 10 s. */
  stop(): Promise<void>;
};

const stopLimitMs = 10_000;
/** How often streams are held against the sessions they belong to. */
const recheckMs = 500;
const pruneMs = 6 * 3_600_000;

/** What a server is while it runs: the requests that are being answered, and whether it stops. */
type Life = { readonly live: ReturnType<typeof createLiveCalls>; stopping: boolean };

/** Who answers, once it is known where the server listens. */
type Service = {
  readonly authorities: Authorities;
  readonly authenticator: ReturnType<typeof createAuthenticator>;
  readonly dispatch: ReturnType<typeof createDispatch>;
};

/**
 * Serves the operations of this process. Every request, whatever it asks for, meets the same layers in the same order:
 * headers, guard (Host, Origin, fetch metadata), then the routes with rate, credential, class, mutation rules and body.
 */
export async function startBeam(options: BeamOptions): Promise<Beam> {
  const { ground, tls, limits } = options;
  const { address, port, alsoSix } = options.bind;
  const life: Life = { live: createLiveCalls(), stopping: false };
  let service: Service | null = null;
  const onRequest = requestHandler(options, () => service);
  const listener = await listen({ address, port, alsoSix, tls, onRequest, limits });
  service = createService(options, life, listener.port);

  const { isValid } = service.authenticator;
  const recheck = setInterval(() => life.live.recheck(isValid), recheckMs);
  const prune = setInterval(() => tidy(ground), pruneMs);
  tidy(ground);

  const host = address.family === 6 ? `[${address.address}]` : address.address;
  return {
    port: listener.port,
    url: `${tls === null ? 'http' : 'https'}://${host}:${listener.port}`,
    async stop() {
      life.stopping = true;
      clearInterval(recheck);
      clearInterval(prune);
      life.live.stop();
      const timer = setTimeout(() => listener.cut(), stopLimitMs);
      await listener.close();
      clearTimeout(timer);
    },
  };
}

/** The layers that every request meets; `current` is null until the server knows its own names. */
function requestHandler(options: BeamOptions, current: () => Service | null) {
  const files = createStatic(options.web, options.replaced);
  return (request: IncomingMessage, response: ServerResponse): void => {
    const service = current();
    const id = randomUUID();
    const area = areaOf(request.method ?? '', pathOf(request.url ?? ''));
    const nonce = area === 'api' ? null : randomBytes(16).toString('base64');
    setSecurityHeaders(response, id, nonce, options.tls !== null);
    // A client that goes away in the middle of a reply is no fault of ours.
    response.on('error', () => undefined);
    const refused = service === null ? refuse('shutting_down', 'Not ready yet.') : guard(request, service.authorities);
    if (refused !== null || service === null) {
      if (refused?.code === 'method_not_allowed') response.setHeader('Allow', [...methods].join(', '));
      respond(request, response, errorReply(refused, id));
      return;
    }
    if (nonce === null) service.dispatch(request, response, { id, peer: peerOf(request) });
    else files(request, response, { id, nonce });
  };
}

/** @param port where it listens: names, cookies and links have it in them */
function createService(options: BeamOptions, life: Life, port: number): Service {
  const { ground, now, tls, bind } = options;
  const secure = tls !== null;
  const authorities = authoritiesOf({
    port,
    tls: secure,
    bound: bind.address,
    publicOrigins: bind.publicOrigins,
  });
  const { overrides } = options;
  const authenticator = createAuthenticator({ ground, authorities, tls: secure, port, now, overrides });
  const dispatch = createDispatch({
    routes: routesOf(options, life, { authorities, authenticator }),
    rates: options.rates ?? createRates(now),
    live: life.live,
    now,
    authenticate: authenticator.authenticate,
    clearCookie: authenticator.clearCookie,
    trace: options.trace,
    comesFromTool: createToolClients(ground, now),
    isStopping: () => life.stopping,
  });
  return { authorities, authenticator, dispatch };
}

function routesOf(
  options: BeamOptions,
  life: Life,
  { authorities, authenticator }: Pick<Service, 'authorities' | 'authenticator'>,
): readonly Route[] {
  const { client, operations, ground, version, now, streams, passwordCost } = options;
  const login: LoginDeps = {
    logins: ground.logins,
    operator: createOperator({
      logins: ground.logins,
      ...(passwordCost === undefined ? {} : { cost: passwordCost }),
    }),
    authenticator,
    throttle: createThrottle(ground.logins),
    authorities,
    listensLocally: options.bind.address.loopback,
    isOwnAccount: ground.isOwnAccount,
    allowDefaultLogin: () => ground.settings().allowDefaultLogin,
    now,
    loginFailed: options.loginFailed,
  };
  const others = [...systemRoutes({ state: life }), ...loginRoutes(login), ...accountRoutes(login)];
  const { reinsHome, repeats } = ground;
  const { cookieName } = authenticator;
  const api = apiRoutes({ client, operations, now, version, others, streams, reinsHome, repeats, cookieName });
  return [...others, ...api];
}

/** What cannot be removed now is removed the next time. */
function tidy({ logins, repeats }: ServerGround): void {
  try {
    logins.prune();
    repeats.prune();
  } catch {
    // Another process writes, or the disk is full.
  }
}
