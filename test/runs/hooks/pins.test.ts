import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, test } from 'vitest';
import { type Service, startService } from '../../support/service.ts';
import type { ScriptedApp } from '../../support/scripted-app.ts';
import { addHook, appCalling, noticesOf, nothingSaid, resultsOf } from './support.ts';

let app: ScriptedApp | undefined;
let service: Service | undefined;
afterEach(async () => {
  await app?.close();
  await service?.close();
  app = undefined;
  service = undefined;
});

const document = (operations: Readonly<Record<string, object>>) => ({
  openapi: '3.0.3',
  paths: Object.fromEntries(
    Object.entries(operations).map(([name, own]) => [`/${name}`, { get: { operationId: name, ...own } }]),
  ),
});
const first = document({ kept: { summary: 'Stays' }, other: { summary: 'As it was' } });
const later = document({ kept: { summary: 'Stays' }, other: { summary: 'Otherwise\u200b' }, added: {} });
const calling = [
  ['svc.kept', {}],
  ['svc.other', {}],
  ['svc.added', {}],
] as const;

/** Everything of the database as text, but for the registered rows themselves. */
const written = (from: ScriptedApp): string =>
  JSON.stringify(
    ['events', 'tool_calls', 'run_messages', 'messages', 'audit', 'asks', 'run_state', 'tool_pins', 'runs'].flatMap(
      (table) => from.rows(`SELECT * FROM ${table}`),
    ),
  );

describe('the definitions of a hook', () => {
  it('are accepted at the first look, written down as such, and told to the run that looked', async () => {
    service = await startService(first);
    app = await appCalling([calling[0]]);
    await addHook(app, 'svc', { url: service.url });
    const { events, results } = await resultsOf(app);
    expect(results).toEqual([{}]);
    expect(noticesOf(events)).toEqual(['definition_first_use']);
    const again = await resultsOf(app);
    expect(noticesOf(again.events)).toEqual([]);
    expect(app.rows("SELECT json_extract(body, '$.name') AS name FROM audit WHERE type = 'first_use'")).toEqual([
      { name: 'svc' },
    ]);
    expect(await app.client.showHook({ name: 'svc' })).toMatchObject({ state: 'ready', drift: [] });
  });

  it('are news to whoever looks on: the first look, what has changed since, and what was accepted, not a look that finds the same', async () => {
    service = await startService(first);
    app = await appCalling([]);
    const opened = app;
    await addHook(app, 'svc', { url: service.url });
    const { newest } = await app.client.feedRange({});
    const told = () =>
      opened.rows(
        `SELECT json_extract(data, '$.name') AS name FROM events WHERE kind = 'document_changed' AND cursor > ${newest}`,
      );
    await app.client.refreshHook({ name: 'svc' });
    expect(told()).toEqual([{ name: 'svc' }]);
    await app.client.refreshHook({ name: 'svc' });
    expect(told()).toHaveLength(1);
    service.describe(later);
    const { definition_sha256 } = await app.client.refreshHook({ name: 'svc' });
    expect(told()).toHaveLength(2);
    await app.client.acceptHook({ name: 'svc', definition_sha256: definition_sha256 ?? '', tools: ['added'] });
    expect(told()).toHaveLength(3);
  });

  it('that changed or are new are not offered and not called, until exactly they are accepted (HOOK-002)', async () => {
    service = await startService(first);
    app = await appCalling(calling);
    await addHook(app, 'svc', { url: service.url });
    await app.client.refreshHook({ name: 'svc' });
    service.describe(later);
    const shown = await app.client.refreshHook({ name: 'svc' });
    expect(shown.state).toBe('quarantined');
    expect(shown.drift.map(({ tool, change }) => [tool, change])).toEqual([
      ['added', 'new'],
      ['other', 'changed'],
    ]);
    expect(shown.drift[1]?.diff).toContain('-  "description": "As it was",\n+  "description": "Otherwise\u200b",\n');

    const held = await resultsOf(app);
    const [started] = held.events.flatMap((event) => (event.kind === 'chain_started' ? [event] : []));
    expect(started?.tools.filter((name) => name.startsWith('svc.'))).toEqual(['svc.kept']);
    expect(noticesOf(held.events)).toEqual(['tool_quarantined']);
    expect(held.results).toMatchObject([{}, { error: 'quarantined' }, { error: 'quarantined' }]);
    expect(service.arrived.map(({ url }) => url)).toEqual(['/kept']);
    const { status } = await app.client.doctor({ probe: true });
    expect(status.issues.filter(({ code }) => code === 'tool_quarantined')).toMatchObject([
      { message: expect.stringContaining('2 tools'), cliCommand: 'reins hook accept svc' },
    ]);

    const digest = shown.definition_sha256 ?? '';
    await app.client.acceptHook({ name: 'svc', definition_sha256: digest, tools: ['other'] });
    expect((await resultsOf(app)).results).toMatchObject([{}, {}, { error: 'quarantined' }]);
    await app.client.acceptHook({ name: 'svc', definition_sha256: digest });
    expect((await resultsOf(app)).results).toEqual([{}, {}, {}]);
    expect(
      app.rows(
        "SELECT json_extract(body, '$.tool') AS tool FROM audit WHERE type = 'definition_accepted' ORDER BY seq",
      ),
    ).toEqual([{ tool: 'other' }, { tool: 'added' }]);
  });

  it('that change between being shown and being accepted are not accepted', async () => {
    service = await startService(first);
    app = await appCalling(calling);
    await addHook(app, 'svc', { url: service.url });
    await app.client.refreshHook({ name: 'svc' });
    service.describe(later);
    const { definition_sha256 } = await app.client.refreshHook({ name: 'svc' });
    service.describe(document({ kept: { summary: 'Stays' }, other: { summary: 'Yet otherwise' } }));
    await expect(
      app.client.acceptHook({ name: 'svc', definition_sha256: definition_sha256 ?? '' }),
    ).rejects.toMatchObject({ code: 'conflict' });
    expect((await app.client.showHook({ name: 'svc' })).drift).toMatchObject([{ tool: 'other', change: 'changed' }]);
  });

  it('that go away are dropped, and usable again when they come back as they were', async () => {
    service = await startService(first);
    app = await appCalling([calling[1]]);
    await addHook(app, 'svc', { url: service.url });
    const tools = async () =>
      (await app?.client.refreshHook({ name: 'svc' }))?.tools.map(({ tool, state }) => [tool, state]);
    expect(await tools()).toEqual([
      ['kept', 'ready'],
      ['other', 'ready'],
    ]);
    service.describe(document({ kept: { summary: 'Stays' } }));
    expect(await tools()).toEqual([['kept', 'ready']]);
    expect((await resultsOf(app)).results).toMatchObject([{ error: 'not_found' }]);
    service.describe({ openapi: '3.0.3', paths: {} });
    expect(await tools()).toEqual([]);
    service.describe(first);
    expect(await tools()).toEqual([
      ['kept', 'ready'],
      ['other', 'ready'],
    ]);
  });

  it('are new when they come to a hook whose first description had none', async () => {
    service = await startService({ openapi: '3.0.3', paths: {} });
    app = await appCalling([calling[0]]);
    await addHook(app, 'svc', { url: service.url });
    expect(await app.client.refreshHook({ name: 'svc' })).toMatchObject({ tools: [], drift: [] });
    service.describe(first);
    const { drift } = await app.client.refreshHook({ name: 'svc' });
    expect(drift.map(({ tool, change }) => [tool, change])).toEqual([
      ['kept', 'new'],
      ['other', 'new'],
    ]);
    expect((await resultsOf(app)).results).toMatchObject([{ error: 'quarantined' }]);
  });

  it('go with the hook: one of the same name begins anew', async () => {
    service = await startService(first);
    app = await appCalling(calling);
    await addHook(app, 'svc', { url: service.url });
    await app.client.refreshHook({ name: 'svc' });
    await app.client.removeHook({ name: 'svc' });
    expect(app.rows('SELECT * FROM tool_pins')).toEqual([]);
    service.describe(later);
    await addHook(app, 'svc', { url: service.url });
    expect((await app.client.refreshHook({ name: 'svc' })).state).toBe('ready');
  });
});

describe('the description of a hook', () => {
  it('is fetched once for many runs, and not at all for a chain that may not use the hook', async () => {
    service = await startService(first);
    app = await appCalling([calling[0]]);
    await addHook(app, 'svc', { url: service.url });
    const chain = join(app.place.dir, 'without.json');
    writeFileSync(
      chain,
      JSON.stringify({
        id: 'without',
        tasks: [
          {
            id: 'say',
            handler: 'chat_completion',
            execute_config: { model: '{{var:model}}', tools: ['local_fs', '!svc'] },
            transition: { branches: [{ operator: 'default', goto: 'end' }] },
          },
        ],
      }),
      { mode: 0o600 },
    );
    await app.run({ chain_path: chain });
    expect(service.described()).toBe(0);
    for (let run = 0; run < 3; run += 1) await app.run();
    expect(service.described()).toBe(1);
  });

  it('is asked for again once it is old; a service that is down is used from what is known, with a notice', async () => {
    service = await startService(first);
    service.describe(first, { etag: '"1"' });
    app = await appCalling([calling[0]]);
    await addHook(app, 'svc', { url: service.url });
    await app.run();
    const age = (hours: number) => app?.change(`UPDATE hooks SET spec_fetched_at = ${Date.now() - hours * 3_600_000}`);
    age(2);
    expect(noticesOf((await resultsOf(app)).events)).toEqual([]);
    expect(service.described()).toBe(2);
    await service.close();
    age(2);
    const stale = await resultsOf(app);
    expect(noticesOf(stale.events)).toEqual(['hook_spec_stale']);
    expect(stale.results).toMatchObject([{ error: 'network_error' }]);
    const told = stale.events.flatMap((event) => (event.kind === 'notice' ? [event.message] : []));
    expect(told[0]).toMatch(/^The description of hook svc is 2 h old and could not be fetched: /);
    await app.client.setConfig({ key: 'hook-spec-ttl', value: '1s' });
    age(0.25);
    const young = (await resultsOf(app)).events.flatMap((event) => (event.kind === 'notice' ? [event.message] : []));
    expect(young[0]).toMatch(/^The description of hook svc is 15 min old and /);
    age(8 * 24);
    const gone = await resultsOf(app);
    expect(noticesOf(gone.events)).toEqual(['provider_unavailable']);
    expect(gone.results).toMatchObject([{ error: 'unavailable' }]);
    expect((await app.client.awaitRun({ run_id: gone.run_id, full: true })).status).toBe('completed');
  });

  it('may be long YAML, which is read in a thread and kept as what is read at once', async () => {
    const list = `x:\n${'- a: 1\n'.repeat(10_000)}`;
    service = await startService(
      `openapi: 3.0.3\npaths: {/kept: {get: {operationId: kept}}, /livez: {get: {}}}\n${list}`,
    );
    app = await appCalling([calling[0]]);
    await addHook(app, 'svc', { url: service.url });
    expect((await resultsOf(app)).results).toEqual([{}]);
    expect((await app.client.showHook({ name: 'svc' })).skipped).toHaveLength(1);
    expect(app.rows('SELECT substr(spec_text, 1, 18) AS text FROM hooks')).toEqual([{ text: '{"openapi":"3.0.3"' }]);
  });

  it('may be a file, which is read again when it has changed', async () => {
    service = await startService();
    app = await appCalling([calling[0]]);
    const file = join(app.place.dir, 'spec.json');
    writeFileSync(file, JSON.stringify(first));
    await addHook(app, 'svc', { url: service.url, spec: file });
    expect((await resultsOf(app)).results).toEqual([{}]);
    writeFileSync(file, JSON.stringify(document({ kept: { summary: 'Longer than it was' } })));
    expect((await resultsOf(app)).results).toMatchObject([{ error: 'quarantined' }]);
    rmSync(file);
    const gone = await resultsOf(app);
    expect(noticesOf(gone.events)).toEqual(['hook_spec_stale', 'tool_quarantined']);
    expect(service.described()).toBe(0);
    // Whoever opens a pipe waits until somebody writes into it.
    execFileSync('mkfifo', [file]);
    await expect(app.client.refreshHook({ name: 'svc' })).rejects.toMatchObject({
      message: expect.stringContaining('is no regular file any more'),
    });
  });

  it.each([
    ['<html><body>Sign in</body></html>', 'the description is HTML or XML, not OpenAPI'],
    ['{"swagger": "1.0", "paths": {}}', 'the description is of version 1.0'],
    ['{', 'the description is neither JSON nor YAML'],
    ['x'.repeat(10 * 1024 * 1024 + 1), 'the description is larger than 10485760 bytes'],
  ])('that cannot be read makes one clear line, and the run goes on with its other tools', async (text, line) => {
    service = await startService(text);
    app = await appCalling([calling[0], ['echo.echo', { input: 'still here' }]]);
    await addHook(app, 'svc', { url: service.url });
    const { events, results } = await resultsOf(app);
    const told = events.flatMap((event) => (event.kind === 'notice' ? [event.message] : []));
    expect(told).toEqual([expect.stringContaining(line)]);
    expect(told[0]).not.toContain('\n');
    expect(results).toEqual([expect.objectContaining({ error: 'not_found' }), 'still here']);
    await expect(app.client.refreshHook({ name: 'svc' })).rejects.toMatchObject({
      code: 'hook_error',
      data: { class: 'bad_spec', reason: expect.stringContaining(line) },
    });
  });

  it('of a service that does not take what is registered for it says so, until something else is', async () => {
    service = await startService(first);
    app = await appCalling([calling[0]]);
    await addHook(app, 'svc', { url: service.url, spec: `${service.url}/described`, headers: { 'x-key': 'old-key' } });
    service.answer(({ url, headers }, response) => {
      const isKnown = url !== '/described' || headers['x-key'] === 'new-key';
      response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
      response.end(JSON.stringify(url === '/described' ? first : {}));
    });
    await expect(app.client.refreshHook({ name: 'svc' })).rejects.toMatchObject({
      code: 'hook_error',
      data: {
        class: 'auth_failed',
        reason: '127.0.0.1 wants other credentials for its description (401)',
      },
    });
    await app.client.updateHook({ name: 'svc', ...nothingSaid, headers: { 'x-key': 'new-key' } });
    expect((await resultsOf(app)).results).toEqual([{}]);
  });
});

describe('what the operator registered', () => {
  it('is sent with every call in place of a value of the model, and is in nothing that is shown, stored or told to a model (HOOK-008, SEM-004)', async () => {
    const parameters = [{ name: 'tenant', in: 'query', required: true, schema: { type: 'string' } }];
    service = await startService({
      openapi: '3.0.3',
      paths: {
        '/it': {
          get: { operationId: 'read', parameters },
          post: {
            operationId: 'write',
            requestBody: { content: { 'application/json': { schema: { type: 'object', properties: { text: {} } } } } },
          },
        },
      },
    });
    service.answer(({ url, body, headers }, response) => {
      response.writeHead(url.startsWith('/it?') ? 400 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ url, body, auth: headers['authorization'], plain: headers['x-plain'] }));
    });
    app = await appCalling(
      [
        ['svc.read', { tenant: 'the model wants another' }],
        ['svc.write', { text: 'hello', tenant: 'again' }],
      ],
      { environment: { SVC_TOKEN: 'token-from-environment' } },
    );
    await addHook(app, 'svc', {
      url: service.url,
      headers: { Authorization: `Bearer \${env:SVC_TOKEN}`, 'X-Plain': 'plain-registered' },
      inject: { tenant: 'acme-tenant' },
    });
    const { results, run_id, events } = await resultsOf(app);
    expect(service.arrived.map(({ url, body, headers }) => [url, body, headers['authorization']])).toEqual([
      ['/it?tenant=acme-tenant', '', 'Bearer token-from-environment'],
      ['/it', '{"text":"hello","tenant":"acme-tenant"}', 'Bearer token-from-environment'],
    ]);
    expect(results).toMatchObject([
      { error: 'http_status', status: 400, body: expect.stringContaining('tenant=(injected)') },
      { url: '/it', body: '{"text":"hello","tenant":"(injected)"}', auth: '(injected)' },
    ]);
    const stored = written(app) + JSON.stringify(await app.client.showHook({ name: 'svc' })) + JSON.stringify(results);
    for (const secret of ['acme-tenant', 'token-from-environment', 'plain-registered']) {
      expect(stored).not.toContain(secret);
    }
    expect(noticesOf(events).filter((code) => code === 'argument_dropped')).toHaveLength(2);
    expect(app.rows('SELECT args FROM tool_calls WHERE run_id = ? ORDER BY seq', run_id)).toEqual([
      { args: '{"tenant":"(injected)"}' },
      { args: '{"text":"hello","tenant":"(injected)"}' },
    ]);
  });

  it('stands for its name in another case, too, unless the service tells the two apart', async () => {
    const body = (properties: object) => ({
      content: { 'application/json': { schema: { type: 'object', properties, additionalProperties: true } } },
    });
    service = await startService({
      openapi: '3.0.3',
      paths: {
        '/one': { post: { operationId: 'one', requestBody: body({ tenant: {}, text: {} }) } },
        '/two': { post: { operationId: 'two', requestBody: body({ tenant: {}, Tenant: {} }) } },
      },
    });
    app = await appCalling([
      ['svc.one', { text: 'hello', Tenant: 'another', TENANT: 'a third' }],
      ['svc.two', { Tenant: 'another' }],
    ]);
    await addHook(app, 'svc', { url: service.url, inject: { tenant: 'acme-tenant' } });
    await resultsOf(app);
    expect(service.arrived.map(({ body }) => JSON.parse(body))).toEqual([
      { tenant: 'acme-tenant', text: 'hello' },
      { tenant: 'acme-tenant', Tenant: 'another' },
    ]);
  });

  it('and needs a variable that is not set, refuses the call before anybody is asked', async () => {
    service = await startService(first);
    app = await appCalling([calling[0]], { policy: { default_action: 'approve', rules: [] } });
    await addHook(app, 'svc', { url: service.url });
    await app.client.refreshHook({ name: 'svc' });
    await app.client.updateHook({
      name: 'svc',
      url: null,
      spec: null,
      headers: { 'X-Key': `\${env:NOT_SET}` },
      inject: null,
      timeout_ms: null,
      allow_private: null,
    });
    expect((await resultsOf(app)).results).toMatchObject([
      { error: 'missing_secret', message: expect.stringContaining('NOT_SET') },
    ]);
    expect(app.rows('SELECT id FROM asks')).toEqual([]);
  });

  it('SEM-004: is judged as it is: a rule sees the injected value, and a person its name', async () => {
    service = await startService(document({ read: {} }));
    const rule = (value: string) => ({ tools: 'svc', when: [{ key: 'tenant', op: 'eq', value }], action: 'allow' });
    // A rule about what the model says in its place covers nothing.
    const policy = { default_action: 'approve', rules: [rule('acme'), rule('evil')] };
    app = await appCalling([['svc.read', { tenant: 'evil' }]], { policy });
    await addHook(app, 'svc', { url: service.url, inject: { tenant: 'acme' } });
    expect((await resultsOf(app)).results).toEqual([{}]);
    await app.client.updateHook({
      name: 'svc',
      url: null,
      spec: null,
      headers: null,
      inject: { tenant: 'other' },
      timeout_ms: null,
      allow_private: null,
    });
    expect((await resultsOf(app)).results).toMatchObject([{ error: 'denied' }]);
    expect(app.rows('SELECT tools, tool, args FROM asks')).toEqual([
      { tools: 'svc', tool: 'read', args: '{"tenant":"(injected)"}' },
    ]);
  });
});

test('a rule that is proposed for a call names every argument but the injected ones', async () => {
  const parameters = ['id', 'days', 'tenant'].map((name) => ({ name, in: 'query', schema: { type: 'string' } }));
  service = await startService(document({ read: { parameters } }));
  app = await appCalling([['svc.read', { id: 'x' }]], { policy: { default_action: 'approve', rules: [] } });
  await addHook(app, 'svc', { url: service.url, inject: { tenant: 'acme' } });
  await app.run({ on_ask: 'suspend' });
  const [ask] = app.rows('SELECT id FROM asks');
  expect((await app.client.proposeRules({ id: String(ask?.['id']) })).candidates.map(({ rule }) => rule)).toEqual([
    {
      tools: 'svc',
      tool: 'read',
      when: [
        { key: 'id', op: 'eq', value: 'x' },
        { key: 'days', op: 'exists', value: 'false' },
      ],
      action: 'allow',
    },
  ]);
});

test('all tools are listed with their state and what the policy says of them, and nobody is contacted', async () => {
  service = await startService(first);
  const rules = [{ tools: 'svc', tool: 'kept', action: 'deny' }];
  app = await appCalling([]);
  await addHook(app, 'svc', { url: service.url });
  await app.client.refreshHook({ name: 'svc' });
  service.describe(later);
  await app.client.refreshHook({ name: 'svc' });
  const policy = join(app.place.dir, 'other.json');
  writeFileSync(policy, JSON.stringify({ default_action: 'approve', rules }), { mode: 0o600 });
  const listed = await app.client.listTools({ policy, chain: null });
  expect(listed.filter(({ source }) => source === 'builtin').length).toBeGreaterThan(15);
  expect(listed.filter(({ tools }) => tools === 'svc')).toMatchObject([
    { tool: 'added', source: 'hook', state: 'quarantined', default_decision: 'approve' },
    { tool: 'kept', state: 'ready', description: 'Stays', schema: { type: 'object' }, default_decision: 'deny' },
    { tool: 'other', state: 'quarantined', description: 'Otherwise\u200b' },
  ]);
  expect(service.described()).toBe(2);
});

describe('an address', () => {
  it('that is link-local is refused at add; one that the operator typed is accepted with a note (HOOK-001)', async () => {
    app = await appCalling([]);
    await expect(addHook(app, 'meta', { url: 'http://169.254.169.254/latest' })).rejects.toMatchObject({
      code: 'usage',
    });
    expect((await addHook(app, 'here', { url: 'http://127.0.0.1:9' })).notes).toEqual([
      '127.0.0.1 is a private address; it is reached as you named it',
    ]);
    expect((await addHook(app, 'far', { url: 'https://api.example.org' })).hook.allow_private).toBe(false);
  });

  it('that became private is not reached until the operator says so', async () => {
    service = await startService(first);
    app = await appCalling([calling[0]]);
    await addHook(app, 'svc', { url: service.url });
    await app.client.refreshHook({ name: 'svc' });
    app.change('UPDATE hooks SET allow_private = 0');
    expect((await resultsOf(app)).results).toMatchObject([
      { error: 'egress_blocked', message: expect.stringContaining('reins hook update svc --allow-private') },
    ]);
    expect(service.arrived).toEqual([]);
  });
});

describe('a name', () => {
  it('is one of all providers, whatever its case', async () => {
    app = await appCalling([]);
    await addHook(app, 'svc', { url: 'https://api.example.org' });
    app.change(
      "INSERT INTO mcp_servers (id, name, transport, args, env, auth_type, headers, inject, connect_timeout_ms, call_timeout_ms, pin_command, created_at, updated_at) VALUES ('m', 'Tools', 'stdio', '[]', '{}', '', '{}', '{}', 1, 1, 0, 0, 0)",
    );
    for (const [name, code, message] of [
      ['local_fs', 'usage', '"local_fs" is the name of a built-in tool provider.'],
      ['Local_FS', 'usage', '"Local_FS" is the name of a built-in tool provider.'],
      ['output', 'usage', '"output" is a reserved word.'],
      ['SVC', 'already_exists', 'a hook named "svc" exists'],
      ['tools', 'already_exists', 'an MCP server named "Tools" exists'],
      ['a.b', 'usage', expect.stringContaining('"a.b" is not a name here')],
    ] as const) {
      await expect(addHook(app, name, { url: 'https://other.example.org' })).rejects.toMatchObject({ code, message });
    }
    expect((await app.client.listHooks({})).map(({ name }) => name)).toEqual(['svc']);
  });
});
