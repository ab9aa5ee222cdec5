import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ModelRow } from '../../src/schema/registry.ts';
import { RuntimeError } from '../../src/schema/errors.ts';
import { deadUrl, fakeServers, json, noFields, ollama, openAi, openRooms, type Rooms } from './rooms.ts';

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

type Add = Parameters<Rooms['backends']['addBackend']>[0];
const add = (name: string, url: string, type: Add['type'] = 'openai-compatible') =>
  rooms.backends.addBackend({ ...noFields, name, type, url });

const declare = (name: string, rest: Partial<Parameters<Rooms['models']['addModel']>[0]> = {}) =>
  rooms.models.addModel({
    name,
    backend: null,
    context: null,
    max_output: null,
    capabilities: [],
    url: null,
    sha256: null,
    ...rest,
  });

const refusal = async (doing: Promise<unknown>): Promise<string> => {
  const error: unknown = await doing.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(RuntimeError);
  return `${(error as RuntimeError).code}: ${(error as RuntimeError).message}`;
};

const brief = (rows: readonly ModelRow[]): readonly string[] =>
  rows.map((row) => {
    const can = Object.entries(row.capabilities).flatMap(([name, has]) => (has ? [name] : []));
    return [row.backend, row.model, row.state, can.join('+'), row.context, row.is_default ? '*' : ''].join(' ');
  });

describe('the list of models', () => {
  it('marks one model as the default: that of the backend which would be asked', async () => {
    const [one, other] = [await serve(ollama(['qwen2.5:7b'])), await serve(ollama(['qwen2.5:7b']))];
    await add('second', one.url, 'ollama');
    await add('first', other.url, 'ollama');
    const starred = async (backend: string | null) =>
      (await rooms.models.listModels({ backend, refresh: true })).rows
        .filter((row) => row.is_default)
        .map((row) => row.backend);
    expect(await starred(null)).toEqual(['first']);
    await other.close();
    expect(await starred(null)).toEqual(['second']);
  });

  it('marks none that the default provider keeps from being asked', async () => {
    const server = await serve(ollama(['qwen2.5:7b']));
    await add('first', server.url, 'ollama');
    const starred = async () =>
      (await rooms.models.listModels({ backend: null, refresh: true })).rows.filter((row) => row.is_default).length;
    expect(await starred()).toBe(1);
    await rooms.settings.setConfig({ key: 'default-provider', value: 'openai' });
    expect(await starred()).toBe(0);
  });

  it('shows what is served, declared and unreachable, and marks the default', async () => {
    const server = await serve(
      ollama(['qwen2.5:7b', 'embed:latest'], {
        capabilities: ['completion', 'tools'],
        model_info: { 'qwen2.context_length': 32_768 },
      }),
    );
    await add('local', server.url, 'ollama');
    await add('far', deadUrl);
    await declare('own', { backend: 'local', context: 4096, capabilities: ['vision', 'no-tools'] });
    await declare('embed', { capabilities: ['no-chat', 'embed'] });
    await declare('elsewhere');
    const list = await rooms.models.listModels({ backend: null, refresh: false });
    expect(brief(list.rows)).toEqual([
      'far  unreachable   ',
      'local embed:latest served tools+embed 32768 ',
      'local qwen2.5:7b served chat+tools 32768 *',
      'local own declared chat+vision 4096 ',
      '- elsewhere declared chat+tools  ',
    ]);
    expect(list.rows[0]?.reason).toBe('connection refused');
    expect([list.answered, list.backends, list.notes]).toEqual([1, 2, []]);
  });

  it('can be of one backend, and is asked anew on request', async () => {
    const server = await serve(openAi('m'));
    await add('a', server.url);
    await add('b', deadUrl);
    await rooms.models.listModels({ backend: 'a', refresh: false });
    await rooms.models.listModels({ backend: 'a', refresh: false });
    expect(server.requests).toHaveLength(1);
    const list = await rooms.models.listModels({ backend: 'a', refresh: true });
    expect(server.requests).toHaveLength(2);
    expect(brief(list.rows)).toEqual(['a m served chat+tools 16384 ']);
    expect(await refusal(rooms.models.listModels({ backend: 'x', refresh: false }))).toBe(
      'not_found: There is no backend named "x".',
    );
  });

  it('is empty without a backend, with a line that helps; a local server that answers is shown', async () => {
    expect(await rooms.models.listModels({ backend: null, refresh: false })).toEqual({
      rows: [],
      notes: ['no backend is registered and no local server answers: reins backend add local --type ollama'],
      answered: 0,
      backends: 0,
    });
    const server = await serve(ollama(['m']));
    rooms.close();
    rooms.home.remove();
    rooms = await openRooms({ ollama: { url: server.url, explicit: false } });
    expect(brief((await rooms.models.listModels({ backend: null, refresh: false })).rows)).toEqual([
      'ollama m served chat+tools  ',
    ]);
  });

  it('says of a backend that answers without a model that it does', async () => {
    const [empty, plain] = [await serve(ollama([])), await serve(openAi())];
    await add('a', empty.url, 'ollama');
    await add('v', plain.url, 'vllm');
    expect(await rooms.models.listModels({ backend: null, refresh: false })).toEqual({
      rows: [],
      notes: [
        'a answers and lists no models: reins model pull qwen2.5:7b --backend a',
        'v answers and lists no models',
      ],
      answered: 2,
      backends: 2,
    });
  });

  it('has the demo only where it is meant', async () => {
    await rooms.settings.setConfig({ key: 'default-provider', value: 'scripted' });
    expect(brief((await rooms.models.listModels({ backend: null, refresh: false })).rows)).toEqual([
      'demo demo served chat+tools 8192 *',
    ]);
    await rooms.settings.unsetConfig({ key: 'default-provider' });
    expect(brief((await rooms.models.listModels({ backend: 'demo', refresh: false })).rows)).toEqual([
      'demo demo served chat+tools 8192 ',
    ]);
  });
});

describe('declarations', () => {
  it('are refused when they exist, name no backend of ours, or say nothing sensible', async () => {
    await declare('m', { context: 100 });
    expect(await refusal(declare('m'))).toBe('already_exists: The model "m" is declared already.');
    expect(await refusal(declare('m', { backend: 'x' }))).toBe('not_found: There is no backend named "x".');
    expect(await refusal(declare('m', { backend: 'demo' }))).toBe(
      'usage: The models of the built-in demo are fixed by its script.',
    );
    expect(await refusal(declare('n', { capabilities: ['fly'] }))).toBe(
      'usage: "fly" is not a capability; they are chat, tools, think, vision, embed, each also with no- in front.',
    );
    expect(await refusal(declare('n', { context: -1 }))).toBe(
      'usage: --context takes a number of tokens above 0, such as 32768 or 32k.',
    );
    expect(await refusal(declare('a b'))).toBe('usage: The name of a model is 1 to 512 characters without blanks.');
    expect(await refusal(declare('n', { sha256: 'abc' }))).toBe('usage: --sha256 takes 64 hexadecimal digits.');
  });

  it('are added to where they leave something open, and never changed', async () => {
    const server = await serve(openAi('m'));
    await add('a', server.url);
    await rooms.models.setModelContext({ name: 'm', backend: null, context: 32_000 });
    await declare('m', { capabilities: ['vision'] });
    await declare('m', { max_output: 4096, capabilities: ['no-tools'] });
    const [row] = (await rooms.models.listModels({ backend: null, refresh: false })).rows;
    expect(row).toMatchObject({ context: 32_000, capabilities: { chat: true, tools: false, vision: true } });
    for (const said of [{ context: 1 }, { max_output: 1 }, { capabilities: ['no-vision', 'think'] }, {}]) {
      expect(await refusal(declare('m', said))).toBe('already_exists: The model "m" is declared already.');
    }
  });

  it('are removed by name and backend', async () => {
    await add('a', deadUrl);
    await declare('m', { backend: 'a' });
    expect(await refusal(rooms.models.removeModel({ name: 'm', backend: null, delete_file: false }))).toBe(
      'not_found: The model "m" is not declared.',
    );
    const hints = ['reins model remove m --backend a', 'reins model list'];
    await expect(rooms.models.removeModel({ name: 'm', backend: null, delete_file: false })).rejects.toMatchObject({
      hints,
    });
    await expect(declare('m', { backend: 'a' })).rejects.toMatchObject({ hints: hints.slice(0, 1) });
    expect(await rooms.models.removeModel({ name: 'm', backend: 'a', delete_file: false })).toEqual({
      deleted_from: [],
    });
    expect(rooms.rows.declarations()).toEqual([]);
  });

  it('of a context are made and taken back by set-context', async () => {
    const set = (context: number) => rooms.models.setModelContext({ name: 'm', backend: null, context });
    await set(0);
    expect(rooms.rows.declarations()).toEqual([]);
    await set(32_000);
    expect(rooms.rows.declarations()).toMatchObject([{ model: 'm', backend_id: null, context: 32_000 }]);
    await set(0);
    expect(rooms.rows.declarations()).toMatchObject([{ model: 'm', context: null }]);
  });

  it('of a context for one backend are not said to be taken back for all', async () => {
    await add('a', deadUrl);
    await rooms.models.setModelContext({ name: 'm', backend: 'a', context: 9000 });
    await expect(rooms.models.setModelContext({ name: 'm', backend: null, context: 0 })).rejects.toMatchObject({
      code: 'not_found',
      message: 'The model "m" is declared for a only.',
      hints: ['reins model set-context m --context 0 --backend a'],
    });
    await rooms.models.setModelContext({ name: 'm', backend: 'a', context: 0 });
    expect(rooms.rows.declarations()).toMatchObject([{ model: 'm', context: null }]);
  });
});

describe('one model', () => {
  it('is shown with what is discovered, declared and effective', async () => {
    const server = await serve(
      ollama(['m:latest'], { capabilities: ['completion', 'thinking'], model_info: { 'x.context_length': 40_000 } }),
    );
    await add('local', server.url, 'ollama');
    await rooms.models.setModelContext({ name: 'm', backend: null, context: 9000 });
    expect(await rooms.models.showModel({ name: 'm', backend: null })).toEqual({
      model: 'm:latest',
      capabilities: { chat: true, tools: false, think: true, vision: false, embed: false },
      context: { discovered: 40_000, declared: 9000, effective: 9000 },
      max_output: null,
      size_bytes: 1000,
      digest: 'd-m:latest',
      backends: ['local'],
    });
    expect(await refusal(rooms.models.showModel({ name: 'n', backend: null }))).toBe(
      'not_found: No backend serves the model "n", and it is not declared.',
    );
  });

  it('is shown when it is only declared', async () => {
    await declare('m', { context: 9000 });
    expect(await rooms.models.showModel({ name: 'm', backend: null })).toMatchObject({
      model: 'm',
      context: { discovered: null, declared: 9000, effective: 9000 },
      backends: [],
    });
  });
});

describe('files on an ollama server', () => {
  it('are pulled with progress, and found by the next run at once', async () => {
    const names: string[] = [];
    const server = await serve((request, response) => {
      if (request.url !== '/api/pull') return ollama(names)(request, response);
      names.push('new:1b');
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.write('{"status":"pulling manifest"}\n');
      response.write('{"status":"pulling a","digest":"a","total":200,"completed":50}\n');
      response.end('{"status":"pulling a","digest":"a","total":200,"completed":200}\n{"status":"success"}\n');
    });
    await add('local', server.url, 'ollama');
    await rooms.models.listModels({ backend: null, refresh: false });
    const progress: unknown[] = [];
    const pulled = await rooms.models.pullModel(
      { name: 'new:1b', backend: null, url: null, sha256: null },
      (step) => progress.push(step),
      new AbortController().signal,
    );
    expect(pulled).toEqual({ bytes: 200, present: false });
    expect(progress).toContainEqual({ status: 'pulling a', completed: 50, total: 200 });
    const result = await rooms.routes({ models: ['new:1b'] });
    expect(result.kind).toBe('routes');
  });

  it('are refused elsewhere', async () => {
    await add('a', deadUrl);
    const pull = (backend: string | null, url: string | null = null) =>
      rooms.models.pullModel({ name: 'm', backend, url, sha256: null }, () => {}, new AbortController().signal);
    expect(await refusal(pull('a'))).toBe('usage: Only an ollama backend can pull a model; "a" is none.');
    expect(await refusal(pull(null, 'http://x'))).toBe(
      'usage: --url and --sha256 are for local model files; an ollama server pulls by name.',
    );
    expect(await refusal(pull(null))).toMatch(/^model_unavailable: cannot reach backend "ollama"/);
  });

  it.each([
    [
      'pull model manifest: file does not exist',
      'There is no model "m" to download; the names: https://ollama.com/library',
      [],
    ],
    [
      'write /models/a: no space left on device',
      'no space left on device; what the server has of the model stays',
      ['reins model pull m --backend a'],
    ],
  ])('say how to go on where the server says "%s"', async (error, message, hints) => {
    const server = await serve((request, response) => {
      if (request.url !== '/api/pull') return ollama([])(request, response);
      json(response, { error });
    });
    await add('a', server.url, 'ollama');
    const wanted = { name: 'm', backend: 'a', url: null, sha256: null };
    await expect(rooms.models.pullModel(wanted, () => {}, new AbortController().signal)).rejects.toMatchObject({
      code: 'model_unavailable',
      message: expect.stringContaining(message),
      hints,
    });
  });

  it('are deleted with their declaration where they are', async () => {
    let names = ['m'];
    const server = await serve((request, response) => {
      if (request.method !== 'DELETE') return ollama(names)(request, response);
      names = [];
      json(response, {});
    });
    await add('local', server.url, 'ollama');
    await declare('m');
    expect(await rooms.models.removeModel({ name: 'm', backend: null, delete_file: true })).toEqual({
      deleted_from: ['local'],
    });
    expect(brief((await rooms.models.listModels({ backend: null, refresh: false })).rows)).toEqual([]);
  });
});

describe('defaults', () => {
  it('are what was named, else configured, else the first model of a script, else built in', async () => {
    const { models, settings } = rooms;
    const none = { model: null, provider: null };
    expect(await models.defaults(none)).toEqual({ model: 'qwen2.5:7b', modelSource: 'builtin', provider: '' });
    expect(await models.defaults({ model: null, provider: 'scripted' })).toEqual({
      model: 'demo',
      modelSource: 'script',
      provider: 'scripted',
    });
    await settings.setConfig({ key: 'default-model', value: 'llama3' });
    await settings.setConfig({ key: 'default-provider', value: 'vllm' });
    expect(await models.defaults(none)).toEqual({ model: 'llama3', modelSource: 'config', provider: 'vllm' });
    expect(await models.defaults({ model: 'x', provider: 'openai' })).toEqual({
      model: 'x',
      modelSource: 'flag',
      provider: 'openai',
    });
    const { home } = rooms;
    rooms.close();
    rooms = await openRooms({ home, model: { value: 'e', source: 'environment' } });
    expect(await rooms.models.defaults(none)).toEqual({ model: 'e', modelSource: 'environment', provider: 'vllm' });
  });

  it('pass over a script that is gone while another one loads, and take none of the demo in its place', async () => {
    const wanted = { model: null, provider: 'scripted' };
    await add('a', 'gone.json', 'scripted');
    await expect(rooms.models.defaults(wanted)).rejects.toMatchObject({
      code: 'config_invalid',
      message: `Backend "a": The script ${join(rooms.home.workspace, 'gone.json')} cannot be read: it does not exist; correct it, or name another file: reins backend update a --url <file>`,
    });
    const script = { script: 1, models: [{ name: 'mb' }], turns: [{ reply: { text: 'fine' } }] };
    writeFileSync(join(rooms.home.workspace, 'b.json'), JSON.stringify(script));
    await add('b', 'b.json', 'scripted');
    expect(await rooms.models.defaults(wanted)).toEqual({ model: 'mb', modelSource: 'script', provider: 'scripted' });
  });
});
