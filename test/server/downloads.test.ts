import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttpClient } from '../../src/client/http-client.ts';
import { type Served, served } from './served.ts';
import { textOf } from './text-of.ts';

let server: Served;
beforeAll(async () => {
  server = await served({ turns: [] });
});
afterAll(() => server.close());

/** A session of so many messages of a million characters: more than is on the way between the two ends. */
/**
 * Writes in the thread of the server and of its clients, for seconds on a busy machine. What it has kept from being said
 * is said first: that a connection has rested for too long, and is gone.
 */
async function change(sql: string): Promise<void> {
  server.app.change(sql);
  for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function longSession(name: string, count: number): Promise<string> {
  await server.client.createSession({ name });
  const id = String(server.app.rows('SELECT id FROM sessions WHERE name = ?', name)[0]?.['id']);
  await change(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     INSERT INTO messages (id, session_id, seq, role, kind, payload, status, created_at)
     SELECT '${name}-' || i, '${id}', i, 'user', 'message',
       json_object('id', '${name}-' || i, 'role', 'user', 'content', printf('%.*c', 1000000, 'x')), 'complete', 1 FROM n`,
  );
  return id;
}
const seqs = (text: string): number[] =>
  (JSON.parse(text) as { messages: { seq: number }[] }).messages.map(({ seq }) => seq);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

test('a session is handed over page by page, and every message is there once', async () => {
  const id = await longSession('pages', 5);
  const page = await server.app.client.exportSession({ session: { id }, after: 0, most_bytes: 2_500_000 });
  expect([page.messages.map(({ seq }) => seq), page.next]).toEqual([[1, 2], 2]);
  // A page holds one message at least.
  const single = await server.app.client.exportSession({ session: { id }, after: 3, most_bytes: 1 });
  expect([single.messages.map(({ seq }) => seq), single.next]).toEqual([[4], 4]);
  const last = await server.app.client.exportSession({ session: { id }, after: 3, most_bytes: 2_500_000 });
  expect([last.messages.map(({ seq }) => seq), last.next]).toEqual([[4, 5], null]);
  expect(seqs(await textOf(await server.client.downloadSession({ session: 'pages', format: 'json' })))).toEqual(
    upTo(5),
  );
});

test('a file that does not come to its end is no file: its session is deleted on the way', async () => {
  const id = await longSession('deleted', 60);
  const file = await server.client.downloadSession({ session: 'deleted', format: 'json' });
  const pieces = file.pieces[Symbol.asyncIterator]();
  expect((await pieces.next()).value).toContain('{"schema_version":1,');
  server.app.change(`DELETE FROM messages WHERE session_id = '${id}'; DELETE FROM sessions WHERE id = '${id}'`);
  const rest = async (): Promise<void> => {
    for (;;) if ((await pieces.next()).done === true) return;
  };
  await expect(rest()).rejects.toThrow();
  expect((await server.call('GET', '/api/sessions/deleted/export')).status).toBe(404);
});

test('a download ends with the login that asked for it', async () => {
  await longSession('revoked', 60);
  const token = server.login();
  const client = createHttpClient({
    base: server.url,
    fetch: globalThis.fetch,
    headers: () => ({ authorization: `Bearer ${token}` }),
  });
  const { pieces } = await client.downloadSession({ session: 'revoked', format: 'md' });
  const reader = pieces[Symbol.asyncIterator]();
  await reader.next();
  await client.logout({});
  const read = async (): Promise<void> => {
    // Slowly, so that the server looks at its logins before all of it could have been read.
    while ((await reader.next()).done !== true) {
      for (let asked = 0; asked < 2; asked += 1) {
        expect((await server.call('GET', '/api/auth/me', { token })).status).toBe(401);
      }
    }
  };
  await expect(read()).rejects.toThrow();
});

test('who leaves, and who asks for the head alone, keep nothing waiting', async () => {
  await longSession('left', 60);
  const { pieces } = await server.client.downloadSession({ session: 'left', format: 'json' });
  for await (const _piece of pieces) break;
  const head = await fetch(`${server.url}/api/sessions/left/export?format=json`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${server.token}` },
  });
  expect([head.status, await head.text(), head.headers.get('content-disposition')]).toEqual([
    200,
    '',
    `attachment; filename="left.json"; filename*=UTF-8''left.json`,
  ]);
  const whole = await server.client.downloadSession({ session: 'left', format: 'json' });
  expect(seqs(await textOf(whole))).toEqual(upTo(60));
});

/** So many further entries of the audit log, each of a million characters. */
const longLog = (count: number): Promise<void> =>
  change(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     INSERT INTO audit (seq, at, type, tenant_id, body, prev_hash, hash)
     SELECT (SELECT max(seq) FROM audit) + i, 1700000000000 + i, 'first_use', (SELECT tenant_id FROM audit LIMIT 1),
       json_object('name', printf('%.*c', 1000000, 'x')), '', 'end' FROM n`,
  );

test('the audit log is exported to its last entry, however long it is', async () => {
  await longLog(40);
  const rows = server.app.rows('SELECT seq, at FROM audit ORDER BY seq');
  const exported = async (times: Parameters<typeof server.client.downloadAudit>[0]) =>
    (await textOf(await server.client.downloadAudit(times)))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number; hash: string; type: string; cut_before_seq?: number });
  const whole = await exported({});
  expect(whole.slice(0, -1).map(({ seq }) => seq)).toEqual(rows.map(({ seq }) => seq));
  expect(whole.at(-1)).toEqual({
    type: 'head',
    seq: rows.at(-1)?.['seq'],
    hash: 'end',
    exported_at: expect.any(String),
  });
  const some = await exported({ since: 1_700_000_000_010, until: 1_700_000_000_013 });
  expect(some.slice(0, -1).map(({ seq }) => seq)).toEqual(
    rows.filter(({ at }) => Number(at) >= 1_700_000_000_010 && Number(at) < 1_700_000_000_013).map(({ seq }) => seq),
  );
});

test('two exports of the audit log are under way at once, until they are read or left', async () => {
  await longLog(60);
  const [first, second] = [await server.client.downloadAudit({}), await server.client.downloadAudit({})];
  const begun = [first, second].map(({ pieces }) => pieces[Symbol.asyncIterator]());
  for (const reader of begun) await reader.next();
  expect((await server.call('GET', '/api/audit/verify')).status).toBe(429);
  for (const reader of begun) await reader.return?.();
  await expect.poll(async () => (await server.call('GET', '/api/audit/verify')).status).toBe(200);
  // A head alone, and one that cannot be, hold nothing either.
  for (let asked = 0; asked < 3; asked += 1) {
    const headers = { authorization: `Bearer ${server.token}` };
    expect((await fetch(`${server.url}/api/audit/export`, { method: 'HEAD', headers })).status).toBe(200);
  }
  expect((await server.call('GET', '/api/audit/verify')).status).toBe(200);
});
