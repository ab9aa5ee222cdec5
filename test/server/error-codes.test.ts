import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createRates } from '../../src/server/rates.ts';
import { ownAddress } from '../support/own-address.ts';
import { says } from '../support/scripted-app.ts';
import { startService } from '../support/service.ts';
import { type Answer, bearer, good, type ServerWorld, startServer, withPassword } from './world.ts';
import { served } from './served.ts';

let world: ServerWorld;
const start = async (over: Parameters<typeof startServer>[0] = {}) => {
  world = await startServer(over);
};
afterEach(() => world.close());

/** What a client that goes by the status and one that goes by the code have to act on. */
const told = ({ status, json }: Pick<Answer, 'status' | 'json'>) => {
  const { type, code, param } = (json?.['error'] ?? {}) as Readonly<Record<string, unknown>>;
  return [status, type, code, ...(param === undefined ? [] : [param])];
};

/** The same of bytes that came back. */
const toldRaw = (bytes: string) => {
  const [head = '', body = ''] = bytes.split('\r\n\r\n');
  return told({ status: Number(head.split(' ')[1]), json: JSON.parse(body) as Answer['json'] });
};

describe('a request that cannot be answered is told its code', () => {
  it('before anybody asks who it comes from', async () => {
    await start();
    const own = `Host: 127.0.0.1:${world.port}\r\nConnection: close\r\n`;
    expect(told(await world.send('/api/%zz'))).toEqual([400, 'invalid_request_error', 'bad_target']);
    expect(told(await world.send('/api/health', { headers: { host: 'evil.test' } }))).toEqual([
      421,
      'invalid_request_error',
      'host_not_allowed',
      'Host',
    ]);
    expect(toldRaw(await world.raw('nonsense\r\n\r\n'))).toEqual([400, 'invalid_request_error', 'bad_request']);
    expect(toldRaw(await world.raw(`GET /api/health HTTP/1.0\r\n${own}\r\n`))).toEqual([
      400,
      'invalid_request_error',
      'bad_request',
    ]);
    const wide = `GET /api/health HTTP/1.1\r\n${own}`;
    for (const more of [`X-Long: ${'x'.repeat(17_000)}\r\n`, 'X-A: b\r\n'.repeat(99)])
      expect(toldRaw(await world.raw(`${wide}${more}\r\n`))).toEqual([
        431,
        'invalid_request_error',
        'headers_too_large',
      ]);
  });

  it('of a method, with those that are taken', async () => {
    await start();
    const answer = await world.authorised('/api/version', { method: 'DELETE' });
    expect([...told(answer), answer.headers['allow']]).toEqual([
      405,
      'invalid_request_error',
      'method_not_allowed',
      'GET',
    ]);
    const unknown = await world.send('/api/version', { method: 'OPTIONS' });
    expect([...told(unknown), unknown.headers['allow']]).toEqual([
      405,
      'invalid_request_error',
      'method_not_allowed',
      'GET, HEAD, POST, PUT, PATCH, DELETE',
    ]);
  });

  it('when it does not arrive', async () => {
    await start({ limits: { headersMs: 200, requestMs: 400 } });
    const slow = await world.raw(`GET /api/health HTTP/1.1\r\nHost: 127.0.0.1:${world.port}\r\nX-Slow: `);
    expect(toldRaw(slow)).toEqual([408, 'invalid_request_error', 'request_timeout']);
  });

  it('when there are too many', async () => {
    await start({ rates: createRates(() => 0) });
    for (let count = 0; count < 40; count += 1) await world.send('/api/version');
    expect(told(await world.send('/api/version'))).toEqual([429, 'rate_limit_error', 'rate_limited']);
  });

  it('when the server stops while it arrives, and is read as before when it changes nothing', async () => {
    const arriving = async (method: 'GET' | 'POST') => {
      await start();
      const head = `HTTP/1.1\r\nHost: 127.0.0.1:${world.port}\r\nAuthorization: Bearer ${world.token}\r\n`;
      const socket = connect(world.port, '127.0.0.1');
      let all = '';
      let closing = Promise.resolve();
      socket.setEncoding('utf8');
      await new Promise((resolve, reject) => {
        socket.on('error', reject).on('close', resolve);
        socket.on('data', (piece: string) => {
          const first = all === '';
          all += piece;
          if (!first) return;
          // The first has been answered, and of the second the server has the beginning.
          closing = world.close();
          const body = method === 'POST' ? 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}' : '\r\n';
          socket.write(`Connection: close\r\n${body}`);
        });
        socket.write(`GET /api/health ${head}\r\n${method} /api/${method === 'GET' ? 'version' : 'sessions'} ${head}`);
      });
      await closing;
      return all.slice(all.lastIndexOf('HTTP/1.1'));
    };
    const refused = await arriving('POST');
    expect(toldRaw(refused)).toEqual([503, 'api_error', 'shutting_down']);
    expect(refused).toMatch(/^retry-after: 1\r$/im);
    expect(await arriving('GET')).toMatch(/^HTTP\/1\.1 200 /);
    await start();
  });
});

describe('who may not do it is told what is missing', () => {
  it.skipIf(ownAddress === undefined)('a connection over loopback, for a login link', async () => {
    await start();
    const body = JSON.stringify({ code: 'x'.repeat(43) });
    const from = (localAddress: string | undefined) =>
      new Promise((resolve, reject) => {
        const headers = { 'content-type': 'application/json', host: `127.0.0.1:${world.port}` };
        const { port } = world;
        request(
          { host: '127.0.0.1', port, localAddress, path: '/api/auth/link', method: 'POST', headers },
          (response) => {
            let all = '';
            response.setEncoding('utf8').on('data', (piece: string) => {
              all += piece;
            });
            response.on('end', () =>
              resolve(told({ status: response.statusCode ?? 0, json: JSON.parse(all) as Answer['json'] })),
            );
          },
        )
          .on('error', reject)
          .end(body);
      });
    expect(await from(undefined)).toEqual([401, 'authentication_error', 'invalid_code']);
    expect(await from(ownAddress)).toEqual([403, 'authorization_error', 'loopback_only']);
  });

  it('a password that was given more than half an hour ago', async () => {
    await start();
    const token = await withPassword(world);
    const change = () =>
      world.send('/api/trust', { method: 'POST', headers: bearer(token), body: { kind: 'policy', name: 'x' } });
    expect((await change()).status).not.toBe(403);
    world.pass(31 * 60_000);
    expect(told(await change())).toEqual([403, 'authorization_error', 'reauthentication_required']);
    await world.send('/api/auth/verify', { method: 'POST', headers: bearer(token), body: { password: good } });
    expect((await change()).status).not.toBe(403);
  });

  it('a login that began less than seven days ago', async () => {
    await start();
    await withPassword(world);
    let token = (await world.login(good)).json?.['token'];
    const renew = () => world.send('/api/auth/refresh', { method: 'POST', headers: bearer(token) });
    for (let day = 0; day < 7; day += 1) {
      // Thirty seconds less than a day each, and the rest of them at the end.
      world.pass(86_370_000);
      token = (await renew()).json?.['token'];
    }
    world.pass(7 * 30_000 + 2_000);
    expect(told(await renew())).toEqual([401, 'authentication_error', 'session_ended']);
  });

  it('that nobody has changed the password meanwhile', async () => {
    // Both have come long before the first hash is made.
    await start({ passwordCost: 9 });
    await withPassword(world);
    const sessions = [await world.login(good), await world.login(good)];
    const answers = await Promise.all(
      sessions.map(({ json }, index) =>
        world.send('/api/auth/change-password', {
          method: 'POST',
          headers: bearer(json?.['token']),
          body: { current_password: good, new_password: `another horse battery ${index}` },
        }),
      ),
    );
    expect(answers.map(told).sort()).toEqual([
      [200, undefined, undefined],
      [409, 'invalid_request_error', 'password_changed_meanwhile'],
    ]);
  });
});

it('a part of an id that is that of two runs is told from one that is of none', async () => {
  await start();
  const server = await served({ turns: [says('Hello.')] });
  try {
    const [one = '', two = ''] = [await server.run(), await server.run()];
    let same = 0;
    while (one[same] === two[same]) same += 1;
    const part = one.slice(0, same);
    expect(told(await server.call('GET', `/api/runs/${part}`))).toEqual([400, 'invalid_request_error', 'ambiguous_id']);
    expect(told(await server.call('GET', '/api/runs/zzzzzz'))).toEqual([404, 'invalid_request_error', 'not_found']);
  } finally {
    await server.close();
  }
});

it('what another server refuses is its fault, and says what it said', async () => {
  await start();
  const engine = await startService();
  const server = await served({ turns: [] });
  try {
    engine.answer(({ method, url }, response) => {
      const models = { models: [{ name: 'small:1b', model: 'small:1b', size: 1, digest: 'a'.repeat(64) }] };
      response.writeHead(method === 'DELETE' ? 500 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(method === 'DELETE' ? { error: 'disk failure' } : url === '/api/tags' ? models : {}));
    });
    const body = { name: 'far', type: 'ollama', base_url: engine.url };
    expect((await server.call('POST', '/api/backends', { body })).status).toBe(201);
    const declared = { backend: 'far', model: 'small:1b' };
    expect((await server.call('POST', '/api/models', { body: declared })).status).toBe(201);
    const answer = await server.call('DELETE', '/api/models/far/small:1b?delete_file=true');
    expect(told(answer)).toEqual([502, 'api_error', 'backend_error']);
    expect(answer.text).toContain('disk failure');
  } finally {
    await server.close();
    await engine.close();
  }
});
