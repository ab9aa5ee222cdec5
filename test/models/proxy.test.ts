import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect as tcpConnect, createServer as createTcpServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../src/models/connection.ts';
import { readText } from '../../src/models/stream.ts';
import { answers, passed, type WireServer, wireServer } from './wire-server.ts';

const timeouts = { connect_ms: 10_000, first_byte_ms: 10_000, idle_ms: 10_000 };
const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const serve = async (...given: Parameters<typeof wireServer>): Promise<WireServer> => {
  const server = await wireServer(...given);
  cleanups.push(() => server.close());
  return server;
};

/** A proxy that forwards plain requests and tunnels to one place, whatever host is asked for. */
async function proxyTo(
  backend: WireServer | null,
): Promise<{ url: string; seen: string[]; auth: unknown[]; sockets: Duplex[] }> {
  const seen: string[] = [];
  const auth: unknown[] = [];
  const sockets: Duplex[] = [];
  const port = backend === null ? 0 : Number(new URL(backend.url).port);
  const server: Server = createServer((asked, response) => {
    seen.push(`${asked.method} ${asked.url}`);
    auth.push(asked.headers['proxy-authorization']);
    const { pathname } = new URL(asked.url ?? '');
    const forward = httpRequest({ port, host: '127.0.0.1', path: pathname, method: asked.method ?? 'GET' }, (reply) => {
      response.writeHead(reply.statusCode ?? 0, reply.headers);
      reply.pipe(response);
    });
    forward.on('error', () => response.destroy());
    asked.pipe(forward);
  });
  server.on('connection', (socket: Socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
  });
  server.on('connect', (asked: IncomingMessage, socket: Duplex) => {
    seen.push(`CONNECT ${asked.url}`);
    auth.push(asked.headers['proxy-authorization']);
    if (backend === null) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const upstream = tcpConnect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    upstream.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return { url: `http://user:pass-word@127.0.0.1:${(server.address() as AddressInfo).port}`, seen, auth, sockets };
}

const wantsUser = 'the proxy answered 407: its URL needs a user and a password, http://user:password@host:port';

const clientOf = async (base_url: string, proxy: string, more: Partial<typeof timeouts> = {}): Promise<Client> => {
  const target = { backend: 'b', base_url, key: null, headers: {}, proxy, timeouts: { ...timeouts, ...more } };
  const client = await createClient(target, null);
  cleanups.push(() => client.close());
  return client;
};
const ask = { method: 'POST', path: '/v1/x', accept: 'application/json', body: { a: 1 } } as const;
const fetchText = async (client: Client, signal = new AbortController().signal): Promise<string> => {
  const opened = await client.open(ask, signal);
  if (opened.kind === 'failure') return `${opened.failure.class}: ${opened.failure.message}`;
  const { text } = await readText(opened.reply.body, 1000);
  opened.reply.body.release(true);
  return text;
};

describe('a proxy (08 §11.1)', () => {
  it('forwards plain requests, over one kept connection', async () => {
    const backend = await serve(answers(200, 'hi'));
    const proxy = await proxyTo(backend);
    const client = await clientOf('http://models.example', proxy.url);
    expect(await fetchText(client)).toBe('hi');
    await passed();
    expect(await fetchText(client)).toBe('hi');
    expect(proxy.seen).toEqual(['POST http://models.example/v1/x', 'POST http://models.example/v1/x']);
    expect(proxy.auth[0]).toBe(`Basic ${Buffer.from('user:pass-word').toString('base64')}`);
    expect(proxy.sockets).toHaveLength(1);
    expect(backend.requests.map((request) => request.body)).toEqual([{ a: 1 }, { a: 1 }]);
  });

  it('gets a CONNECT for an https backend', async () => {
    const backend = await serve(answers(200, 'hi'));
    const proxy = await proxyTo(backend);
    const client = await clientOf('https://models.example:8443', proxy.url);
    // The backend speaks no TLS, so the handshake fails; the tunnel was asked for.
    expect(await fetchText(client)).toContain('connect: cannot reach backend "b" at https://models.example:8443');
    expect(proxy.seen).toEqual(['CONNECT models.example:8443']);
  });

  it('is named when it refuses the tunnel, and gets no request', async () => {
    const proxy = await proxyTo(null);
    const client = await clientOf('https://models.example', proxy.url);
    expect(await fetchText(client)).toBe(
      `connect: cannot reach backend "b" at https://models.example through the proxy ${new URL(proxy.url).origin}: ${wantsUser}`,
    );
    expect(proxy.seen).toEqual(['CONNECT models.example:443']);
  });

  it('is named when it refuses a plain request, which is not tried again', async () => {
    const { url } = await serve(answers(407, '<html>who are you</html>'));
    const opened = await (await clientOf('http://models.example', url)).open(ask, new AbortController().signal);
    expect(opened).toEqual({
      kind: 'failure',
      failure: {
        class: 'connect',
        message: `cannot reach backend "b" at http://models.example through the proxy ${url}: ${wantsUser}`,
        futile: true,
      },
    });
  });

  it('is not used for loopback', async () => {
    const backend = await serve(answers(200, 'direct'));
    const proxy = await proxyTo(backend);
    const client = await clientOf(backend.url, proxy.url);
    expect(await fetchText(client)).toBe('direct');
    expect(proxy.seen).toEqual([]);
  });

  it('counts its own connecting toward the connect limit, and leaves no connection behind', async () => {
    const sockets: Socket[] = [];
    const silent = createTcpServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
      // Read, so that the end of the other side is noticed.
      socket.resume();
    });
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    cleanups.push(async () => {
      silent.close();
      await once(silent, 'close');
    });
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const client = await clientOf('https://models.example', url, { connect_ms: 1_000 });
    expect(await fetchText(client)).toBe('timeout: backend "b" did not accept a connection within 1 s (connect limit)');
    const [socket] = sockets;
    if (socket?.closed === false) await once(socket, 'close');
    expect(sockets).toHaveLength(1);
  });

  it('that is not there is a failed connection', async () => {
    const gone = await wireServer(() => {});
    await gone.close();
    const client = await clientOf('http://models.example', gone.url);
    expect(await fetchText(client)).toBe(
      `connect: cannot reach backend "b" at http://models.example through the proxy ${gone.url}: connection refused`,
    );
  });

  it.each(['http://[', 'socks5://127.0.0.1:1080'])('that is no proxy of ours is refused: %s', async (url) => {
    expect(await fetchText(await clientOf('http://models.example', url))).toBe(
      'invalid_request: the request to backend "b" cannot be sent: its proxy is no http or https URL (HTTP_PROXY, HTTPS_PROXY, or --proxy of the backend)',
    );
  });

  it('is left at once on abort', async () => {
    const backend = await serve(() => {});
    const proxy = await proxyTo(backend);
    const client = await clientOf('http://models.example', proxy.url);
    const stop = new AbortController();
    const answer = fetchText(client, stop.signal);
    while (backend.requests.length === 0) await passed();
    stop.abort();
    expect(await answer).toBe('cancelled: the model call was cancelled');
    const [socket] = proxy.sockets;
    if (socket?.closed === false) await once(socket, 'close');
    expect(proxy.sockets).toHaveLength(1);
  });
});
