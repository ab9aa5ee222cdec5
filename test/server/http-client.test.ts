import { afterEach, expect, test } from 'vitest';
import { createHttpClient } from '../../src/client/http-client.ts';
import type { HttpClient } from '../../src/client/http-client.ts';
import { RuntimeError } from '../../src/schema/errors.ts';
import { good, type ServerWorld, startServer } from './world.ts';
import { textOf } from './text-of.ts';

let world: ServerWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const refusal = async (body: Promise<unknown>): Promise<unknown> => {
  const error: unknown = await body.catch((thrown: unknown) => thrown);
  return error instanceof RuntimeError ? [error.code, Reflect.get(Object(error.data), 'status')] : error;
};

test('a program logs in, sets the password, works, and logs out', async () => {
  world = await startServer();
  let token: string | undefined;
  const client: HttpClient = createHttpClient({
    base: world.url,
    fetch: globalThis.fetch,
    headers: (): Record<string, string> => (token === undefined ? {} : { authorization: `Bearer ${token}` }),
  });
  expect(await client.getLoginStatus({})).toEqual({
    authenticated: false,
    must_change_password: false,
    default_login_in_force: true,
  });
  expect(await refusal(client.pageRuns({}))).toEqual(['unauthenticated', 401]);
  expect(await refusal(client.login({ email: 'admin', password: 'wrong' }))).toEqual(['invalid_credentials', 401]);
  const first = await client.login({ email: 'admin', password: 'admin' });
  expect(first.must_change_password).toBe(true);
  token = first.token;
  expect(await refusal(client.pageRuns({}))).toEqual(['password_change_required', 403]);
  const changed = await client.changePassword({ current_password: 'admin', new_password: good });
  token = changed.token;
  expect(await client.getMe({})).toMatchObject({ username: 'admin', auth_method: 'pwd', password_set: true });
  expect(await client.pageRuns({})).toEqual({ items: [], next_cursor: null });
  expect(await client.putConfigItem({ key: 'max-rounds', value: '9' })).toMatchObject({ value: '9' });
  expect(await refusal(client.getBackend({ name: 'none' }))).toEqual(['not_found', 404]);
  expect((await client.listLogins({})).items).toMatchObject([{ current: true, auth_method: 'pwd' }]);
  expect((await client.pageAudit({ type: 'password_changed' })).items).toHaveLength(1);
  const file = await client.downloadAudit({});
  expect([file.file, (await textOf(file)).includes(good)]).toEqual(['audit.ndjson', false]);
  expect(await client.logout({})).toBeNull();
  expect(await refusal(client.getMe({}))).toEqual(['invalid_token', 401]);
});

test('a refusal carries what was wrong and where', async () => {
  world = await startServer();
  const { url, token } = world;
  const client = createHttpClient({
    base: url,
    fetch: globalThis.fetch,
    headers: () => ({ authorization: `Bearer ${token}` }),
  });
  const error: unknown = await client.postRun({ input: 'x', input_type: 'int' }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'invalid_parameter', data: { param: 'input', status: 400 } });
  expect(await client.vetPolicyText({ text: '{"rules":3}' })).toMatchObject({
    valid: false,
    findings: [{ severity: 'error', path: '$.rules' }],
  });
});

test('the feed is not given up where a server has too much to do: it is asked again when it said so', async () => {
  world = await startServer();
  const { url, token } = world;
  const told: [string, number][] = [];
  const end = new AbortController();
  const client = createHttpClient({
    base: url,
    headers: () => ({ authorization: `Bearer ${token}` }),
    connection: (state, retryInMs) => told.push([state, retryInMs]),
    fetch: async (input, init) =>
      told.length > 0
        ? fetch(input, init)
        : Response.json({ error: { code: 'busy' } }, { status: 429, headers: { 'retry-after': '1' } }),
  });
  for await (const _ of client.watchFeed({ after: null, signal: end.signal, begun: () => end.abort() }));
  expect(told).toEqual([
    ['lost', 1000],
    ['open', 0],
    ['over', 0],
  ]);
});

test('a stream that waits to connect again does so when another one has found the server there', async () => {
  world = await startServer();
  const { url, token } = world;
  const end = new AbortController();
  let lostAt = 0;
  let takenUp = (_after: number): void => undefined;
  const after = new Promise<number>((resolve) => {
    takenUp = resolve;
  });
  let isThere = false;
  const client = createHttpClient({
    base: url,
    headers: () => ({ authorization: `Bearer ${token}` }),
    fetch: async (input, init) => {
      const isFeed = String(input).endsWith('/api/events');
      if (!isFeed && isThere) takenUp(Date.now() - lostAt);
      if (isThere) return fetch(input, init);
      throw new TypeError('nobody there');
    },
    connection: (state, retryInMs) => {
      if (state !== 'lost' || retryInMs < 1000 || isThere) return;
      [isThere, lostAt] = [true, Date.now()];
      void read(client.watchFeed({ after: null, signal: end.signal }));
    },
  });
  const read = async (stream: AsyncIterable<unknown>): Promise<void> => {
    for await (const _ of stream);
  };
  // There is no such run, which is said as soon as somebody is there.
  await expect(read(client.watch({ run_id: 'run_none', after: 0, signal: end.signal }))).rejects.toThrow('run_none');
  end.abort();
  expect(await after).toBeLessThan(700);
});
