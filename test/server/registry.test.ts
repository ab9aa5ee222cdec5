import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { routed } from '../../src/client/routes.ts';
import { type Answer, type Served, served } from './served.ts';

let server: Served;
beforeAll(async () => {
  server = await served({ turns: [] });
});
afterAll(() => server.close());

const errorOf = ({ status, json }: Answer) => [status, (json['error'] as { code?: string })?.code];
const etag = ({ headers }: Answer): string => headers.get('etag') ?? '';
const key = 'sk-very-secret-0123456789';
const header = 'Token another-secret-9876543210';

test('a key and a header go in, and come out of no route', async () => {
  const made = await server.call('POST', '/api/backends', {
    body: {
      name: 'far',
      type: 'openai-compatible',
      base_url: 'http://127.0.0.1:9/v1',
      api_key: key,
      headers: { 'X-Secret': header },
    },
  });
  expect(made.status).toBe(201);
  expect(made.json).toMatchObject({ name: 'far', key_source: 'stored', key_present: true, headers: ['X-Secret'] });
  await server.call('POST', '/api/backends/far/check');
  const kept = await server.call('PATCH', '/api/backends/far', {
    body: { headers: { 'X-Secret': null, 'X-Other': header } },
    headers: { 'if-match': etag(made) },
  });
  expect([kept.status, kept.json['headers']]).toEqual([200, ['X-Secret', 'X-Other']]);
  const paths = Object.values(routed)
    .filter(({ method }) => method === 'GET')
    .map(({ path }) => path.replace('{name}', 'far').replace(/\{\w+\}/g, '1'));
  for (const path of [...paths, '/api/backends/far']) {
    const { text } = await server.call('GET', path);
    expect(text).not.toContain(key);
    expect(text).not.toContain(header);
  }
  const wrong = await server.call('POST', '/api/backends', { body: { name: 'x', type: 'openai', api_key: [key] } });
  expect(wrong.json).toMatchObject({ error: { code: 'invalid_body', param: 'api_key' } });
  expect(wrong.text).not.toContain(key);
});

test('a backend is changed and removed only by who has seen it', async () => {
  await server.call('POST', '/api/backends', {
    body: { name: 'near', type: 'ollama', base_url: 'http://127.0.0.1:9' },
  });
  const read = await server.call('GET', '/api/backends/near');
  const path = '/api/backends/near';
  const body = { idle_timeout_ms: 5000 };
  expect(errorOf(await server.call('PATCH', path, { body }))).toEqual([428, 'precondition_required']);
  expect(errorOf(await server.call('PATCH', path, { body, headers: { 'if-match': '"old"' } }))).toEqual([
    412,
    'precondition_failed',
  ]);
  const changed = await server.call('PATCH', path, { body, headers: { 'if-match': etag(read) } });
  expect(changed.json).toMatchObject({ idle_timeout_ms: 5000 });
  expect(etag(changed)).not.toBe(etag(read));
  expect(errorOf(await server.call('DELETE', path, { headers: { 'if-match': etag(read) } }))).toEqual([
    412,
    'precondition_failed',
  ]);
  expect((await server.call('DELETE', path, { headers: { 'if-match': etag(changed) } })).status).toBe(204);
  expect(errorOf(await server.call('GET', path))).toEqual([404, 'not_found']);
  expect(
    errorOf(
      await server.call('POST', '/api/backends', { body: { name: 's', type: 'scripted', base_url: 'builtin:demo' } }),
    ),
  ).toEqual([409, 'already_exists']);
  expect(errorOf(await server.call('POST', '/api/backends', { body: { name: 'y', type: 'vllm' } }))).toEqual([
    400,
    'invalid_parameter',
  ]);
});

test('models are declared, given a context, and taken back', async () => {
  expect((await server.call('GET', '/api/models?backend=s')).json).toMatchObject({
    items: [{ backend: 's', model: 'm', context_length: 100_000, can_chat: true, can_tools: true }],
    errors: [],
  });
  const made = await server.call('POST', '/api/models', { body: { backend: 's', model: 'mine', context: 4096 } });
  expect([made.status, made.json['model']]).toEqual([201, 'mine']);
  const twice = await server.call('POST', '/api/models', { body: { backend: 's', model: 'mine' } });
  expect(errorOf(twice)).toEqual([409, 'already_exists']);
  expect((await server.call('PATCH', '/api/models/s/mine', { body: { context: 8192 } })).status).toBe(200);
  expect((await server.call('DELETE', '/api/models/s/mine')).status).toBe(204);
  expect(errorOf(await server.call('DELETE', '/api/models/s/mine'))).toEqual([404, 'not_found']);
});

test('a model is downloaded by a run, whose events say how far it has come', async () => {
  const has: string[] = [];
  const ollama = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      if (request.url === '/api/tags') return response.end(JSON.stringify({ models: has.map((name) => ({ name })) }));
      if (request.url !== '/api/pull') return response.end('{}');
      const { model } = JSON.parse(body) as { model: string };
      if (model === 'nobody') return response.end('{"error":"no such model"}\n');
      has.push(model);
      if (model === 'slow' && has.filter((name) => name === model).length === 1)
        return response.write('{"status":"x"}\n');
      response.write('{"status":"pulling a","digest":"a","total":200,"completed":50}\n');
      return response.end('{"status":"pulling a","digest":"a","total":200,"completed":200}\n{"status":"success"}\n');
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => ollama.once('listening', resolve));
  try {
    const base_url = `http://127.0.0.1:${(ollama.address() as AddressInfo).port}`;
    await server.client.createBackend({ name: 'puller', type: 'ollama', base_url });
    const pull = async (model: string) => {
      // The only backend that can need not be named.
      const { run_id } = await server.client.postPull(model === 'nobody' ? { model } : { model, backend: 'puller' });
      const told: string[] = [];
      for await (const batch of server.client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
        for (const event of batch) if (event.kind === 'tool_output') told.push(event.text);
      }
      return { run: await server.client.getRun({ id: run_id }), told: told.join('') };
    };
    const { run, told } = await pull('new:1b');
    expect(run).toMatchObject({ kind: 'model_pull', status: 'completed', error: null });
    expect(JSON.parse(run.result)).toEqual({ model: 'new:1b', bytes: 200, present: false });
    expect(told).toContain('pulling a 100 % (200 of 200 bytes)\n');
    expect((await server.client.pageModels({ backend: 'puller' })).items.map(({ model }) => model)).toEqual(['new:1b']);
    // Stopped with its server in the middle, it goes on without a question: what was downloaded is there.
    const { run_id } = await server.client.postPull({ model: 'slow' });
    await server.app.seen(run_id, 'tool_output');
    await (await server.app.handle.ground('write')).rest(1);
    expect((await server.client.getRun({ id: run_id })).status).toBe('suspended');
    await server.client.continueRun({ id: run_id });
    await server.app.client.awaitRun({ run_id });
    expect((await server.client.getRun({ id: run_id })).status).toBe('completed');
    const failed = await pull('nobody');
    expect(failed.run.status).toBe('failed');
    expect(failed.run.error?.message).toContain('no such model');
  } finally {
    await new Promise((resolve) => ollama.close(resolve).closeAllConnections());
  }
  const refused = async (body: object) => errorOf(await server.call('POST', '/api/models/pull', { body }));
  expect(await refused({ model: 'm', backend: 's' })).toEqual([422, 'unprocessable']);
  expect(await refused({ model: 'm', backend: 'puller', url: 'http://x.test/m' })).toEqual([422, 'unprocessable']);
  expect(await refused({ model: 'm', backend: 'nope' })).toEqual([404, 'not_found']);
});

test('a refusal names the field of the request, not the flag of a command', async () => {
  const refused = async (method: string, path: string, body: object) => {
    const { status, json } = await server.call(method, path, { body });
    const { param, message } = json['error'] as { param?: string; message: string };
    return [status, param, message.includes('--')];
  };
  expect(await refused('POST', '/api/backends', { name: 'b', type: 'openai-compatible' })).toEqual([
    400,
    'base_url',
    false,
  ]);
  const both = { name: 'b', type: 'openai', api_key: 'sk-0123456789', api_key_env: 'KEY' };
  expect(await refused('POST', '/api/backends', both)).toEqual([400, 'api_key_env', false]);
  expect(await refused('PUT', '/api/config/max-rounds', { value: 'many' })).toEqual([400, 'value', false]);
});

test('a list that is there whole is cut where somebody wants pages', async () => {
  const whole = (await server.call('GET', '/api/config')).json;
  const first = (await server.call('GET', '/api/config?limit=2')).json;
  const rest = (await server.call('GET', `/api/config?limit=1000&cursor=${String(first['next_cursor'])}`)).json;
  expect([whole['next_cursor'], rest['next_cursor']]).toEqual([null, null]);
  expect([...(first['items'] as object[]), ...(rest['items'] as object[])]).toEqual(whole['items']);
  const audit = (await server.call('GET', '/api/audit?limit=1')).json['next_cursor'];
  const forged = `${String(first['next_cursor']).slice(0, 4)}${Buffer.from('[-5]').toString('base64url')}`;
  for (const query of [
    'limit=0',
    'limit=x',
    'limit=1&limit=2',
    'cursor=x',
    `cursor=${forged}`,
    `cursor=${String(audit)}`,
  ]) {
    expect(errorOf(await server.call('GET', `/api/config?${query}`))).toEqual([400, 'invalid_parameter']);
  }
});

test('settings say where they come from, and what they take', async () => {
  const get = async () => (await server.call('GET', '/api/config/max-rounds')).json;
  expect(await get()).toMatchObject({ value: '200', default: '200', source: 'default' });
  expect((await server.call('PUT', '/api/config/max-rounds', { body: { value: '7' } })).json).toMatchObject({
    value: '7',
    source: 'set',
  });
  expect(errorOf(await server.call('PUT', '/api/config/max-rounds', { body: { value: 'many' } }))).toEqual([
    400,
    'invalid_parameter',
  ]);
  expect(errorOf(await server.call('GET', '/api/config/nothing'))).toEqual([404, 'not_found']);
  expect(
    errorOf(await server.call('PUT', '/api/config/beam-max-runs', { body: { value: '2' }, token: server.accessToken })),
  ).toEqual([403, 'operator_required']);
  expect((await server.call('DELETE', '/api/config/max-rounds')).json).toMatchObject({ value: '200' });
  const keys = ((await server.call('GET', '/api/config')).json['items'] as { key: string }[]).map((item) => item.key);
  expect(keys).toEqual([...keys].sort());
});

test('what is set or registered, here or in a terminal, is told to who looks on', async () => {
  const before = server.app.rows('SELECT max(cursor) AS last FROM events')[0]?.['last'] ?? 0;
  const terminal = await server.app.open();
  await terminal.setConfig({ key: 'max-rounds', value: '7' });
  await terminal.unsetConfig({ key: 'max-rounds' });
  await server.client.createHook({ name: 'shop-told', url: 'http://127.0.0.1:9/' });
  await server.client.createMcpServer({ name: 'notes-told', transport: 'stdio', command: 'node' });
  await server.client.createBackend({ name: 'far-told', type: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1' });
  const told = server.app.rows(
    "SELECT data FROM events WHERE kind = 'document_changed' AND cursor > ? ORDER BY cursor",
    before,
  );
  expect(told.map(({ data }) => JSON.parse(String(data)))).toEqual(
    [
      ['config', 'max-rounds'],
      ['config', 'max-rounds'],
      ['hook', 'shop-told'],
      ['mcp_server', 'notes-told'],
      ['backend', 'far-told'],
    ].map(([document, name]) => ({ chain_id: '', document, name })),
  );
});

test('the audit log is listed, verified and exported', async () => {
  const page = await server.call('GET', '/api/audit?limit=2');
  const [first] = page.json['items'] as { seq: number }[];
  const next = await server.call('GET', `/api/audit?limit=1&cursor=${String(page.json['next_cursor'])}`);
  expect((next.json['items'] as { seq: number }[])[0]?.seq).toBe((first?.seq ?? 0) - 2);
  expect((await server.call('GET', '/api/audit/verify')).json).toMatchObject({ ok: true, break: null });
  expect((await server.call('GET', `/api/audit/verify?head=${'0'.repeat(64)}`)).json).toMatchObject({ ok: false });
  const file = await server.call('GET', '/api/audit/export');
  expect(file.headers.get('content-type')).toBe('application/x-ndjson');
  expect(file.headers.get('content-disposition')).toContain('attachment');
  const lines = file.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });
  expect(lines.at(-1)?.type).toBe('head');
  expect(errorOf(await server.call('GET', '/api/audit/export', { token: server.accessToken }))).toEqual([
    403,
    'operator_required',
  ]);
  expect(errorOf(await server.call('GET', '/api/audit?since=yesterday'))).toEqual([400, 'invalid_parameter']);
});

test('readiness, version and the files of the workspace are told', async () => {
  expect((await server.call('GET', '/api/version')).json).toMatchObject({ version: 'test', api_version: 1 });
  expect((await server.call('GET', '/api/setup-status')).json).toMatchObject({ backendChecks: expect.any(Array) });
  expect((await server.call('POST', '/api/setup-status/refresh')).status).toBe(200);
  expect((await server.call('GET', '/api/workspace/files?query=zzz')).json).toEqual({ items: [] });
  expect((await server.call('GET', '/api/trust')).json).toEqual({ items: [], next_cursor: null });
});
