import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HttpClient } from '../../src/client/http-client.ts';
import type { RouteClient } from '../../src/client/routes.ts';
import { RuntimeError } from '../../src/schema/errors.ts';
import { call, calls, says } from '../support/scripted-app.ts';
import { textOf } from './text-of.ts';
import { type Served, served } from './served.ts';

let server: Served;
beforeAll(async () => {
  server = await served({
    turns: [
      says('They greeted.', { role: 'user', last_user: 'summary' }),
      calls([call('local_fs.write_file', { path: 'a.txt', content: 'one\n' })], { role: 'user', last_user: 'write' }),
      says('It is written.', { role: 'tool' }),
      says('Hello.'),
    ],
    policy: { default_action: 'allow', rules: [{ tools: 'local_fs', tool: 'write_file', action: 'approve' }] },
  });
});
afterAll(() => server.close());

const model = { model: 'm', provider: 'scripted' };
/** What a refusal says, as whoever calls sees it. */
const refusal = async (body: Promise<unknown>): Promise<unknown> => {
  const error: unknown = await body.catch((thrown: unknown) => thrown);
  return error instanceof RuntimeError ? error.code : error;
};
const ended = async (client: Pick<HttpClient, 'watch'>, run_id: string): Promise<string> => {
  let text = '';
  for await (const batch of client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
    for (const event of batch) if (event.kind === 'message') text = event.message.content;
  }
  return text;
};

/** The same through both clients: the one in the server's process, and the one that only knows an address. */
const faces: readonly (readonly [string, () => Promise<RouteClient & Pick<HttpClient, 'watch'>>])[] = [
  ['in process', async () => ({ ...(await server.app.handle.routes()), watch: server.app.client.watch })],
  ['over HTTP', async () => server.client],
];

test.each(faces)(
  'a session is made, talked to, read, copied, renamed, exported and removed, %s',
  async (face, open) => {
    const client = await open();
    const name = face === 'in process' ? 'one' : 'two';
    expect(await client.createSession({ name })).toMatchObject({ name, active: true, message_count: 0 });
    expect(await refusal(client.createSession({ name }))).toBe('already_exists');

    const sent = await client.postMessage({ session: name, text: 'hi', ...model });
    expect(await ended(client, sent.run_id)).toBe('Hello.');
    const page = await client.pageMessages({ session: name, order: 'asc' });
    expect(page.items.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'hi'],
      ['assistant', 'Hello.'],
    ]);
    expect(page.items[0]?.id).toBe(sent.message_id);
    const newest = await client.pageMessages({ session: name, limit: 1 });
    expect(newest.items.map(({ text }) => text)).toEqual(['Hello.']);
    const older = await client.pageMessages({ session: name, limit: 1, cursor: newest.next_cursor ?? '' });
    expect([older.items.map(({ text }) => text), older.next_cursor]).toEqual([['hi'], null]);

    const copy = await client.copySession({ session: name, name: `${name}-copy` });
    expect(copy).toMatchObject({ name: `${name}-copy`, active: true, message_count: 2 });
    expect(await client.patchSession({ session: `${name}-copy`, name: `${name}-b` })).toMatchObject({
      name: `${name}-b`,
    });
    expect(await client.activateSession({ session: name })).toMatchObject({ name, active: true });
    const file = await client.downloadSession({ session: name, format: 'md' });
    expect([file.file, (await textOf(file)).split('\n')[0]]).toEqual([`${name}.md`, `# ${name}`]);
    expect(JSON.parse(await textOf(await client.downloadSession({ session: name, format: 'json' })))).toMatchObject({
      schema_version: 1,
    });

    const first = await client.pageSessions({ limit: 1 });
    const second = await client.pageSessions({ limit: 100, cursor: first.next_cursor ?? '' });
    const names = [...first.items, ...second.items].map((session) => session.name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining([name, `${name}-b`]));
    const said = async (query: string) =>
      (await client.pageSessions({ query })).items
        .map((session) => session.name)
        .filter((each) => each.startsWith(name));
    expect(await said(`${name.toUpperCase()}-B`)).toEqual([`${name}-b`]);
    // Both hold the message that the copy was made with.
    expect((await said('hell')).toSorted()).toEqual([name, `${name}-b`]);
    expect(await said('hello nobody')).toEqual([]);
    expect(await said('"')).toEqual([]);
    expect((await said(' ')).toSorted()).toEqual([name, `${name}-b`]);
    const narrow = await client.pageSessions({ query: name, limit: 1 });
    const behind = await client.pageSessions({ query: name, limit: 1, cursor: narrow.next_cursor ?? '' });
    expect([...narrow.items, ...behind.items].map((session) => session.name).toSorted()).toEqual([name, `${name}-b`]);
    expect(behind.next_cursor).toBeNull();
    expect(await client.removeSession({ session: `${name}-b` })).toBeNull();
    expect(await refusal(client.getSession({ session: `${name}-b` }))).toBe('not_found');
    expect(await refusal(client.pageSessions({ cursor: 'x' }))).toBe('invalid_parameter');
  },
);

test.each(faces)(
  'a session takes one turn at a time, and gives its run up when it is told to, %s',
  async (face, open) => {
    const client = await open();
    const name = face === 'in process' ? 'three' : 'four';
    await client.createSession({ name });
    const { run_id } = await client.postMessage({ session: name, text: 'write', ...model });
    const ask = await server.app.seen(run_id, 'ask');
    expect(await refusal(client.postMessage({ session: name, text: 'more', ...model }))).toBe('session_busy');
    expect(await refusal(client.removeSession({ session: name }))).toBe('in_use');

    // As if the process had been stopped: the run rests and its ask stays open.
    await server.app.client.stopRun({ run_id, reason: 'ask' });
    await server.app.client.awaitRun({ run_id });
    expect(await client.getRun({ id: run_id })).toMatchObject({ status: 'suspended', waiting_on: ask.ask_id });
    expect(await refusal(client.postMessage({ session: name, text: 'more', ...model }))).toBe('run_suspended');
    expect(await refusal(client.continueRun({ id: run_id }))).toBe('run_not_resumable');
    expect(await client.abandonSession({ session: name })).toMatchObject({ suspended_run_id: null });
    expect(await client.getRun({ id: run_id })).toMatchObject({ status: 'cancelled' });
    expect(await client.getApproval({ id: ask.ask_id })).toMatchObject({ state: 'cancelled' });
    const next = await client.postMessage({ session: name, text: 'hi', ...model });
    expect(await ended(client, next.run_id)).toBe('Hello.');
  },
);

test.each(faces)(
  'an answer takes a resting run up again, and edited arguments are asked about anew, %s',
  async (_, open) => {
    const client = await open();
    const run_id = (await client.postRun({ input: 'write', input_type: 'string', ...model })).run_id;
    const { ask_id } = await server.app.seen(run_id, 'ask');
    const { binding } = await client.getApproval({ id: ask_id });
    const args = { path: 'edited.txt', content: 'two\n' };
    const next = await client.answerApproval({ id: ask_id, outcome: 'approve', binding, edited_args: args });
    expect([next.state, next.args]).toEqual(['pending', args]);
    expect(await client.getApproval({ id: ask_id })).toMatchObject({ state: 'cancelled', superseded_by: next.id });

    await server.app.client.stopRun({ run_id, reason: 'ask' });
    await server.app.client.awaitRun({ run_id });
    const answered = await client.answerApproval({
      id: next.id,
      outcome: 'deny',
      binding: next.binding,
      feedback: 'no',
    });
    expect(answered).toMatchObject({ state: 'denied', verdict: { by: 'operator:web', feedback: 'no' } });
    for (let after = 0; ; ) {
      let over = false;
      for await (const batch of client.watch({ run_id, after, signal: new AbortController().signal })) {
        after = Math.max(after, ...batch.map(({ seq }) => seq));
        over ||= batch.some(({ kind }) => kind === 'chain_completed');
      }
      if (over) break;
    }
    expect((await client.getRun({ id: run_id })).status).toBe('completed');
  },
);

test.each(faces)('a session is summed up, in its place and in a copy, %s', async (face, open) => {
  const client = await open();
  const name = face === 'in process' ? 'five' : 'six';
  await client.createSession({ name });
  await client.putConfigItem({ key: 'default-model', value: 'm' });
  await client.putConfigItem({ key: 'default-provider', value: 'scripted' });
  expect(await refusal(client.compactMessages({ session: name }))).toBe('conflict');
  for (let turn = 0; turn < 3; turn += 1) {
    await ended(client, (await client.postMessage({ session: name, text: 'hi', ...model })).run_id);
  }
  expect(await refusal(client.copySession({ session: name, keep: 2 }))).toBe('invalid_parameter');
  const copied = await client.copySession({ session: name, name: `${name}-short`, summary: true, keep: 2 });
  await ended(client, 'run_id' in copied ? copied.run_id : '');
  expect(await client.getSession({ session: `${name}-short` })).toMatchObject({ active: true, message_count: 3 });

  const { run_id } = await client.compactMessages({ session: name, keep: 2 });
  await ended(client, run_id);
  expect((await client.getRun({ id: run_id })).kind).toBe('compact');
  const { items } = await client.pageMessages({ session: name, limit: 1 });
  expect(items.map(({ kind }) => kind)).toEqual(['summary']);
});

test('the first message makes the default session, and is there before the answer', async () => {
  const sent = await server.call('POST', '/api/sessions/default/messages', { body: { text: 'hi', ...model } });
  expect(sent.status).toBe(202);
  expect(server.app.rows('SELECT role FROM messages WHERE id = ?', sent.json['message_id'])).toEqual([
    { role: 'user' },
  ]);
  await ended(server.client, String(sent.json['run_id']));
  // No reply is longer than 8 MiB: a page of long messages ends early and says where it goes on.
  const id = server.app.rows("SELECT id FROM sessions WHERE name = 'default'")[0]?.['id'];
  server.app.change(
    `WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 139)
     INSERT INTO messages (id, session_id, seq, role, kind, payload, status, created_at)
     SELECT 'long-' || i, '${id}', i, 'user', 'message',
       json_object('id', 'long-' || i, 'role', 'user', 'content', printf('%.*c', 250000, 'x')), 'complete', 1 FROM n`,
  );
  const cut = await server.call('GET', '/api/sessions/default/messages?order=asc');
  expect(cut.text.length).toBeLessThan(8 * 1024 * 1024);
  const { items, next_cursor } = cut.json as { items: { seq: number }[]; next_cursor: string };
  const next = await server.client.pageMessages({ session: 'default', order: 'asc', limit: 1, cursor: next_cursor });
  expect(next.items[0]?.seq).toBe((items.at(-1)?.seq ?? 0) + 1);
  for (const text of ['', ' \n', 'x'.repeat(256 * 1024 + 1)]) {
    const refused = await server.call('POST', '/api/sessions/default/messages', { body: { text } });
    expect(refused.json).toMatchObject({ error: { code: 'invalid_body', param: 'text' } });
  }
});
