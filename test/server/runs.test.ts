import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, calls, says } from '../support/scripted-app.ts';
import { type Served, served } from './served.ts';

let server: Served;
beforeAll(async () => {
  server = await served({
    turns: [
      calls([call('local_fs.write_file', { path: 'a.txt', content: 'one\n' })], { role: 'user', last_user: 'write' }),
      calls([call('local_fs.write_file', { path: 'b.txt', content: 'two\n' })], { role: 'user', last_user: 'other' }),
      calls([call('web.web_get', { url: '\u0024{match.1}' })], { role: 'user', last_user: { regex: 'get (\\S+)' } }),
      says('\u0024{tool.content}', { tool: { name: 'web.web_get' } }),
      says('It is written.', { role: 'tool' }),
      says('Hello.'),
    ],
    policy: { default_action: 'allow', rules: [{ tools: 'local_fs', tool: 'write_file', action: 'approve' }] },
  });
});
afterAll(() => server.close());

/** Every frame of a stream until it ends. */
async function frames(path: string, headers: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  const response = await fetch(`${server.url}${path}`, {
    headers: { authorization: `Bearer ${server.token}`, accept: 'text/event-stream', ...headers },
  });
  const text = await response.text();
  return text.split('\n\n').filter((frame) => frame !== '');
}
const idsOf = (found: readonly string[]) => found.flatMap((one) => /^id: (\d+)$/m.exec(one)?.[1] ?? []).map(Number);

test('a run is started, told of as it happens, and looked at afterwards', async () => {
  const started = await server.call('POST', '/api/runs', { body: { input: 'hi', model: 'm', provider: 'scripted' } });
  expect(started.status).toBe(202);
  const id = String(started.json['run_id']);
  expect(started.json).toEqual({ run_id: id, events: `/api/runs/${id}/events` });
  const found = await frames(`/api/runs/${id}/events`);
  expect(found[0]).toBe('retry: 1000');
  expect(found.at(-1)).toBe('event: end\ndata: {"status":"completed"}');
  const seen = idsOf(found);
  expect(seen).toEqual(seen.map((_, index) => index + 1));
  const run = await server.call('GET', `/api/runs/${id.slice(-6)}`);
  expect(run.json).toMatchObject({ id, status: 'completed', result: 'Hello.', is_error: false, last_seq: seen.length });
  const page = await server.call('GET', `/api/runs/${id}/events?limit=2`);
  expect(page.json).toMatchObject({ next_after: 2, ended: false });
  const rest = await server.call('GET', `/api/runs/${id}/events?after=2`);
  expect(rest.json).toMatchObject({ next_after: seen.length, ended: true });
  // Beyond the last counts as the last: who reads on from there misses nothing.
  const beyond = await server.call('GET', `/api/runs/${id}/events?after=9999`);
  expect(beyond.json).toEqual({ items: [], next_after: seen.length, ended: true });
  const steps = await server.call('GET', `/api/runs/${id}/steps`);
  expect(steps.json).toMatchObject({ items: [{ index: 1, task_id: 'work' }], next_cursor: null });
  expect((await server.call('GET', `/api/runs/${id}/steps/1`)).json).toMatchObject({ index: 1, task_id: 'work' });
  expect((await server.call('GET', `/api/runs/${id}/steps/9`)).status).toBe(404);
});

test('a stream that begins behind an event gives every later one once', async () => {
  const id = await server.run();
  const whole = idsOf(await frames(`/api/runs/${id}/events`));
  for (const after of whole) {
    const rest = await frames(`/api/runs/${id}/events`, { 'last-event-id': String(after) });
    expect(idsOf(rest)).toEqual(whole.filter((seq) => seq > after));
    expect(rest.at(-1)).toBe('event: end\ndata: {"status":"completed"}');
  }
  expect(idsOf(await frames(`/api/runs/${id}/events?after=9999`))).toEqual([]);
  // Who says where it was cut wants the stream, whatever a program on the way has made of what it accepts.
  expect(idsOf(await frames(`/api/runs/${id}/events`, { accept: '*/*', 'last-event-id': '2' }))).toEqual(
    whole.slice(2),
  );
  const wrong = await server.call('GET', `/api/runs/${id}/events`, {
    headers: { accept: 'text/event-stream', 'last-event-id': '-1' },
  });
  expect([wrong.status, wrong.json]).toEqual([
    400,
    {
      error: {
        message: 'The number of an event is a whole number.',
        type: 'invalid_request_error',
        code: 'invalid_parameter',
        param: 'Last-Event-ID',
      },
    },
  ]);
});

test('an ask holds the run until it is answered, once', async () => {
  const id = await server.run({ input: 'write' });
  const ask = await server.app.seen(id, 'ask');
  expect((await server.call('GET', `/api/runs/${id}`)).json).toMatchObject({
    status: 'waiting',
    waiting_on: ask.ask_id,
  });
  const listed = await server.call('GET', '/api/approvals');
  expect(listed.json).toMatchObject({ items: [{ id: ask.ask_id, state: 'pending', tool: 'write_file' }] });
  expect(listed.text).not.toContain('"args"');
  const shown = await server.call('GET', `/api/approvals/${ask.ask_id}`);
  expect(shown.json).toMatchObject({
    card: { headline: 'Create a file', choices: expect.arrayContaining(['once', 'deny']) },
    history: [{ type: 'ask' }],
  });
  const binding = String(shown.json['binding']);
  const answer = (outcome: string, over: object = {}, token = server.token) =>
    server.call('POST', `/api/approvals/${ask.ask_id}/answer`, { token, body: { outcome, binding, ...over } });

  expect((await answer('approve', { binding: '0'.repeat(64) })).json).toMatchObject({
    error: { code: 'binding_changed' },
  });
  expect((await answer('answer', { text: 'x' })).json).toMatchObject({ error: { code: 'wrong_kind' } });
  expect((await answer('approve', { feedback: 'x' })).json).toMatchObject({
    error: { code: 'invalid_parameter', param: 'feedback' },
  });
  expect((await answer('approve', {}, server.accessToken)).json).toMatchObject({
    error: { code: 'operator_required' },
  });

  const sessions = [server.token, server.login(), server.login(), server.login()];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => answer(index % 2 === 0 ? 'approve' : 'deny', {}, sessions[index % 4])),
  );
  const state = String((await server.call('GET', `/api/approvals/${ask.ask_id}`)).json['state']);
  const lost = answers.filter(({ status }) => status === 409);
  expect(lost.length).toBeGreaterThanOrEqual(10);
  for (const one of lost) expect(one.json).toMatchObject({ error: { code: 'already_answered', param: state } });
  for (const one of answers.filter(({ status }) => status !== 409)) {
    expect(one).toMatchObject({ status: 200, json: { state, verdict: { by: 'operator:web' } } });
  }
  await server.app.client.awaitRun({ run_id: id });
  const ran = (await server.call('GET', `/api/runs/${id}/calls`)).json;
  expect(ran).toMatchObject({ items: [{ tool: 'write_file', state: state === 'approved' ? 'done' : 'skipped' }] });
  const inList = { id, num_denials: state === 'approved' ? 0 : 1 };
  expect((await server.call('GET', '/api/runs?limit=1')).json).toMatchObject({ items: [inList] });
});

test('a run is cancelled once, and an ended one cannot go on', async () => {
  const id = await server.run({ input: 'other' });
  await server.app.seen(id, 'ask');
  const cancelled = await server.call('POST', `/api/runs/${id}/cancel`, { body: { reason: 'enough' } });
  expect(cancelled.status).toBe(202);
  await server.app.client.awaitRun({ run_id: id });
  expect((await server.call('POST', `/api/runs/${id}/cancel`)).json).toMatchObject({
    error: { code: 'run_not_active' },
  });
  expect((await server.call('POST', `/api/runs/${id}/resume`)).json).toMatchObject({
    error: { code: 'run_not_resumable', param: 'ended' },
  });
});

test('runs come in pages, newest first', async () => {
  const ids = [await server.run(), await server.run(), await server.run()].reverse();
  const first = await server.call('GET', '/api/runs?limit=2');
  const second = await server.call('GET', `/api/runs?limit=2&cursor=${String(first.json['next_cursor'])}`);
  const found = [first, second].flatMap(({ json }) => (json['items'] as { id: string }[]).map((run) => run.id));
  expect(found.slice(0, 3)).toEqual(ids);
  expect((await server.call('GET', '/api/runs?cursor=nonsense')).json).toMatchObject({
    error: { code: 'invalid_parameter', param: 'cursor' },
  });
  expect((await server.call('GET', '/api/runs?limit=0')).json).toMatchObject({
    error: { code: 'invalid_parameter', param: 'limit' },
  });
  // Digits are a number in an address alone.
  for (const wrong of [{ timeout_s: '5' }, { shell: 'true' }]) {
    expect((await server.call('POST', '/api/runs', { body: { input: 'go', ...wrong } })).json).toMatchObject({
      error: { code: 'invalid_body', param: Object.keys(wrong)[0] },
    });
  }
});

test('what a run may not have is refused before anything is written', async () => {
  const refused = async (body: object, token = server.token) => {
    const { status, json } = await server.call('POST', '/api/runs', { body: { input: 'x', ...body }, token });
    return [status, (json['error'] as { code: string }).code, (json['error'] as { param?: string }).param];
  };
  const before = server.app.rows('SELECT count(*) AS n FROM runs');
  expect(await refused({ shell: true })).toEqual([403, 'shell_disabled', 'shell']);
  expect(await refused({ chain: 'nope' })).toEqual([404, 'not_found', undefined]);
  expect(await refused({ policy: 'nope' })).toEqual([404, 'not_found', undefined]);
  expect(await refused({ policy: '/etc/passwd' })).toEqual([400, 'invalid_parameter', 'policy']);
  for (const allowed_dir of ['/', 'nowhere'])
    expect(await refused({ allowed_dir })).toEqual([400, 'invalid_parameter', 'allowed_dir']);
  expect(await refused({ chain_document: '{}' })).toEqual([422, 'invalid_chain', undefined]);
  expect(await refused({ vars: { model: 'x' } })).toEqual([400, 'invalid_parameter', 'vars.model']);
  expect(await refused({ vars: { a: 1 } })).toEqual([400, 'invalid_body', 'vars.a']);
  expect(await refused({ extra: 1 })).toEqual([400, 'unknown_field', 'extra']);
  expect(await refused({ input: 7 })).toEqual([400, 'invalid_parameter', 'input']);
  expect(await refused({ policy: 'strict' }, server.accessToken)).toEqual([403, 'operator_required', undefined]);
  expect(server.app.rows('SELECT count(*) AS n FROM runs')).toEqual(before);
});

test('a request with a key happens once, whoever sends it again', async () => {
  const send = (key: string, body: object, path = '/api/runs', token = server.token) =>
    server.call('POST', path, { body, token, headers: { 'idempotency-key': key } });
  const count = () => server.app.rows('SELECT count(*) AS n FROM runs');
  const body = { input: 'hi', model: 'm', provider: 'scripted' };
  const first = await send('key-1', body);
  expect(first.status).toBe(202);
  const before = count();
  const again = await send('key-1', { ...body, input_type: undefined }, '/api/runs', server.login());
  expect([again.status, again.json]).toEqual([202, first.json]);
  const other = await send('key-1', { ...body, input: 'ho' });
  expect([other.status, other.json]).toMatchObject([
    422,
    { error: { code: 'idempotency_mismatch', param: 'Idempotency-Key' } },
  ]);
  expect((await send('key-1', {}, '/api/sessions')).status).toBe(422);
  for (const key of ['with blank', 'x'.repeat(129)]) {
    expect((await send(key, body)).json).toMatchObject({ error: { code: 'invalid_parameter' } });
  }
  expect(count()).toEqual(before);

  // A refusal has started nothing: the same request may be sent again when its cause is gone.
  expect((await send('key-2', { ...body, chain: 'nope' })).status).toBe(404);
  expect((await send('key-2', body)).status).toBe(202);
  // Of two that come together one is the first.
  const both = await Promise.all([send('key-3', body), send('key-3', body)]);
  const ids = both.flatMap(({ json }) => json['run_id'] ?? []);
  expect(new Set(ids).size).toBe(1);
  expect(both.map(({ status }) => status).filter((status) => status !== 202 && status !== 409)).toEqual([]);
  expect(count()).toEqual([{ n: Number(before[0]?.['n']) + 2 }]);

  // A server that was killed before it had a reply may have begun: nothing is started in the dark, for a day.
  server.app.change("UPDATE idempotency SET status = NULL, reply = NULL WHERE key = 'key-1'");
  expect((await send('key-1', body)).json).toMatchObject({ error: { code: 'conflict', param: 'Idempotency-Key' } });
  server.app.change(`UPDATE idempotency SET created_at = ${Date.now() - 86_400_001} WHERE key = 'key-1'`);
  const later = await send('key-1', body);
  expect([later.status, later.json['run_id'] === first.json['run_id']]).toEqual([202, false]);
});

test('so many runs are active at once as the operator says; others wait for their turn, and can be cancelled there', async () => {
  await server.call('PUT', '/api/config/beam-max-runs', { body: { value: '1' } });
  const first = await server.run({ input: 'other' });
  await server.app.seen(first, 'ask');
  const second = await server.run();
  const third = await server.run();
  const status = async (id: string) => (await server.client.getRun({ id })).status;
  const place = async (id: string) => (await server.client.getRun({ id })).queue_place;
  expect([await status(first), await status(second), await status(third)]).toEqual(['waiting', 'queued', 'queued']);
  expect([await place(first), await place(second), await place(third)]).toEqual([null, 1, 2]);
  await server.client.endRun({ id: second });
  await server.app.client.awaitRun({ run_id: second });
  expect([await status(second), await status(third)]).toEqual(['cancelled', 'queued']);
  expect([await place(second), await place(third)]).toEqual([null, 1]);
  await server.client.endRun({ id: first });
  await server.app.client.awaitRun({ run_id: third });
  expect(await status(third)).toBe('completed');
  await server.call('DELETE', '/api/config/beam-max-runs');
});

test('a run that waits for its turn rests with the others when the server stops, and goes on afterwards', async () => {
  await server.call('PUT', '/api/config/beam-max-runs', { body: { value: '1' } });
  const first = await server.run({ input: 'other' });
  await server.app.seen(first, 'ask');
  const second = await server.run();
  await (await server.app.handle.ground('write')).rest(1000);
  const status = async (id: string) => (await server.client.getRun({ id })).status;
  expect([await status(first), await status(second)]).toEqual(['suspended', 'suspended']);
  const resumed = await server.call('POST', `/api/runs/${second}/resume`);
  expect(resumed.status).toBe(202);
  await server.app.client.awaitRun({ run_id: second });
  expect(await server.client.getRun({ id: second })).toMatchObject({ status: 'completed', error: null });
  await server.client.endRun({ id: first });
  expect(await status(first)).toBe('cancelled');
});

test('a model cannot reach the server that its run belongs to, whatever the policy says', async () => {
  const id = await server.run({ input: `get ${server.url}/api/health` });
  await frames(`/api/runs/${id}/events`);
  const { json } = await server.call('GET', `/api/runs/${id}`);
  expect(String(json['result'])).toContain('egress_blocked');
  expect(String(json['result'])).toContain('this program listens there');
});
