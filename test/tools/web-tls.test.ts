import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundled } from '../support/bundled.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

const tls = new URL('../fixtures/tls/', import.meta.url).pathname;
const cert = join(tls, 'self-signed-cert.pem');

/** Asks once, and prints what came back: Node reads its authorities only when a process starts. */
const child = `
import { exchange } from '${new URL('../../src/tools/web-request.ts', import.meta.url).pathname}';
import { parseTarget } from '${new URL('../../src/tools/egress.ts', import.meta.url).pathname}';
const [url, proxy] = process.argv.slice(2);
const reply = await exchange({
  target: parseTarget(url), method: 'GET', headers: {}, body: null, addresses: [{ address: '127.0.0.1', family: 4 }],
  proxy: proxy === undefined ? null : new URL(proxy), connectMs: 10000, totalMs: 10000, maxBodyBytes: 1000,
}, new AbortController().signal);
console.log(reply.kind === 'reply' ? reply.status + ' ' + reply.body : reply.reason);
`;

let home: TempHome;
let server: Server;
let port = 0;
/** The program that asks once. */
let requests = '';
const sockets: Duplex[] = [];
const asked: string[] = [];

beforeAll(async () => {
  home = tempHome();
  requests = await bundled(home.dir, 'requests', child);
  // It is what is asked, and a proxy that leads to itself.
  server = createServer(
    { key: readFileSync(join(tls, 'self-signed-key.pem')), cert: readFileSync(cert) },
    (request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.end('here');
    },
  );
  server.on('connect', (request, socket: Duplex) => {
    asked.push(`CONNECT ${request.url} ${request.headers['proxy-authorization'] ?? ''}`);
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  server.on('connection', (socket: Socket) => void sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, 'close');
  home.remove();
});

const ask = async (env: Record<string, string>, args: readonly string[]): Promise<string> => {
  asked.length = 0;
  const { stdout } = await promisify(execFile)(process.execPath, [...args], { env });
  return stdout.trim();
};
const unverified = { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' };

it('verifies certificates, also where the environment says that it should not', async () => {
  expect(await ask({ NODE_EXTRA_CA_CERTS: cert }, [requests, `https://localhost:${port}/a`])).toBe('200 here');
  for (const proxy of [[], [`https://localhost:${port}`]]) {
    expect(await ask(unverified, [requests, `https://localhost:${port}/a`, ...proxy])).toMatch(/self.signed/i);
    expect(asked).toEqual([]);
  }
});

it('speaks TLS to a proxy whose URL says so, as itself', async () => {
  const proxy = `https://u:p%3A@127.0.0.1:${port}`;
  const env = { NODE_EXTRA_CA_CERTS: cert };
  expect(await ask(env, [requests, 'http://elsewhere.example/a', proxy])).toBe('200 here');
  expect(asked).toEqual(['GET http://elsewhere.example/a']);
  expect(await ask(env, [requests, 'https://models.example/b', proxy])).toBe('200 here');
  expect(await ask(env, [requests, `https://127.0.0.1:${port}/c`, proxy])).toBe('200 here');
  expect(asked).toEqual([`CONNECT 127.0.0.1:${port} Basic dTpwOg==`, 'GET /c']);
  expect(await ask(env, [requests, 'https://elsewhere.example/b', proxy])).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
});

it('verifies those of tool servers, too', async () => {
  const fetches = await bundled(
    home.dir,
    'fetches',
    `
import { createFetch } from '${new URL('../../src/tools/mcp/fetch.ts', import.meta.url).pathname}';
import { createEgress } from '${new URL('../../src/tools/egress.ts', import.meta.url).pathname}';
const lookup = async () => [{ address: '127.0.0.1', family: 4 }];
const egress = createEgress({ privateHosts: ['localhost'], ownPorts: () => [], lookup });
const { fetch, close } = createFetch({ egress, origin: null, headers: () => ({}), bearer: async () => null, userAgent: 'x' });
await fetch(process.argv[2]).then(async (response) => console.log(await response.text()), (error) => console.log(error.message));
close();
`,
  );
  expect(await ask({ NODE_EXTRA_CA_CERTS: cert }, [fetches, `https://localhost:${port}/a`])).toBe('here');
  expect(await ask(unverified, [fetches, `https://localhost:${port}/a`])).toMatch(/self.signed/i);
});
