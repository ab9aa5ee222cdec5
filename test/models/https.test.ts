import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createProxy } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundled } from '../support/bundled.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

const tls = new URL('../fixtures/tls/', import.meta.url).pathname;
const cert = join(tls, 'self-signed-cert.pem');

/** Asks twice, one after the other, and prints what came back: Node reads its authorities only when a process starts. */
const child = `
import { createClient } from '${new URL('../../src/models/connection.ts', import.meta.url).pathname}';
import { readText } from '${new URL('../../src/models/stream.ts', import.meta.url).pathname}';
const [base_url, proxy] = process.argv.slice(2);
const timeouts = { connect_ms: 10000, first_byte_ms: 10000, idle_ms: 10000 };
const client = await createClient({ backend: 'b', base_url, key: null, headers: {}, proxy: proxy ?? null, timeouts }, null);
for (let turn = 0; turn < 2; turn += 1) {
  const opened = await client.open({ method: 'POST', path: '/x', accept: '*/*', body: { turn } }, new AbortController().signal);
  if (opened.kind === 'failure') console.log(opened.failure.class + ': ' + opened.failure.message);
  else {
    console.log((await readText(opened.reply.body, 1000)).text);
    opened.reply.body.release(true);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
client.close();
`;

let home: TempHome;
let server: Server;
let port = 0;
let program = '';
const sockets: Duplex[] = [];
const connections: number[] = [];

beforeAll(async () => {
  home = tempHome();
  program = await bundled(home.dir, 'child', child);
  const key = readFileSync(join(tls, 'self-signed-key.pem'));
  server = createServer({ key, cert: readFileSync(cert) }, (request, response) => {
    connections.push(request.socket.remotePort ?? 0);
    request.pipe(response);
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

const run = async (env: Record<string, string>, ...args: readonly string[]): Promise<string[]> => {
  connections.length = 0;
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { env });
  return stdout.trim().split('\n');
};

describe('https (08 §11)', () => {
  it('trusts an authority that NODE_EXTRA_CA_CERTS adds, over one kept connection', async () => {
    expect(await run({ NODE_EXTRA_CA_CERTS: cert }, `https://localhost:${port}`)).toEqual(['{"turn":0}', '{"turn":1}']);
    expect(new Set(connections).size).toBe(1);
  });

  it('refuses an unknown authority, even when the environment says that it should not', async () => {
    const lines = await run({ NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' }, `https://localhost:${port}`);
    const refused = `connect: cannot reach backend "b" at https://localhost:${port}: no known authority has signed its certificate; NODE_EXTRA_CA_CERTS=<file> adds one`;
    expect(lines).toEqual([refused, refused]);
    expect(connections).toEqual([]);
  });

  it('goes through a proxy’s tunnel, over one kept connection', async () => {
    const asked: string[] = [];
    const proxy = createProxy();
    proxy.on('connect', (request, socket) => {
      asked.push(request.url ?? '');
      sockets.push(socket);
      const upstream = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(upstream).pipe(socket);
      });
      upstream.on('error', () => socket.destroy());
      socket.on('error', () => upstream.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const lines = await run({ NODE_EXTRA_CA_CERTS: cert }, 'https://models.example', url);
    expect(lines).toEqual(['{"turn":0}', '{"turn":1}']);
    expect(asked).toEqual(['models.example:443']);
    proxy.close();
    await once(proxy, 'close');
  });
});
