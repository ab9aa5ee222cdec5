import { gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createEgress } from '../../../src/tools/egress.ts';
import type { Route } from '../../../src/tools/mcp/transports.ts';
import { callWith, freePort, resultOf, type Remote, type Tried, tryRoute, tryUrl } from './support.ts';
import { type FakeHttp, fakeHttp, type Instead } from './fake-http.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(closing.splice(0).map((close) => close()));
});

const serve = async (instead?: Instead): Promise<FakeHttp> => {
  const fake = await fakeHttp(instead);
  closing.push(fake.close);
  return fake;
};
const connect = (url: string, remote: Remote = {}, limits: Parameters<typeof tryUrl>[3] = {}): Tried => {
  const connection = tryUrl('http', url, remote, limits);
  closing.unshift(connection.close);
  return connection;
};
const reason = async (connection: Tried): Promise<string> => {
  const connected = await connection.connect(false);
  return connected.kind === 'failed' ? connected.reason : connected.kind;
};

describe('every request', () => {
  it('carries the registered headers and the token', async () => {
    const fake = await serve();
    const connection = connect(fake.url, { headers: { 'X-Team': 'blue' }, bearer: async () => 'tok-1' });
    expect(await reason(connection)).toBe('ready');
    await resultOf(connection, 'echo', { a: 1 });
    await connection.close();
    expect(fake.seen.map(({ rpc }) => rpc)).toEqual(
      expect.arrayContaining(['initialize', 'notifications/initialized', 'tools/list', 'tools/call']),
    );
    expect(new Set(fake.seen.map(({ headers }) => `${headers['x-team']} ${headers.authorization}`))).toEqual(
      new Set(['blue Bearer tok-1']),
    );
    expect(fake.seen.at(-1)?.method).toBe('DELETE');
  });

  it('lets a registered Authorization header stand', async () => {
    const fake = await serve();
    const connection = connect(fake.url, { headers: { Authorization: 'Basic abc' }, bearer: async () => 'tok-1' });
    await reason(connection);
    expect(fake.seen[0]?.headers.authorization).toBe('Basic abc');
  });

  it('is sent once more with another token when the first one is refused', async () => {
    const fake = await serve((_message, request, response) => {
      if (request.headers.authorization === 'Bearer new') return false;
      response.writeHead(401).end();
      return true;
    });
    const connection = connect(fake.url, { bearer: async (refused) => (refused ? 'new' : 'old') });
    expect(await reason(connection)).toBe('ready');
  });
});

describe('an answer', () => {
  it('that is packed although nobody asked for it is unpacked', async () => {
    const fake = await serve((message, _request, response) => {
      if (message?.method !== 'tools/list') return false;
      const tools = [{ name: 'packed', inputSchema: { type: 'object' } }];
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { tools } })));
      return true;
    });
    const connection = connect(fake.url);
    expect(await reason(connection)).toBe('ready');
    expect(connection.listings).toEqual([['packed']]);
  });

  it.each([
    ['JSON', 'application/json', (text: string) => [text]],
    // A line may come in parts, and a string may hold digits and signs of any kind.
    [
      'events',
      'text/event-stream',
      (text: string) => [`: 1234567890123456789\r\ndata: ${text.slice(0, 90)}`, `${text.slice(90)}\r\n\r\n`],
    ],
  ])('in %s keeps every digit of a long integer', async (_name, type, parts) => {
    const fake = await serve((message, _request, response) => {
      if (message?.method !== 'tools/call') return false;
      const found =
        '{"id":12345678901234567890,"near":-9007199254740993,"said":"é \\"7: 12345678901234567890","n":1.5}';
      const text = `{"jsonrpc":"2.0","id":${message.id},"result":{"content":[],"structuredContent":${found}}}`;
      response.writeHead(200, { 'content-type': type });
      for (const part of parts(text)) response.write(part);
      response.end();
      return true;
    });
    const connection = connect(fake.url);
    expect(await reason(connection)).toBe('ready');
    expect((await resultOf(connection, 'echo', {}))['structuredContent']).toEqual({
      id: '12345678901234567890',
      near: '-9007199254740993',
      said: 'é "7: 12345678901234567890',
      n: 1.5,
    });
  });

  it('that is none is told by its status', async () => {
    const fake = await serve((_message, _request, response) => {
      response.writeHead(503).end();
      return true;
    });
    expect(await reason(connect(fake.url))).toBe('the server answered with status 503');
  });

  it.each([
    [200, { 'content-type': 'text/html' }, 'it answered with text/html instead of a message'],
    [200, {}, 'it answered with nothing instead of a message'],
    [
      307,
      { location: 'http://localhost:1/else' },
      'the server answered with status 307: it redirects to http://localhost:1/else, which is not followed',
    ],
    [
      404,
      { 'content-type': 'text/html' },
      'the server answered with status 404; look at the URL, or add it with --transport sse if it is of the older kind',
    ],
  ])('that is a page or leads away (%i %j) is told in words that a person can use', async (status, headers, said) => {
    const fake = await serve((_message, _request, response) => {
      response.writeHead(status, headers).end('<!DOCTYPE html><html><body>Not here</body></html>');
      return true;
    });
    expect(await reason(connect(fake.url))).toBe(said);
  });
});

describe('what a server may not do', () => {
  it('MCP-007: send elsewhere: no other origin and no private address is asked, and no token leaves', async () => {
    const other = await serve();
    const locations = [
      other.url,
      'http://169.254.169.254/latest/meta-data',
      'https://127.0.0.1:1/mcp',
      'http://[::ffff:169.254.169.254]/',
      'http://2852039166/',
      'file:///etc/passwd',
      '//169.254.169.254/',
    ];
    for (const [index, location] of locations.entries()) {
      // From the first word on, and when a tool is called.
      let calls = false;
      const fake = await serve((message, _request, response) => {
        if (calls && message?.method !== 'tools/call') return false;
        response.writeHead([301, 302, 303, 307, 308][index % 5] ?? 307, { location }).end();
        return true;
      });
      const connection = connect(fake.url, { bearer: async () => 'tok-1' });
      expect([location, await reason(connection)]).toEqual([location, expect.stringMatching(/redirect/i)]);
      calls = true;
      const again = connect(fake.url, { bearer: async () => 'tok-1' });
      expect(await reason(again)).toBe('ready');
      const { end } = await callWith(again, 'echo', {});
      expect([location, end.kind, JSON.stringify(end)]).toEqual([location, 'http', expect.stringMatching(/redirect/i)]);
    }
    expect(other.seen).toEqual([]);
  });

  it('be reached by an address of the link', async () => {
    expect(await reason(connect('http://169.254.169.254/mcp'))).toMatch(/its address is link-local/);
  });

  it('be reached by a name that leads to a private address, whichever it was led to before', async () => {
    const egress = createEgress({
      privateHosts: [],
      ownPorts: () => [],
      lookup: async () => [
        { address: '203.0.114.7', family: 4 },
        { address: '10.0.0.7', family: 4 },
      ],
    });
    const route: Route = {
      kind: 'http',
      url: new URL('http://docs.example/mcp'),
      egress,
      headers: () => ({}),
      bearer: async () => null,
    };
    const connection = tryRoute(() => route);
    closing.unshift(connection.close);
    expect(await reason(connection)).toBe(
      '"docs.example" is not reached: its address is not public. No approval widens this; the operator may list it in web-private-hosts',
    );
  });

  it('answer with more than 16 MiB', async () => {
    const fake = await serve((message, _request, response) => {
      if (message?.method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'application/json' });
      flood(response);
      return true;
    });
    const connection = connect(fake.url);
    expect((await callWith(connection, 'echo', {})).end).toEqual({
      kind: 'too_large',
      reason: 'the answer is larger than 16777216 bytes',
    });
  });

  it.each([
    ['application/json', '{}', ''],
    ['text/event-stream', '{}', 'data: '],
    ['text/event-stream', '{}\ndata: ', 'data: '],
  ])('answer in %s with more objects than are held, each written as %j', async (type, object, before) => {
    const fake = await serve((message, _request, response) => {
      if (message?.method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': type });
      const objects = Array(600_000).fill(object).join(',');
      response.end(`${before}{"jsonrpc":"2.0","id":${message.id},"result":{"content":[${objects}]}}\n\n`);
      return true;
    });
    expect((await callWith(connect(fake.url), 'echo', {})).end).toEqual({
      kind: 'too_large',
      reason: 'the answer holds more than 500000 objects and lists',
    });
  });

  it('send an event of more than 16 MiB', async () => {
    const fake = await serve((message, _request, response) => {
      if (message?.method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: ');
      flood(response);
      return true;
    });
    expect((await callWith(connect(fake.url), 'echo', {})).end).toMatchObject({ kind: 'too_large' });
  });

  it('send more than 16 MiB in small events, also where each blank line comes by itself', async () => {
    const fake = await serve((message, _request, response) => {
      if (message?.method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      // Every write is a chunk, and the reader is given each by itself.
      for (let events = 0; events < 20; events += 1) {
        response.write(`: ${'z'.repeat(1024 * 1024)}\n`);
        response.write('\n');
      }
      response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { content: [] } })}\n\n`);
      return true;
    });
    expect((await callWith(connect(fake.url), 'echo', {})).end).toMatchObject({ kind: 'result' });
  });
});

describe('a call', () => {
  it.each([
    [401, { kind: 'auth', reason: 'the server wants a sign-in (401)' }],
    [403, { kind: 'auth', reason: 'the server refuses access (403)' }],
    [500, { kind: 'http', status: 500 }],
  ])('MCP-007: of which the answer is %i says so', async (status, end) => {
    const fake = await serve((message, _request, response) => {
      if (message?.method !== 'tools/call') return false;
      response.writeHead(status).end('out of luck');
      return true;
    });
    expect((await callWith(connect(fake.url), 'echo', {})).end).toMatchObject(end);
  });

  it('whose connection breaks once it was sent is unknown, and is not sent again', async () => {
    const fake = await serve((message, request) => {
      if (message?.method !== 'tools/call') return false;
      request.socket.destroy();
      return true;
    });
    expect((await callWith(connect(fake.url), 'echo', {})).end).toMatchObject({ kind: 'lost' });
    expect(fake.seen.filter(({ rpc }) => rpc === 'tools/call')).toHaveLength(1);
  });

  const json = { 'content-type': 'application/json' };
  it.each<[string, (response: ServerResponse) => void, string]>([
    ['no JSON', (response) => response.writeHead(200, json).end('{no'), 'what it answered is no JSON'],
    [
      'packed in name only',
      (response) => response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end('plain'),
      'what it answered cannot be unpacked: incorrect header check',
    ],
    [
      'a part',
      (response) => response.writeHead(200, { ...json, 'content-length': 99 }).write('{', () => response.destroy()),
      'its answer broke off',
    ],
    [
      'no HTTP',
      (response) => response.socket?.end('SSH-2.0-OpenSSH\r\n'),
      '127.0.0.1 does not answer in HTTP: HPE_INVALID_CONSTANT',
    ],
    ['nothing', (response) => response.socket?.resetAndDestroy(), '127.0.0.1 gave no answer: ECONNRESET'],
  ])('of which the answer is %s is unknown, in words that a person can use', async (_what, answer, said) => {
    const fake = await serve((message, _request, response) => {
      if (message?.method !== 'tools/call') return false;
      answer(response);
      return true;
    });
    expect((await callWith(connect(fake.url), 'echo', {})).end).toEqual({ kind: 'lost', reason: said });
  });

  it('where the server switches protocols is unknown at once', async () => {
    const fake = await serve((message, request) => {
      if (message?.method !== 'tools/call') return false;
      request.socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n');
      return true;
    });
    expect((await callWith(connect(fake.url), 'echo', {})).end).toMatchObject({ kind: 'lost' });
  });

  it('whose stream ends without an answer is unknown', async () => {
    const fake = await serve((message, _request, response) => {
      if (message?.method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(': nothing\n\n');
      return true;
    });
    expect((await callWith(connect(fake.url), 'echo', {})).end).toEqual({
      kind: 'lost',
      reason: 'the server closed the stream',
    });
  });

  it('whose stream says nothing for five minutes is unknown, and each byte begins them anew', async () => {
    let stream: ServerResponse | null = null;
    const tell = (progress: number): void => {
      const params = { progressToken: 2, progress };
      stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`);
    };
    const fake = await serve((message, _request, response) => {
      if (message?.method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream = response;
      tell(1);
      return true;
    });
    const connection = connect(fake.url, {}, { callTimeoutMs: 3_600_000 });
    await connection.connect(false);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let heard = (): void => {};
    const next = (): Promise<void> => new Promise((resolve) => (heard = resolve));
    let first = next();
    const ended = connection.call('echo', {}, { signal: new AbortController().signal, onProgress: () => heard() });
    await first;
    vi.advanceTimersByTime(299_000);
    first = next();
    tell(2);
    await first;
    vi.advanceTimersByTime(299_000);
    first = next();
    tell(3);
    await first;
    vi.advanceTimersByTime(300_000);
    const steps = setInterval(() => vi.advanceTimersByTime(60), 5);
    expect(await ended).toEqual({ kind: 'lost', reason: 'the stream was silent for five minutes' });
    clearInterval(steps);
  });

  it.each([
    ['is given, is answered by it', 200],
    ['is not known any more, is unknown at once', 404],
  ])('whose stream breaks off, and the rest of which %s', async (_what, status) => {
    const answer = { jsonrpc: '2.0', result: { content: [{ type: 'text', text: 'after all' }] } };
    let id = 0;
    const fake = await serve((message, request, response) => {
      const { 'last-event-id': behind } = request.headers;
      if (message?.method !== 'tools/call' && behind === undefined) return false;
      response.writeHead(behind === undefined ? 200 : status, { 'content-type': 'text/event-stream' });
      if (behind === undefined) {
        id = message?.id ?? 0;
        response.write('retry: 10\nid: first\ndata:\n\n', () => response.destroy());
      } else {
        response.end(status === 200 && behind === 'first' ? `data: ${JSON.stringify({ ...answer, id })}\n\n` : '');
      }
      return true;
    });
    expect((await callWith(connect(fake.url), 'echo', {})).end).toMatchObject(
      status === 200
        ? { kind: 'result', result: answer.result }
        : { kind: 'lost', reason: 'the server did not go on with its answer (404)' },
    );
  });

  it.each([
    ['is silent', null],
    ['sends without end', 'text/event-stream'],
    ['sends without end what is no stream', 'application/json'],
    ['names events, so that the rest could be asked for', 'text/event-stream; ids'],
  ])('that ends with its time reads no more of a server that %s', async (_what, type) => {
    let closed = (): void => {};
    const isClosed = new Promise<void>((resolve) => (closed = resolve));
    const fake = await serve((message, _request, response) => {
      if (message?.method !== 'tools/call') return false;
      const ticks = setInterval(() => type !== null && response.write(': more\n\n'), 20);
      response.once('close', () => {
        clearInterval(ticks);
        closed();
      });
      if (type !== null) response.writeHead(200, { 'content-type': type });
      if (type?.endsWith('ids') === true) response.write('retry: 100\nid: first\ndata:\n\n');
      return true;
    });
    const connection = connect(fake.url, {}, { callTimeoutMs: 500 });
    expect((await callWith(connection, 'echo', {})).end).toEqual({ kind: 'timeout', afterMs: 500 });
    await isClosed;
    await connection.close();
    expect(fake.seen.filter(({ headers }) => headers['last-event-id'] !== undefined)).toEqual([]);
  });

  it('names the limit of connecting where it is the list of tools that does not come', async () => {
    let asked = (): void => {};
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    const fake = await serve((message, _request, response) => {
      if (message?.method === 'tools/list') asked();
      if (message?.method !== 'initialize') return message?.method === 'tools/list';
      // Of no session, so that nothing is told to the server at the end.
      const result = {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'f', version: '1' },
      };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
      return true;
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const why = reason(connect(fake.url, {}, { connectTimeoutMs: 4_000 }));
    await isAsked;
    await vi.advanceTimersByTimeAsync(4_000);
    expect(await why).toBe('no answer within 4 s');
  });

  it('goes to a new session when the server has forgotten the old one', async () => {
    const fake = await serve();
    const connection = connect(fake.url);
    await resultOf(connection, 'echo', { a: 1 });
    fake.forget();
    expect(await resultOf(connection, 'echo', { a: 2 })).toMatchObject({ content: [{ text: '{"a":2}' }] });
    expect(fake.seen.filter(({ rpc }) => rpc === 'initialize')).toHaveLength(2);
  });

  it('is not sent where nobody listens', async () => {
    const connection = connect(`http://127.0.0.1:${await freePort()}/mcp`);
    expect((await callWith(connection, 'echo', {})).end).toEqual({
      kind: 'failed',
      state: 'failed',
      refused: false,
      reason: '127.0.0.1 could not be reached: ECONNREFUSED',
    });
  });
});

describe('the older kind of server', () => {
  it.each([
    [401, { refused: true, reason: 'the server wants a sign-in (401)' }],
    [404, { refused: false, reason: 'the server answered with status 404' }],
    [200, { refused: false, reason: 'the server answered with status 200: what it answered is no event stream' }],
  ])('that opens no stream is told like any other (%i)', async (status, said) => {
    const fake = await serve((_message, _request, response) => {
      response.writeHead(status, { 'content-type': 'text/html' }).end('<html>');
      return true;
    });
    const connection = tryUrl('sse', fake.url);
    closing.unshift(connection.close);
    expect(await connection.connect(false)).toEqual({ kind: 'failed', state: 'failed', ...said });
  });

  it('is not reached where nobody listens, and says so without the words of a library', async () => {
    const connection = tryUrl('sse', `http://127.0.0.1:${await freePort()}/sse`);
    closing.unshift(connection.close);
    expect(await reason(connection)).toBe('127.0.0.1 could not be reached: ECONNREFUSED');
  });

  it('says so where the endpoint that it names is no URL', async () => {
    const fake = await serve((_message, _request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: endpoint\ndata: http://[bad\n\n');
      return true;
    });
    const connection = tryUrl('sse', fake.url);
    closing.unshift(connection.close);
    expect(await reason(connection)).toBe('the endpoint that it names is no URL');
  });

  it('is refused when its endpoint lies elsewhere', async () => {
    const fake = await serve((_message, _request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: endpoint\ndata: http://127.0.0.1:1/messages\n\n');
      return true;
    });
    const connection = tryUrl('sse', fake.url);
    closing.unshift(connection.close);
    expect(await reason(connection)).toMatch(/origin/);
  });

  it('that names an endpoint elsewhere later gets no call, and the reason is told', async () => {
    let stream: ServerResponse | null = null;
    const fake = await serve((message, request, response) => {
      if (request.method === 'GET') {
        stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
        stream.write('event: endpoint\ndata: /messages\n\n');
        return true;
      }
      response.writeHead(202).end();
      const tools = [{ name: 'echo', inputSchema: { type: 'object' } }];
      const serverInfo = { name: 'f', version: '1' };
      const results: Record<string, unknown> = {
        initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo },
        'tools/list': { tools },
      };
      const result = results[message?.method ?? ''];
      if (message?.method === 'tools/call') stream?.write('event: endpoint\ndata: http://127.0.0.1:1/messages\n\n');
      else if (result !== undefined)
        stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: message?.id, result })}\n\n`);
      return true;
    });
    const connection = tryUrl('sse', fake.url);
    closing.unshift(connection.close);
    expect((await callWith(connection, 'echo', {})).end).toEqual({
      kind: 'lost',
      reason: 'it named an endpoint at another origin',
    });
  });
});

describe('a server that asks without end', () => {
  it('MCP-008: and takes no answer is left, with as many connections as it takes to see it', async () => {
    let [asked, answers] = [0, 0];
    let stop = (): void => {};
    const fake = await serve((message, request, response) => {
      if (request.method === 'GET') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const ask = (): void => {
          for (let n = 0; n < 100; n += 1) {
            asked += 1;
            response.write(`data: {"jsonrpc":"2.0","id":"q${asked}","method":"ping"}\n\n`);
          }
        };
        const timer = setInterval(ask, 5);
        stop = () => clearInterval(timer);
        response.once('close', stop);
        return true;
      }
      if (message === null || message.method !== undefined) return false;
      // Taken, and never answered.
      answers += 1;
      return true;
    });
    const connection = connect(fake.url);
    await connection.connect(false);
    await vi.waitFor(() => expect(connection.state()).toBe('failed'), 10_000);
    expect(connection.reason()).toBe('the server asks on and on, and does not take what it is answered');
    await vi.waitFor(() => expect(fake.seen.at(-1)?.method).toBe('DELETE'), 10_000);
    stop();
    expect(answers).toBeLessThanOrEqual(200);
  });
});

function flood(response: ServerResponse): void {
  const chunk = Buffer.alloc(1024 * 1024, 'z');
  let written = 0;
  const more = (): void => {
    while (written < 40 && !response.destroyed) {
      written += 1;
      if (!response.write(chunk)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
}
