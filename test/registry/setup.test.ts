import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Inspection } from '../../src/registry/inspection.ts';
import type { BinaryState } from '../../src/schema/policy.ts';
import type { SetupIssue, SetupStatus } from '../../src/schema/registry.ts';
import {
  deadUrl,
  fakeServers,
  json,
  noFields,
  ollama,
  openAi,
  openRooms,
  type Rooms,
  type RoomsOptions,
  soundInspection,
} from './rooms.ts';

let rooms: Rooms;
const { serve, close } = fakeServers();
beforeEach(async () => {
  rooms = await openRooms();
});
afterEach(async () => {
  rooms.close();
  rooms.home.remove();
  await close();
});

/** The same home, opened with other options. */
async function reopen(options: RoomsOptions): Promise<void> {
  const { home } = rooms;
  rooms.close();
  rooms = await openRooms({ home, ...options });
}

type Add = Parameters<Rooms['backends']['addBackend']>[0];
const add = (name: string, url: string, rest: Partial<Add> = {}) =>
  rooms.backends.addBackend({ ...noFields, name, type: 'ollama', url, ...rest });
const configure = (key: string, value: string) => rooms.settings.setConfig({ key, value });

const status = async (probe = true): Promise<SetupStatus> => (await rooms.setup.doctor({ probe })).status;
const shown = (issues: readonly SetupIssue[]): readonly string[] =>
  issues.map(({ code, severity, cliCommand }) => `${severity} ${code}: ${cliCommand}`);
const issues = async (probe = true): Promise<readonly string[]> => shown((await status(probe)).issues);
/** What the check before a run says, or null. */
async function obstacle(...wanted: Parameters<Rooms['setup']['preRun']>) {
  const found = await rooms.setup.preRun(...wanted);
  return found.kind === 'obstacle' ? found.error : null;
}
/** The same with the effective defaults. */
async function preRun(): Promise<string | null> {
  const error = await obstacle(await rooms.models.defaults({ model: null, provider: null }));
  return error === null ? null : `${error.code} ${(error.data as { issue?: string }).issue}: ${error.hints[0]}`;
}

const capable = { capabilities: ['completion', 'tools'], model_info: { 'x.context_length': 32_768 } };

describe('a healthy set-up', () => {
  it('has no issue, and the check before a run agrees', async () => {
    const server = await serve(ollama(['m', 'n'], capable));
    await add('local', server.url);
    await configure('default-model', 'm');
    await configure('default-provider', 'ollama');
    expect(await status()).toEqual({
      defaultModel: 'm',
      defaultModelSource: 'config',
      defaultProvider: 'ollama',
      defaultChain: '',
      hitlPolicyName: 'default',
      backendCount: 1,
      reachableBackendCount: 1,
      ready: true,
      checkedAt: '2026-01-02T10:00:00.000Z',
      issues: [],
      backendChecks: [
        {
          id: rooms.rows.listBackends()[0]?.id,
          name: 'local',
          type: 'ollama',
          baseUrl: server.url,
          status: 'ready',
          reachable: true,
          defaultProvider: true,
          modelCount: 2,
          chatModelCount: 2,
          chatModels: ['m', 'n'],
          latencyMs: 0,
          keySource: 'none',
          errorClass: null,
          error: null,
          hint: null,
        },
      ],
    });
    expect(await preRun()).toBeNull();
  });

  it('is what the scripted provider makes of an empty one', async () => {
    await configure('default-provider', 'scripted');
    expect(await issues()).toEqual(['info no_backends: reins backend add scripted --type scripted']);
    const { ready, defaultModel, defaultModelSource } = await status();
    expect([ready, defaultModel, defaultModelSource]).toEqual([true, 'demo', 'script']);
    expect(await preRun()).toBeNull();
  });
});

describe('defaults and registration', () => {
  it('of an empty machine: no model, no provider, no backend, and how to start', async () => {
    const { issues: found, ready } = await status();
    expect(shown(found)).toEqual([
      'error missing_default_model: reins config set default-model qwen2.5:7b',
      'warning missing_default_provider: reins config set default-provider ollama',
      'error no_backends: reins backend add local --type ollama --url http://127.0.0.1:9',
    ]);
    expect(found[2]?.message).toBe(
      'No backend is registered. Start Ollama with "ollama serve", or install it from https://ollama.com.',
    );
    expect(ready).toBe(false);
  });

  it('of an empty machine: a run says what was tried and how to start it, and the first command does', async () => {
    const error = await obstacle(await rooms.models.defaults({ model: null, provider: null }));
    expect([error?.code, error?.data, error?.message, error?.hints]).toEqual([
      'setup_incomplete',
      { issue: 'no_backends' },
      'No backend is registered, and no Ollama server answers at http://127.0.0.1:9 (connection refused). Start Ollama with "ollama serve", or install it from https://ollama.com.',
      ['ollama serve', 'reins backend add local --type ollama --url http://127.0.0.1:9', 'reins doctor'],
    ]);
  });

  it('of an empty machine: no other provider is told to start Ollama', async () => {
    const hosted = await obstacle({ model: 'm', provider: 'openai' });
    expect([hosted?.message, hosted?.hints]).toEqual([
      'No backend of type openai is registered.',
      ['reins backend add openai --type openai --api-key-env OPENAI_API_KEY', 'reins doctor'],
    ]);
  });

  it('with a local server that answers, the command registers it', async () => {
    const server = await serve(ollama(['qwen2.5:7b'], capable));
    await reopen({ ollama: { url: server.url, explicit: false } });
    expect(await issues()).toEqual([
      'warning missing_default_model: reins config set default-model qwen2.5:7b',
      'info missing_default_provider: reins config set default-provider ollama',
      `info no_backends: reins backend add local --type ollama --url ${server.url}`,
    ]);
    expect((await status()).backendChecks).toMatchObject([{ name: 'ollama', reachable: true }]);
    expect(await preRun()).toBeNull();
  });

  it('name the usual key variable of a hosted provider', async () => {
    await configure('default-provider', 'openai');
    await configure('default-model', 'gpt-4o');
    expect(await issues()).toEqual([
      'error no_backends: reins backend add openai --type openai --api-key-env OPENAI_API_KEY',
    ]);
    const server = await serve(ollama(['m'], capable));
    await add('local', server.url);
    expect(await issues()).toEqual([
      'error default_provider_backend_missing: reins backend add openai --type openai --api-key-env OPENAI_API_KEY',
    ]);
    const missing = await obstacle({ model: 'gpt-4o', provider: 'openai' });
    expect([missing?.code, missing?.message, missing?.hints]).toEqual([
      'setup_incomplete',
      'No backend of type openai is registered.',
      ['reins backend add openai --type openai --api-key-env OPENAI_API_KEY'],
    ]);
  });

  it('say of a scripted backend alone that it serves where it is named, and how to make it the default', async () => {
    const script = join(rooms.home.dir, 'script.json');
    writeFileSync(script, JSON.stringify({ script: 1, models: [{ name: 'tester' }], turns: [] }));
    await add('trial', script, { type: 'scripted' });
    expect(await issues()).toEqual([
      'error missing_default_model: reins config set default-model tester',
      'warning missing_default_provider: reins config set default-provider scripted',
      'error no_backends: reins config set default-provider scripted',
    ]);
    expect((await issues()).join('\n')).not.toContain('all_backends_unreachable');
    await configure('default-provider', 'scripted');
    expect(await issues()).toEqual([]);
  });

  it('suggest the built-in model where it is served, and no model without tools before one with', async () => {
    const local = await serve(ollama(['a:1b', 'qwen2.5:7b', 'x:1b'], capable));
    const other = await serve(ollama(['a:1b', 'x:1b'], capable));
    await add('local', local.url);
    const nothing = { backend: null, context: null, max_output: null, url: null, sha256: null };
    await rooms.models.addModel({ ...nothing, name: 'a:1b', capabilities: ['no-tools'] });
    expect((await issues())[0]).toBe('warning missing_default_model: reins config set default-model qwen2.5:7b');
    await rooms.backends.updateBackend({ ...noFields, name: 'local', url: other.url });
    expect((await issues())[0]).toBe('error missing_default_model: reins config set default-model x:1b');
  });

  it('suggest a model that is served when the built-in one is not', async () => {
    const server = await serve(ollama(['llama3.2:3b'], capable));
    await add('local', server.url);
    await configure('default-provider', 'ollama');
    // Once: that it is not served is a part of what is said about it.
    expect(await issues()).toEqual(['error missing_default_model: reins config set default-model llama3.2:3b']);
    expect(await preRun()).toBe('setup_incomplete missing_default_model: reins config set default-model llama3.2:3b');
    // A chain that names another model is not mended by a default.
    const builtin = await rooms.models.defaults({ model: null, provider: null });
    expect(await obstacle({ ...builtin, models: ['zz'] })).toMatchObject({
      code: 'setup_unhealthy',
      message: expect.stringMatching(/^No backend of type ollama serves "zz"/),
      hints: ['reins model list'],
    });
    await configure('default-model', 'llama3.2:3b');
    expect(await issues()).toEqual([]);
  });

  it('name no model of Ollama where another provider is not ready yet', async () => {
    await add('cloud', deadUrl, { type: 'openai' });
    await configure('default-provider', 'openai');
    expect((await issues())[0]).toBe('error missing_default_model: reins config set default-model <model>');
  });
});

describe('health', () => {
  beforeEach(async () => {
    await configure('default-model', 'm');
  });

  it('is unknown before anybody asked', async () => {
    await add('local', deadUrl);
    await configure('default-provider', 'ollama');
    expect(await issues(false)).toEqual(['error runtime_state_empty: reins doctor']);
    await issues();
    expect(await issues(false)).toEqual(['error default_provider_unreachable: reins backend test local']);
  });

  it('tells that no backend answers', async () => {
    await add('a', deadUrl);
    await add('b', 'http://127.0.0.1:9/b');
    expect(await issues()).toEqual([
      'warning missing_default_provider: reins config set default-provider ollama',
      'error all_backends_unreachable: reins backend test a',
    ]);
    const error = await obstacle(await rooms.models.defaults({ model: null, provider: null }));
    expect([error?.code, error?.data, error?.message, error?.hints]).toEqual([
      'setup_unhealthy',
      { issue: 'all_backends_unreachable' },
      'No backend can serve "m": cannot reach backend "a" at http://127.0.0.1:9: connection refused; cannot reach backend "b" at http://127.0.0.1:9: connection refused. Start Ollama with "ollama serve", or install it from https://ollama.com.',
      ['ollama serve', 'reins backend test a'],
    ]);
  });

  it('does not tell to start an Ollama server that has answered', async () => {
    const page = await serve((_request, response) => response.end('<html><body>Sign in</body></html>'));
    await add('a', page.url);
    await configure('default-provider', 'ollama');
    const error = await obstacle(await rooms.models.defaults({ model: null, provider: null }));
    expect([error?.message, error?.hints]).toEqual([
      'No backend can serve "m": backend "a" answered with something that is no list of models',
      ['reins backend test a'],
    ]);
  });

  it('does not tell to start Ollama where other backends are meant to serve', async () => {
    await add('a', deadUrl);
    await add('v', deadUrl, { type: 'vllm' });
    const { issues: found } = await status();
    expect(found.at(-1)?.message).toBe('No registered backend answers.');
    const error = await obstacle({ model: 'm', provider: '' });
    expect(error?.message).not.toContain('Start Ollama');
    expect(error?.hints).toEqual(['reins backend test a']);
  });

  it('tells which variable is missing, once', async () => {
    await add('far', 'https://api.openai.com/v1', { type: 'openai', key_env: 'NO_KEY' });
    await configure('default-provider', 'openai');
    // Nobody has been asked yet, and nobody has to be.
    expect(await preRun()).toBe('setup_unhealthy default_provider_api_key_missing: export NO_KEY=…');
    expect(await issues()).toEqual(['error default_provider_api_key_missing: export NO_KEY=…']);
    expect(await preRun()).toBe('setup_unhealthy default_provider_api_key_missing: export NO_KEY=…');
  });

  it('tells that the key is refused, without showing it', async () => {
    const server = await serve((_request, response) => json(response, { error: { message: 'no such key' } }, 401));
    await reopen({ environment: { MY_KEY: 'the-key-itself' } });
    await add('far', `${server.url}/v1`, { type: 'openai', key_env: 'MY_KEY' });
    await configure('default-provider', 'openai');
    const { issues: found, backendChecks } = await status();
    expect(shown(found)).toEqual(['error default_provider_auth_failed: reins backend update far --api-key-env MY_KEY']);
    expect(backendChecks).toMatchObject([
      {
        status: 'error',
        errorClass: 'auth',
        keySource: 'env:MY_KEY',
        error: '401: no such key',
      },
    ]);
    expect(JSON.stringify(found)).not.toContain('the-key-itself');
    expect(await preRun()).toBe(
      'setup_unhealthy default_provider_auth_failed: reins backend update far --api-key-env MY_KEY',
    );
  });

  it('names the variable that was set when the backend was asked, and is not now', async () => {
    const server = await serve(openAi('m'));
    await add('far', `${server.url}/v1`, { type: 'openai', key_env: 'MY_KEY' });
    await configure('default-provider', 'openai');
    await reopen({ environment: { MY_KEY: 'the-key-itself' } });
    expect(await preRun()).toBeNull();
    await reopen({ environment: {} });
    expect(await preRun()).toBe('setup_unhealthy default_provider_api_key_missing: export MY_KEY=…');
  });

  it('tells of an answer that is no list', async () => {
    const server = await serve((_request, response) => json(response, { ok: true }));
    await add('far', `${server.url}/v1`, { type: 'vllm' });
    await configure('default-provider', 'vllm');
    expect((await status()).backendChecks).toMatchObject([
      { errorClass: 'malformed', error: 'answered with something that is no list of models' },
    ]);
  });

  it('asks many backends without a warning of Node', async () => {
    const warnings: string[] = [];
    const note = (warning: Error): void => void warnings.push(warning.message);
    process.on('warning', note);
    const server = await serve(openAi('m'));
    for (let at = 0; at < 12; at += 1)
      await add(`b${at}`, `${server.url}/v1`, { type: 'vllm', key_literal: `key-number-${at}` });
    expect(await status()).toMatchObject({ reachableBackendCount: 12 });
    // Warnings are written by the next tick.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  it('names the backend that the default provider keeps from serving, before anything about the other', async () => {
    const server = await serve(openAi('m'));
    await add('v', `${server.url}`, { type: 'vllm' });
    await add('local', deadUrl);
    await configure('default-provider', 'ollama');
    const words = 'The backend "v" serves "m", and default-provider = ollama keeps it from being asked.';
    const { issues: found } = await status();
    expect(shown(found)).toEqual(['error default_provider_unreachable: reins config unset default-provider']);
    expect(found[0]?.message).toMatch(new RegExp(`^${words} The backend "local" of the default provider`));
    const error = await obstacle(await rooms.models.defaults({ model: null, provider: null }));
    expect(error?.message).toMatch(new RegExp(`^${words} No backend can serve "m": .*Start Ollama`));
    expect(error?.hints[0]).toBe('reins config unset default-provider');
    // Given with the run, it is none of what is configured.
    const given = await obstacle({ model: 'm', provider: 'anthropic' });
    expect(given?.message).not.toContain('default-provider');
  });

  it('tells a backend that has not been asked yet from one that was', async () => {
    const server = await serve(ollama(['m'], capable));
    await add('a', server.url);
    await configure('default-provider', 'ollama');
    await issues();
    await add('b', deadUrl);
    expect(await issues(false)).toEqual(['warning default_provider_not_synced: reins doctor']);
  });

  it('tells that nothing can chat, or that the default model is not there', async () => {
    let names = ['embed'];
    let can = ['embedding'];
    const server = await serve((request, response) => ollama(names, { capabilities: can })(request, response));
    await add('local', server.url);
    await configure('default-provider', 'ollama');
    expect(await issues()).toEqual(['error no_chat_models: ollama pull qwen2.5:7b']);
    can = ['completion', 'tools'];
    // Whoever pastes the line runs nothing that a server has made up.
    names = ["$(id) 'x"];
    expect(await issues()).toEqual([
      `error default_model_not_available: reins config set default-model '$(id) '\\''x'`,
    ]);
    names = ['other'];
    expect(await issues()).toEqual(['error default_model_not_available: reins config set default-model other']);
    expect(await preRun()).toBe('setup_unhealthy default_model_not_available: reins config set default-model other');
    const asked = await obstacle({ model: 'm', modelSource: 'flag', provider: 'ollama' });
    expect(asked?.hints).toEqual(['reins model list']);
    await configure('default-model', 'other');
    expect(await issues()).toEqual([]);
  });

  it('warns of a default model whose name is served otherwise, which a run takes', async () => {
    const server = await serve(ollama(['other:1b', 'llama3.2:3b'], capable));
    await add('local', server.url);
    await configure('default-provider', 'ollama');
    await configure('default-model', 'Llama 3.2');
    expect(await issues()).toEqual(['warning default_model_not_available: reins config set default-model llama3.2:3b']);
    expect(await status()).toMatchObject({
      ready: true,
      issues: [{ message: 'No backend serves "Llama 3.2"; "llama3.2:3b" of local is used.' }],
    });
    expect(await preRun()).toBeNull();
  });

  it('tells that the default model is none to chat with, as the check before a run does', async () => {
    const server = await serve(openAi('text-embedding-3-small', 'gpt-4o'));
    await add('far', `${server.url}/v1`, { type: 'openai' });
    await configure('default-provider', 'openai');
    await configure('default-model', 'text-embedding-3-small');
    const told = 'default_model_not_available: reins config set default-model gpt-4o';
    expect(await issues()).toEqual([`error ${told}`]);
    expect(await status()).toMatchObject({
      ready: false,
      issues: [{ message: 'The default model "text-embedding-3-small" is none to chat with.' }],
    });
    expect(await preRun()).toBe(`setup_unhealthy ${told}`);
  });

  it('warns about a model without tools, a small context and a chain that asks for too much', async () => {
    const server = await serve(
      ollama(['m'], { capabilities: ['completion'], model_info: { 'x.context_length': 4096 } }),
    );
    await reopen({ inspection: { chainMaxTokens: { path: 'c.json', tokens: 5000 } } });
    await add('local', server.url);
    await configure('default-provider', 'ollama');
    await rooms.models.addModel({
      name: 'm',
      backend: 'local',
      context: null,
      max_output: 1000,
      capabilities: [],
      url: null,
      sha256: null,
    });
    expect(await issues()).toEqual([
      'warning model_without_tools: reins model list',
      'warning context_small: reins model set-context m --context 16k',
      'warning max_output_exceeded: reins chain show c.json',
    ]);
    expect((await status()).ready).toBe(true);
  });
});

describe('a script that does not load', () => {
  const script = (name: string, reply: object) =>
    writeFileSync(
      join(rooms.home.workspace, name),
      JSON.stringify({ script: 1, models: [{ name: 'demo' }], turns: [{ name: 'a', reply }] }),
    );
  beforeEach(async () => {
    await configure('default-provider', 'scripted');
    script('s.json', { text: 'fine' });
    await add('s', 's.json', { type: 'scripted' });
  });

  it.each([
    ['an unknown field', { txt: 'x' }, 'unknown field "txt" at FILE:/turns/0/reply/txt'],
    ['an unknown substitution', { text: `\${nosuch}` }, `unknown substitution \${nosuch} at FILE:/turns/0/reply/text`],
  ])(
    'for %s is what doctor tells and a run ends with; the demo does not play for it',
    async (_name, reply, problem) => {
      await configure('default-model', 'demo');
      expect(await issues()).toEqual([]);
      script('s.json', reply);
      expect(await issues()).toEqual(['error all_backends_unreachable: reins backend test s']);
      const { backendChecks } = await status();
      expect(backendChecks.map(({ name, error }) => [name, error])).toEqual([
        ['s', `The script does not load: ${problem.replace('FILE', join(rooms.home.workspace, 's.json'))}`],
      ]);
      const error = await obstacle(await rooms.models.defaults({ model: null, provider: null }));
      expect([error?.code, error?.message]).toEqual([
        'config_invalid',
        `Backend "s": The script does not load: ${problem.replace('FILE', join(rooms.home.workspace, 's.json'))}; correct it, or name another file: reins backend update s --url <file>`,
      ]);
    },
  );

  it('leaves the default model without a star', async () => {
    await configure('default-model', 'demo');
    script('s.json', { txt: 'x' });
    const { rows } = await rooms.models.listModels({ backend: null, refresh: false });
    expect(rows.filter((row) => row.is_default)).toEqual([]);
  });

  it('leaves it without a name where the scripts name it, and the list shows the other backends', async () => {
    const server = await serve(openAi('m'));
    await add('far', server.url, { type: 'openai-compatible' });
    script('s.json', { txt: 'x' });
    const { defaultModel, defaultModelSource } = await status();
    expect([defaultModel, defaultModelSource]).toEqual(['', 'script']);
    const { rows } = await rooms.models.listModels({ backend: null, refresh: false });
    expect(rows.map(({ backend, model, state }) => [backend, model, state])).toEqual([
      ['far', 'm', 'served'],
      ['s', '', 'unreachable'],
      ['demo', 'demo', 'served'],
    ]);
  });
});

describe('the check before a run', () => {
  it('keeps the codes of policy and script', async () => {
    const server = await serve(openAi('m'));
    await add('a', server.url, { type: 'openai-compatible' });
    const check = (providers: readonly string[], models: readonly string[]) =>
      obstacle({ model: 'm', provider: providers[0] ?? '' }, { models, backends: [] });
    expect((await check([], ['other']))?.code).toBe('compute_exhausted');
    expect(server.requests).toEqual([]);
    await add('s', 'missing.json', { type: 'scripted' });
    await rooms.settings.setConfig({ key: 'default-model', value: 'x' });
    expect((await obstacle({ model: 'x', provider: 'scripted' }))?.code).toBe('config_invalid');
  });

  it('leaves its discovery to the first turn of the run', async () => {
    const server = await serve(openAi('m'));
    await add('a', server.url, { type: 'openai-compatible' });
    expect(await obstacle({ model: 'm', provider: '' })).toBeNull();
    await rooms.routes({ models: ['m'] });
    expect(server.requests).toEqual(['GET /v1/models']);
  });

  it('of types that the chain names itself says that none is registered, or that there is no such type', async () => {
    const server = await serve(openAi('m'));
    await add('a', server.url, { type: 'openai-compatible' });
    const check = async (type: string) => {
      const error = await obstacle({
        model: 'm',
        provider: 'openai-compatible',
        models: ['m'],
        providers: [type],
      });
      return [error?.code, error?.message, error?.hints];
    };
    expect(await check('vllm')).toEqual([
      'setup_incomplete',
      'No backend of type vllm is registered.',
      ['reins backend add vllm --type vllm --url <url>'],
    ]);
    expect(await check('olama')).toEqual([
      'setup_incomplete',
      'No backend of type olama is registered. There is no provider type "olama"; the types are ollama, openai, vllm, gemini, anthropic, openai-compatible, local, scripted.',
      ['reins backend list'],
    ]);
  });

  it('looks at the names that the chain itself uses', async () => {
    const server = await serve(openAi('m'));
    await add('a', server.url, { type: 'openai-compatible' });
    expect(await obstacle({ model: 'nowhere', provider: '', models: ['m'] })).toBeNull();
  });
});

describe('the status page', () => {
  it('is kept for ten seconds', async () => {
    const server = await serve(openAi('m'));
    await add('a', server.url, { type: 'openai-compatible' });
    await rooms.setup.status();
    rooms.pass(9000);
    await rooms.setup.status();
    expect(server.requests).toHaveLength(1);
    rooms.pass(1000);
    await rooms.setup.status();
    expect(server.requests).toHaveLength(2);
  });

  it('tells when it is another one: what is ready, and how a backend is, not each look at them', async () => {
    const server = await serve(openAi('m'));
    await add('a', server.url, { type: 'openai-compatible' });
    await configure('default-model', 'm');
    await rooms.setup.status();
    await rooms.setup.probe();
    expect(rooms.told).toEqual([]);
    server.answer((_request, response) => response.writeHead(401).end());
    await rooms.setup.probe();
    await rooms.setup.probe();
    expect(rooms.told).toEqual([{ ready: false, issues: { error: 1, warning: 1, info: 0 } }]);
    server.answer(openAi('m'));
    await rooms.setup.probe();
    expect(rooms.told.slice(1)).toEqual([{ ready: true, issues: { error: 0, warning: 0, info: 1 } }]);
  });

  it('says at once what was changed, and asks again only backends that were not asked yet', async () => {
    const server = await serve(openAi('m'));
    await add('a', server.url, { type: 'openai-compatible' });
    await rooms.setup.status();
    await configure('default-model', 'm');
    expect((await rooms.setup.status()).defaultModel).toBe('m');
    expect(server.requests).toHaveLength(1);
    const other = await serve(openAi('n'));
    await add('b', other.url, { type: 'openai-compatible' });
    expect((await rooms.setup.status()).reachableBackendCount).toBe(2);
  });

  it('does not have the audit log gone through at each change, as doctor has', async () => {
    const ages: number[] = [];
    await reopen({ onInspect: (chainAgeMs) => ages.push(chainAgeMs) });
    await rooms.setup.status();
    await configure('default-model', 'm');
    await rooms.setup.status();
    await rooms.setup.doctor({ probe: true });
    await rooms.setup.doctor({ probe: false });
    expect(ages).toEqual([10_000, 10_000, 0, 0]);
  });
});

describe('what other rooms find', () => {
  const with_ = async (inspection: Partial<Inspection>): Promise<readonly string[]> => {
    await reopen({ inspection });
    await configure('default-provider', 'scripted');
    // Readiness says one thing of these defaults, and nothing where the database that they stand in is not used.
    return (await issues()).filter((line) => !line.includes(' no_backends: '));
  };
  const policy = (rest: Partial<Inspection['policy']>): Partial<Inspection> => ({
    policy: { ...soundInspection(rooms.home).policy, ...rest },
  });
  const drifted = (code: BinaryState['code'], file: string): BinaryState => ({
    at: '$',
    code,
    file,
    message: 'is not what it was',
    found: null,
  });
  const database = (code: 'foreign' | 'corrupt' | 'newer' | 'unusable', mend: string | null = null) => ({
    database: {
      path: '/d/local.db',
      bytes: 1,
      schema: 9,
      problem: { code, message: 'said there', mend },
      auditBreak: null,
      damagedSessions: [],
      freeBytes: 1e12,
    },
  });

  it.each([
    ['info no_project: reins init', () => ({ dataDir: null })],
    ['error no_project: reins init', () => ({ dataDir: null, servesNoChats: true })],
    ['warning default_run_chain_missing: reins init', () => ({ hasRunChain: false })],
    [
      'error chain_invalid: reins chain vet /c.json',
      () => ({ invalidChains: [{ path: '/c.json', defect: 'no tasks' }] }),
    ],
    [
      'error chain_invalid: chmod 600 /h/trust.json',
      () => ({ trustFault: { message: 'The file /h/trust.json is not used.', mend: 'chmod 600 /h/trust.json' } }),
    ],
    [
      'warning content_untrusted: reins trust add /c.json',
      () => ({ untrusted: [{ kind: 'chain' as const, path: '/c.json' }] }),
    ],
    [
      'error content_untrusted: reins trust add /p.json',
      () => ({ untrusted: [{ kind: 'policy' as const, path: '/p.json' }] }),
    ],
    ['error database_foreign: reins trust', () => database('foreign')],
    [
      'error audit_broken: reins audit verify',
      () => ({
        database: {
          path: 'x.db',
          bytes: 1,
          schema: 1,
          problem: null,
          auditBreak: 'seq 3: hash mismatch',
          damagedSessions: [],
          freeBytes: 1e12,
        },
      }),
    ],
    ['error database_corrupt: null', () => database('corrupt')],
    ['error database_newer: null', () => database('newer')],
    ['error database_unusable: chmod 600 /k', () => database('unusable', 'chmod 600 /k')],
    [
      'error data_dir_unwritable: chmod u+rwx /d',
      () => ({ unwritable: { dataDir: '/d', home: null, database: null } }),
    ],
    [
      'error home_unwritable: ls -ld /h',
      () => ({
        unwritable: {
          dataDir: null,
          home: { path: '/h', message: '/h is no directory', mend: 'ls -ld /h' },
          database: null,
        },
      }),
    ],
    [
      'error database_unusable: chmod 600 /x.db',
      () => ({ unwritable: { dataDir: null, home: null, database: '/x.db' } }),
    ],
    [
      'warning permissions_open: chmod 600 /k',
      () => ({ openPermissions: [{ path: '/k', message: 'others can read /k', mend: 'chmod 600 /k' }] }),
    ],
    [
      'warning permissions_open: reins --data-dir <directory on another mount> doctor',
      () => ({ refused: [{ path: '/m/.reins', reason: 'can be written by every user', mount: '/m' }] }),
    ],
    [
      "warning permissions_open: chmod o-w '/a b/.reins'",
      () => ({ refused: [{ path: '/a b/.reins', reason: 'can be written by every user', mount: null }] }),
    ],
    [
      "warning permissions_open: reins --data-dir '/a b/.reins' doctor",
      () => ({ refused: [{ path: '/a b/.reins', reason: 'is a symbolic link', mount: null }] }),
    ],
    [
      "info files_left: rm -- '/w/a b/.x.reins-0a1b2c3d' /w/.y.reins-0a1b2c3d",
      () => ({ leftOver: ['/w/a b/.x.reins-0a1b2c3d', '/w/.y.reins-0a1b2c3d'] }),
    ],
    ['warning default_password: reins beam set-password', () => ({ defaultPassword: 'loopback' as const })],
    ['error default_password: reins beam set-password', () => ({ defaultPassword: 'open' as const })],
    [
      'error policy_invalid: reins policy vet /p.json',
      () => policy({ state: 'invalid', path: '/p.json', defect: 'no rules' }),
    ],
    [
      'error policy_missing: reins config set hitl-policy-name <name>',
      () => policy({ state: 'missing', name: 'nosuch' }),
    ],
    ['warning policy_dead_rules: reins policy vet', () => policy({ warnings: 2 })],
    [
      'info policy_preset_changed: reins policy diff builtin:strict /p.json',
      () => policy({ path: '/p.json', presetChanged: 'strict' }),
    ],
    [
      'warning attention_chain_missing: reins config set attention-chain <chain>',
      () => policy({ attentionChainMissing: true }),
    ],
    [
      'warning trusted_binary_drift: reins policy trust /usr/bin/x',
      () => policy({ binaries: [drifted('mismatch', '/usr/bin/x')] }),
    ],
    [
      "warning trusted_binary_drift: reins policy trust --remove '/opt/a b'",
      () => policy({ binaries: [drifted('missing', '/opt/a b')] }),
    ],
    ['warning trusted_binary_drift: reins policy vet', () => policy({ binaries: [drifted('open_dir', '/opt')] })],
    ['info asks_pending: reins approvals list', () => ({ asks: { pending: 2, oldest: '2026-01-01T00:00:00.000Z' } })],
    [
      'warning runs_interrupted: reins state list --status interrupted',
      () => ({ runs: { interrupted: 1, suspended: 1, unknownOutcome: [], stuck: [] } }),
    ],
    [
      'warning disk_low: df -h /d',
      () => ({
        database: {
          path: '/d/x.db',
          bytes: 1,
          schema: 1,
          problem: null,
          auditBreak: null,
          damagedSessions: [],
          freeBytes: 100 * 2 ** 20 - 1,
        },
      }),
    ],
    [
      'warning runs_interrupted: reins state list --status suspended',
      () => ({ runs: { interrupted: 0, suspended: 1, unknownOutcome: [], stuck: [] } }),
    ],
    [
      'warning runs_interrupted: reins state show run_1',
      () => ({
        runs: {
          interrupted: 0,
          suspended: 0,
          unknownOutcome: [],
          stuck: [{ id: 'run_1', attempts: 2, last_error: 'it is damaged' }],
        },
      }),
    ],
    [
      'warning outcome_unknown: reins state show run_1',
      () => ({ runs: { interrupted: 0, suspended: 0, unknownOutcome: ['run_1'], stuck: [] } }),
    ],
  ])('is told as %s', async (expected, inspection) => {
    expect(await with_(inspection())).toEqual([expected]);
  });

  it('leaves readiness alone, which is about models', async () => {
    await with_(policy({ state: 'missing', name: 'nosuch' }));
    expect((await status()).ready).toBe(true);
  });
});

describe('keys', () => {
  it('that are stored, and variables that are not set, are told', async () => {
    const server = await serve(ollama(['m'], capable));
    await add('local', server.url);
    await configure('default-model', 'm');
    await configure('default-provider', 'ollama');
    await add('a', deadUrl, { type: 'openai', key_literal: 'a-stored-literal' });
    await add('b', deadUrl, { type: 'openai', key_env: 'NO_KEY' });
    const { issues: found } = await status();
    expect(shown(found)).toEqual([
      'warning api_key_env_unset: export NO_KEY=…',
      'warning api_key_literal: reins backend update a --api-key-env NAME',
    ]);
    expect(JSON.stringify(await status())).not.toContain('a-stored-literal');
  });
});
