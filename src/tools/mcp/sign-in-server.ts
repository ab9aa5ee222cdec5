import type { AuthorizationServerMetadata } from '@modelcontextprotocol/sdk/shared/auth.js';
import { isLoopbackHost } from '../../text/loopback.ts';
import type { Fetch } from './fetch.ts';
import { asRefusal, refused } from './sign-in-refusal.ts';

type Wanted = { readonly serverUrl: string; readonly fetch: Fetch; readonly scopes: string | null };

export type Auth = typeof import('@modelcontextprotocol/sdk/client/auth.js');

/** Who signs people in, and for what. */
export type SignInServer = {
  readonly server: string;
  readonly metadata: AuthorizationServerMetadata | undefined;
  readonly resource: string;
  readonly scope: string | null;
};

/** A server may offer other schemes first, and the library looks at the first one alone. */
function bearerChallenge({ headers, status }: Response): Response {
  const said = headers.get('www-authenticate') ?? '';
  const bearer = /(?:^|,)\s*(Bearer\s.*)$/i.exec(said)?.[1];
  return new Response(null, { status, headers: bearer === undefined ? {} : { 'www-authenticate': bearer } });
}

/** What a sign-in needs is a few kilobytes, and what is known of a client is kept. */
const maxAnswerBytes = 1024 * 1024;

/** A fetch whose answers are no larger than those of a sign-in. */
export const briefly =
  (fetch: Fetch): Fetch =>
  async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const text = await response.text();
    if (Buffer.byteLength(text) > maxAnswerBytes) {
      throw refused(`an answer of its sign-in is larger than ${maxAnswerBytes} bytes`);
    }
    return new Response(text, { status: response.status, headers: response.headers });
  };

/** Sites that answer every path with their page have no description there: it is as if there were nothing. */
const describing =
  (fetch: Fetch, serverUrl: string): Fetch =>
  async (url, init) => {
    checkEncrypted(String(url), serverUrl);
    const response = await fetch(url, init);
    const isDescription = /\bjson\b/i.test(response.headers.get('content-type') ?? 'json');
    if (!response.ok || isDescription || !new URL(url).pathname.includes('/.well-known/')) return response;
    await response.body?.cancel();
    return new Response(null, { status: 404 });
  };

/** Who signs people in for this server, and on what terms. @throws RuntimeError mcp_error */
export async function findSignInServer({ serverUrl, fetch, scopes }: Wanted, auth: Auth): Promise<SignInServer> {
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
    // The library goes on without a description that it does not get.
    if (said.resourceMetadataUrl !== undefined) checkEncrypted(said.resourceMetadataUrl.href, serverUrl);
    const info = await auth.discoverOAuthServerInfo(serverUrl, {
      ...(said.resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: said.resourceMetadataUrl }),
      fetchFn: describing(briefly(fetch), serverUrl),
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

/** Over HTTPS, loopback excepted, and before anything is asked there. The server itself is reached as it was registered. */
function checkEncrypted(url: string, serverUrl: string): void {
  const { protocol, hostname, origin } = new URL(url);
  if (protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))) return;
  if (origin === new URL(serverUrl).origin && protocol === 'http:') return;
  throw refused(`its sign-in is not encrypted (${origin})`);
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
    if (protocol !== 'https:' && !(protocol === 'http:' && isLoopbackHost(hostname))) {
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
