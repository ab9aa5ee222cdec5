import { randomBytes } from 'node:crypto';
import type {
  OAuthClientInformationMixed,
  AuthorizationServerMetadata,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { isSendable } from './credentials.ts';
import type { Fetch } from './fetch.ts';
import { codeInTime, listenForAnswer } from './sign-in-answer.ts';
import { asRefusal, refused } from './sign-in-refusal.ts';
import { type Auth, briefly, findSignInServer, type SignInServer } from './sign-in-server.ts';

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
  /** Of the registration, for what an operator can do. */
  readonly name: string;
  readonly serverUrl: string;
  readonly fetch: Fetch;
  /** A client that the operator has registered; null = one is registered now. */
  readonly client: { readonly id: string; readonly secret: string | null } | null;
  readonly scopes: string | null;
  /** What an earlier sign-in has left. */
  readonly before: SignedClient | null;
  /** Where the operator has to go. */
  onUrl(url: string): void;
  /** Is told what nobody may see, before a server gets it and may repeat it in its own words. */
  onSecret(value: string): void;
  readonly timeoutMs: number;
  readonly now: () => number;
};

/**
 * Has the operator sign in with a browser: authorisation code with PKCE, answered on the loopback (05 §10.8).
 * @throws RuntimeError mcp_error when the server refuses or cannot be used so, timeout when nobody answers, cancelled
 */
export async function signIn(
  options: SignInOptions,
  signal: AbortSignal,
): Promise<{ readonly client: SignedClient; readonly tokens: Tokens }> {
  const auth = await import('@modelcontextprotocol/sdk/client/auth.js');
  const fetch = briefly(options.fetch);
  const found = await findSignInServer(options, auth);
  const { metadata, server, resource, scope } = found;
  checkBinding(options, server);
  const state = randomBytes(24).toString('base64url');
  const issuer = metadata?.issuer ?? null;
  const listener = await listenForAnswer(state, { issuer, isNamed: namesIssuer(metadata) }, options.client === null);
  try {
    const { redirect } = listener;
    const information = await clientOf({ ...options, fetch }, found, redirect, auth.registerClient);
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
    const authorizationCode = await codeInTime(listener.code, options.timeoutMs, signal);
    for (const value of [authorizationCode, codeVerifier, information.client_secret]) {
      if (value !== undefined) options.onSecret(value);
    }
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
  const errors = await import('@modelcontextprotocol/sdk/server/auth/errors.js');
  const { OAuthError, ServerError, TemporarilyUnavailableError, TooManyRequestsError } = errors;
  // What passes is no refusal: whoever is signed in stays so.
  const passing = [ServerError, TemporarilyUnavailableError, TooManyRequestsError];
  try {
    const tokens = await refreshAuthorization(client.authorization_server, {
      ...(client.metadata === null ? {} : { metadata: client.metadata }),
      clientInformation: client.information,
      refreshToken,
      resource: client.resource,
      fetchFn: briefly(fetch),
    });
    return asTokens(tokens, refreshToken, now);
  } catch (error) {
    if (error instanceof OAuthError && !passing.some((one) => error instanceof one)) return null;
    throw asRefusal(error);
  }
}

/** RFC 9207: its answers say whose they are, so that one without it is of somebody else. */
const namesIssuer = (metadata: AuthorizationServerMetadata | undefined): boolean =>
  metadata !== undefined &&
  'authorization_response_iss_parameter_supported' in metadata &&
  metadata.authorization_response_iss_parameter_supported === true;

/**
 * A client that the operator has registered belongs to the authorisation server that it was first used with. The server
 * whose tools are wanted names that one anew each time, and could have the client's secret sent wherever it likes.
 */
function checkBinding({ name, client, before }: SignInOptions, server: string): void {
  if (client === null || before === null || before.dynamic) return;
  if (before.information.client_id !== client.id || before.authorization_server === server) return;
  throw refused(
    `it names the authorisation server ${server.slice(0, 200)} now, and the client "${client.id}" belongs to ` +
      `${before.authorization_server}; where that is meant: reins mcp update ${name} --oauth-client-id ${client.id}`,
  );
}

async function clientOf(
  { client, before, fetch }: SignInOptions,
  { server, metadata, scope }: SignInServer,
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
  if (!isSendable(access_token)) throw refused('the token that it gives cannot be sent: it is no line of plain text');
  return {
    access_token,
    refresh_token: refresh_token ?? before,
    expires_at: expires_in === undefined ? null : now + expires_in * 1000,
  };
}
