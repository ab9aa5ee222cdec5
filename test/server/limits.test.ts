import { connect } from 'node:net';
import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createRates, peerBucket } from '../../src/server/rates.ts';
import { createSigningKey } from '../../src/server/signing.ts';
import { signToken } from '../../src/server/token.ts';
import { codeOf, paramOf, type ServerWorld, startServer } from './world.ts';

let world: ServerWorld;
afterEach(() => world.close());
const start = async (over: Parameters<typeof startServer>[0] = {}) => {
  world = await startServer(over);
};
const post = (body: unknown, headers: Record<string, string> = {}) =>
  world.send('/api/login', { method: 'POST', body, headers });

describe('a body', () => {
  it('is JSON and nothing else', async () => {
    await start();
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/json',
      'application/json; charset=utf-16',
      'application/jsonx',
      '',
    ];
    for (const type of types) {
      const answer = await post('{"email":"admin","password":"admin"}', { 'content-type': type });
      expect([type, answer.status, codeOf(answer)]).toEqual([type, 415, 'json_required']);
    }
    const zipped = await post('{}', { 'content-encoding': 'gzip' });
    expect([zipped.status, paramOf(zipped)]).toEqual([415, 'Content-Encoding']);
    expect(
      (await post('{"email":"admin","password":"admin"}', { 'content-type': 'application/json; charset=UTF-8' }))
        .status,
    ).toBe(200);
  });

  it('HTTP-013: is read no further than its cap, whatever it says of its length', async () => {
    await start();
    const own = `Host: 127.0.0.1:${world.port}\r\nContent-Type: application/json\r\n`;
    const huge = await world.raw(`POST /api/login HTTP/1.1\r\n${own}Content-Length: 1073741824\r\n\r\n{`);
    expect(huge).toContain(' 413 ');
    expect(huge).toContain('request_too_large');
    const endless = `POST /api/login HTTP/1.1\r\n${own}Transfer-Encoding: chunked\r\n\r\n${`1000\r\n${' '.repeat(4096)}\r\n`.repeat(4)}`;
    expect(await world.raw(endless)).toContain(' 413 ');
    expect((await world.send('/api/health')).status).toBe(200);
  });

  it('is not read for somebody who may not send it', async () => {
    await start();
    const own = `Host: 127.0.0.1:${world.port}\r\nContent-Type: application/json\r\nContent-Length: 1073741824\r\n\r\n`;
    expect(await world.raw(`POST /api/auth/change-password HTTP/1.1\r\n${own}`)).toContain(' 401 ');
    expect(await world.raw(`POST /nope HTTP/1.1\r\n${own}`)).toContain(' 405 ');
  });

  it('HTTP-013: is neither deep nor of names that reach a prototype', async () => {
    await start();
    const deep = await post(`${'['.repeat(65)}${']'.repeat(65)}`);
    expect([deep.status, codeOf(deep)]).toEqual([400, 'json_too_deep']);
    expect(codeOf(await post(`${'{"a":'.repeat(600)}1${'}'.repeat(600)}`))).toBe('json_too_deep');
    // Where more may be sent, too.
    const abyss = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
    const policy = await world.authorised('/api/runs', { method: 'POST', body: abyss });
    expect([policy.status, codeOf(policy)]).toEqual([400, 'json_too_deep']);
    expect((await world.send('/api/health')).status).toBe(200);
    for (const name of ['__proto__', 'constructor', 'prototype']) {
      const answer = await post(`{"email":"admin","a":[{"${name}":1}]}`);
      expect([codeOf(answer), paramOf(answer)]).toEqual(['invalid_body', `a[0].${name}`]);
    }
    const twice = await post('{"email":"a","a":[{"b":1,"b":2}],"password":"c"}');
    expect([codeOf(twice), paramOf(twice)]).toEqual(['invalid_body', 'a[0].b']);
    expect(codeOf(await post('{"email"'))).toBe('invalid_body');
    expect(codeOf(await post('"\ud800"'))).toBe('invalid_body');
  });
});

describe('a connection', () => {
  it('HTTP-013: that sends its head byte by byte is closed, while others are answered', async () => {
    await start({ limits: { headersMs: 400, requestMs: 800 } });
    const own = `Host: 127.0.0.1:${world.port}\r\n`;
    const slow = world.raw(`GET /api/health HTTP/1.1\r\n${own}X-Slow: `);
    const body = world.raw(
      `POST /api/login HTTP/1.1\r\n${own}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"`,
    );
    expect((await world.send('/api/health')).status).toBe(200);
    expect(await slow).toContain(' 408 ');
    expect(await body).toContain(' 408 ');
    expect((await world.send('/api/health')).status).toBe(200);
  });

  it('has a head of 16 KiB and 100 headers', async () => {
    await start();
    const own = `GET /api/health HTTP/1.1\r\nHost: 127.0.0.1:${world.port}\r\nConnection: close\r\n`;
    expect(await world.raw(`${own}X-Long: ${'x'.repeat(17_000)}\r\n\r\n`)).toContain(' 431 ');
    expect(await world.raw(`${own}${'X-A: b\r\n'.repeat(99)}\r\n`)).toContain(' 431 ');
    expect(await world.raw(`${own}${'X-A: b\r\n'.repeat(98)}\r\n`)).toContain(' 200 ');
  });

  it('is closed when it says what is not HTTP, and when it smuggles', async () => {
    await start();
    const own = `Host: 127.0.0.1:${world.port}\r\nContent-Type: application/json\r\n`;
    const wrong = [
      'nonsense\r\n\r\n',
      `POST /api/login HTTP/1.1\r\n${own}Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}`,
      `POST /api/login HTTP/1.1\r\n${own}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `POST /api/login HTTP/1.1\r\n${own}Transfer-Encoding: xchunked\r\n\r\n{}`,
      `POST /api/login HTTP/1.1\r\n${own}Connection: close\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      `GET /api/health HTTP/1.1\r\n${own}X-A: a\0b\r\n\r\n`,
      `GET /api/health HTTP/1.1\r\n${own}Expect: something\r\n\r\n`,
    ];
    for (const bytes of wrong) {
      const answer = await world.raw(bytes);
      expect([bytes, answer.slice(0, 12)]).toEqual([bytes, 'HTTP/1.1 400']);
      expect(answer).toMatch(/x-content-type-options: nosniff/i);
    }
  });

  it('is one of 256', async () => {
    await start();
    const sockets = Array.from({ length: 256 }, () => connect(world.port, '127.0.0.1'));
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    const one = await world.raw(`GET /api/health HTTP/1.1\r\nHost: 127.0.0.1:${world.port}\r\n\r\n`).catch(() => '');
    expect(one).toBe('');
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    for (;;) {
      const again = await world.send('/api/health').catch(() => null);
      if (again !== null) {
        expect(again.status).toBe(200);
        return;
      }
    }
  });
});

describe('many requests', () => {
  it('are answered at a rate, by credential or by peer', () => {
    let at = 0;
    const rates = createRates(() => at);
    const taken = (scope: 'peer' | 'credential', key: string) => {
      let count = 0;
      while (rates.take(scope, key) === 0) count += 1;
      return count;
    };
    expect([taken('peer', 'a'), taken('credential', 'a'), taken('peer', 'b')]).toEqual([40, 200, 40]);
    expect(rates.take('peer', 'a')).toBeCloseTo(0.1);
    at += 1000;
    expect([taken('peer', 'a'), taken('credential', 'a')]).toEqual([10, 50]);
  });

  it('of a peer without a credential are refused with the time to wait', async () => {
    world = await startServer({ rates: createRates(() => 0) });
    const codes: number[] = [];
    for (let count = 0; count < 42; count += 1) codes.push((await world.send('/api/version')).status);
    expect(codes.slice(39)).toEqual([401, 429, 429]);
    const { headers } = await world.send('/api/version');
    expect(headers['retry-after']).toBe('1');
    // An invalid credential is none, a valid one has its own.
    expect((await world.send('/api/version', { headers: { authorization: 'Bearer x.y.z' } })).status).toBe(429);
    expect((await world.authorised('/api/version')).status).toBe(200);
  });

  it('of an IPv6 network come from one person', async () => {
    await start();
    expect(peerBucket('2001:db8:1:2:3:4:5:6')).toBe(peerBucket('2001:db8:1:2::1'));
    expect(peerBucket('2001:db8:1:2::1')).not.toBe(peerBucket('2001:db8:1:3::1'));
    expect(peerBucket('::ffff:10.0.0.1')).toBe('10.0.0.1');
  });
});

describe('a fault of the server', () => {
  it('HTTP-014: says the number of the request and nothing of the inside', async () => {
    await start();
    const fails = (): never => {
      throw new TypeError(`SELECT * FROM auth_secret at ${world.place.dir}`);
    };
    const broken = { ...world.ground.logins, credential: fails, session: fails };
    const other = await startServer({ ground: { ...world.ground, logins: broken } });
    try {
      // While it finds out who that is, and in the route.
      const { secret, epoch, instanceId } = world.ground.logins;
      const key = createSigningKey({
        logins: { secret, epoch, instanceId },
        machineKey: world.ground.machineKey(),
        override: null,
      })();
      const times = { issuedAt: Date.now(), expiresAt: Date.now() + 60_000 };
      const token = signToken(key, { aud: instanceId, sid: 's', jti: 'j', ver: 0, amr: 'pwd' }, times);
      const unknown = await other.send('/api/version', { headers: { authorization: `Bearer ${token}` } });
      expect([unknown.status, paramOf(unknown)]).toEqual([500, unknown.headers['x-request-id']]);
      expect(unknown.text).not.toMatch(/SELECT|auth_secret|TypeError|\.ts|\/|eyJ/);
      const answer = await other.login();
      expect(answer.status).toBe(500);
      expect(answer.json).toEqual({
        error: {
          message: 'The request failed inside the server.',
          type: 'api_error',
          code: 'internal',
          param: answer.headers['x-request-id'],
        },
      });
    } finally {
      await other.close();
    }
  });
});

describe('the end of the server', () => {
  it('answers what has arrived, and takes nothing further', async () => {
    await start();
    const answered = new Promise<number>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': 36, expect: '100-continue' };
      const sent = request(
        { host: '127.0.0.1', port: world.port, path: '/api/login', method: 'POST', headers },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      sent.on('error', reject);
      sent.flushHeaders();
      // The server has begun with it.
      sent.on('continue', () => {
        sent.write('{"email":"admin",');
        const closed = world.close();
        sent.end('"password":"admin"}');
        void closed;
      });
    });
    expect([200, 503]).toContain(await answered);
    world = await startServer();
  });
});
