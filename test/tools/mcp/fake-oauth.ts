import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** An MCP server that wants a token, and the authorisation server that gives it, at one origin of the loopback. */
export type FakeOauth = {
  readonly url: string;
  readonly tokenRequests: Record<string, string>[];
  readonly registrations: Record<string, unknown>[];
  /** Access tokens that the server takes. */
  readonly valid: Set<string>;
  /** Seconds that a token says it lasts. */
  lifetime: number;
  refusesRefresh: boolean;
  /** Scopes without which no tool is called. */
  wants: string | null;
  metadata: Record<string, unknown>;
  /** The authorisation server that it names; null: itself. */
  issuer: string | null;
  /** Answers with a page wherever nothing of this is, and describes itself at `/about` alone. */
  hasPages: boolean;
  /** Where it says that it is described; null: at itself. */
  describedAt: string | null;
  /** A path whose requests get no answer. */
  silentAt: string | null;
  /** Stands before the giving of tokens: a status and a text go in their place. */
  answersToken: ((given: Record<string, string>) => Promise<readonly [number, string] | null>) | null;
  close(): Promise<void>;
};

export async function fakeOauth(): Promise<FakeOauth> {
  const codes = new Map<string, { readonly challenge: string; readonly redirect: string }>();
  let refreshToken = '';
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', async () => {
      const instead =
        request.url === '/token' ? await fake.answersToken?.(Object.fromEntries(new URLSearchParams(body))) : null;
      if (instead == null) return handle(request, body, response);
      response.writeHead(instead[0], { 'content-type': 'application/json' }).end(instead[1]);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const fake: FakeOauth = {
    url: `${origin}/mcp`,
    tokenRequests: [],
    registrations: [],
    valid: new Set(),
    lifetime: 3600,
    refusesRefresh: false,
    wants: null,
    hasPages: false,
    describedAt: null,
    silentAt: null,
    issuer: null,
    answersToken: null,
    metadata: {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  const json = (response: ServerResponse, value: unknown, status = 200): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
  const tokens = (response: ServerResponse): void => {
    const access_token = `at-${randomBytes(12).toString('hex')}`;
    refreshToken = `rt-${randomBytes(12).toString('hex')}`;
    fake.valid.add(access_token);
    json(response, { access_token, token_type: 'Bearer', expires_in: fake.lifetime, refresh_token: refreshToken });
  };

  function handle(request: IncomingMessage, body: string, response: ServerResponse): unknown {
    const url = new URL(request.url ?? '/', origin);
    if (url.pathname === fake.silentAt) return;
    if (fake.hasPages && url.pathname.startsWith('/.well-known/')) {
      return response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>');
    }
    switch (url.pathname) {
      case '/about':
      case '/.well-known/oauth-protected-resource/mcp':
        return json(response, {
          resource: fake.url,
          authorization_servers: [fake.issuer ?? origin],
          scopes_supported: ['tools'],
        });
      case '/.well-known/oauth-authorization-server':
        return json(response, fake.metadata);
      case '/register': {
        const wanted = JSON.parse(body) as Record<string, unknown>;
        fake.registrations.push(wanted);
        return json(response, { ...wanted, client_id: 'client-1' }, 201);
      }
      case '/authorize': {
        const code = randomBytes(8).toString('hex');
        const redirect = url.searchParams.get('redirect_uri') ?? '';
        codes.set(code, { challenge: url.searchParams.get('code_challenge') ?? '', redirect });
        const back = new URL(redirect);
        back.searchParams.set('code', code);
        back.searchParams.set('state', url.searchParams.get('state') ?? '');
        return response.writeHead(302, { location: back.href }).end();
      }
      case '/token': {
        const given = Object.fromEntries(new URLSearchParams(body));
        fake.tokenRequests.push(given);
        if (given['grant_type'] === 'refresh_token') {
          if (fake.refusesRefresh || given['refresh_token'] !== refreshToken) {
            return json(response, { error: 'invalid_grant' }, 400);
          }
          return tokens(response);
        }
        const found = codes.get(given['code'] ?? '');
        const challenge = createHash('sha256')
          .update(given['code_verifier'] ?? '')
          .digest('base64url');
        if (found === undefined || found.challenge !== challenge)
          return json(response, { error: 'invalid_grant' }, 400);
        return tokens(response);
      }
      case '/mcp':
        return mcp(request, body, response);
      default:
        response.writeHead(404).end();
    }
  }

  function mcp(request: IncomingMessage, body: string, response: ServerResponse): unknown {
    const token = /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined || !fake.valid.has(token)) {
      const metadata =
        fake.describedAt ?? `${origin}${fake.hasPages ? '/about' : '/.well-known/oauth-protected-resource/mcp'}`;
      const first = fake.hasPages ? 'Basic realm="team, all", ' : '';
      response.writeHead(401, { 'www-authenticate': `${first}Bearer resource_metadata="${metadata}"` }).end();
      return;
    }
    const message = body === '' ? null : (JSON.parse(body) as { id?: number; method?: string });
    if (request.method !== 'POST' || message === null) return response.writeHead(405).end();
    if (message.method === 'tools/call' && fake.wants !== null) {
      const challenge = `Bearer error="insufficient_scope", scope="${fake.wants}"`;
      return response.writeHead(403, { 'www-authenticate': challenge }).end();
    }
    if (message.id === undefined) return response.writeHead(202).end();
    const result =
      message.method === 'initialize'
        ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'f', version: '1' } }
        : message.method === 'tools/list'
          ? { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }
          : { content: [{ type: 'text', text: 'served' }] };
    json(response, { jsonrpc: '2.0', id: message.id, result });
  }
  return fake;
}
