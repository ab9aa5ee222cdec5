import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Served, served } from './served.ts';

let server: Served;
beforeAll(async () => {
  server = await served({ turns: [] });
});
afterAll(() => server.close());

const errorOf = ({ status, json }: Answer) => [status, (json['error'] as { code?: string })?.code];
const etag = ({ headers }: Answer): string => headers.get('etag') ?? '';
const user = (file: string): string => join(server.app.place.home, '.reins', file);

const policy = JSON.stringify({ default_action: 'deny', rules: [] });
const chain = JSON.stringify({
  id: 'mine',
  tasks: [{ id: 'one', handler: 'noop', transition: { branches: [{ operator: 'default', goto: 'end' }] } }],
});

test('a policy is created, read, replaced and removed under its tag', async () => {
  const path = '/api/policies/hitl-policy-mine.json';
  expect(errorOf(await server.call('PUT', path, { body: { text: policy } }))).toEqual([428, 'precondition_required']);
  const made = await server.call('PUT', path, { body: { text: policy }, headers: { 'if-none-match': '*' } });
  expect([made.status, made.json['source'], made.json['trusted'], made.json['created']]).toEqual([
    201,
    'user',
    true,
    true,
  ]);
  expect(readFileSync(user('hitl-policy-mine.json'), 'utf8')).toBe(policy);
  const again = await server.call('PUT', path, { body: { text: policy }, headers: { 'if-none-match': '*' } });
  expect(errorOf(again)).toEqual([412, 'precondition_failed']);

  const read = await server.call('GET', path);
  expect(read.json).toMatchObject({ file: 'hitl-policy-mine.json', text: policy, valid: true, findings: [] });
  expect(etag(read)).toBe(`"${String(read.json['sha256'])}"`);

  const typo = policy.replace('deny', 'dany');
  const twice = '{"rules":[],"rules":[]}';
  for (const text of [typo, twice, 'not json']) {
    const refused = await server.call('PUT', path, { body: { text }, headers: { 'if-match': etag(read) } });
    expect(errorOf(refused)).toEqual([422, 'invalid_policy']);
    expect(refused.json['findings']).toEqual([
      expect.objectContaining({ severity: 'error', path: expect.any(String) }),
    ]);
  }
  expect(readFileSync(user('hitl-policy-mine.json'), 'utf8')).toBe(policy);

  const next = policy.replace('deny', 'approve');
  const old = await server.call('PUT', path, { body: { text: next }, headers: { 'if-match': '"0000"' } });
  expect(errorOf(old)).toEqual([412, 'precondition_failed']);
  const replaced = await server.call('PUT', path, { body: { text: next }, headers: { 'if-match': etag(read) } });
  expect([replaced.status, replaced.json['text']]).toEqual([200, next]);
  expect((await server.call('GET', '/api/policies')).json['items']).toEqual(
    expect.arrayContaining([expect.objectContaining({ file: 'hitl-policy-mine.json', source: 'user', valid: true })]),
  );
  expect(server.app.rows("SELECT type FROM audit WHERE type = 'policy_changed'").length).toBe(2);
  const told = server.app.rows(
    "SELECT data FROM events WHERE kind = 'document_changed' AND json_extract(data, '$.document') = 'policy' ORDER BY cursor",
  );
  expect(told.map(({ data }) => JSON.parse(String(data)))).toEqual(
    [read, replaced].map(({ json }) => ({
      chain_id: '',
      document: 'policy',
      name: 'hitl-policy-mine.json',
      sha256: json['sha256'],
    })),
  );

  expect(errorOf(await server.call('DELETE', path))).toEqual([428, 'precondition_required']);
  const removed = await server.call('DELETE', path, { headers: { 'if-match': etag(replaced) } });
  expect([removed.status, removed.text, removed.headers.get('x-reins-policy')]).toEqual([204, '', 'none']);
  expect(existsSync(user('hitl-policy-mine.json'))).toBe(false);
});

test('a preset can be copied and not changed', async () => {
  const path = '/api/policies/hitl-policy-strict.json';
  const read = await server.call('GET', path);
  expect(read.json).toMatchObject({ source: 'builtin', valid: true });
  const text = String(read.json['text']);
  expect(errorOf(await server.call('PUT', path, { body: { text }, headers: { 'if-match': etag(read) } }))).toEqual([
    403,
    'read_only_document',
  ]);
  expect(errorOf(await server.call('DELETE', path, { headers: { 'if-match': etag(read) } }))).toEqual([
    403,
    'read_only_document',
  ]);
  const copy = await server.call('PUT', path, { body: { text }, headers: { 'if-none-match': '*' } });
  expect([copy.status, copy.json['source']]).toEqual([201, 'user']);
  const gone = await server.call('DELETE', path, { headers: { 'if-match': etag(copy) } });
  expect(gone.headers.get('x-reins-policy')).toBe('builtin hitl-policy-strict.json');
});

test('a chain by whose name a plan would play it is refused when no plan could', async () => {
  const path = '/api/chains/chain-planner.json';
  const refused = await server.call('PUT', path, { body: { text: chain }, headers: { 'if-none-match': '*' } });
  expect(errorOf(refused)).toEqual([422, 'invalid_chain']);
  const unfit = expect.objectContaining({ severity: 'error', code: 'unfit_for_plans', path: '/tasks/0/handler' });
  expect(refused.json['findings']).toEqual(expect.arrayContaining([unfit]));
  expect(existsSync(user('chain-planner.json'))).toBe(false);
  writeFileSync(user('chain-planner.json'), chain);
  const found = await server.call('GET', path);
  expect(found.json).toMatchObject({ valid: false, findings: expect.arrayContaining([unfit]) });
  rmSync(user('chain-planner.json'));
});

test('a chain with a defect is refused with its place, and nothing is written', async () => {
  const path = '/api/chains/mine.json';
  const broken = chain.replace('"end"', '"nowhere"');
  const refused = await server.call('PUT', path, { body: { text: broken }, headers: { 'if-none-match': '*' } });
  expect(errorOf(refused)).toEqual([422, 'invalid_chain']);
  expect(refused.json['findings']).toEqual(
    expect.arrayContaining([expect.objectContaining({ severity: 'error', path: expect.stringContaining('tasks') })]),
  );
  expect(existsSync(user('mine.json'))).toBe(false);
  const made = await server.call('PUT', path, { body: { text: chain }, headers: { 'if-none-match': '*' } });
  expect(made.status).toBe(201);
  expect(made.json['graph']).toEqual({
    nodes: [{ id: 'one', handler: 'noop', label: 'one', start: true, tools: [] }],
    edges: [{ from: 'one', to: 'end', operator: 'default', when: '', label: 'default' }],
    unreachable: [],
  });
  const run = await server.call('POST', '/api/runs', { body: { input: 'x', chain: 'mine' } });
  expect(run.status).toBe(202);
  await server.app.client.awaitRun({ run_id: String(run.json['run_id']) });
  expect((await server.call('DELETE', path, { headers: { 'if-match': '*' } })).status).toBe(204);
  expect(
    server.app.rows("SELECT json_extract(body, '$.document') AS of FROM audit WHERE type = 'chain_changed'"),
  ).toEqual([{ of: 'chain' }, { of: 'chain' }]);
});

test.each(['hitl-policy-..%2f..%2fetc.json', 'passwd', 'hitl-policy-X.json', '..%2Fconfig.json'])(
  'no policy is called %s',
  async (name) => {
    expect(errorOf(await server.call('GET', `/api/policies/${name}`))).toEqual([404, 'not_found']);
  },
);

test('no message names the directory of the user', async () => {
  writeFileSync(user('hitl-policy-bad.json'), '{', { mode: 0o600 });
  const refused = await server.call('POST', '/api/policies/replay', { body: { file: 'hitl-policy-bad.json' } });
  expect(errorOf(refused)).toEqual([422, 'invalid_policy']);
  expect(refused.text).toContain('~/.reins/hitl-policy-bad.json');
  expect(refused.text).not.toContain(server.app.place.home);
});

test('texts are tried without being written', async () => {
  const post = async (path: string, body: unknown) => (await server.call('POST', path, { body })).json;
  expect(await post('/api/policies/vet', { text: policy })).toMatchObject({ valid: true });
  const call = { tools: 'local_fs', tool: 'read_file', args: { path: 'a' } };
  expect(await post('/api/policies/explain', { text: policy, ...call })).toMatchObject({ record: { action: 'deny' } });
  expect(await post('/api/policies/explain', { file: 'hitl-policy-open.json', ...call })).toMatchObject({
    record: { action: 'allow' },
  });
  const cases = [{ name: 'read', call, expect: { action: 'deny' } }];
  expect(await post('/api/policies/test', { text: policy, cases })).toMatchObject({ passed: 1, failed: 0 });
  expect(await post('/api/policies/test', { text: policy, cases: [{ nme: 1 }] })).toMatchObject({
    error: {
      code: 'invalid_case',
      message: expect.stringMatching(/^cases\[0\]\.nme: is not a member/),
      param: 'cases[0].nme',
    },
  });
  expect(await post('/api/policies/diff', { a: { text: policy }, b: { file: 'hitl-policy-open.json' } })).toMatchObject(
    {
      differences: expect.arrayContaining([expect.objectContaining({ change: 'widened' })]),
    },
  );
  expect(await post('/api/policies/replay', { text: policy })).toMatchObject({ evaluated: 0, changed: [] });
  expect(await post('/api/policies/replay', {})).toMatchObject({ error: { code: 'invalid_parameter', param: 'text' } });
  expect(await post('/api/policies/explain', { file: 'hitl-policy-open.json', text: policy, ...call })).toMatchObject({
    error: { code: 'invalid_parameter', param: 'file' },
  });
  expect(await post('/api/policies/suggest', {})).toEqual({ suggestions: [] });
  const claude = JSON.stringify({ permissions: { deny: ['Bash(rm:*)'] } });
  expect(await post('/api/policies/import', { from: 'claude', text: claude })).toMatchObject({
    report: [expect.objectContaining({ outcome: expect.any(String) })],
  });
  expect(await post('/api/policies/import', { from: 'claude', text: 'no json' })).toMatchObject({
    error: { code: 'unprocessable', param: 'text' },
  });
  expect(await post('/api/chains/validate', { text: chain })).toMatchObject({ valid: true, findings: [] });
});
