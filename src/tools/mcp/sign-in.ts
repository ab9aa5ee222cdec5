import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type {
  OAuthClientInformationMixed,
  AuthorizationServerMetadata,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { RuntimeError } from '../../schema/errors.ts';
import { codeOf } from '../failure.ts';
import type { Fetch } from './fetch.ts';

/** A client as an authorisation server knows it, and where that server is: plain JSON. */
export type SignedClient = {
  readonly information: OAuthClientInformationMixed;
  readonly authorization_server: string;
  readonly metadata: AuthorizationServerMetadata | null;
  readonly resource: string;
  readonly redirect: string;
  readonly dynamic: boolean;
};

export type Tokens = {
  readonly access_token: string;
  readonly refresh_token: string | null;
  /** Milliseconds since the epoch; null = the server did not say. */
  readonly expires_at: number | null;
};

export type SignInOptions = {
  readonly serverUrl: string;
  readonly fetch: Fetch;
  /** A client that the operator has registered; null = one is registered now. */
  readonly client: { readonly id: string; readonly secret: string | null } | null;
  readonly scopes: string | null;
  /** What an earlier sign-in has left. */
  readonly before: SignedClient | null;
  /** Where the operator has to go. */
  onUrl(url: string): void;
  readonly timeoutMs: number;
  readonly now: () => number;
};

/** 05 §10.8.3. */
const fixedPort = 49_152;

/**
 * Has the operator sign in with a browser: authorisation code with PKCE, answered on the loopback (05 §10.8).
 * @throws RuntimeError mcp_error when the server refuses or cannot be used so, timeout when nobody answers, cancelled
 */
export async function signIn(
  options: SignInOptions,
  signal: AbortSignal,
): Promise<{ readonly client: SignedClient; readonly tokens: Tokens }> {
  const auth = await import('@modelcontextprotocol/sdk/client/auth.js');
  const { fetch } = options;
  const found = await discovered(options, auth);
  const { metadata, server, resource, scope } = found;
  const state = randomBytes(24).toString('base64url');
  const listener = await listen(state, metadata?.issuer ?? null, options.client === null);
  try {
    const { redirect } = listener;
    const information = await clientOf(options, found, redirect, auth.registerClient);
    const client: SignedClient = {
      information,
      authorization_server: server,
      metadata: metadata ?? null,
      resource,
      redirect,
      dynamic: options.client === null,
    };
    const { authorizationUrl, codeVerifier } = await auth.startAuthorization(server, {
      ...(metadata === undefined ? {} : { metadata }),
      clientInformation: information,
      redirectUrl: redirect,
      ...(scope === null ? {} : { scope }),
      state,
      resource,
    });
    options.onUrl(authorizationUrl.href);
    const authorizationCode = await answered(listener.code, options.timeoutMs, signal);
    const tokens = await auth.exchangeAuthorization(server, {
      ...(metadata === undefined ? {} : { metadata }),
      clientInformation: information,
      authorizationCode,
      codeVerifier,
      redirectUri: redirect,
      resource,
      fetchFn: fetch,
    });
    return { client, tokens: asTokens(tokens, null, options.now()) };
  } catch (error) {
    throw asRefusal(error);
  } finally {
    listener.close();
  }
}

/** @returns new tokens; null when the server refuses, so that somebody has to sign in again. @throws RuntimeError mcp_error */
export async function refreshTokens(
  client: SignedClient,
  refreshToken: string,
  fetch: Fetch,
  now: number,
): Promise<Tokens | null> {
  const { refreshAuthorization } = await import('@modelcontextprotocol/sdk/client/auth.js');
  const { OAuthError, ServerError } = await import('@modelcontextprotocol/sdk/server/auth/errors.js');
  try {
    const tokens = await refreshAuthorization(client.authorization_server, {
      ...(client.metadata === null ? {} : { metadata: client.metadata }),
      clientInformation: client.information,
      refreshToken,
      resource: client.resource,
      fetchFn: fetch,
    });
    return asTokens(tokens, refreshToken, now);
  } catch (error) {
    if (error instanceof OAuthError && !(error instanceof ServerError)) return null;
    throw asRefusal(error);
  }
}

type Auth = typeof import('@modelcontextprotocol/sdk/client/auth.js');
type Found = {
  readonly server: string;
  readonly metadata: AuthorizationServerMetadata | undefined;
  readonly resource: string;
  readonly scope: string | null;
};

const refused = (message: string): RuntimeError => new RuntimeError('mcp_error', message);

/** A server may offer other schemes first, and the library looks at the first one alone. */
function bearerChallenge({ headers, status }: Response): Response {
  const said = headers.get('www-authenticate') ?? '';
  const bearer = /(?:^|,)\s*(Bearer\s.*)$/i.exec(said)?.[1];
  return new Response(null, { status, headers: bearer === undefined ? {} : { 'www-authenticate': bearer } });
}

/** Sites that answer every path with their page have no description there: it is as if there were nothing. */
const describing =
  (fetch: Fetch): Fetch =>
  async (url, init) => {
    const response = await fetch(url, init);
    const isDescription = /\bjson\b/i.test(response.headers.get('content-type') ?? 'json');
    if (!response.ok || isDescription || !new URL(url).pathname.includes('/.well-known/')) return response;
    await response.body?.cancel();
    return new Response(null, { status: 404 });
  };

/** Who signs people in for this server, and on what terms. */
async function discovered({ serverUrl, fetch, scopes }: SignInOptions, auth: Auth): Promise<Found> {
  const { checkResourceAllowed, resourceUrlFromServerUrl } = await import(
    '@modelcontextprotocol/sdk/shared/auth-utils.js'
  );
  try {
    const probe = await fetch(serverUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', method: 'ping', id: 0 }),
    });
    const said = auth.extractWWWAuthenticateParams(bearerChallenge(probe));
    await probe.body?.cancel();
    const info = await auth.discoverOAuthServerInfo(serverUrl, {
      ...(said.resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: said.resourceMetadataUrl }),
      fetchFn: describing(fetch),
    });
    const { authorizationServerMetadata: metadata, resourceMetadata } = info;
    const server = String(info.authorizationServerUrl);
    checkServer(server, metadata);
    const own = resourceUrlFromServerUrl(new URL(serverUrl));
    const named = resourceMetadata?.resource;
    if (named !== undefined && !checkResourceAllowed({ requestedResource: own, configuredResource: named })) {
      throw refused(`the server says that its tokens are for another resource (${named.slice(0, 200)})`);
    }
    const scope = scopes ?? said.scope ?? resourceMetadata?.scopes_supported?.join(' ') ?? null;
    return { server, metadata, resource: named ?? own.href, scope };
  } catch (error) {
    throw asRefusal(error);
  }
}

/** All of it over HTTPS, loopback excepted; the issuer is who it says; PKCE is offered. */
function checkServer(server: string, metadata: AuthorizationServerMetadata | undefined): void {
  const endpoints = [
    server,
    metadata?.authorization_endpoint,
    metadata?.token_endpoint,
    metadata?.registration_endpoint,
  ];
  for (const url of endpoints) {
    if (url === undefined) continue;
    const { protocol, hostname } = new URL(url);
    const loopback = hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
    if (protocol !== 'https:' && !(protocol === 'http:' && loopback)) {
      throw refused(`its sign-in is not encrypted (${new URL(url).origin})`);
    }
  }
  if (metadata === undefined) return;
  const plain = (url: string): string => url.replace(/\/+$/, '');
  if (plain(metadata.issuer) !== plain(server)) {
    throw refused(`its authorisation server calls itself ${metadata.issuer.slice(0, 200)} and not ${server}`);
  }
  if (metadata.code_challenge_methods_supported?.includes('S256') !== true) {
    throw refused('its authorisation server does not offer PKCE with S256');
  }
}

async function clientOf(
  { client, before, fetch }: SignInOptions,
  { server, metadata, scope }: Found,
  redirect: string,
  register: Auth['registerClient'],
): Promise<OAuthClientInformationMixed> {
  if (client !== null) {
    return { client_id: client.id, ...(client.secret === null ? {} : { client_secret: client.secret }) };
  }
  if (before?.dynamic === true && before.authorization_server === server && before.redirect === redirect) {
    return before.information;
  }
  return register(server, {
    ...(metadata === undefined ? {} : { metadata }),
    clientMetadata: {
      client_name: 'Reins',
      redirect_uris: [redirect],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      ...(scope === null ? {} : { scope }),
    },
    fetchFn: fetch,
  });
}

/**
 * Waits on the loopback for the one answer that carries `state`; anything else is told that it is not meant.
 * @param anyPort another port will do where the fixed one is taken
 */
async function listen(state: string, issuer: string | null, anyPort: boolean) {
  let settle: (found: { readonly code: string } | { readonly error: RuntimeError }) => void = () => {};
  const found = new Promise<{ readonly code: string } | { readonly error: RuntimeError }>((resolve) => {
    settle = resolve;
  });
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const reply = (status: number, text: string): void => {
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
      response.end(`${text}\n`);
    };
    if (url.pathname !== '/callback') return reply(404, 'There is nothing here.');
    if (url.searchParams.get('state') !== state) return reply(400, 'This sign-in was not asked for.');
    const from = url.searchParams.get('iss');
    const error = url.searchParams.get('error');
    const code = url.searchParams.get('code');
    if (from !== null && issuer !== null && from !== issuer) {
      reply(400, 'This answer comes from somewhere else.');
      settle({ error: refused('the answer names another issuer') });
    } else if (error !== null || code === null) {
      reply(200, 'The sign-in was refused. You can close this page.');
      settle({ error: refused(`the sign-in was refused (${(error ?? 'no code').slice(0, 100)})`) });
    } else {
      reply(200, 'You are signed in. You can close this page.');
      settle({ code });
    }
  });
  const port = await bind(server, fixedPort).catch((error: unknown) => {
    if (anyPort && codeOf(error) === 'EADDRINUSE') return bind(server, 0);
    throw refused(
      `port ${fixedPort} of the loopback, where the answer comes in, cannot be used: ${codeOf(error) ?? ''}`,
    );
  });
  return {
    redirect: `http://127.0.0.1:${port}/callback`,
    code: found.then((one) => {
      if ('error' in one) throw one.error;
      return one.code;
    }),
    close(): void {
      server.close();
      server.closeIdleConnections();
    },
  };
}

function bind(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function answered(code: Promise<string>, timeoutMs: number, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new RuntimeError('timeout', `nobody signed in within ${Math.round(timeoutMs / 60_000)} minutes`)),
      timeoutMs,
    );
    const abort = (): void => reject(new RuntimeError('cancelled', 'cancelled'));
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    code.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    });
  });
}

function asTokens(
  given: {
    readonly access_token: string;
    readonly refresh_token?: string | undefined;
    readonly expires_in?: number | undefined;
  },
  before: string | null,
  now: number,
): Tokens {
  const { access_token, refresh_token, expires_in } = given;
  return {
    access_token,
    refresh_token: refresh_token ?? before,
    expires_at: expires_in === undefined ? null : now + expires_in * 1000,
  };
}

function asRefusal(error: unknown): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const text = error instanceof Error ? error.message : String(error);
  return refused(text.replace(/\s+/g, ' ').slice(0, 500));
}
