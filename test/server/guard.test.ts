import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf, type ServerWorld, startServer } from './world.ts';

let world: ServerWorld;
beforeAll(async () => {
  world = await startServer();
});
afterAll(() => world.close());

const areas = ['/api/health', '/api/version', '/', '/login', '/assets/app-1234.js', '/nothing.txt'];

describe('the Host', () => {
  it('of another name is answered nowhere, whatever it resolves to', async () => {
    const names = [
      'evil.test',
      `evil.test:${world.port}`,
      '127.0.0.1',
      `127.0.0.1:${world.port + 1}`,
      `127.0.0.1.nip.io:${world.port}`,
    ];
    for (const path of areas) {
      for (const host of names)
        expect([host, path, (await world.send(path, { headers: { host } })).status]).toEqual([host, path, 421]);
    }
  });

  it('of this machine is answered in each of its spellings', async () => {
    for (const host of ['127.0.0.1', 'localhost', '[::1]', 'LOCALHOST', 'localhost.']) {
      expect((await world.send('/api/health', { headers: { host: `${host}:${world.port}` } })).status).toBe(200);
    }
  });

  it('is there exactly once', async () => {
    expect(await world.raw('GET /api/health HTTP/1.1\r\nConnection: close\r\n\r\n')).toContain(' 421 ');
    const own = `Host: 127.0.0.1:${world.port}\r\n`;
    expect(await world.raw(`GET /api/health HTTP/1.1\r\n${own}Host: evil.test\r\nConnection: close\r\n\r\n`)).toContain(
      ' 421 ',
    );
    expect(await world.raw(`GET /api/health HTTP/1.1\r\n${own}${own}Connection: close\r\n\r\n`)).toContain(' 421 ');
  });

  it('HTTP-011: is never read from what a proxy would say', async () => {
    const headers = { 'x-forwarded-host': `127.0.0.1:${world.port}`, forwarded: 'host=localhost', host: 'evil.test' };
    expect((await world.send('/api/health', { headers })).status).toBe(421);
  });
});

describe('the Origin', () => {
  it('HTTP-005: of another site is answered nowhere, also where it asks what it may', async () => {
    const { port } = world;
    const origins = [
      'https://evil.test',
      'null',
      `http://localhost.evil.test:${port}`,
      `http://127.0.0.1.nip.io:${port}`,
      `http://127.0.0.1:${port + 1}`,
      `https://127.0.0.1:${port}`,
      `http://127.0.0.1:${port}/`,
      `HTTP://127.0.0.1:${port}`,
    ];
    for (const path of areas) {
      for (const origin of origins) {
        const answer = await world.send(path, { headers: { origin } });
        expect([path, origin, answer.status, codeOf(answer)]).toEqual([path, origin, 403, 'origin_not_allowed']);
        const asked = await world.send(path, {
          method: 'OPTIONS',
          headers: { origin, 'access-control-request-method': 'POST' },
        });
        expect([path, origin, asked.status]).toEqual([path, origin, 403]);
        expect([...Object.keys(answer.headers), ...Object.keys(asked.headers)].join()).not.toMatch(/access-control/);
      }
    }
    const own = { origin: `http://127.0.0.1:${port}` };
    const asked = await world.send('/api/health', { method: 'OPTIONS', headers: own });
    expect([asked.status, Object.keys(asked.headers).join().includes('access-control')]).toEqual([405, false]);
  });

  it('HTTP-002 and HTTP-004: of another site changes nothing and opens no stream with the cookie of a live session', async () => {
    const login = await world.send('/ui/login', { method: 'POST', body: { email: 'admin', password: 'admin' } });
    const cookie = String(login.headers['set-cookie']).split(';')[0] ?? '';
    const before = world.ground.logins.sessions(Date.now());
    const post = (headers: Record<string, string>, body?: string) =>
      world.send('/api/auth/logout', { method: 'POST', headers: { cookie, ...headers }, body });
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site' };
    const plain = { 'content-type': 'text/plain' };
    const change = '{"current_password":"admin","new_password":"taken over by evil"}';
    const changing = (headers: Record<string, string>) =>
      world.send('/api/auth/change-password', { method: 'POST', headers: { cookie, ...headers }, body: change });
    const stream = (headers: Record<string, string>) =>
      world.send('/api/events', { headers: { cookie, accept: 'text/event-stream', ...headers } });
    const answers = [
      await post({ origin: 'https://evil.test' }),
      await post({ ...plain, origin: 'https://evil.test' }, '{}'),
      await post(form, 'a=b'),
      await post({ ...form, origin: 'null' }, 'a=b'),
      await changing({ origin: `http://127.0.0.1:${world.port + 1}` }),
      await changing({ ...plain }),
      await changing({ ...plain, origin: world.url }),
      await changing({}),
      await stream({ origin: 'https://evil.test' }),
      await stream({ origin: `http://127.0.0.1:${world.port + 1}` }),
      await stream({ 'sec-fetch-site': 'same-site' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403, 415, 403, 403, 403, 403]);
    expect(answers.flatMap(({ headers }) => Object.keys(headers)).join()).not.toMatch(/access-control/);
    expect(world.ground.logins.sessions(Date.now())).toEqual(before);
    expect((await world.send('/api/auth/me', { headers: { cookie } })).status).toBe(200);
  });

  it('of our own pages is answered', async () => {
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
      const headers = { origin: `http://${host}:${world.port}` };
      expect((await world.send('/api/health', { headers })).status).toBe(200);
    }
  });
});

describe('fetch metadata', () => {
  it('of another site reach no route and no asset', async () => {
    for (const site of ['cross-site', 'same-site', 'something']) {
      for (const path of ['/api/health', '/assets/app-1234.js', '/']) {
        const answer = await world.send(path, { headers: { 'sec-fetch-site': site } });
        expect([site, path, codeOf(answer)]).toEqual([site, path, 'cross_site_request']);
      }
    }
  });

  it('of a link to a page let the page be shown, and nothing else', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect((await world.send('/login', { headers })).status).toBe(200);
    expect((await world.send('/assets/app-1234.js', { headers })).status).toBe(403);
    expect((await world.send('/api/health', { headers })).status).toBe(403);
    expect((await world.send('/login', { headers: { ...headers, 'sec-fetch-dest': 'iframe' } })).status).toBe(403);
    expect((await world.send('/api/login', { method: 'POST', headers, body: {} })).status).toBe(403);
  });

  it('of an address that was typed reads, and changes nothing', async () => {
    const headers = { 'sec-fetch-site': 'none' };
    expect((await world.send('/api/health', { headers })).status).toBe(200);
    expect(codeOf(await world.send('/api/auth/logout', { method: 'POST', headers }))).toBe('cross_site_request');
    expect(
      (await world.send('/api/auth/logout', { method: 'POST', headers: { 'sec-fetch-site': 'same-origin' } })).status,
    ).toBe(204);
  });
});

describe('what is asked for', () => {
  it('is a path that reads in one way', async () => {
    const own = `Host: 127.0.0.1:${world.port}\r\nConnection: close\r\n\r\n`;
    const lines = [
      ['GET http://127.0.0.1/api/health HTTP/1.1', 400],
      ['GET * HTTP/1.1', 400],
      ['GET /%00 HTTP/1.1', 400],
      ['GET /api/%00 HTTP/1.1', 400],
      ['GET /api/%ff HTTP/1.1', 400],
      ['GET /api/%zz HTTP/1.1', 400],
      ['GET /api\\version HTTP/1.1', 400],
      ['GET /api/%5cversion HTTP/1.1', 400],
      ['GET /chat?filter=\\ HTTP/1.1', 400],
      ['GET /..%2f..%2fetc/passwd HTTP/1.1', 404],
      ['GET /..%5c..%5cetc HTTP/1.1', 404],
      ['GET /assets/../../package.json HTTP/1.1', 404],
      ['GET /assets/../.hidden HTTP/1.1', 404],
      ['POST /nope HTTP/1.1', 405],
      ['OPTIONS /api/health HTTP/1.1', 405],
      ['TRACE /api/health HTTP/1.1', 405],
      ['PROPFIND / HTTP/1.1', 405],
      ['CONNECT 127.0.0.1:80 HTTP/1.1', 405],
      ['GET /api/health HTTP/1.0', 400],
    ] as const;
    for (const [line, status] of lines) {
      const answer = await world.raw(`${line}\r\n${own}`);
      expect([line, answer.slice(0, 12)]).toEqual([line, `HTTP/1.1 ${status}`]);
      expect(answer).not.toContain('<title>');
      if (status === 405 && !line.startsWith('CONNECT'))
        expect([line, answer]).toEqual([line, expect.stringMatching(/\nAllow: GET/)]);
    }
  });

  it('has in its query what somebody looks for, a backslash too, which no path has', async () => {
    expect((await world.send('/chat?filter=src%5Capp')).status).toBe(200);
    expect((await world.authorised('/api/workspace/files?query=src%5Capp')).json).toEqual({ items: [] });
    expect((await world.authorised('/api/sessions?query=%5C')).status).toBe(200);
    expect((await world.send('/chat?filter=%00')).status).toBe(400);
    expect((await world.send('/chat%5C?filter=x')).status).toBe(404);
  });

  it('HTTP-004: is never another protocol, whoever asks for it', async () => {
    const headers = { connection: 'upgrade', 'sec-websocket-key': 'x' };
    const strangers = [{}, { origin: 'https://evil.test' }, { origin: `http://127.0.0.1:${world.port + 1}` }];
    for (const path of ['/api/events', '/']) {
      for (const upgrade of ['websocket', 'WebSocket', 'h2c']) {
        for (const stranger of strangers) {
          const answer = await world.authorised(path, { headers: { ...headers, ...stranger, upgrade } });
          expect([answer.status, codeOf(answer)]).toEqual([400, 'upgrade_not_supported']);
        }
      }
    }
  });

  it('HTTP-004: never holds a credential', async () => {
    for (const path of ['/api/version', '/api/events', '/']) {
      for (const name of ['token', 'access_token', 'code', 'key', 'TOKEN', 'to%6ben', 'a=1&token']) {
        expect(codeOf(await world.authorised(`${path}?${name}=x`))).toBe('credential_in_url');
      }
    }
    // Under any other name it opens nothing.
    for (const name of ['jwt', 'auth', 'authorization', 'bearer', 'token[]']) {
      expect((await world.send(`/api/version?${name}=${world.token}`)).status).toBe(401);
    }
  });

  it('says once what it says', async () => {
    const own = `Host: 127.0.0.1:${world.port}\r\nConnection: close\r\n`;
    const bearer = `Authorization: Bearer ${world.token}\r\n`;
    const json = 'Content-Type: application/json\r\n';
    const plain = 'Content-Type: text/plain\r\n';
    for (const twice of [`${bearer}Authorization: Bearer x\r\n`, `Authorization: Bearer x\r\n${bearer}`])
      expect(await world.raw(`GET /api/version HTTP/1.1\r\n${own}${twice}\r\n`)).toContain(' 400 ');
    for (const twice of [`${json}${plain}`, `${plain}${json}`])
      expect(await world.raw(`POST /api/login HTTP/1.1\r\n${own}${twice}Content-Length: 2\r\n\r\n{}`)).toContain(
        ' 400 ',
      );
  });

  it('under /api is reached by its own name alone', async () => {
    for (const path of [
      '/api/%76ersion',
      '/api//version',
      '/api/./version',
      '/api/..%2fversion',
      '/api/%2e%2e/version',
    ]) {
      expect([path, (await world.send(path)).status]).toEqual([path, 401]);
      expect([path, codeOf(await world.authorised(path))]).toEqual([path, 'route_not_found']);
    }
    for (const path of ['/%61pi/version', '//api/version', '/api;x/version', '/API/version']) {
      expect([path, (await world.authorised(path)).json]).toEqual([path, null]);
    }
  });

  it('under /api is not told to somebody without a credential', async () => {
    expect((await world.send('/api/nope')).status).toBe(401);
    expect((await world.send('/api/version')).status).toBe(401);
    expect(codeOf(await world.authorised('/api/nope'))).toBe('route_not_found');
    const wrong = await world.authorised('/api/version', { method: 'DELETE' });
    expect([wrong.status, wrong.headers['allow']]).toEqual([405, 'GET']);
  });

  it('by HEAD is what GET gives, and never what another method does', async () => {
    // Of the second path, another method comes first in the table; the stream would go on for ever.
    for (const path of ['/api/version', '/api/runs', '/api/events']) {
      expect([path, (await world.authorised(path, { method: 'HEAD' })).status]).toEqual([path, 200]);
    }
    const login = await world.login();
    const before = world.ground.logins.sessions(Date.now()).length;
    const headers = { authorization: `Bearer ${String(login.json?.['token'])}` };
    const answer = await world.send('/api/auth/sessions/0000', { method: 'HEAD', headers });
    expect(answer.status).toBe(403);
    expect((await world.authorised('/api/auth/logout', { method: 'HEAD' })).status).toBe(405);
    expect(world.ground.logins.sessions(Date.now()).length).toBe(before);
  });
});

describe('every reply', () => {
  const always = {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };

  it('has the headers that keep a browser from helping another site', async () => {
    const replies = [
      ...(await Promise.all([...areas, '/api/nope'].map((path) => world.authorised(path)))),
      await world.send('/api/health', { headers: { host: 'evil.test' } }),
      await world.send('/', { headers: { origin: 'null' } }),
      await world.send('/api/health', { method: 'OPTIONS' }),
      await world.send('/api/login', { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } }),
    ];
    for (const { headers, status } of replies) {
      expect([status, headers]).toMatchObject([status, always]);
      expect(Object.keys(headers).filter((name) => /^access-control|^server$|powered/.test(name))).toEqual([]);
      expect(headers['content-security-policy']).toMatch(/default-src 'none'/);
      expect(headers['content-security-policy']).not.toMatch(/unsafe/);
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('has a number of its own, whatever the client says', async () => {
    const { headers } = await world.send('/api/health', { headers: { 'x-request-id': 'mine' } });
    expect(headers['x-request-id']).not.toBe('mine');
  });

  it('of a page names the styles of this one reply', async () => {
    const [one, other] = [await world.send('/chat'), await world.send('/chat')];
    const nonce = /style-src 'self' 'nonce-([^']+)'/.exec(String(one.headers['content-security-policy']))?.[1];
    expect(one.text).toContain(`nonce="${nonce}"`);
    expect(other.text).not.toContain(String(nonce));
  });
});

describe('the files of the application', () => {
  it('are pages, assets, and nothing else of the disk', async () => {
    const found = async (path: string) => (await world.send(path)).status;
    // A chat, a plan and a file may have a dot in their names, and their pages are loaded again.
    for (const page of ['/approvals/ask_1', '/chat/v1.2', '/policies/hitl-policy.json', '/assets']) {
      expect([page, await found(page)]).toEqual([page, 200]);
    }
    expect(await found('/index.html')).toBe(200);
    expect(await found('/assets/app-1234.js')).toBe(200);
    for (const path of [
      '/assets/app-1234.js.map',
      '/assets/',
      '/assets/none.js',
      '/.hidden',
      '/.git/config',
      '/chat/.hidden',
      '/chat/a/b.js',
      '/%61ssets/none',
      '/%61pi/version',
      '/package.json',
      '/apix.txt',
      '/API/version',
      '/assets//app-1234.js',
      '/../../etc/passwd',
      '/%2e%2e/%2e%2e/etc/passwd',
    ]) {
      expect([path, await found(path)]).toEqual([path, 404]);
    }
    const { headers } = await world.send('/assets/app-1234.js');
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect((await world.send('/')).headers['cache-control']).toBe('no-store');
    const part = await world.send('/assets/app-1234.js', { headers: { range: 'bytes=9-1' } });
    expect([part.status, part.text]).toEqual([200, 'export {};\n']);
  });

  it('are those of a build that takes the place of another one', async () => {
    const web = join(world.place.dir, 'web');
    const page = join(web, 'index.html');
    const before = readFileSync(page, 'utf8');
    await world.send('/');
    rmSync(page);
    expect((await world.send('/')).status).toBe(404);
    writeFileSync(join(web, 'assets/app-5678.js'), 'export const two = 2;\n');
    writeFileSync(page, `${before}<script src="/assets/app-5678.js"></script>`);
    expect((await world.send('/')).text).toContain('app-5678.js');
    expect((await world.send('/assets/app-5678.js')).status).toBe(200);
    // Its compressed form is in the list, and gone: this reply breaks off, and the server answers the next one.
    writeFileSync(join(web, 'assets/app-5678.js.gz'), '');
    writeFileSync(page, before);
    await world.send('/');
    rmSync(join(web, 'assets/app-5678.js.gz'));
    const encoded = { headers: { 'accept-encoding': 'gzip' } };
    await expect(world.send('/assets/app-5678.js', encoded)).rejects.toThrow();
    expect((await world.send('/')).status).toBe(200);
  });
});
