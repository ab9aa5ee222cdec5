import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../src/models/connection.ts';
import { createModel } from '../../src/models/providers.ts';
import { readText } from '../../src/models/stream.ts';
import { answers, collect, inTurn, passed, request, routeTo, type WireServer, wireServer } from './wire-server.ts';

const timeouts = { connect_ms: 10_000, first_byte_ms: 10_000, idle_ms: 10_000 };
const target = (base_url: string, more = {}) => ({
  backend: 'b',
  base_url,
  key: null,
  headers: {},
  proxy: null,
  timeouts,
  ...more,
});
const never = new AbortController().signal;
const ask = { method: 'GET', path: '/x', accept: 'application/json' } as const;

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});
const serve = async (...given: Parameters<typeof wireServer>): Promise<WireServer> => {
  const server = await wireServer(...given);
  cleanups.push(() => server.close());
  return server;
};
const connect = async (...given: Parameters<typeof createClient>): Promise<Client> => {
  const client = await createClient(...given);
  cleanups.push(() => client.close());
  return client;
};
/** A bare TCP server, for what no HTTP server does. */
const tcp = async (onSocket: (socket: Socket, index: number) => void): Promise<{ url: string; sockets: Socket[] }> => {
  const sockets: Socket[] = [];
  const server: Server = createTcpServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    onSocket(socket, sockets.length - 1);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
};
const textOf = async (client: Client, signal: AbortSignal = new AbortController().signal): Promise<string> => {
  const opened = await client.open(ask, signal);
  if (opened.kind === 'failure') return opened.failure.class;
  const { text } = await readText(opened.reply.body, 1000);
  opened.reply.body.release(true);
  return text;
};

describe('connections of a backend', () => {
  it('sends at most eight requests at a time and queues the rest', async () => {
    const waiting: (() => void)[] = [];
    const server = await serve((_request, response) => waiting.push(() => response.end('ok')));
    const client = await connect(target(server.url), null);
    const all = Promise.all(Array.from({ length: 12 }, () => textOf(client)));
    while (waiting.length < 8) await passed();
    await passed();
    expect([waiting.length, server.sockets.length]).toEqual([8, 8]);
    for (let sent = 0; sent < 12; sent += 1) {
      while (waiting.length === 0) await passed();
      waiting.shift()?.();
    }
    expect(await all).toEqual(Array.from({ length: 12 }, () => 'ok'));
    expect(server.sockets).toHaveLength(8);
  });

  it('gives a connection back whose body ends behind the end mark', async () => {
    const reply = 'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
    const server = await serve((_request, response) => {
      response.write(reply, () => void passed().then(() => response.end(': bye\n\n')));
    });
    const model = await createModel(routeTo(server.url, 'vllm'));
    cleanups.push(() => model.close());
    for (let turn = 0; turn < 3; turn += 1) {
      expect((await collect(model)).at(-1)).toEqual({ kind: 'finish', reason: 'stop' });
      await passed();
      await passed();
      await passed();
    }
    expect(server.sockets).toHaveLength(1);
  });

  it('asks once more, on a fresh connection, when a kept one turns out to be closed', async () => {
    const reply = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
    const { url, sockets } = await tcp((socket, index) => {
      let asked = 0;
      socket.on('data', () => {
        asked += 1;
        // The first connection serves one request and is reset by the second.
        if (index === 0 && asked === 2) socket.resetAndDestroy();
        else socket.write(reply);
      });
    });
    const client = await connect(target(url), null);
    expect(await textOf(client)).toBe('ok');
    await passed();
    expect(await textOf(client)).toBe('ok');
    expect(sockets).toHaveLength(2);
  });

  it('does not ask again on a fresh connection that is reset', async () => {
    const { url, sockets } = await tcp((socket) => void socket.on('data', () => socket.resetAndDestroy()));
    const client = await connect(target(url), null);
    expect(await textOf(client)).toBe('connect');
    expect(sockets).toHaveLength(1);
  });

  it('names the connect limit when nobody takes the connection through TLS', async () => {
    const { url } = await tcp(() => {});
    const client = await connect(
      target(url.replace('http:', 'https:'), { timeouts: { ...timeouts, connect_ms: 30 } }),
      null,
    );
    const opened = await client.open(ask, never);
    expect(opened).toEqual({
      kind: 'failure',
      failure: { class: 'timeout', message: 'backend "b" did not accept a connection within 0.03 s (connect limit)' },
    });
  });

  it('calls a failed TLS handshake connect', async () => {
    const { url } = await tcp((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const client = await connect(target(url.replace('http:', 'https:')), null);
    expect(await textOf(client)).toBe('connect');
  });

  it('sends nothing before a request is ready, and nothing at all when it never will be', async () => {
    const server = await serve(answers(200, {}));
    const client = await connect(target(server.url), null);
    let goOn = (): void => {};
    const ready = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const opening = client.open({ ...ask, path: '/waits', leave: () => ready }, never);
    await textOf(client);
    goOn();
    const opened = await opening;
    if (opened.kind === 'reply') opened.reply.body.release(true);
    const given = await client.open({ ...ask, leave: () => Promise.reject(new Error('cancelled')) }, never);
    expect(given).toMatchObject({ kind: 'failure', failure: { class: 'cancelled' } });
    expect(server.requests.map(({ path }) => path)).toEqual(['/x', '/waits']);
  });

  it('calls a refused connection connect', async () => {
    const gone = await wireServer(() => {});
    await gone.close();
    const client = await connect(target(gone.url), null);
    expect(await client.open(ask, never)).toMatchObject({
      kind: 'failure',
      failure: { class: 'connect', message: `cannot reach backend "b" at ${gone.url}: connection refused` },
    });
  });

  it('calls an unknown host connect', async () => {
    const client = await connect(target('http://nowhere.invalid'), null);
    expect(await client.open(ask, never)).toMatchObject({ failure: { class: 'connect' } });
  });

  it('calls a reply that is not HTTP malformed', async () => {
    const { url } = await tcp((socket) => void socket.on('data', () => socket.end('SSH-2.0-x\r\n')));
    const client = await connect(target(url), null);
    expect(await textOf(client)).toBe('malformed');
  });

  it('does not wait for a server that switches protocols', async () => {
    const { url } = await tcp((socket) => {
      socket.on('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
      );
    });
    const client = await connect(target(url), null);
    expect(await client.open(ask, never)).toMatchObject({
      failure: { class: 'connect', message: expect.stringContaining('switches protocols (101)') },
    });
  });

  it('says that a key cannot be sent, without a request and without the key', async () => {
    const server = await serve(answers(200, ''));
    const client = await connect(target(server.url), { name: 'authorization', value: 'Bearer one\r\ntwo: secret' });
    expect(await client.open(ask, never)).toEqual({
      kind: 'failure',
      failure: {
        class: 'auth',
        message: 'the key of backend "b" holds a character that cannot be sent, such as a line break',
      },
    });
    expect(server.requests).toEqual([]);
  });

  it('refuses a header value that HTTP cannot carry, without a request', async () => {
    const server = await serve(answers(200, ''));
    const client = await connect(target(server.url, { headers: { 'x-a': 'one\r\ntwo: 2' } }), null);
    expect(await textOf(client)).toBe('invalid_request');
    expect(server.requests).toEqual([]);
  });

  it('starts the idle time anew after a reader that was busy elsewhere', async () => {
    const { model, finish } = await pausing();
    const kinds: string[] = [];
    for await (const part of model.stream(request(), never)) {
      kinds.push(part.kind);
      if (kinds.length > 1) continue;
      // A second call runs into a longer limit; meanwhile the reader of the first does not read.
      await elapse(60);
      finish();
    }
    expect(kinds).toEqual(['text', 'finish']);
  });

  it('starts the idle time anew with every chunk', async () => {
    const server = await serve(async (_request, response) => {
      for (let chunk = 0; chunk < 4; chunk += 1) {
        response.write(': still here\n\n');
        await elapse(300);
      }
      response.end('data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n');
    });
    const model = await createModel(routeTo(server.url, 'vllm', { timeouts: { ...timeouts, idle_ms: 1000 } }));
    cleanups.push(() => model.close());
    expect(await collect(model)).toEqual([{ kind: 'finish', reason: 'stop' }]);
  });

  it('hands over what had arrived when the connection was lost', async () => {
    const line = (content: string) => `${JSON.stringify({ message: { content }, done: false })}\n`;
    let drop = (): void => {};
    const server = await serve((_request, response) => {
      response.write(line('one'));
      drop = () => void response.write(line('two'), () => void passed().then(() => response.socket?.destroy()));
    });
    const model = await createModel(routeTo(server.url, 'ollama'));
    cleanups.push(() => model.close());
    const seen: string[] = [];
    for await (const part of model.stream(request(), never)) {
      seen.push(part.kind === 'text' ? part.text : part.kind);
      if (seen.length > 1) continue;
      const closed = server.nextClose();
      drop();
      await closed;
      await passed();
    }
    expect(seen).toEqual(['one', 'two', 'error']);
  });

  it('does not let a registered header change the length of the body', async () => {
    const server = await serve(answers(200, ''));
    const client = await connect(
      target(server.url, { headers: { 'Content-Length': '1', 'Transfer-Encoding': 'x' } }),
      null,
    );
    await client.open({ ...ask, method: 'POST', body: { a: 1 } }, never);
    expect(server.requests[0]?.body).toEqual({ a: 1 });
  });

  it('sends a GET again after a 303 and refuses it for a POST', async () => {
    const server = await serve(
      inTurn(answers(303, '', { location: '/y' }), answers(200, 'page'), answers(303, '', { location: '/y' })),
    );
    const client = await connect(target(server.url), null);
    expect(await textOf(client)).toBe('page');
    const opened = await client.open({ ...ask, method: 'POST', body: {} }, never);
    expect(opened).toMatchObject({ kind: 'failure', failure: { class: 'invalid_request' } });
  });
});

/** Waits for a call that runs into its first-byte limit. */
async function elapse(ms: number): Promise<void> {
  const silent = await serve(() => {});
  const client = await connect(target(silent.url, { timeouts: { ...timeouts, first_byte_ms: ms } }), null);
  expect(await textOf(client)).toBe('timeout');
}

/** A model whose server sends one text and then waits for `finish`. */
async function pausing() {
  let finish = (): void => {};
  const server = await serve((_request, response) => {
    response.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n');
    finish = () => void response.end('data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n');
  });
  const model = await createModel(routeTo(server.url, 'vllm', { timeouts: { ...timeouts, idle_ms: 30 } }));
  cleanups.push(() => model.close());
  return { model, finish: () => finish() };
}

describe('limits of size (08 §5)', () => {
  const partsOf = async (type: 'vllm' | 'ollama', ...pieces: readonly string[]) => {
    const server = await serve((_request, response) => {
      for (const piece of pieces) response.write(piece);
      response.end();
    });
    const model = await createModel(routeTo(server.url, type));
    cleanups.push(() => model.close());
    return collect(model);
  };
  const mebibyte = 'x'.repeat(1024 * 1024);

  it.each(['vllm', 'ollama'] as const)('calls a line of more than 8 MiB malformed (%s)', async (type) => {
    const begin = type === 'ollama' ? '{"message":{"content":"' : 'data: {"choices":[{"delta":{"content":"';
    expect(await partsOf(type, begin, ...Array.from({ length: 9 }, () => mebibyte))).toEqual([
      { kind: 'error', error: { class: 'malformed', message: 'backend "b" sent a line of more than 8 MiB' } },
    ]);
  });

  it('calls a reply of more than 32 MiB malformed', async () => {
    const line = `{"message":{"content":"${mebibyte}"},"done":false}\n`;
    const parts = await partsOf('ollama', ...Array.from({ length: 33 }, () => line));
    expect(parts.at(-1)).toEqual({
      kind: 'error',
      error: { class: 'malformed', message: 'backend "b" sent a reply of more than 32 MiB' },
    });
  });

  it('reads a long line whole', async () => {
    const parts = await partsOf(
      'ollama',
      '{"message":{"content":"',
      mebibyte,
      mebibyte,
      '"},"done":true,"done_reason":"stop"}\n',
    );
    expect(parts).toHaveLength(2);
    expect(parts[0]?.kind === 'text' ? parts[0].text.length : 0).toBe(2 * 1024 * 1024);
  });

  it('does not run ahead of a slow reader', async () => {
    let sent = 0;
    const line = `{"message":{"content":"${mebibyte}"},"done":false}\n`;
    const server = await serve((_request, response) => {
      const more = (): void => {
        while (sent < 30) {
          sent += 1;
          if (!response.write(line)) {
            response.once('drain', more);
            return;
          }
        }
        response.end('{"message":{},"done":true,"done_reason":"stop"}\n');
      };
      more();
    });
    const model = await createModel(routeTo(server.url, 'ollama'));
    cleanups.push(() => model.close());
    let looked = false;
    for await (const part of model.stream(request(), never)) {
      if (looked || part.kind !== 'text') continue;
      looked = true;
      for (let round = 0; round < 200; round += 1) await passed();
      expect(sent).toBeLessThan(30);
    }
    expect(sent).toBe(30);
  });
});

describe('a body that a proxy has compressed', () => {
  const reply = 'data: {"choices":[{"delta":{"content":"é a"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
  const compressing = (encoding: string, bytes: Buffer, status = 200) =>
    serve((_request, response) => {
      response.writeHead(status, { 'content-encoding': encoding });
      response.end(bytes);
    });
  const ask = async ({ url }: WireServer) => {
    const model = await createModel(routeTo(url, 'openai-compatible'));
    cleanups.push(() => model.close());
    return collect(model);
  };

  it.each([
    ['gzip', gzipSync(reply)],
    ['deflate', deflateSync(reply)],
    ['br', brotliCompressSync(reply)],
  ])('is read: %s', async (encoding, bytes) => {
    expect(await ask(await compressing(encoding, bytes))).toEqual([
      { kind: 'text', text: 'é a' },
      { kind: 'finish', reason: 'stop' },
    ]);
  });

  it('is read while it arrives', async () => {
    const zip = createGzip();
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      zip.pipe(response);
      zip.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n');
      zip.flush();
    });
    const model = await createModel(routeTo(server.url, 'openai-compatible'));
    cleanups.push(() => model.close());
    const kinds: string[] = [];
    for await (const part of model.stream(request(), never)) {
      kinds.push(part.kind);
      zip.end(reply);
    }
    expect(kinds).toEqual(['text', 'text', 'finish']);
  });

  it('tells its error', async () => {
    const error = gzipSync(JSON.stringify({ error: { code: 'model_not_found', message: 'no such model' } }));
    expect(await ask(await compressing('gzip', error, 400))).toMatchObject([
      { kind: 'error', error: { class: 'model_not_found', message: 'backend "b" answered 400: no such model' } },
    ]);
  });

  it('is malformed where it is cut, or not compressed at all', async () => {
    const cut = await ask(await compressing('gzip', gzipSync(reply).subarray(0, 30)));
    expect(cut).toMatchObject([{ kind: 'error', error: { class: 'malformed' } }]);
    const plain = await ask(await compressing('gzip', Buffer.from(reply)));
    expect(plain).toMatchObject([{ kind: 'error', error: { class: 'malformed' } }]);
  });
});
