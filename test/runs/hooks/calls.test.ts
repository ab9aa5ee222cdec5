import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { type Arrived, json, type Service, startService } from '../../support/service.ts';
import type { ScriptedApp } from '../../support/scripted-app.ts';
import { addHook, appCalling, resultsOf } from './support.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`../../fixtures/openapi/${name}`, import.meta.url), 'utf8');

let app: ScriptedApp | undefined;
let service: Service | undefined;
afterEach(async () => {
  await app?.close();
  await service?.close();
  app = undefined;
  service = undefined;
});

/** Registers the document under the name `svc` and makes the calls. */
async function made(
  document: unknown,
  list: readonly (readonly [tool: string, args: unknown])[],
  fields: Parameters<typeof addHook>[2] = {},
) {
  service = await startService(document);
  app = await appCalling(list.map(([tool, args]) => [`svc.${tool}`, args]));
  await addHook(app, 'svc', { url: service.url, ...fields });
  const { results, events } = await resultsOf(app);
  return { results, events, arrived: service.arrived };
}

/** A request without what every one of them has. */
const line = ({ method, url, headers, body }: Arrived) => {
  const { host: _h, connection: _c, 'accept-encoding': _e, accept: _a, 'content-length': _l, ...rest } = headers;
  return { method, url, headers: rest, body };
};
const common = { 'user-agent': 'reins/test' };
const sent = (method: string, url: string, headers: object = {}, body = '') => ({
  method,
  url,
  headers: { ...common, ...headers },
  body,
});
const asJson = { 'content-type': 'application/json' };

describe('a call of a hook reaches the service exactly as its description says', () => {
  it('with paths, lists, objects and headers of a weather service', async () => {
    const { arrived } = await made(fixture('weather.json'), [
      ['point', { point: '54.3,-1.5' }],
      ['stations', { id: ['AAAA', 'BBBB'], state: ['NH', 'SH'], limit: 5 }],
      ['alerts', { severity: ['severe', 'minor'], window: { from: '2026-01-01T00:00:00Z' }, where: { sea: 'north' } }],
      ['gridpointWind', { office: 'NHB', x: 3, y: 14, 'Feature-Flags': ['quantities', 'icons'] }],
      ['stationExists', { station_id: 'ABCD' }],
      ['unsubscribe', { id: 'a b/c' }],
    ]);
    expect(arrived.map(line)).toEqual([
      sent('GET', '/points/54.3%2C-1.5'),
      sent('GET', '/stations?id=AAAA&id=BBBB&state=NH%7CSH&limit=5'),
      sent('GET', '/alerts?severity=severe,minor&window[from]=2026-01-01T00%3A00%3A00Z&sea=north'),
      sent('GET', '/gridpoints/NHB/3,14/wind', { 'feature-flags': 'quantities,icons' }),
      sent('HEAD', '/stations/ABCD'),
      sent('DELETE', '/subscriptions/a%20b%2Fc'),
    ]);
  });

  it('with bodies, JSON in the query and names of its own of an issue tracker', async () => {
    const { arrived } = await made(fixture('tracker.yaml'), [
      ['issues_create', { project: 'p', title: 'T', body: null, labels: ['a', { name: 'b' }], priority: 3 }],
      [
        'issues_list',
        {
          project: 'p',
          state: ['open', 'done'],
          labels: ['x', 'y z'],
          filter: { created: { after: '2026-01-01' }, ids: [1, 2] },
          where: { kind: 'field', field: 'f', is: 1 },
        },
      ],
      ['projects_update', { project: 'p', 'If-Match': '"1"', body_project: 'Title', archived: true }],
      ['issues_patch', { project: 'p', number: 7, body: [{ op: 'remove', path: '/x' }] }],
      ['me_status', { body: 'away' }],
      ['search', { _top: 2, search_text_: 'q', body: { text: 'lost' } }],
    ]);
    expect(arrived.map(line)).toEqual([
      sent('POST', '/projects/p/issues', asJson, '{"title":"T","body":null,"priority":3,"labels":["a",{"name":"b"}]}'),
      sent(
        'GET',
        '/projects/p/issues?state=open,done&labels=x%20y%20z&filter[created][after]=2026-01-01&filter[ids]=1&filter[ids]=2&where=%7B%22kind%22%3A%22field%22%2C%22field%22%3A%22f%22%2C%22is%22%3A1%7D',
      ),
      sent('PATCH', '/projects/p', { ...asJson, 'if-match': '"1"' }, '{"archived":true,"project":"Title"}'),
      sent(
        'POST',
        '/projects/p/issues/7/patch',
        { 'content-type': 'application/json-patch+json' },
        '[{"op":"remove","path":"/x"}]',
      ),
      sent('PUT', '/me/status', asJson, '"away"'),
      sent('POST', '/search?%24top=2&search%5Btext%5D=q', asJson, '{"text":"lost"}'),
    ]);
  });

  it('with merged bodies, forms and optional bodies of a shop', async () => {
    const order = { items: [{ product: 'p1', quantity: 2 }], ship_to: { lines: ['Quay 1'], country: 'DE' } };
    const { arrived } = await made(fixture('shop.json'), [
      ['placeOrder', { 'Idempotency-Key': 'key-12345', ...order }],
      ['changeOrder', { id: 'o1', notes: null, anything: 'else' }],
      ['cancelOrder', { id: 'o1', reason: 'late' }],
      ['token', { grant: 'password', user: 'a&b', scopes: ['x', 'y'] }],
      ['setPrice', { id: 'p1', body: 'on_request' }],
      ['stock_by_product_put', { warehouse: 'w', product: 'p', body: 4 }],
      ['searchProducts', { filter: { price: { min: 1.5 }, size: ['s', 'm'] }, sort: ['-price', 'title'] }],
    ]);
    expect(arrived.map(line)).toEqual([
      sent('POST', '/orders', { ...asJson, 'idempotency-key': 'key-12345' }, JSON.stringify(order)),
      sent(
        'PATCH',
        '/orders/o1',
        { 'content-type': 'application/merge-patch+json' },
        '{"notes":null,"anything":"else"}',
      ),
      sent('DELETE', '/orders/o1?reason=late'),
      sent(
        'POST',
        '/token',
        { 'content-type': 'application/x-www-form-urlencoded' },
        'grant=password&user=a%26b&scopes=x&scopes=y',
      ),
      sent('PUT', '/products/p1/price', asJson, '"on_request"'),
      sent('PUT', '/stock/w/p', asJson, '4'),
      sent('GET', '/products?filter[price][min]=1.5&filter[size]=s&filter[size]=m&sort=-price,title'),
    ]);
  });

  it('of a Swagger 2.0 ledger', async () => {
    const { arrived } = await made(fixture('ledger.json'), [
      ['accounts', { ids: ['1', '2'], kinds: ['asset', 'debt'], open: true, tags: ['a', 'b'] }],
      ['book', { id: '1', 'X-Trace': 't', amount: 2.5, lines: [{ amount: 1 }] }],
      ['note', { id: '1', text: 'hello there', pinned: false }],
    ]);
    expect(arrived.map(line)).toEqual([
      sent('GET', '/accounts?ids=1&ids=2&kinds=asset%7Cdebt&open=true&tags=a,b'),
      sent('POST', '/accounts/1/bookings', { ...asJson, 'x-trace': 't' }, '{"amount":2.5,"lines":[{"amount":1}]}'),
      sent(
        'POST',
        '/accounts/1/note',
        { 'content-type': 'application/x-www-form-urlencoded' },
        'text=hello%20there&pinned=false',
      ),
    ]);
  });

  it('with every value in its own segment, whatever it holds (HOOK-004)', async () => {
    const { arrived, results } = await made(fixture('shop.json'), [
      ['getProduct', { id: '../../admin?x=1#' }],
      ['getProduct', { id: '%2e%2e/x;y' }],
      ['getProduct', { id: '..' }],
      ['getProduct', { id: '.' }],
      ['getProduct', { id: '' }],
      ['listOrders', { state: ['new&admin=1'] }],
    ]);
    expect(arrived.map(({ url }) => url)).toEqual([
      '/products/..%2F..%2Fadmin%3Fx%3D1%23',
      '/products/%252e%252e%2Fx%3By',
    ]);
    expect(results.slice(2)).toMatchObject(Array.from({ length: 4 }, () => ({ error: 'invalid_arguments' })));
  });

  it('and no other place of its server: a description leads out of the registered path nowhere', async () => {
    const operation = (operationId: string) => ({ get: { operationId, responses: {} } });
    const paths = { '/in': operation('inside'), '/../../admin': operation('above'), '/%2e%2e/x': operation('encoded') };
    service = await startService({ openapi: '3.0.0', info: { title: 'a', version: '1' }, paths });
    app = await appCalling(['inside', 'above', 'encoded'].map((tool) => [`svc.${tool}`, {}]));
    await addHook(app, 'svc', { url: `${service.url}/base`, spec: `${service.url}/openapi.json` });
    const { results } = await resultsOf(app);
    expect(service.arrived.map(({ url }) => url)).toEqual(['/base/in']);
    expect(results.slice(1)).toMatchObject([{ error: 'invalid_arguments' }, { error: 'invalid_arguments' }]);
  });

  it('or does not reach it, when the arguments do not fit', async () => {
    const { arrived, results } = await made(fixture('weather.json'), [
      ['point', { point: 'here' }],
      ['zones', { kind: 'moon' }],
      ['reportObservation', { station_id: 'ABCD', observed_at: 'now', values: {} }],
      ['stations', { limit: '5' }],
      ['alerts', { nonsense: 1 }],
    ]);
    expect(arrived).toEqual([]);
    expect(results).toMatchObject([
      { error: 'invalid_arguments', path: 'point', message: expect.stringContaining('"point" must match pattern') },
      { error: 'invalid_arguments', path: 'kind', message: expect.stringContaining('"kind" must be one of ["land"') },
      { error: 'invalid_arguments', path: 'position', message: 'The argument "position" is missing.' },
      { error: 'invalid_arguments', path: 'limit', message: '"limit" must be integer.' },
      {
        error: 'invalid_arguments',
        path: 'nonsense',
        message: expect.stringContaining('"nonsense" is not an argument of svc.alerts'),
      },
    ]);
  });
});

const one = (method: string, more: object = {}) => ({
  openapi: '3.0.3',
  paths: { '/it': { [method]: { operationId: 'it', ...more } } },
});

describe('an answer', () => {
  it.each<[string, (response: import('node:http').ServerResponse) => void, unknown]>([
    ['JSON', (response) => json(response, { a: [1] }), { a: [1] }],
    ['text', (response) => response.setHeader('content-type', 'text/plain').end('hello'), 'hello'],
    ['nothing', (response) => response.writeHead(204).end(), ''],
    ['HTML', (response) => response.setHeader('content-type', 'text/html').end('<p>x'), '<p>x'],
    ['JSON that is none', (response) => response.setHeader('content-type', 'application/json').end('{'), '{'],
    [
      'another status',
      (response) => json(response, { detail: 'no such thing' }, 404),
      {
        ok: false,
        error: 'http_status',
        message: 'The service answered 404.',
        status: 404,
        body: '{"detail":"no such thing"}',
      },
    ],
    [
      'bytes',
      (response) => response.setHeader('content-type', 'image/png').end(Buffer.from([1, 2, 3])),
      expect.objectContaining({ content_type: 'image/png', bytes: 3, output: expect.stringMatching(/^@output\//) }),
    ],
  ])('of %s is told as it is', async (_what, answer, expected) => {
    service = await startService(one('get'));
    service.answer((_arrived, response) => answer(response));
    app = await appCalling([['svc.it', {}]]);
    await addHook(app, 'svc', { url: service.url });
    expect((await resultsOf(app)).results).toEqual([expected]);
  });

  it('above 4 MiB is cut, and says so', async () => {
    service = await startService(one('get'));
    service.answer((_arrived, response) => {
      response.setHeader('content-type', 'text/plain');
      // More than anybody reads: it ends when the connection does.
      const write = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        response.once('drain', write);
      };
      write();
    });
    app = await appCalling([['svc.it', {}]]);
    await addHook(app, 'svc', { url: service.url });
    expect((await resultsOf(app)).results).toMatchObject([{ truncated: true, bytes: 4 * 1024 * 1024 + 28 }]);
  });

  it('that does not come in time ends the call: a reader is timed out, a writer may have written (HOOK-006)', async () => {
    service = await startService({
      ...one('get'),
      paths: { '/it': { get: { operationId: 'read' }, post: { operationId: 'write' } } },
    });
    service.answer((_arrived, response) => {
      // Drips for as long as somebody listens.
      const timer = setInterval(() => response.write('.'), 20);
      response.once('close', () => clearInterval(timer));
    });
    app = await appCalling([
      ['svc.read', {}],
      ['svc.write', {}],
    ]);
    await addHook(app, 'svc', { url: service.url, timeout_ms: 300 });
    expect((await resultsOf(app)).results).toMatchObject([
      { error: 'timeout', message: '"127.0.0.1" gave no complete answer within 300 ms (the timeout of hook svc).' },
      { error: 'outcome_unknown' },
    ]);
    expect(service.arrived.map(({ method }) => method)).toEqual(['GET', 'POST']);
  });

  it('that breaks off is asked for once more by a reader, and by nobody else', async () => {
    service = await startService({
      ...one('get'),
      paths: { '/it': { get: { operationId: 'read' }, post: { operationId: 'write' } } },
    });
    service.answer((_arrived, response) => response.socket?.destroy());
    app = await appCalling([
      ['svc.read', {}],
      ['svc.write', {}],
    ]);
    await addHook(app, 'svc', { url: service.url });
    expect((await resultsOf(app)).results).toMatchObject([{ error: 'network_error' }, { error: 'outcome_unknown' }]);
    expect(service.arrived.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST']);
  });
});

describe('a redirect', () => {
  it('is followed by a reader within the origin, at most three times, with the registered headers', async () => {
    service = await startService(one('get'));
    service.answer(({ url }, response) => {
      if (url === '/it') response.writeHead(302, { location: '/there' }).end();
      else json(response, { at: url });
    });
    app = await appCalling([['svc.it', {}]]);
    await addHook(app, 'svc', { url: service.url, headers: { 'X-Own': 'mine' } });
    expect((await resultsOf(app)).results).toEqual([{ at: '/there' }]);
    expect(service.arrived.map(({ url, headers }) => [url, headers['x-own']])).toEqual([
      ['/it', 'mine'],
      ['/there', 'mine'],
    ]);
    service.answer(({ url }, response) => response.writeHead(302, { location: `${url}x` }).end());
    expect((await resultsOf(app)).results).toMatchObject([{ error: 'redirect_refused', location: '/itxxxx' }]);
  });

  it('to another origin is not followed: nothing of the registered headers gets there', async () => {
    const other = await startService();
    try {
      service = await startService({
        ...one('get'),
        paths: { '/it': { get: { operationId: 'read' }, post: { operationId: 'write' } } },
      });
      service.answer((_arrived, response) =>
        response.writeHead(307, { location: `${other.url}/x?of=acme-tenant` }).end(),
      );
      app = await appCalling([
        ['svc.read', {}],
        ['svc.write', {}],
      ]);
      await addHook(app, 'svc', {
        url: service.url,
        headers: { Authorization: 'Bearer registered-token' },
        inject: { tenant: 'acme-tenant' },
      });
      expect((await resultsOf(app)).results).toMatchObject([
        { error: 'redirect_refused', location: `${other.url}/x?of=(injected)` },
        { error: 'redirect_refused', location: `${other.url}/x?of=(injected)` },
      ]);
      expect(other.arrived).toEqual([]);
    } finally {
      await other.close();
    }
  });
});
