import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, type CallOptions, createBench } from './support.ts';

type Seen = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};

let bench: Bench;
let server: Server;
let origin: string;
let seen: Seen[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  seen = [];
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      seen.push({
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(parts).toString(),
      });
      answer(request, response);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  origin = `http://127.0.0.1:${port}`;
  bench = createBench({ privateHosts: [`127.0.0.1:${port}`, `localhost:${port}`] });
});
afterEach(async () => {
  bench.remove();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

const reply = (status: number, headers: Record<string, string>, body: string | Buffer = ''): void => {
  answer = (_request, response) => void response.writeHead(status, headers).end(body);
};
const get = (path: string, more: object = {}, options: CallOptions = {}) =>
  bench.call('web.web_get', { url: origin + path, ...more }, options);

describe('web_get', () => {
  it('gives status, final URL, the listed headers and the text', async () => {
    reply(200, { 'content-type': 'text/plain', etag: '"1"', 'x-secret': 'no', 'set-cookie': 'a=b' }, 'héllo');
    const result = await get('/a', { query: { q: 'x y', n: 1, list: ['a', true] } });
    expect(result).toEqual({
      ok: true,
      value: {
        status: 200,
        url: `${origin}/a?q=x+y&n=1&list=a&list=true`,
        content_type: 'text/plain',
        headers: { 'content-type': 'text/plain', etag: '"1"' },
        body: 'héllo',
      },
    });
    expect(seen[0]?.headers).toMatchObject({
      'user-agent': 'reins/0.0.0',
      accept: '*/*',
      'accept-encoding': 'gzip, br',
    });
  });

  it('parses JSON and reduces HTML, unless raw is wanted', async () => {
    reply(200, { 'content-type': 'application/json' }, '{"a":[1]}');
    expect(await get('/')).toMatchObject({ value: { body: { a: [1] } } });
    // What is nested deeper than a record can hold stays text.
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    reply(200, { 'content-type': 'application/json' }, deep);
    expect(await get('/')).toMatchObject({ value: { body: deep } });
    reply(200, { 'content-type': 'text/html; charset=utf-8' }, '<h1>T</h1><script>x</script><a href="/b">b</a>');
    expect(await get('/')).toMatchObject({ value: { body: `# T\n\n[b](${origin}/b)` } });
    expect(await get('/', { format: 'raw' })).toMatchObject({
      value: { body: '<h1>T</h1><script>x</script><a href="/b">b</a>' },
    });
  });

  it('decodes charsets and compressions', async () => {
    reply(200, { 'content-type': 'text/plain; charset=iso-8859-1' }, Buffer.from([0xe9, 0x92, 0x80]));
    expect(await get('/')).toMatchObject({ value: { body: 'é’€' } });
    reply(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, gzipSync('zipped'));
    expect(await get('/')).toMatchObject({ value: { body: 'zipped' } });
    reply(200, { 'content-type': 'text/plain', 'content-encoding': 'br' }, brotliCompressSync('small'));
    expect(await get('/')).toMatchObject({ value: { body: 'small' } });
  });

  it('reads what says its charset itself, and two compressions over each other', async () => {
    reply(200, { 'content-type': 'text/html' }, Buffer.from('<meta charset="iso-8859-1"><p>caf\xe9</p>', 'latin1'));
    expect(await get('/')).toMatchObject({ value: { body: 'café' } });
    reply(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip, x-gzip' }, gzipSync(gzipSync('twice')));
    expect(await get('/')).toMatchObject({ value: { body: 'twice' } });
  });

  it('takes an encoding of a body that does not come for nothing, as HEAD gives it', async () => {
    reply(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, '');
    expect(await bench.call('web.web_head', { url: `${origin}/` })).toMatchObject({
      value: { status: 200, body: null },
    });
    expect(await get('/')).toMatchObject({ value: { status: 200, body: '' } });
    reply(200, { 'content-type': 'text/plain', 'content-encoding': 'br' }, '');
    expect(await get('/')).toMatchObject({ value: { status: 200, body: '' } });
  });

  it('says that an answer came which cannot be read', async () => {
    reply(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, 'not gzip');
    expect(await get('/')).toMatchObject({
      error: 'network_error',
      message: '"127.0.0.1" answered, but its answer cannot be read: Z_DATA_ERROR.',
    });
    reply(200, { 'content-type': 'text/plain', 'content-encoding': 'snappy' }, 'x');
    expect(await get('/')).toMatchObject({
      message: '"127.0.0.1" answered, but its answer cannot be read: it is encoded as "snappy".',
    });
  });

  it('tells an answer that does not come from a server that is not reached', async () => {
    answer = (request) => void request.socket.resetAndDestroy();
    expect(await get('/')).toMatchObject({ message: '"127.0.0.1" gave no answer: ECONNRESET.' });
    answer = (_request, response) => void response.writeHead(200, { long: 'a'.repeat(100_000) }).end();
    expect(await get('/')).toMatchObject({ message: 'The headers of "127.0.0.1" are too long.' });
  });

  it('loses no digit of a long id', async () => {
    const body =
      '{"id":12345678901234567890,"list":[9007199254740993],"text":"1234567890123456789","n":1.5,"\\"9":1e21}';
    reply(200, { 'content-type': 'application/json' }, body);
    expect(await get('/')).toMatchObject({
      value: {
        body: {
          id: '12345678901234567890',
          list: ['9007199254740993'],
          text: '1234567890123456789',
          n: 1.5,
          '"9': 1e21,
        },
      },
    });
  });

  it('cuts what comes out of a compression, not what goes in', async () => {
    reply(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, gzipSync('x'.repeat(5_000_000)));
    const result = await get('/', {}, { limits: { _max_response_bytes: '1000' } });
    expect(result).toMatchObject({ value: { body: 'x'.repeat(1000), truncated: true } });
  });

  it('puts other media types into the spool', async () => {
    reply(200, { 'content-type': 'image/png' }, Buffer.from([1, 2, 3]));
    expect(await get('/', {}, { call: 'c5' })).toMatchObject({
      output_ref: '@output/c5',
      value: {
        body: null,
        output: '@output/c5',
        bytes: 3,
        sha256: '039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81',
      },
    });
    expect(readFileSync(join(bench.home, 'tool_output/run_1/c5'))).toEqual(Buffer.from([1, 2, 3]));
  });

  it('takes a status outside 200 to 299 for an error with the beginning of the body', async () => {
    reply(404, { 'content-type': 'text/plain' }, 'n'.repeat(5000));
    expect(await get('/')).toEqual({
      ok: false,
      error: 'http_status',
      message: 'The server answered 404.',
      extra: { status: 404, body: 'n'.repeat(4096) },
    });
  });

  it('says why a server was not reached', async () => {
    const { port } = server.address() as AddressInfo;
    await new Promise((closed) => server.close(closed));
    expect(await bench.call('web.web_get', { url: origin })).toMatchObject({ error: 'network_error' });
    await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  });

  it('ends with the time limit', async () => {
    const slow = createBench({ privateHosts: [new URL(origin).host], timeoutMs: 100 });
    answer = (_request, response) => void response.write('x');
    expect(await slow.error('web.web_get', { url: origin })).toBe('timeout');
    slow.remove();
  });

  it('ends with a cancellation', async () => {
    const controller = new AbortController();
    answer = () => controller.abort();
    expect(await get('/', {}, { signal: controller.signal })).toMatchObject({ error: 'cancelled' });
  });
});

describe('the egress guard', () => {
  it.each(['http://127.0.0.1/', 'http://localhost./', 'http://169.254.169.254/', 'http://[::ffff:10.0.0.1]/'])(
    'refuses %s before anybody is asked',
    async (url) => {
      expect(await bench.error('web.web_get', { url })).toBe('egress_blocked');
    },
  );

  it('refuses a redirect to a private address, and connects to nothing there', async () => {
    reply(302, { location: 'http://127.0.0.1:1/secret' });
    expect(await get('/')).toMatchObject({ error: 'egress_blocked', extra: { location: 'http://127.0.0.1:1/secret' } });
    expect(seen.length).toBe(1);
  });

  it('refuses hosts and schemes that the chain excludes', async () => {
    reply(200, {}, 'x');
    const error = (limits: Record<string, string>) => bench.error('web.web_get', { url: origin }, { limits });
    for (const spelling of ['127.0.0.1', '127.0.0.1.', '0x7f.1', '2130706433']) {
      expect(await error({ _denied_hosts: spelling }), spelling).toBe('not_permitted');
    }
    const named = (url: string, entry: string) =>
      bench.error('web.web_get', { url }, { limits: { _denied_hosts: entry } });
    expect(await named('https://www.xn--bcher-kva.example/', 'Bücher.example')).toBe('not_permitted');
    expect(await named('http://[2a00::1]/', '2A00:0::1')).toBe('not_permitted');
    expect(await named('http://[2a00::1]/', '[2a00::1]')).toBe('not_permitted');
    expect(await error({ _allowed_hosts: 'example.com' })).toBe('not_permitted');
    expect(await error({ _allowed_hosts: '127.0.0.1' })).toBe('ok');
    expect(await error({ _allowed_hosts: '127.0.0.1:1, 127.0.0.1/x, x@127.0.0.1' })).toBe('not_permitted');
    expect(await error({ _allowed_schemes: 'https' })).toBe('not_permitted');
    expect(await error({ _max_response_bytes: '0' })).toBe('not_permitted');
  });
});

describe('redirects', () => {
  const toHost = (host: string) => {
    answer = (request, response) => {
      if (request.url === '/start')
        response.writeHead(302, { location: `${origin.replace('127.0.0.1', host)}/end` }).end();
      else response.writeHead(200, { 'content-type': 'text/plain' }).end('arrived');
    };
  };

  it('are followed on the same host, headers included', async () => {
    toHost('127.0.0.1');
    expect(await get('/start', { headers: { Authorization: 'Bearer x' } })).toMatchObject({
      value: { url: `${origin}/end`, body: 'arrived' },
    });
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer x', 'Bearer x']);
  });

  it('to another host need a policy that allows it, and lose the headers of the caller', async () => {
    toHost('localhost');
    const judged: unknown[] = [];
    const judge: CallOptions['judge'] = (tools, tool, args) => {
      judged.push([tools, tool, args['url']]);
      return 'allow';
    };
    expect(await get('/start', { headers: { Authorization: 'Bearer x' } }, { judge })).toMatchObject({
      value: { body: 'arrived' },
    });
    expect(judged).toEqual([['web', 'web_get', `${origin.replace('127.0.0.1', 'localhost')}/end`]]);
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer x', undefined]);
    expect(await get('/start', {}, { judge: () => 'approve' })).toMatchObject({
      error: 'redirect_not_followed',
      extra: { location: `${origin.replace('127.0.0.1', 'localhost')}/end` },
    });
  });

  it('on the same host go nowhere that the policy treats more strictly than the call', async () => {
    toHost('127.0.0.1');
    const strict =
      (verdict: 'approve' | 'deny'): NonNullable<CallOptions['judge']> =>
      (_tools, _tool, args) =>
        String(args['url']).endsWith('/end') ? verdict : 'allow';
    expect(await get('/start', {}, { judge: strict('approve') })).toMatchObject({ error: 'redirect_not_followed' });
    expect(await get('/start', {}, { judge: strict('deny') })).toMatchObject({ error: 'redirect_not_followed' });
    expect(await get('/start', {}, { judge: () => 'approve' })).toMatchObject({ value: { body: 'arrived' } });
  });

  it('are judged as what is sent: their own URL without the query of the call, and no headers at another origin', async () => {
    answer = (request, response) => {
      const next = { '/start?q=1': '/mid?token=x', '/mid?token=x': `${origin.replace('127.0.0.1', 'localhost')}/end` };
      const location = Object.entries(next).find(([from]) => from === request.url)?.[1];
      if (location === undefined) response.writeHead(200, { 'content-type': 'text/plain' }).end('arrived');
      else response.writeHead(302, { location }).end();
    };
    const judged: unknown[] = [];
    const judge: CallOptions['judge'] = (_tools, _tool, args) => {
      judged.push(args);
      return 'allow';
    };
    const headers = { 'X-A': '1' };
    expect(await get('/start', { query: { q: 1 }, headers }, { judge })).toMatchObject({ value: { body: 'arrived' } });
    expect(seen.map(({ url }) => url)).toEqual(['/start?q=1', '/mid?token=x', '/end']);
    expect(judged).toEqual([
      { url: `${origin}/mid?token=x`, headers },
      { url: `${origin}/start`, query: { q: 1 }, headers },
      { url: `${origin.replace('127.0.0.1', 'localhost')}/end` },
    ]);
  });

  it('on another host go nowhere that the policy treats more strictly than what led there', async () => {
    const other = origin.replace('127.0.0.1', 'localhost');
    answer = (request, response) => {
      const location = { '/start': `${other}/open`, '/open': '/closed' }[request.url ?? ''];
      if (location === undefined) response.writeHead(200).end('arrived');
      else response.writeHead(302, { location }).end();
    };
    // The call itself was approved by a person, who saw the first address.
    const judge: CallOptions['judge'] = (_tools, _tool, { url }) => (url === `${other}/open` ? 'allow' : 'approve');
    expect(await get('/start', {}, { judge })).toMatchObject({
      error: 'redirect_not_followed',
      extra: { location: `${other}/closed` },
    });
    expect(seen.map(({ url }) => url)).toEqual(['/start', '/open']);
  });

  it('end after five', async () => {
    reply(302, { location: '/again' });
    expect(await get('/')).toMatchObject({ error: 'redirect_refused' });
    expect(seen.length).toBe(6);
  });

  it('of a request with a body are not followed', async () => {
    reply(302, { location: '/other' });
    expect(await bench.call('web.web_post', { url: origin, body: 'x' })).toMatchObject({
      error: 'http_status',
      extra: { status: 302, location: '/other' },
    });
    expect(seen.length).toBe(1);
  });
});

describe('requests with a body', () => {
  beforeEach(() => reply(200, { 'content-type': 'text/plain' }, 'ok'));

  it('send JSON or text with its type', async () => {
    await bench.value('web.web_post', { url: origin, body: { a: 1 } });
    await bench.value('web.web_put', { url: origin, body: 'text' });
    await bench.value('web.web_patch', { url: origin, body: 'a=1', content_type: 'application/x-www-form-urlencoded' });
    await bench.value('web.web_delete', { url: origin });
    expect(seen.map(({ method, body, headers }) => [method, body, headers['content-type']])).toEqual([
      ['POST', '{"a":1}', 'application/json'],
      ['PUT', 'text', 'text/plain; charset=utf-8'],
      ['PATCH', 'a=1', 'application/x-www-form-urlencoded'],
      ['DELETE', '', undefined],
    ]);
  });

  it('and every other call end at once where the server switches protocols', async () => {
    answer = (request) =>
      request.socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n');
    expect(await get('/')).toMatchObject({
      error: 'network_error',
      message: expect.stringContaining('switches protocols (101)'),
    });
    expect(await bench.error('web.web_post', { url: origin, body: 'x' })).toBe('outcome_unknown');
  });

  it('are refused above the cap, with both numbers', async () => {
    expect(
      await bench.call('web.web_post', { url: origin, body: 'xx' }, { limits: { _max_request_body_bytes: '1' } }),
    ).toMatchObject({
      error: 'too_large',
      extra: { bytes: 2, max_bytes: 1 },
    });
  });

  it('whose connection breaks after they were sent have an unknown outcome', async () => {
    answer = (request) => request.socket.destroy();
    expect(await bench.error('web.web_post', { url: origin, body: 'x' })).toBe('outcome_unknown');
    expect(await bench.error('web.web_get', { url: origin })).toBe('network_error');
  });

  it.each([
    { Cookie: 'a' },
    { Host: 'x' },
    { 'Sec-Fetch-Site': 'x' },
    { 'X-A': 'a\r\nX-B: b' },
    { 'bad name': 'x' },
    { 'X-A': 1 },
  ])('refuse the headers %j', async (headers) => {
    expect(await bench.error('web.web_post', { url: origin, headers, body: 'x' })).toBe('invalid_arguments');
    expect(seen).toEqual([]);
  });
});

describe('webhook', () => {
  beforeEach(() => reply(200, { 'content-type': 'text/plain' }, 'ok'));

  it('sends input as JSON, or as a message', async () => {
    await bench.value('webhook.webhook', { url: origin, input: '{"a":1}' });
    await bench.value('webhook.webhook', { url: origin, input: 'hello' });
    await bench.value('webhook.webhook', {
      url: origin,
      body: { b: 2 },
      input: 'unused',
      headers: '{"X-A":"1"}',
      query: 'q=1',
    });
    expect(seen.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['POST', '/', '{"a":1}'],
      ['POST', '/', '{"message":"hello"}'],
      ['POST', '/?q=1', '{"b":2}'],
    ]);
    expect(seen[2]?.headers['x-a']).toBe('1');
  });

  it('needs something to send, and sends nothing with GET', async () => {
    expect(await bench.error('webhook.webhook', { url: origin })).toBe('invalid_arguments');
    expect(await bench.error('webhook.webhook', { url: origin, method: 'GET', body: 'x' })).toBe('invalid_arguments');
    expect(await bench.value('webhook.webhook', { url: origin, method: 'GET' })).toMatchObject({ body: 'ok' });
  });

  it('refuses a header value with a line break, also in JSON text', async () => {
    expect(await bench.error('webhook.webhook', { url: origin, input: 'x', headers: { A: 'a\nb' } })).toBe(
      'invalid_arguments',
    );
    expect(await bench.error('webhook.webhook', { url: origin, input: 'x', headers: '{"A":"a\\nb"}' })).toBe(
      'invalid_arguments',
    );
  });
});

it('goes through a configured proxy, which gets the whole URL', async () => {
  const proxied: string[] = [];
  const proxy = createServer((request, response) => {
    proxied.push(request.url ?? '');
    response.writeHead(200, { 'content-type': 'text/plain' }).end('by proxy');
  });
  proxy.on('connect', (request, socket) => {
    proxied.push(`CONNECT ${request.url}`);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  const { port } = proxy.address() as AddressInfo;
  const through = createBench({ proxy: `http://127.0.0.1:${port}` });
  expect(await through.value('web.web_get', { url: 'http://example.com/a?b=1' })).toMatchObject({ body: 'by proxy' });
  expect(await through.call('web.web_get', { url: 'https://example.com/a' })).toMatchObject({
    error: 'network_error',
    message: '"example.com" could not be reached: the proxy answered 403.',
  });
  expect(await through.error('web.web_get', { url: 'http://10.0.0.1/' })).toBe('egress_blocked');
  expect(proxied).toEqual(['http://example.com/a?b=1', 'CONNECT example.com:443']);
  through.remove();
  await new Promise((closed) => proxy.close(closed));
});

it('keeps a header of an answer from ending the program', async () => {
  answer = (request) => void request.socket.end('HTTP/1.1 200 OK\r\nbroken\r\n\r\n');
  expect(await bench.error('web.web_get', { url: origin })).toBe('network_error');
});
