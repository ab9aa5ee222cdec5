import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { makeLink } from '../../src/server/links.ts';
import { createOperator } from '../../src/server/operator.ts';
import { bearer, codeOf, good, paramOf, type ServerWorld, startServer, withPassword } from './world.ts';

let world: ServerWorld;
const start = async (over: Parameters<typeof startServer>[0] = {}) => {
  world = await startServer(over);
  return world;
};
afterEach(() => world.close());

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  world.send(path, { method: 'POST', body, headers });
const status = async (path: string, token: unknown) => (await world.send(path, { headers: bearer(token) })).status;
const change = (token: unknown, current_password: string, new_password: string) =>
  post('/api/auth/change-password', { current_password, new_password }, bearer(token));
const cookieOf = (answer: Awaited<ReturnType<typeof post>>): string =>
  String(answer.headers['set-cookie']).split(';')[0] ?? '';

describe('the default credentials', () => {
  it('open a database without a password, for one thing', async () => {
    await start();
    for (const path of ['/api/login', '/login']) {
      const answer = await post(path, { email: 'admin', password: 'admin' });
      const [, claims] = String(answer.json?.['token']).split('.');
      const { iat, exp } = JSON.parse(Buffer.from(claims ?? '', 'base64url').toString());
      expect([answer.status, exp - iat, answer.json?.['must_change_password']]).toEqual([200, 86_400, true]);
    }
    const { json } = await post('/api/login', { username: 'admin', password: 'admin' });
    const token = json?.['token'];
    expect(await status('/api/version', token)).toBe(200);
    expect(await status('/api/auth/me', token)).toBe(200);
    const refused = await world.send('/api/auth/sessions', { headers: bearer(token) });
    expect([refused.status, codeOf(refused)]).toEqual([403, 'password_change_required']);
    const both = await post('/api/login', { email: 'admin', username: 'root', password: 'admin' });
    expect([both.status, codeOf(both)]).toEqual([400, 'conflicting_username']);
  });

  it('HTTP-009: end with the first password, and with every session but the one that set it', async () => {
    await start();
    const [one, other] = [(await world.login()).json?.['token'], (await world.login()).json?.['token']];
    expect(codeOf(await change(one, 'wrong', good))).toBe('invalid_current_password');
    const changed = await change(one, 'admin', good);
    expect([changed.status, changed.json?.['sessions_revoked']]).toEqual([200, 1]);
    expect(await status('/api/auth/me', other)).toBe(401);
    expect(await status('/api/auth/me', one)).toBe(401);
    expect(await status('/api/auth/sessions', changed.json?.['token'])).toBe(200);
    expect((await world.login()).status).toBe(401);
    expect((await world.login(good)).status).toBe(200);

    // Nor do they come back by the row alone; the password is nowhere.
    const bytes = readFileSync(join(world.place.dir, 'local.db')).toString('latin1');
    const wal = readFileSync(join(world.place.dir, 'local.db-wal')).toString('latin1');
    for (const secret of [good, createHash('sha256').update(good).digest('hex')])
      expect(bytes + wal).not.toContain(secret);
    world = await world.restart();
    expect((await world.login(good)).status).toBe(200);
    const { default: Database } = await import('better-sqlite3');
    const database = new Database(join(world.place.dir, 'local.db'));
    database.exec('DELETE FROM auth_credential');
    database.close();
    expect((await world.login()).status).toBe(401);
    expect((await world.login(good)).status).toBe(401);
    world.ground.logins.resetPassword({ by: 'test' });
    world.pass(3_600_000);
    expect((await world.login()).status).toBe(200);
  });

  it('are set aside by the first of two who change them', async () => {
    await start();
    const tokens = [(await world.login()).json?.['token'], (await world.login()).json?.['token']];
    const answers = await Promise.all(tokens.map((token, index) => change(token, 'admin', `${good} ${index}`)));
    expect(answers.map(({ status: code }) => code).sort()).toEqual([200, 409]);
    expect(answers.map(codeOf)).toContain('password_already_set');
  });

  it('HTTP-011: are not good through a proxy, from elsewhere, for another name of the server, or when they are switched off', async () => {
    await start();
    const login = (headers: Record<string, string>) =>
      post('/api/login', { email: 'admin', password: 'admin' }, headers);
    const inForce = async (headers: Record<string, string>) =>
      (await world.send('/api/auth/status', { headers })).json?.['default_login_in_force'];
    expect(await inForce({})).toBe(true);
    const standard = ['x-forwarded-for', 'x-forwarded-host', 'forwarded', 'via'];
    for (const name of standard) expect([name, (await login({ [name]: '203.0.113.9' })).status]).toEqual([name, 401]);
    const others =
      'x-forwarded forwarded-for x-real-ip true-client-ip cf-connecting-ip client-ip x-original-host cdn-loop';
    for (const name of [...standard, ...others.split(' ')])
      expect([name, await inForce({ [name]: 'x' })]).toEqual([name, false]);
    // Nor is it believed who they say that somebody is.
    const { rows } = await world.client.listAudit({
      since: null,
      run: null,
      type: 'login_failed',
      tools: null,
      limit: 9,
    });
    expect(rows.map(({ body }) => (body as { peer?: string }).peer)).toEqual(Array(4).fill('127.0.0.1'));
    await world.client.setConfig({ key: 'allow-default-login', value: 'false' });
    expect((await login({})).status).toBe(401);
    const told = await world.send('/api/auth/status');
    expect(told.json).toEqual({ authenticated: false, must_change_password: false, default_login_in_force: false });
  });
});

// Only who may become another account can try it.
it.skipIf(process.getuid?.() !== 0)('the default credentials are for the account of the server alone', async () => {
  await start();
  const { port } = new URL(world.url);
  const body = '{"username":"admin","password":"admin"}';
  const head = `Host: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  const script = `exec 3<>/dev/tcp/127.0.0.1/${port}
    printf 'POST /login HTTP/1.1\r\n%s\r\nConnection: close\r\n\r\n%s' "$1" "$2" >&3; head -n 1 <&3`;
  const as = async (account: object): Promise<string> =>
    (await promisify(execFile)('/bin/bash', ['-c', script, 'sh', head, body], { cwd: '/', ...account })).stdout.trim();
  expect(await as({ uid: 65_534, gid: 65_534 })).toBe('HTTP/1.1 401 Unauthorized');
  expect(await as({})).toBe('HTTP/1.1 200 OK');
});

describe('a login', () => {
  it('HTTP-010: says one thing to a wrong name and a wrong password, and counts both', async () => {
    await start();
    await withPassword(world);
    const name = await post('/api/login', { email: 'root', password: good });
    const password = await post('/api/login', { email: 'admin', password: 'wrong' });
    expect([name.status, name.text]).toEqual([401, password.text]);
    expect(name.headers['www-authenticate']).toBe('Bearer');
    const rows = await world.client.listAudit({ since: null, run: null, type: 'login_failed', tools: null, limit: 10 });
    expect(rows.rows.map(({ body }) => body)).toEqual(
      Array(2).fill({ outcome: 'invalid_credentials', peer: '127.0.0.1', route: '/api/login' }),
    );
  });

  it('takes as long for a name that is not there, and where no password is stored, as for a wrong password', async () => {
    await start();
    const cost = 10;
    const stored = await createOperator({ logins: world.ground.logins, cost }).hash(good);
    const of = (hash: string | null) => {
      const credential = hash === null ? null : { username: 'admin', hash, updatedAt: 0 };
      return createOperator({ logins: { credential: () => credential, epoch: () => 0, rehash: () => {} }, cost });
    };
    const shortest = async (operator: ReturnType<typeof createOperator>, name: string) => {
      const times: number[] = [];
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const began = performance.now();
        expect(await operator.verify(name, 'wrong', true)).toBe(null);
        times.push(performance.now() - began);
      }
      return Math.min(...times);
    };
    // Without a hash it takes a hundredth; a busy machine makes less of a difference.
    const least = (await shortest(of(stored), 'admin')) / 10;
    expect(await shortest(of(stored), 'root')).toBeGreaterThan(least);
    expect(await shortest(of(null), 'admin')).toBeGreaterThan(least);
    expect(await shortest(of(null), 'root')).toBeGreaterThan(least);
  });

  it('HTTP-010: names the field that is wrong, and reads no long password', async () => {
    await start();
    const wrong = async (body: unknown) => {
      const answer = await post('/api/login', body);
      return [answer.status, codeOf(answer), paramOf(answer)];
    };
    expect(await wrong([])).toEqual([400, 'invalid_body', undefined]);
    expect(await wrong({ email: 'admin' })).toEqual([400, 'invalid_body', 'password']);
    expect(await wrong({ email: 1, password: 'x' })).toEqual([400, 'invalid_body', 'email']);
    expect(await wrong({ password: 'x' })).toEqual([400, 'invalid_body', 'email']);
    expect(await wrong({ email: 'admin', password: 'x', more: 1 })).toEqual([400, 'unknown_field', 'more']);
    expect(await wrong({ email: 'admin', password: 'x'.repeat(1025) })).toEqual([400, 'invalid_body', 'password']);
    for (const length of [5000, 1_000_000])
      expect(await wrong({ email: 'admin', password: 'x'.repeat(length) })).toEqual([
        413,
        'request_too_large',
        undefined,
      ]);
  });

  it('of a browser is a cookie that no script reads, good with our own Origin alone', async () => {
    await start();
    await withPassword(world);
    for (const path of ['/api/ui/login', '/ui/login']) {
      const answer = await post(path, { email: 'admin', password: good });
      expect(answer.json).not.toHaveProperty('token');
      expect(answer.headers['set-cookie']).toEqual([
        expect.stringMatching(
          new RegExp(`^reins_session_${world.port}=[^;]+; Max-Age=86399|86400; Path=/; HttpOnly; SameSite=Strict$`),
        ),
      ]);
    }
    const cookie = cookieOf(await post('/ui/login', { email: 'admin', password: good }));
    expect((await world.send('/api/auth/me', { headers: { cookie } })).status).toBe(200);
    const extra = await post('/api/auth/refresh', { zone: 1 }, { cookie, origin: world.url });
    expect([extra.status, Reflect.get(Object(extra.json?.['error']), 'param')]).toEqual([400, 'zone']);
    const bare = await post('/api/auth/refresh', undefined, { cookie });
    expect([bare.status, codeOf(bare)]).toEqual([403, 'origin_required']);
    const own = await post('/api/auth/refresh', undefined, { cookie, origin: world.url });
    expect(own.status).toBe(200);
    // The token before is dead at once, the new one lives, and two of them are none.
    const late = await world.send('/api/auth/me', { headers: { cookie } });
    // What another tab had sent before does not take the new cookie away.
    expect([late.status, late.headers['set-cookie']]).toEqual([401, undefined]);
    const fresh = cookieOf(own);
    expect((await world.send('/api/auth/me', { headers: { cookie: fresh } })).status).toBe(200);
    const twice = await world.send('/api/auth/me', { headers: { cookie: `${fresh}; ${fresh}` } });
    expect([twice.status, String(twice.headers['set-cookie'])]).toEqual([401, expect.stringContaining('Max-Age=0')]);
    // A header decides, and the cookie beside it is not looked at.
    const both = { cookie: fresh, authorization: 'Bearer nonsense' };
    expect((await world.send('/api/auth/me', { headers: both })).status).toBe(401);
    expect((await world.send('/api/auth/me', { headers: { authorization: 'Basic YWRtaW46YWRtaW4=' } })).status).toBe(
      401,
    );
  });

  it('ends when it is told to, and a stale one is in nobody’s way', async () => {
    await start();
    await withPassword(world);
    const cookie = cookieOf(await post('/ui/login', { email: 'admin', password: good }));
    const out = await post('/api/auth/logout', undefined, { cookie, origin: world.url });
    expect([out.status, String(out.headers['set-cookie'])]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    const token = cookie.split('=').slice(1).join('=');
    expect(await status('/api/auth/me', token)).toBe(401);
    expect((await world.send('/', { headers: { cookie } })).status).toBe(200);
    expect((await world.send('/api/auth/status', { headers: { cookie } })).json?.['authenticated']).toBe(false);
    expect((await post('/ui/login', { email: 'admin', password: good }, { cookie })).status).toBe(200);
    expect((await post('/api/auth/logout', undefined, { cookie })).status).toBe(204);
  });

  it('is listed, and ended by another', async () => {
    await start();
    const token = await withPassword(world);
    const other = (await world.login(good)).json?.['token'];
    const { json } = await world.send('/api/auth/sessions', { headers: bearer(token) });
    const items = json?.['items'] as { id: string; current: boolean; auth_method: string }[];
    expect(items.map(({ current, auth_method }) => [current, auth_method])).toEqual([
      [false, 'pwd'],
      [true, 'pwd'],
    ]);
    expect(JSON.stringify(items)).not.toContain(String(other).slice(-20));
    const ended = await world.send(`/api/auth/sessions/${items[0]?.id}`, { method: 'DELETE', headers: bearer(token) });
    expect([ended.status, await status('/api/auth/me', other)]).toEqual([204, 401]);
    expect((await world.send('/api/auth/sessions/none', { method: 'DELETE', headers: bearer(token) })).status).toBe(
      404,
    );
    await world.login(good);
    const all = await world.send('/api/auth/sessions', { method: 'DELETE', headers: bearer(token) });
    expect([all.json, await status('/api/auth/me', token)]).toEqual([{ revoked: 1 }, 200]);
  });

  it('is over after a day, and after seven however often it was renewed', async () => {
    await start();
    let token: unknown = await withPassword(world);
    world.pass(86_400_000 - 10_000);
    expect(await status('/api/auth/me', token)).toBe(200);
    world.pass(16_000);
    expect(await status('/api/auth/me', token)).toBe(401);
    const first = await world.login(good);
    token = first.json?.['token'];
    for (let day = 0; day < 6; day += 1) {
      world.pass(86_000_000);
      const answer = await post('/api/auth/refresh', undefined, bearer(token));
      expect([day, answer.status]).toEqual([day, 200]);
      token = answer.json?.['token'];
    }
    world.pass(80_000_000);
    const last = await post('/api/auth/refresh', undefined, bearer(token));
    const sixDays = Date.parse(String(last.json?.['expires_at'])) - Date.parse(String(first.json?.['expires_at']));
    expect([last.status, sixDays]).toEqual([200, 6 * 86_400_000]);
    world.pass(9_000_000);
    expect(await status('/api/auth/me', last.json?.['token'])).toBe(401);
  });

  it('proves itself anew with the password for what is guarded', async () => {
    await start();
    const token = await withPassword(world);
    const wrong = await post('/api/auth/verify?password=misplaced', { password: 'wrong' }, bearer(token));
    expect([wrong.status, codeOf(wrong)]).toEqual([401, 'invalid_credentials']);
    const failed = { since: null, run: null, type: 'login_failed' as const, tools: null, limit: 9 };
    expect((await world.client.listAudit(failed)).rows.map(({ body }) => body)).toEqual([
      { by: 'operator:web', outcome: 'invalid_credentials', peer: '127.0.0.1', route: '/api/auth/verify' },
    ]);
    world.pass(40 * 60_000);
    const right = await post('/api/auth/verify', { password: good }, bearer(token));
    expect(Date.parse(String(right.json?.['recent_until']))).toBeGreaterThan(Date.now() + 65 * 60_000);
    expect(codeOf(await post('/api/auth/verify', { password: good, code: 'x' }, bearer(token)))).toBe('invalid_body');
  });
});

describe('a session that ends', () => {
  it('takes with it what was still being sent', async () => {
    await start();
    const token = await withPassword(world);
    const body = JSON.stringify({ password: good });
    const answered = new Promise<string>((resolve, reject) => {
      const headers = { ...bearer(token), 'content-type': 'application/json', 'content-length': body.length };
      const sent = request(
        { port: world.port, host: '127.0.0.1', path: '/api/auth/verify', method: 'POST', headers },
        (response) => {
          let text = '';
          response.on('data', (piece) => {
            text += String(piece);
          });
          response.on('end', () => resolve(text));
        },
      );
      sent.on('error', reject);
      sent.write(body.slice(0, 5));
      sent.once('socket', (socket) =>
        socket.once('connect', () => {
          world.ground.logins.revokeSessions(null, { by: 'test' });
          sent.end(body.slice(5));
        }),
      );
    });
    expect(JSON.parse(await answered)).toMatchObject({ error: { code: 'invalid_token' } });
  });
});

describe('passwords', () => {
  it('count to their last byte', async () => {
    await start();
    const long = 'a long sentence that goes on beyond what bcrypt reads, and then it goes on again';
    expect(long.length).toBeGreaterThan(72);
    await withPassword(world, `${long}1`);
    expect((await world.login(`${long}2`)).status).toBe(401);
    expect((await world.login(`${long}1`)).status).toBe(200);
    expect((await world.login(long.slice(0, 72))).status).toBe(401);
  });

  it('are the same in each spelling of their characters', async () => {
    await start();
    await withPassword(world, 'caf\u00e9 au lait, s\u2019il vous pla\u00eet');
    expect((await world.login('cafe\u0301 au lait, s\u2019il vous plai\u0302t')).status).toBe(200);
  });

  it('that anybody would try are not taken', async () => {
    await start();
    const token = (await world.login()).json?.['token'];
    const weak = [
      'short',
      'elevenchars',
      'aaaaaaaaaaaaaa',
      'password1234',
      'Password1234!',
      'qwertyuiop123',
      '123456789012',
      'adminadminadmin',
      `tab\t${good}`,
      `nul\0${good}`,
    ];
    for (const password of weak) {
      const answer = await change(token, 'admin', password);
      expect([password, answer.status, codeOf(answer)]).toEqual([password, 422, 'weak_password']);
    }
    const fresh = (await change(token, 'admin', good)).json?.['token'];
    expect(codeOf(await change(fresh, good, good))).toBe('password_unchanged');
  });

  it('raise the cost of an old hash', async () => {
    await start();
    await withPassword(world);
    world = await world.restart({ passwordCost: 5 });
    expect(world.ground.logins.credential()?.hash).toMatch(/^\$2b\$04/);
    expect((await world.login(good)).status).toBe(200);
    expect(world.ground.logins.credential()?.hash).toMatch(/^\$2b\$05/);
    expect((await world.login(good)).status).toBe(200);
  });
});

describe('who fails again and again', () => {
  it('HTTP-010: waits twice as long each time, also after a restart, while a link works', async () => {
    await start();
    for (let attempt = 0; attempt < 6; attempt += 1) expect((await world.login('wrong')).status).toBe(401);
    const blocked = await world.login('admin');
    expect([blocked.status, codeOf(blocked), blocked.headers['retry-after']]).toEqual([429, 'too_many_attempts', '1']);
    world.ground.logins.fail('peer:127.0.0.1', 5);
    world = await world.restart();
    expect((await world.login('admin')).status).toBe(429);
    const link = makeLink(world.ground.logins, world.url, Date.now());
    expect((await post('/api/auth/link', { code: link.split('code=')[1] })).status).toBe(200);
    expect((await world.authorised('/api/version')).status).toBe(200);
  });

  it('is answered at once when hundreds come together', async () => {
    await start({ passwordCost: 10 });
    const answers = await Promise.all(Array.from({ length: 60 }, () => world.login('wrong')));
    const codes = answers.map(({ status: code }) => code);
    // Five are free, the sixth blocks, and another may be in work beside it: those who wait are not heard any more.
    expect(codes.filter((code) => code === 401).length).toBeGreaterThanOrEqual(6);
    expect(codes.filter((code) => code === 401).length).toBeLessThanOrEqual(7);
    expect(codes.filter((code) => code !== 401 && code !== 429)).toEqual([]);
    expect(
      answers.filter((answer) => answer.status === 429).every(({ headers }) => Number(headers['retry-after']) >= 1),
    ).toBe(true);
  });
});

describe('a login link', () => {
  it('HTTP-015: is good once, for ten minutes, and no line tells of it', async () => {
    await start();
    const code = () => makeLink(world.ground.logins, world.url, Date.now()).split('#code=')[1];
    const one = code();
    const first = await post('/api/auth/link', { code: one });
    expect([first.status, first.json?.['must_change_password']]).toEqual([200, false]);
    const again = await post('/api/auth/link', { code: one });
    expect([again.status, codeOf(again)]).toEqual([401, 'invalid_code']);
    expect((await post('/api/auth/link', { code: 'guess' })).status).toBe(401);
    expect(JSON.stringify(world.lines)).not.toContain(one);
    // Without a stored password the default one is the current one.
    const cookie = cookieOf(first);
    const changed = await post(
      '/api/auth/change-password',
      { current_password: 'admin', new_password: good },
      { cookie, origin: world.url },
    );
    expect([changed.status, changed.json?.['token']]).toEqual([200, undefined]);
    const left = code();
    await change((await world.login(good)).json?.['token'], good, `${good} again`);
    expect((await post('/api/auth/link', { code: left })).status).toBe(401);
  });

  it('cannot be guessed for long', async () => {
    await start();
    for (let attempt = 0; attempt < 20; attempt += 1) await post('/api/auth/link', { code: `guess ${attempt}` });
    expect(codeOf(await post('/api/auth/link', { code: 'guess' }))).toBe('too_many_attempts');
    world.pass(61_000);
    expect(codeOf(await post('/api/auth/link', { code: 'guess' }))).toBe('invalid_code');
  });
});

describe('the access token', () => {
  it('does what programs do, and nothing of what only a person may', async () => {
    await start();
    expect((await world.authorised('/api/auth/me')).json).toMatchObject({ auth_method: 'token', session_id: null });
    for (const [method, path] of [
      ['POST', '/api/auth/change-password'],
      ['POST', '/api/auth/refresh'],
      ['GET', '/api/auth/sessions'],
      ['DELETE', '/api/auth/sessions'],
    ] as const) {
      const answer = await world.authorised(path, { method });
      expect([path, answer.status, codeOf(answer)]).toEqual([path, 403, 'session_required']);
    }
    expect((await world.send('/api/version', { headers: bearer(`${world.token}x`) })).status).toBe(401);
    expect((await world.send('/api/version', { headers: bearer('rbt_') })).status).toBe(401);
    const old = world.token;
    world.ground.token.rotate();
    world.pass(1000);
    expect((await world.send('/api/version', { headers: bearer(old) })).status).toBe(401);
  });
});
