import { createHmac, createSecretKey, generateKeyPairSync, hkdfSync, sign } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifyToken } from '../../src/server/token.ts';
import { builtAt } from '../support/built-at.ts';
import { bearer, codeOf, good, type ServerWorld, startServer, withPassword } from './world.ts';

let world: ServerWorld;
let token: string;
beforeAll(async () => {
  world = await startServer();
  token = await withPassword(world);
});
afterAll(() => world.close());

const encode = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
const claimsOf = (text: string) => decode(text.split('.')[1] ?? '');

/** The key as the chapter defines it, computed here from the stored secret and the machine's key. */
function keyOf(of: ServerWorld): Buffer {
  const secret = of.ground.logins.secret().bytes;
  const machine = readFileSync(join(of.place.home, '.reins/machine.key'));
  const epoch = String(of.ground.logins.epoch());
  return Buffer.from(
    hkdfSync('sha256', Buffer.concat([secret, machine]), of.ground.logins.instanceId, `reins-session-v1${epoch}`, 32),
  );
}
const signed = (
  claims: unknown,
  key: Buffer | string,
  head: unknown = { alg: 'HS256', typ: 'JWT' },
  hash = 'sha256',
) => {
  const text = `${encode(head)}.${encode(claims)}`;
  return `${text}.${createHmac(hash, key).update(text).digest('base64url')}`;
};
const status = async (text: string) => {
  const answer = await world.send('/api/auth/me', { headers: bearer(text) });
  return answer.status === 401 ? codeOf(answer) : answer.status;
};

it('takes a token that is signed and says what it must', async () => {
  expect(await status(token)).toBe(200);
  expect(await status(signed(claimsOf(token), keyOf(world)))).toBe(200);
});

it('HTTP-008: takes no other algorithm, and no key that the token names', async () => {
  const claims = claimsOf(token);
  const key = keyOf(world);
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const text = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(claims)}`;
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const forged = [
    `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims)}.`,
    `${encode({ alg: 'None', typ: 'JWT' })}.${encode(claims)}.`,
    signed(claims, key, { alg: 'none', typ: 'JWT' }),
    signed(claims, key, { alg: 'HS512', typ: 'JWT' }, 'sha512'),
    signed(claims, key, { alg: 'HS384', typ: 'JWT' }, 'sha384'),
    `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`,
    signed(claims, pem),
    signed(claims, key, { alg: 'HS256', typ: 'JWT', kid: '../../../../dev/null' }),
    signed(claims, key, { alg: 'HS256', typ: 'JWT', jku: 'https://evil.test/keys' }),
    signed(claims, key, { alg: 'HS256', typ: 'JWT', crit: ['exp'] }),
    signed(claims, key, { alg: 'HS256' }),
    signed(claims, key, '{"alg":"none","alg":"HS256","typ":"JWT"}'),
    signed(claims, ''),
    `${token.slice(0, -2)}`,
    `${token}.x`,
    '..',
  ];
  for (const text of forged)
    expect([text.slice(0, 60), await status(text)]).toEqual([text.slice(0, 60), 'invalid_token']);
});

it('HTTP-008: takes no claims but its own, whole and in time', async () => {
  const claims = claimsOf(token);
  const key = keyOf(world);
  const now = Math.floor(Date.now() / 1000);
  const without = (name: string) => Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name));
  const wrong = [
    ...Object.keys(claims).map(without),
    { ...claims, exp: now - 10 },
    { ...claims, exp: now + 2 * 86_400 },
    { ...claims, iat: now + 3600, nbf: now + 3600, exp: now + 7200 },
    { ...claims, nbf: now + 3600 },
    { ...claims, iss: 'other' },
    { ...claims, aud: '00000000-0000-0000-0000-000000000000' },
    { ...claims, aud: [claims['aud']] },
    { ...claims, sub: 'root' },
    { ...claims, ver: 0 },
    { ...claims, ver: '1' },
    { ...claims, sid: 'none' },
    { ...claims, jti: 'another' },
    { ...claims, exp: String(claims['exp']) },
    { ...claims, role: 'root' },
  ];
  for (const given of wrong) expect([given, await status(signed(given, key))]).toEqual([given, 'invalid_token']);
  const twice = JSON.stringify(claims).replace('{', '{"ver":7,');
  expect(await status(signed(twice, key))).toBe('invalid_token');
});

it('takes no token of another database, also under the same secret', async () => {
  const secret = Buffer.from('0123456789abcdefghijklmnopqrstuv');
  const [one, other] = [
    await startServer({ overrides: { secret, token: null } }),
    await startServer({ overrides: { secret, token: null } }),
  ];
  try {
    const foreign = await withPassword(one);
    expect((await one.send('/api/auth/me', { headers: bearer(foreign) })).status).toBe(200);
    expect((await other.send('/api/auth/me', { headers: bearer(foreign) })).status).toBe(401);
    expect(await status(foreign)).toBe('invalid_token');
  } finally {
    await one.close();
    await other.close();
  }
});

it('HTTP-008: takes no token that any text of the program would sign', async () => {
  const claims = claimsOf(token);
  const texts = new Set<string>();
  for (const name of readdirSync(join(builtAt, 'code'))) {
    if (!name.endsWith('.js')) continue;
    const code = readFileSync(join(builtAt, 'code', name), 'latin1');
    if (!code.includes('reins-session-v1')) continue;
    for (const [, text = ''] of code.matchAll(/["'`]([\w .:-]{6,120})/g)) texts.add(text);
  }
  expect([...texts]).toContain('reins-session-v1');
  const { instanceId } = world.ground.logins;
  for (const text of texts) {
    expect([text, verifyToken(createSecretKey(keyOf(world)), signed(claims, text), instanceId, Date.now())]).toEqual([
      text,
      null,
    ]);
  }
  expect(verifyToken(createSecretKey(keyOf(world)), token, instanceId, Date.now())).toEqual(claims);
});

it('forgets a token with its session, and every token with the secret', async () => {
  const other = String((await world.login(good)).json?.['token']);
  expect(await status(other)).toBe(200);
  world.ground.logins.revokeSession(String(claimsOf(other)['sid']), { by: 'test' });
  expect(await status(other)).toBe('invalid_token');
  world.ground.logins.rotateSecret({ by: 'test' });
  expect(await status(token)).toBe('invalid_token');
  expect((await world.login(good)).status).toBe(200);
});
