import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Notice } from '../../src/schema/event.ts';
import type { Route } from '../../src/schema/protocol.ts';
import { deadUrl, fakeServers, json, noFields, ollama, openAi, openRooms, type Rooms } from './rooms.ts';

let rooms: Rooms;
const { serve, close } = fakeServers();
beforeEach(async () => {
  rooms = await openRooms({
    environment: { KEY_A: 'value-of-key-a', KEY_B: 'value-of-key-b', KEY_OF_FILE: 'value-of-key-c\r\n', BLANK: '\n' },
  });
});
afterEach(async () => {
  rooms.close();
  rooms.home.remove();
  await close();
});

type Add = Parameters<Rooms['backends']['addBackend']>[0];
const add = (name: string, url: string, rest: Partial<Add> = {}) =>
  rooms.backends.addBackend({ ...noFields, name, type: 'openai-compatible', url, ...rest });

async function found(...args: Parameters<Rooms['routes']>): Promise<readonly Route[]> {
  const result = await rooms.routes(...args);
  if (result.kind === 'refused') throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.routes;
}
const chosen = async (...args: Parameters<Rooms['routes']>): Promise<readonly string[]> =>
  (await found(...args)).map(({ backend, model }) => `${backend}/${model}`);
async function refused(...args: Parameters<Rooms['routes']>): Promise<string> {
  const result = await rooms.routes(...args);
  return result.kind === 'refused' ? `${result.error.code}: ${result.error.message}` : 'routes';
}
async function notices(...args: Parameters<Rooms['routes']>): Promise<readonly Pick<Notice, 'code' | 'message'>[]> {
  const result = await rooms.routes(...args);
  if (result.kind === 'refused') throw new Error(result.error.message);
  return result.notices.map(({ code, message }) => ({ code, message }));
}

describe('a route', () => {
  it('holds what an adapter needs: the key of its own backend, headers, limits, what is known of the model', async () => {
    const a = await serve(openAi('m'));
    const b = await serve(openAi('n'));
    await add('a', a.url, { key_env: 'KEY_A' });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form that is stored
    await add('b', b.url, { key_env: 'KEY_B', headers: { 'X-Org': '${env:KEY_A}!' }, idle_timeout_ms: 7000 });
    const [route] = await found({ models: ['n'], workspace: '/ws' });
    expect(route).toEqual({
      backend: 'b',
      type: 'openai-compatible',
      base_url: `${b.url}/v1`,
      key: 'value-of-key-b',
      key_env: 'KEY_B',
      headers: { 'X-Org': 'value-of-key-a!' },
      proxy: null,
      timeouts: { connect_ms: 10_000, first_byte_ms: 300_000, idle_ms: 7000 },
      model: 'n',
      context: 16_384,
      max_output: null,
      capabilities: { chat: true, tools: true, think: false, vision: false, embed: false },
      num_ctx: { fixed: null, cap: 32_768 },
      keep_alive: '10m',
      workspace: '/ws',
    });
    expect([a.headers()['authorization'], b.headers()['authorization']]).toEqual([
      'Bearer value-of-key-a',
      'Bearer value-of-key-b',
    ]);
  });

  it('has the key without the line break of the file that it came from', async () => {
    const c = await serve(openAi('m'));
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form that is stored
    await add('c', c.url, { key_env: 'KEY_OF_FILE', headers: { 'X-Org': 'Token ${env:KEY_OF_FILE}' } });
    expect(await found({ models: ['m'] })).toMatchObject([
      { key: 'value-of-key-c', headers: { 'X-Org': 'Token value-of-key-c' } },
    ]);
    expect(rooms.secrets.mask('it is value-of-key-c.')).toBe('it is •••(c.key).');
    await add('d', c.url, { key_env: 'BLANK' });
    expect(await refused({ models: ['n'] })).toContain('needs the variable BLANK, which is not set');
    expect(rooms.secrets.isSet('BLANK')).toBe(false);
  });

  it('is the same in a hundred resolutions, and never another tag', async () => {
    const server = await serve(ollama(['qwen2.5:7b', 'qwen2.5:14b']));
    await add('local', server.url, { type: 'ollama' });
    for (let turn = 0; turn < 100; turn += 1) {
      expect(await chosen({ models: ['qwen2.5:14b'] })).toEqual(['local/qwen2.5:14b']);
    }
    expect(await refused({ models: ['qwen2.5:3b'] })).toBe(
      'model_unavailable: No backend serves "qwen2.5:3b"; served: local/qwen2.5:14b, local/qwen2.5:7b',
    );
  });

  it('lists the other backends of the model as fallbacks, in order', async () => {
    const a = await serve(openAi('m'));
    const b = await serve(openAi('m'));
    await add('b', b.url);
    await add('a', a.url);
    // Only what could stand first is waited for.
    expect((await chosen({ models: ['m'] }))[0]).toBe('a/m');
    await rooms.backends.testBackend({ name: 'b' });
    expect(await chosen({ models: ['m'] })).toEqual(['a/m', 'b/m']);
    expect(await chosen({ models: ['m'] }, { backends: ['b'] })).toEqual(['b/m']);
  });

  it('takes another name only when it is announced', async () => {
    const server = await serve(openAi('org/Qwen-2.5'));
    await add('a', server.url);
    const signal = new AbortController().signal;
    const [route] = await found({ models: ['qwen2.5'] }, {}, signal);
    expect([route?.model, route?.substituted_for]).toEqual(['org/Qwen-2.5', 'qwen2.5']);
    expect(await notices({ models: ['qwen2.5'] })).toEqual([
      { code: 'model_substituted', message: 'no backend serves "qwen2.5"; "org/Qwen-2.5" of a is used' },
    ]);
    // Said once per run.
    expect(await notices({ models: ['qwen2.5'] }, {}, signal)).toEqual([]);
  });
});

describe('discovery', () => {
  it('costs nothing while the cache is fresh, in this process and the next', async () => {
    const server = await serve(openAi('m'));
    await add('a', server.url);
    await found({ models: ['m'] });
    await found({ models: ['m'] });
    rooms.pass(59_000);
    await found({ models: ['m'] });
    expect(server.requests).toEqual(['GET /v1/models']);
    const { home } = rooms;
    rooms.close();
    rooms = await openRooms({ home });
    expect(await chosen({ models: ['m'] })).toEqual(['a/m']);
    expect(server.requests).toEqual(['GET /v1/models']);
    rooms.pass(61_000);
    await found({ models: ['m'] });
    expect(server.requests).toEqual(['GET /v1/models', 'GET /v1/models']);
  });

  it('asks again when the URL or the source of the key has changed', async () => {
    const server = await serve(openAi('m'));
    const other = await serve(openAi('n'));
    await add('a', server.url);
    await found({ models: ['m'] });
    await rooms.backends.updateBackend({ ...noFields, name: 'a', key_env: 'KEY_A' });
    await found({ models: ['m'] });
    expect(server.requests).toHaveLength(2);
    await rooms.backends.updateBackend({ ...noFields, name: 'a', url: other.url });
    expect(await chosen({ models: ['n'] })).toEqual(['a/n']);
  });

  it('asks only backends of the wanted types, and one question at a time', async () => {
    const compatible = await serve(openAi('m'));
    const vllm = await serve(openAi('m'));
    await add('a', compatible.url);
    await add('v', vllm.url, { type: 'vllm' });
    await Promise.all([found({ providers: ['vllm'], models: ['m'] }), found({ providers: ['vllm'], models: ['m'] })]);
    expect([compatible.requests, vllm.requests]).toEqual([[], ['GET /v1/models']]);
  });

  it('learns what a declaration leaves open from the backend', async () => {
    const server = await serve(
      ollama(['m'], { capabilities: ['completion', 'thinking', 'vision'], model_info: { 'x.context_length': 40_000 } }),
    );
    await add('a', server.url, { type: 'ollama' });
    await rooms.models.setModelContext({ name: 'm', backend: null, context: 64_000 });
    const [route] = await found({ models: ['m'], needs: { tools: false, vision: true } });
    expect(route).toMatchObject({ capabilities: { think: true, tools: false }, num_ctx: { fixed: 40_000 } });
  });

  it('keeps what the server calls the content of a model', async () => {
    const hash = 'a1'.repeat(32);
    const listed = ollama(['m']);
    const server = await serve((request, response) => {
      if (request.url !== '/api/tags') listed(request, response);
      else json(response, { models: [{ name: 'm', digest: hash }] });
    });
    await add('a', server.url, { type: 'ollama' });
    expect((await found({ models: ['m'] }))[0]?.digest).toBe(`sha256:${hash}`);
  });

  it('makes no request for a declared model', async () => {
    const server = await serve(openAi('m'));
    await add('a', server.url);
    await rooms.models.addModel({
      name: 'declared-one',
      backend: 'a',
      context: 9000,
      max_output: 500,
      capabilities: ['no-tools', 'vision'],
      url: null,
      sha256: null,
    });
    const [route] = await found({ models: ['declared-one'] });
    expect(route).toMatchObject({
      context: 9000,
      max_output: 500,
      capabilities: { chat: true, tools: false, vision: true },
      num_ctx: { fixed: 9000 },
    });
    expect(server.requests).toEqual([]);
  });

  it('does not wait for a backend that cannot stand first any more', async () => {
    const slow = await serve(() => {});
    const quick = await serve(openAi('m'));
    await add('a', quick.url);
    await add('b', slow.url);
    expect(await chosen({ models: ['m'] })).toEqual(['a/m']);
  });

  it('takes any name of a backend that answers and cannot list', async () => {
    const server = await serve((_request, response) => json(response, { error: 'no such page' }, 404));
    await add('a', server.url);
    expect(await chosen({ models: ['anything'] })).toEqual(['a/anything']);
    expect(await chosen({ models: ['something'] })).toEqual(['a/something']);
    expect(server.requests).toHaveLength(1);
  });

  it('remembers an empty list', async () => {
    const server = await serve(openAi());
    await add('a', server.url);
    expect(await refused({ models: ['m'] })).toBe('model_unavailable: No backend serves "m"; nothing is served');
    const { home } = rooms;
    rooms.close();
    rooms = await openRooms({ home });
    await refused({ models: ['m'] });
    expect(server.requests).toHaveLength(1);
  });

  it('uses an older list while the refresh fails, and says so', async () => {
    const server = await serve(openAi('m'));
    await add('a', server.url);
    await found({ models: ['m'] });
    server.answer((_request, response) => json(response, { error: 'out of order' }, 500));
    rooms.pass(61_000);
    expect(await notices({ models: ['m'] })).toEqual([
      { code: 'discovery_stale', message: 'backend "a" cannot list its models now; an older list is used' },
    ]);
    // A backend that failed is left alone for a while.
    await found({ models: ['m'] });
    expect(server.requests).toHaveLength(2);
  });

  it('announces that another backend of the type serves where an earlier one does not answer, also to the next run', async () => {
    const server = await serve(openAi('m'));
    await add('a', deadUrl);
    await add('b', server.url);
    await add('c', `${deadUrl}/c`);
    await refused({ models: ['n'] });
    const said = {
      code: 'backend_fallback',
      message:
        'backend "a" is left out (cannot reach backend "a" at http://127.0.0.1:9: connection refused); "b" serves',
    };
    expect(await notices({ models: ['m'] })).toEqual([said]);
    expect(await notices({ models: ['m'] })).toEqual([said]);
  });

  it('ends when the signal aborts', async () => {
    const silent = await serve(() => {});
    await add('a', silent.url);
    const stop = new AbortController();
    const asked = rooms.routes({ models: ['m'] }, {}, stop.signal);
    stop.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
  });
});

describe('backends that need no registration', () => {
  it('serve last: the local model server', async () => {
    const local = await serve(ollama(['qwen2.5:7b']));
    const far = await serve(openAi('other'));
    rooms.close();
    rooms.home.remove();
    rooms = await openRooms({ ollama: { url: local.url, explicit: false } });
    expect(await chosen({})).toEqual(['ollama/qwen2.5:7b']);
    await add('far', far.url);
    expect(await chosen({ models: ['other'] })).toEqual(['far/other']);
    expect(await chosen({ providers: ['openai-compatible', 'ollama'] })).toEqual(['ollama/qwen2.5:7b']);
  });

  it('give way to a registered one of the type, unless the URL was given explicitly', async () => {
    const local = await serve(ollama(['m']));
    const registered = await serve(ollama(['m']));
    const { home } = rooms;
    await add('mine', registered.url, { type: 'ollama' });
    rooms.close();
    rooms = await openRooms({ home, ollama: { url: local.url, explicit: false } });
    expect(await chosen({ models: ['m'] })).toEqual(['mine/m']);
    rooms.close();
    rooms = await openRooms({ home, ollama: { url: local.url, explicit: true } });
    expect(await chosen({ models: ['m'] })).toEqual(['ollama/m']);
    expect(registered.requests.length + local.requests.length).toBe(4);
  });

  it('are played only when the provider is asked for by name', async () => {
    expect(await chosen({ providers: ['scripted'], models: ['demo'] })).toEqual(['demo/demo']);
    expect(await chosen({ defaultProvider: 'scripted', models: ['demo'] })).toEqual(['demo/demo']);
    expect(await refused({ models: ['demo'] })).toBe(
      'server_error: No backend can serve "demo": cannot reach backend "ollama" at http://127.0.0.1:9: connection refused',
    );
  });
});

describe('context', () => {
  it('is declared, else discovered; a hint counts as declared but never above the model', async () => {
    const server = await serve(
      ollama(['m'], { capabilities: ['completion'], model_info: { 'x.context_length': 40_000 } }),
    );
    await add('a', server.url, { type: 'ollama' });
    const context = async (contextHint = 0) => {
      const [route] = await found({ models: ['m'], contextHint });
      return [route?.context, route?.num_ctx.fixed];
    };
    expect(await context()).toEqual([40_000, null]);
    expect(await context(16_000)).toEqual([16_000, 16_000]);
    expect(await context(64_000)).toEqual([40_000, 40_000]);
    expect(await notices({ models: ['m'], contextHint: 64_000 })).toEqual([
      { code: 'context_limited', message: 'model "m" has a context of 40000; --context 64000 is lowered' },
    ]);
    await rooms.models.setModelContext({ name: 'm', backend: null, context: 32_000 });
    expect(await context()).toEqual([32_000, 32_000]);
    await rooms.models.setModelContext({ name: 'm', backend: null, context: 0 });
    expect(await context()).toEqual([40_000, null]);
  });
});

describe('a refusal', () => {
  it('names the list that leaves nothing, and nobody is asked', async () => {
    const server = await serve(openAi('m'));
    await add('a', server.url);
    expect(await refused({ models: ['m'] }, { models: ['other'] })).toBe(
      'compute_exhausted: The policy\'s compute.modelAllowlist leaves no model for "m"; it lists other.',
    );
    expect(await refused({ models: ['m'] }, { backends: ['A'] })).toBe(
      'compute_exhausted: The policy\'s compute.backendAllowlist leaves no backend for "m"; it lists A.',
    );
    expect(server.requests).toEqual([]);
  });

  it('says what is missing: a backend, a key, tools, vision, context', async () => {
    expect(await refused({ providers: ['gemini'], models: ['m'] })).toBe(
      'setup_incomplete: No backend of type gemini is registered: reins backend add gemini --type gemini --api-key-env GEMINI_API_KEY',
    );
    const server = await serve(
      ollama(['m'], { capabilities: ['completion'], model_info: { 'x.context_length': 4096 } }),
    );
    await add('a', server.url, { type: 'ollama' });
    expect(await refused({ models: ['m'], needs: { tools: true, vision: false } })).toBe(
      'no_tool_support: model "m" does not support tools; choose another with --model, or declare it: reins model add m --capability tools',
    );
    expect(await refused({ models: ['m'], needs: { tools: false, vision: true } })).toBe(
      'permanent: model "m" does not take images; choose another with --model, or declare it: reins model add m --capability vision',
    );
    expect(await refused({ models: ['m'], tokenNeed: 5000 })).toBe(
      'capacity: the request needs about 5000 tokens, which is more than the context of "m"; if the model has more: reins model set-context m --context 5000',
    );
    await rooms.backends.updateBackend({ ...noFields, name: 'a', key_env: 'NO_SUCH_KEY' });
    expect(await refused({ models: ['m'] })).toBe(
      'auth: No backend can serve "m": backend "a" needs the variable NO_SUCH_KEY, which is not set',
    );
  });

  it('of a declared model without its key sends nothing either', async () => {
    const server = await serve(openAi('m'));
    await add('a', server.url, { key_env: 'NO_SUCH_KEY' });
    await rooms.models.setModelContext({ name: 'm', backend: 'a', context: 9000 });
    expect(await refused({ models: ['m'] })).toBe('auth: backend "a" needs the variable NO_SUCH_KEY, which is not set');
    expect(server.requests).toEqual([]);
  });

  it('names the types when a chain asks for one that there is not', async () => {
    expect(await refused({ providers: ['olama'], models: ['m'] })).toBe(
      'setup_incomplete: There is no provider type "olama"; the types are ollama, openai, vllm, gemini, anthropic, openai-compatible, local, scripted.',
    );
  });

  it('passes on what is wrong with a script', async () => {
    await add('s', 'missing.json', { type: 'scripted' });
    const broken =
      /^config_invalid: Backend "s": The script .*missing\.json cannot be read: it does not exist; correct it, or name another file: reins backend update s --url <file>$/;
    expect(await refused({ providers: ['scripted'], models: ['x'] }, { backends: ['s'] })).toMatch(broken);
    // The demo serves a model of its own, which nobody asked for.
    expect(await refused({ providers: ['scripted'], models: ['x'] })).toMatch(broken);
  });

  it('tells apart what was left out, what is served and who did not answer', async () => {
    const server = await serve(openAi('m', 'n'));
    await add('a', server.url);
    await add('b', deadUrl);
    await rooms.models.addModel({
      name: 'm',
      backend: 'a',
      context: 1000,
      max_output: null,
      capabilities: [],
      url: null,
      sha256: null,
    });
    expect(await refused({ models: ['m'], tokenNeed: 2000, needs: { tools: false, vision: false } })).toMatch(
      /^capacity: /,
    );
    expect(await refused({ models: ['q'] })).toBe(
      'model_unavailable: No backend serves "q"; served: a/m, a/n; cannot reach backend "b" at http://127.0.0.1:9: connection refused',
    );
  });
});
