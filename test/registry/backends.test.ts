import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { proxyFor } from '../../src/registry/urls.ts';
import { RuntimeError } from '../../src/schema/errors.ts';
import { deadUrl, fakeServer, json, noFields, openAi, openRooms, type Rooms } from './rooms.ts';

let rooms: Rooms;
beforeEach(async () => {
  rooms = await openRooms({ environment: { SET_KEY: 'value-of-the-key' } });
});
afterEach(() => {
  rooms.close();
  rooms.home.remove();
});

type Add = Parameters<Rooms['backends']['addBackend']>[0];
const add = (rest: Partial<Add>) => rooms.backends.addBackend({ ...noFields, name: 'b', type: 'ollama', ...rest });

const refusal = async (doing: Promise<unknown>): Promise<string> => {
  const error: unknown = await doing.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(RuntimeError);
  return `${(error as RuntimeError).code}: ${(error as RuntimeError).message}`;
};

describe('adding', () => {
  it('fills in the URL of its type, and shows no secret', async () => {
    const { backend, warnings } = await add({ name: 'local' });
    expect(backend).toEqual({
      id: backend.id,
      name: 'local',
      type: 'ollama',
      baseUrl: 'http://127.0.0.1:11434',
      keySource: 'none',
      headers: [],
      proxy: '',
      timeouts: { connect: null, firstByte: null, idle: null },
      createdAt: '2026-01-02T10:00:00.000Z',
      updatedAt: '2026-01-02T10:00:00.000Z',
      builtIn: false,
    });
    expect(backend.id).toMatch(/^b_[0-9a-z]{26}$/);
    expect(warnings).toEqual([]);
    expect(rooms.changes).toEqual([{ type: 'registry_changed', registry: 'backend', name: 'local', change: 'added' }]);
  });

  it.each([
    ['ollama', 'http://h:11434/api/', 'http://h:11434'],
    ['ollama', 'https://ollama.com/', 'https://ollama.com'],
    ['vllm', 'http://h:8000', 'http://h:8000/v1'],
    ['openai-compatible', 'http://h:8000/', 'http://h:8000/v1'],
    ['openai-compatible', 'http://h:8000/api/', 'http://h:8000/api'],
    ['ollama', 'http://h:11434/v1', 'http://h:11434'],
    ['ollama', 'http://h/proxy/api/chat', 'http://h/proxy'],
    ['gemini', 'https://g.example/v1beta/', 'https://g.example'],
    ['anthropic', 'https://a.example/v1', 'https://a.example'],
    ['anthropic', 'https://a.example/api/anthropic', 'https://a.example/api/anthropic'],
    ['vllm', 'http://h:8000/v1/chat/completions', 'http://h:8000/v1'],
    ['openai', 'https://h/v1/responses', 'https://h/v1'],
    ['openai-compatible', 'https://h/api/v1/models/', 'https://h/api/v1'],
    ['openai-compatible', 'https://h/models', 'https://h/models'],
    ['ollama', 'http://h:11434/v1/chat/completions', 'http://h:11434'],
    ['openai', null, 'https://api.openai.com/v1'],
    ['openai', 'https://api.openai.com', 'https://api.openai.com/v1'],
    ['openai', 'https://o.example/openai', 'https://o.example/openai'],
    ['gemini', null, 'https://generativelanguage.googleapis.com'],
    ['anthropic', null, 'https://api.anthropic.com'],
    ['scripted', null, 'builtin:demo'],
    ['scripted', 'scripts/a.json', 'scripts/a.json'],
  ] as const)('normalises the URL of %s %s', async (type, url, expected) => {
    expect((await add({ type, url })).backend.baseUrl).toBe(expected);
  });

  it('takes the models directory of the user for a local backend, when it is there', async () => {
    expect(await refusal(add({ type: 'local' }))).toBe(
      `usage: a local backend needs --url where there is no ${join(rooms.home.home, 'models')}`,
    );
    mkdirSync(join(rooms.home.home, 'models'));
    expect((await add({ type: 'local' })).backend.baseUrl).toBe(join(rooms.home.home, 'models'));
    expect((await add({ name: 'c', type: 'local', url: 'm' })).backend.baseUrl).toBe(join(rooms.home.workspace, 'm'));
  });

  it.each([
    [{ type: 'vllm' }, 'usage: a vllm backend needs --url'],
    [{ type: 'openai-compatible' }, 'usage: an openai-compatible backend needs --url'],
    [{ url: 'ftp://h' }, 'usage: The URL of an ollama backend must begin with http:// or https://.'],
    [{ url: 'h:1' }, 'usage: The URL of an ollama backend must begin with http:// or https://.'],
    [
      { url: 'nonsense' },
      'usage: The URL of an ollama backend must be an http or https URL, such as http://127.0.0.1:8000.',
    ],
    [
      { url: 'http://u:p@h' },
      'usage: The URL of an ollama backend must not hold a user name or password; use --api-key-env.',
    ],
    [
      { url: 'http://h/?k=1' },
      'usage: The URL of an ollama backend must not hold a query or fragment; use --header for what it carries.',
    ],
    [{ key_env: 'A', key_literal: 'b' }, 'usage: Give the key by --api-key-env or by --api-key, not by both.'],
    [
      { key_env: 'sk-123 456' },
      'usage: --api-key-env takes the name of a variable (letters, digits and "_"), not the key.',
    ],
    [{ type: 'scripted', key_env: 'A' }, 'usage: A scripted backend takes no key.'],
    [{ headers: { 'a b': 'c' } }, 'usage: "a b" is not the name of a header.'],
    [{ headers: { Host: 'c' } }, 'usage: The header Host cannot be set.'],
    [{ headers: { 'X-A': 'a\r\nb' } }, 'usage: The value of header X-A is longer than 8 KiB or holds a line break.'],
    [{ proxy: 'proxy:3128' }, 'usage: --proxy takes an http or https URL, or none.'],
    [{ idle_timeout_ms: 500 }, 'usage: --idle-timeout takes a time from 1s to 3600s.'],
    [{ connect_timeout_ms: 3_600_001 }, 'usage: --connect-timeout takes a time from 1s to 3600s.'],
    [
      { type: 'scripted', url: 'builtin:x' },
      'usage: There is no built-in script "builtin:x"; the only one is builtin:demo.',
    ],
  ] as const)('refuses %j', async (fields, expected) => {
    expect(await refusal(add(fields))).toBe(expected);
    expect(rooms.changes).toEqual([]);
  });

  it('refuses a bad name, a taken one, and a second backend of one type, URL and key', async () => {
    for (const name of ['', '-a', 'a b', 'a/b', 'x'.repeat(65)]) {
      expect(await refusal(add({ name }))).toMatch(/^usage: .* is not a name of a backend/);
    }
    await add({ name: 'a', type: 'openai', key_env: 'SET_KEY' });
    expect(await refusal(add({ name: 'a' }))).toBe('already_exists: A backend named "a" exists.');
    await expect(add({ name: 'a', url: 'http://h.example' })).rejects.toMatchObject({
      hints: ['reins backend update a --url http://h.example', 'reins backend show a'],
    });
    expect(await refusal(add({ name: 'c', type: 'openai', key_env: 'SET_KEY' }))).toBe(
      'already_exists: The backend "a" has the same type, URL and key already.',
    );
    await add({ name: 'c', type: 'openai', key_env: 'OTHER_KEY' });
    await add({ name: 'd', type: 'openai', key_env: 'SET_KEY', url: 'https://other.example/v1' });
    expect((await rooms.backends.listBackends()).map(({ name, keySource }) => `${name} ${keySource}`)).toEqual([
      'a env:SET_KEY',
      'c env:OTHER_KEY',
      'd env:SET_KEY',
      'demo none',
    ]);
  });

  it('warns about what is allowed and unwise', async () => {
    const warningsOf = async (rest: Partial<Add>): Promise<readonly string[]> => (await add(rest)).warnings;
    expect(await warningsOf({ name: 'a', type: 'openai' })).toEqual([
      'no key is registered: reins backend update a --api-key-env OPENAI_API_KEY',
    ]);
    expect(await warningsOf({ name: 'c', type: 'openai', key_env: 'UNSET_KEY' })).toEqual([
      'the variable UNSET_KEY is not set now; it is read when the backend is used',
    ]);
    expect(
      await warningsOf({ name: 'd', type: 'vllm', url: 'http://far.example:8000', key_literal: 'literal-key' }),
    ).toEqual([
      'the key is stored in the database; --api-key-env <VAR> keeps only the name of a variable there',
      'the key goes to far.example:8000 without encryption, readable on the network',
    ]);
    expect(await warningsOf({ name: 'e', type: 'vllm', url: 'http://[::1]:8000', key_env: 'SET_KEY' })).toEqual([]);
    const [warning] = await warningsOf({ name: 'f', headers: { 'X-Api-Key': 'abc', 'X-Org': 'me' } });
    expect(warning).toBe(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the form that is advised
      'the value of header X-Api-Key is stored in the database; write it as X-Api-Key: ${env:NAME}',
    );
  });

  it('makes stored keys and header values known to the mask', async () => {
    await add({ name: 'far', type: 'openai', key_literal: 'sk-literal-value', headers: { 'X-Org': 'org-1234567' } });
    await rooms.backends.listBackends();
    expect(rooms.secrets.mask('sk-literal-value of org-1234567')).toBe('•••(far.key) of •••(far.X-Org)');
    const shown = JSON.stringify(await rooms.backends.showBackend({ name: 'far' }));
    expect(shown).not.toContain('sk-literal');
    expect(shown).not.toContain('org-1234567');
    expect(shown).toContain('"headers":["X-Org"]');
  });
});

describe('updating', () => {
  it('changes what is given and leaves the rest; headers are replaced as a whole', async () => {
    await add({
      name: 'a',
      type: 'openai',
      key_env: 'SET_KEY',
      headers: { 'X-A': '1', 'X-B': '2' },
      idle_timeout_ms: 5000,
    });
    rooms.pass(1000);
    const { backend } = await rooms.backends.updateBackend({
      ...noFields,
      name: 'a',
      headers: { 'X-C': '3' },
      proxy: 'none',
      connect_timeout_ms: 2000,
    });
    expect(backend).toMatchObject({
      baseUrl: 'https://api.openai.com/v1',
      keySource: 'env:SET_KEY',
      headers: ['X-C'],
      proxy: 'none',
      timeouts: { connect: 2000, firstByte: null, idle: 5000 },
      createdAt: '2026-01-02T10:00:00.000Z',
      updatedAt: '2026-01-02T10:00:01.000Z',
    });
  });

  it('puts one kind of key in the place of the other, and takes it away', async () => {
    await add({ name: 'a', type: 'openai', key_env: 'SET_KEY' });
    const update = async (fields: Partial<Add>) =>
      (await rooms.backends.updateBackend({ ...noFields, ...fields, name: 'a' })).backend.keySource;
    expect(await update({ key_literal: 'literal-key' })).toBe('stored');
    expect(await update({ key_env: 'OTHER' })).toBe('env:OTHER');
    expect(await update({ key_env: '' })).toBe('none');
  });

  it('refuses an unknown backend and the built-in one', async () => {
    expect(await refusal(rooms.backends.updateBackend({ ...noFields, name: 'x' }))).toBe(
      'not_found: There is no backend named "x".',
    );
    expect(await refusal(rooms.backends.updateBackend({ ...noFields, name: 'demo' }))).toBe(
      'usage: The backend "demo" is built in and cannot be changed.',
    );
  });
});

describe('the built-in demo', () => {
  it('is listed, cannot be removed, and is hidden by a backend of its name', async () => {
    expect(await rooms.backends.showBackend({ name: 'demo' })).toMatchObject({
      type: 'scripted',
      baseUrl: 'builtin:demo',
      builtIn: true,
      createdAt: null,
    });
    expect(await refusal(rooms.backends.removeBackend({ name: 'demo' }))).toBe(
      'usage: The backend "demo" is built in and cannot be removed.',
    );
    await add({ name: 'demo', type: 'ollama' });
    expect(await rooms.backends.listBackends()).toMatchObject([{ name: 'demo', type: 'ollama', builtIn: false }]);
    expect(await rooms.backends.removeBackend({ name: 'demo' })).toBeNull();
    expect(await rooms.backends.listBackends()).toMatchObject([{ name: 'demo', builtIn: true }]);
  });
});

describe('removing', () => {
  it('takes declarations and cache along', async () => {
    await add({ name: 'a' });
    await rooms.models.addModel({
      name: 'm',
      backend: 'a',
      context: null,
      max_output: null,
      capabilities: [],
      url: null,
      sha256: null,
    });
    await rooms.backends.removeBackend({ name: 'a' });
    expect(rooms.rows.declarations()).toEqual([]);
    expect(await refusal(rooms.backends.removeBackend({ name: 'a' }))).toBe(
      'not_found: There is no backend named "a".',
    );
  });
});

describe('testing', () => {
  it('asks anew and counts the models', async () => {
    const server = await fakeServer(openAi('text-embedding-x', 'gpt-4o', 'gpt-4o-audio'));
    await add({ name: 'a', type: 'openai', url: `${server.url}/v1`, key_env: 'SET_KEY' });
    const tested = await rooms.backends.testBackend({ name: 'a' });
    expect(tested).toEqual({
      reachable: true,
      chat_models: 1,
      models: 3,
      latency_ms: 0,
      error_class: null,
      error: null,
      hint: null,
    });
    await rooms.backends.testBackend({ name: 'a' });
    expect(server.requests).toEqual(['GET /v1/models', 'GET /v1/models']);
    expect(server.headers()['authorization']).toBe('Bearer value-of-the-key');
    await server.close();
  });

  it('says what is wrong and what would help, without the key', async () => {
    const server = await fakeServer((request, response) =>
      json(response, { error: { message: `bad ${request.headers['authorization']}` } }, 401),
    );
    await add({ name: 'a', type: 'openai', url: `${server.url}/v1`, key_env: 'SET_KEY' });
    expect(await rooms.backends.testBackend({ name: 'a' })).toMatchObject({
      reachable: false,
      error_class: 'auth',
      error: '401: bad Bearer •••(a.key)',
      hint: 'reins backend update a --api-key-env SET_KEY',
    });
    await server.close();
    await add({ name: 'c', url: deadUrl });
    expect(await rooms.backends.testBackend({ name: 'c' })).toMatchObject({
      reachable: false,
      error_class: 'connect',
      hint: 'Is the server running? Start it with: ollama serve',
    });
  });

  it('sends nothing while the variable of the key is not set', async () => {
    const server = await fakeServer(openAi('m'));
    await add({ name: 'a', type: 'openai', url: `${server.url}/v1`, key_env: 'LATER_KEY' });
    expect(await rooms.backends.testBackend({ name: 'a' })).toMatchObject({
      error_class: 'auth',
      error: 'needs the variable LATER_KEY, which is not set',
      hint: 'export LATER_KEY=…',
    });
    expect(server.requests).toEqual([]);
    rooms.environment['LATER_KEY'] = 'now-there-is-one';
    expect(await rooms.backends.testBackend({ name: 'a' })).toMatchObject({ reachable: true });
    await server.close();
  });
});

describe('addresses', () => {
  it('go through a proxy as registered, else as the environment says, loopback never', () => {
    const environment = {
      HTTPS_PROXY: 'http://p:1',
      http_proxy: 'p2:2',
      NO_PROXY: 'corp.example, .internal:8443,*.x.y',
    };
    expect(proxyFor('', 'https://api.example/v1', environment)).toBe('http://p:1');
    expect(proxyFor('', 'http://api.example/v1', environment)).toBe('http://p2:2');
    expect(proxyFor('none', 'https://api.example/v1', environment)).toBeNull();
    expect(proxyFor('http://own:3', 'https://a.corp.example/v1', environment)).toBe('http://own:3');
    expect(proxyFor('http://own:3', 'http://localhost:1', environment)).toBeNull();
    expect(proxyFor('', 'https://a.corp.example/v1', environment)).toBeNull();
    expect(proxyFor('', 'https://notcorp.example/v1', environment)).toBe('http://p:1');
    expect(proxyFor('', 'https://a.internal:8443/', environment)).toBeNull();
    expect(proxyFor('', 'https://a.internal/', environment)).toBe('http://p:1');
    expect(proxyFor('', 'https://b.x.y', environment)).toBeNull();
    expect(proxyFor('', 'https://h', { HTTPS_PROXY: 'http://p', NO_PROXY: '*' })).toBeNull();
  });
});
