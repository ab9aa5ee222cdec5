import { afterEach, describe, expect, it } from 'vitest';
import type { DiscoveredModel, DiscoverTarget } from '../../src/models/model.ts';
import { deleteOllama, type PullProgress, pullOllama } from '../../src/models/ollama-models.ts';
import { discoverModels } from '../../src/models/providers.ts';
import type { ProviderType } from '../../src/schema/registry.ts';
import { answers, type Handler, passed, type WireServer, wireServer } from './wire-server.ts';

let server: WireServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});
const never = (): AbortSignal => new AbortController().signal;
const serve = async (handler: Handler, more: Partial<DiscoverTarget> = {}): Promise<DiscoverTarget> => {
  server = await wireServer(handler);
  return {
    backend: 'b',
    base_url: server.url,
    key: 'sk-secret-key-1',
    headers: {},
    proxy: null,
    timeout_ms: 5000,
    workspace: '/',
    ...more,
  };
};
const json = (response: Parameters<Handler>[1], value: unknown): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
};
/** Answers each path with a value, and 404 elsewhere. */
const paths =
  (table: Readonly<Record<string, unknown>>): Handler =>
  (request, response) => {
    const value = table[request.path];
    if (value !== undefined) json(response, value);
    else answers(404, { error: 'no such path' })(request, response, 0);
  };
const modelsOf = async (type: ProviderType, target: DiscoverTarget): Promise<readonly DiscoveredModel[]> => {
  const found = await discoverModels(type, target, never());
  if (!found.ok) throw new Error(found.failure.message);
  expect(found.complete).toBe(true);
  return found.models;
};

describe('discovery (08 §4)', () => {
  it('takes what OpenRouter and Mistral say of a model, and assumes nothing of others', async () => {
    const target = await serve(
      paths({
        '/models': {
          data: [
            {
              id: 'a/sees',
              context_length: 1000,
              architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
              supported_parameters: ['tools', 'reasoning', 'temperature'],
            },
            {
              id: 'a/draws',
              architecture: { input_modalities: ['text'], output_modalities: ['image'] },
              supported_parameters: ['temperature'],
            },
            {
              id: 'mistral-medium',
              max_context_length: 2000,
              capabilities: { completion_chat: true, completion_fim: false, function_calling: true, vision: true },
            },
            { id: 'mistral-embed', capabilities: { completion_chat: false, function_calling: false } },
            { id: 'other', capabilities: ['completion'], supported_parameters: null },
          ],
        },
      }),
    );
    const found = await modelsOf('openai-compatible', target);
    expect(found.map(({ name, context, capabilities }) => [name, context, capabilities])).toEqual([
      ['a/sees', 1000, { chat: true, tools: true, think: true, vision: true }],
      ['a/draws', null, { chat: false, tools: false, think: false, vision: false }],
      ['mistral-medium', 2000, { chat: true, tools: true, vision: true }],
      ['mistral-embed', null, { chat: false, tools: false }],
      ['other', null, {}],
    ]);
  });

  it('reads an Ollama server’s tags and shows each model', async () => {
    const target = await serve((request, response) => {
      if (request.path === '/api/tags') {
        json(response, {
          models: [
            { name: 'qwen3:8b', model: 'qwen3:8b', size: 5_200_000_000, digest: 'd1' },
            { name: 'old:latest', digest: 'd2' },
            { name: 'gone:1b', digest: 'd3' },
          ],
        });
        return;
      }
      const { model } = request.body as { model: string };
      if (model === 'qwen3:8b') {
        const capabilities = ['completion', 'tools', 'thinking'];
        json(response, { capabilities, model_info: { 'general.x': 1, 'qwen3.context_length': 40_960 } });
      } else if (model === 'old:latest') json(response, { model_info: { 'llama.context_length': 4096 } });
      else answers(404, { error: 'model not found' })(request, response, 0);
    });
    expect(await modelsOf('ollama', target)).toEqual([
      {
        name: 'qwen3:8b',
        context: 40_960,
        max_output: null,
        capabilities: { chat: true, tools: true, think: true, vision: false, embed: false },
        digest: 'd1',
        size_bytes: 5_200_000_000,
      },
      { name: 'old:latest', context: 4096, max_output: null, capabilities: {}, digest: 'd2' },
      { name: 'gone:1b', context: null, max_output: null, capabilities: {}, digest: 'd3' },
    ]);
    expect(server?.requests[0]?.headers['authorization']).toBe('Bearer sk-secret-key-1');
  });

  it('shows at most four models at a time, and none whose digest is known', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `m${index}`);
    const known = [
      { name: 'm3', context: 7, max_output: null, capabilities: { chat: true }, digest: 'd-m3' },
      { name: 'm4', context: 7, max_output: null, capabilities: { chat: true }, digest: 'other' },
    ];
    const waiting: (() => void)[] = [];
    let most = 0;
    const target = await serve(
      (request, response) => {
        if (request.path === '/api/tags') {
          json(response, { models: names.map((name) => ({ name, digest: `d-${name}` })) });
          return;
        }
        waiting.push(() => json(response, { capabilities: ['completion'] }));
        most = Math.max(most, waiting.length);
      },
      { known },
    );
    const found = modelsOf('ollama', target);
    for (let shown = 0; shown < 8; ) {
      await passed();
      for (const answer of waiting.splice(0)) {
        answer();
        shown += 1;
      }
    }
    const models = await found;
    expect(models.map((model) => model.name)).toEqual(names);
    expect(models[3]).toEqual(known[0]);
    expect(models[4]?.context).toBe(null);
    expect(most).toBe(4);
    expect(server?.requests.some((request) => JSON.stringify(request.body) === '{"model":"m3"}')).toBe(false);
  });

  it('tells OpenAI models apart by name', async () => {
    const ids = ['gpt-5-mini', 'gpt-4o', 'o3', 'text-embedding-3-large', 'gpt-4o-audio-preview', 'new-thing'];
    const target = await serve(paths({ '/models': { data: ids.map((id) => ({ id })) } }));
    const models = await modelsOf('openai', target);
    const words = models.map(({ capabilities }) =>
      Object.entries(capabilities)
        .filter(([, has]) => has)
        .map(([name]) => name)
        .join(' '),
    );
    expect(words).toEqual([
      'chat tools think vision',
      'chat tools vision',
      'chat tools think vision',
      'embed',
      '',
      'chat tools',
    ]);
    expect(models.map(({ context }) => context)).toEqual([400_000, 128_000, 200_000, null, 128_000, null]);
  });

  it.each(['vllm', 'openai-compatible'] as const)('reads the context that a %s server reports', async (type) => {
    const target = await serve(
      paths({
        '/models': {
          data: [
            { id: 'a', max_model_len: 32_768 },
            { id: 'b', context_length: 4096 },
            { id: 'c', context_window: 8192 },
            { id: 'd', context_window: 'big' },
            { id: 7 },
          ],
        },
      }),
    );
    expect(await modelsOf(type, target)).toEqual([
      { name: 'a', context: 32_768, max_output: null, capabilities: {} },
      { name: 'b', context: 4096, max_output: null, capabilities: {} },
      { name: 'c', context: 8192, max_output: null, capabilities: {} },
      { name: 'd', context: null, max_output: null, capabilities: {} },
    ]);
  });

  it('reads a list under the name that other services give it', async () => {
    const target = await serve(paths({ '/models': { models: [{ id: 'a' }] } }));
    expect(await modelsOf('openai-compatible', target)).toMatchObject([{ name: 'a' }]);
  });

  it('holds each name once, and no context that nobody can mean', async () => {
    const data = [
      { id: 'a', context_length: 1e300 },
      { id: 'b', context_length: 4096 },
      { id: 'a', context_length: 8192 },
    ];
    expect(await modelsOf('openai-compatible', await serve(paths({ '/models': { data } })))).toEqual([
      { name: 'a', context: null, max_output: null, capabilities: {} },
      { name: 'b', context: 4096, max_output: null, capabilities: {} },
    ]);
  });

  it.each<[unknown, string, string]>([
    [{ error: { message: 'no key was sent', type: 'authentication_error' } }, 'auth', 'no key was sent'],
    [{ error: 'the database is locked' }, 'permanent', 'the database is locked'],
    [{ success: false, message: 'this group has no access' }, 'permanent', 'this group has no access'],
    [{ error: null, detail: 'no such tenant' }, 'permanent', 'no such tenant'],
  ])('tells in the words of a server why it sent no list under status 200: %j', async (answer, errorClass, words) => {
    const target = await serve(paths({ '/models': answer }));
    expect(await discoverModels('openai-compatible', target, never())).toMatchObject({
      ok: false,
      failure: { class: errorClass, message: `backend "b" reported an error: ${words}` },
    });
  });

  it('reads all pages of a Gemini server', async () => {
    const first = {
      name: 'models/gemini-2.5-flash',
      inputTokenLimit: 1_048_576,
      outputTokenLimit: 65_536,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
      thinking: true,
    };
    const second = { name: 'models/embedding-001', supportedGenerationMethods: ['embedContent'] };
    const target = await serve(
      paths({
        '/v1beta/models?pageSize=1000': { models: [first], nextPageToken: 'n/2' },
        '/v1beta/models?pageSize=1000&pageToken=n%2F2': { models: [second] },
      }),
    );
    expect(await modelsOf('gemini', target)).toEqual([
      {
        name: 'gemini-2.5-flash',
        context: 1_048_576,
        max_output: 65_536,
        capabilities: { chat: true, tools: true, vision: true, think: true, embed: false },
      },
      {
        name: 'embedding-001',
        context: null,
        max_output: null,
        capabilities: { chat: false, tools: false, vision: false, think: false, embed: true },
      },
    ]);
    expect(server?.requests[0]?.headers['x-goog-api-key']).toBe('sk-secret-key-1');
  });

  it('reads no answer of more objects than are held, and what stands in a text is one text', async () => {
    const objects = `[${Array(600_000).fill('{}').join(',')}]`;
    const large = await serve((_request, response) => void response.end(`{"data":${objects}}`));
    expect(await discoverModels('openai-compatible', large, never())).toMatchObject({
      ok: false,
      failure: { class: 'malformed' },
    });
    await server?.close();
    const told = await serve((_request, response) => json(response, { data: [{ id: 'a', note: objects }] }));
    expect(await modelsOf('openai-compatible', told)).toMatchObject([{ name: 'a' }]);
  });

  it.each([
    ['gemini' as const, 'models', (name: string) => ({ name }), (index: number) => ({ nextPageToken: `${index}` })],
    [
      'anthropic' as const,
      'data',
      (id: string) => ({ id }),
      (index: number) => ({ has_more: true, last_id: `${index}` }),
    ],
  ])(
    'holds ten thousand models of one long page of %s, and asks for a hundred pages',
    async (type, member, model, more) => {
      const models = Array.from({ length: 12_000 }, (_, at) => model(`m${at}`));
      const long = await serve((_request, response) => json(response, { [member]: models }));
      expect(await modelsOf(type, long)).toHaveLength(10_000);
      await server?.close();
      const endless = await serve((_request, response, index) => json(response, { [member]: [], ...more(index) }));
      expect(await modelsOf(type, endless)).toEqual([]);
      expect(server?.requests).toHaveLength(100);
    },
  );

  it('reads all pages of an Anthropic server and knows its models by name, or by what it says', async () => {
    const target = await serve(
      paths({
        '/v1/models?limit=1000': { data: [{ id: 'claude-opus-4-1-20250805' }], has_more: true, last_id: 'x' },
        '/v1/models?limit=1000&after_id=x': {
          data: [
            { id: 'claude-next' },
            {
              id: 'claude-told',
              max_input_tokens: 1_000_000,
              max_tokens: 128_000,
              capabilities: { image_input: { supported: true }, thinking: { supported: false } },
            },
          ],
          has_more: false,
          last_id: 'y',
        },
      }),
    );
    const capabilities = { chat: true, tools: true, think: true, vision: true, embed: false };
    expect(await modelsOf('anthropic', target)).toEqual([
      { name: 'claude-opus-4-1-20250805', context: 200_000, max_output: 32_000, capabilities },
      { name: 'claude-next', context: 200_000, max_output: null, capabilities },
      {
        name: 'claude-told',
        context: 1_000_000,
        max_output: 128_000,
        capabilities: { ...capabilities, think: false },
      },
    ]);
    expect(server?.requests[0]?.headers['anthropic-version']).toBe('2023-06-01');
    expect(server?.requests[0]?.headers['x-api-key']).toBe('sk-secret-key-1');
  });

  it.each([404, 405, 501])('takes a list call that is answered %i as a server with unknown models', async (status) => {
    const target = await serve(answers(status, 'nothing here'));
    expect(await discoverModels('openai-compatible', target, never())).toEqual({
      ok: true,
      models: [],
      complete: false,
    });
  });

  it.each([
    [401, '{"error":{"message":"bad key"}}', 'auth'],
    [503, '', 'overloaded'],
    [200, 'no json', 'malformed'],
    [200, '{"other":1}', 'malformed'],
  ])('reports status %i with %j as %s', async (status, body, expected) => {
    const target = await serve(answers(status, body));
    expect(await discoverModels('ollama', target, never())).toMatchObject({ ok: false, failure: { class: expected } });
  });

  it('ends with its own limit, and the connection closes', async () => {
    const target = await serve(() => {}, { timeout_ms: 30 });
    const closed = server?.nextClose();
    expect(await discoverModels('openai', target, never())).toMatchObject({ ok: false, failure: { class: 'timeout' } });
    await closed;
  });

  it('limits the whole of several requests', async () => {
    const target = await serve(
      (request, response) => {
        if (request.path === '/api/tags') json(response, { models: [{ name: 'a', digest: 'd' }] });
        else response.write(' ');
      },
      { timeout_ms: 1_000 },
    );
    // A model that cannot be shown in time stays unknown; the list itself stands.
    expect(await discoverModels('ollama', target, never())).toEqual({
      ok: true,
      models: [{ name: 'a', context: null, max_output: null, capabilities: {}, digest: 'd' }],
      complete: true,
    });
  });

  it('is cancelled by its signal', async () => {
    const stop = new AbortController();
    const target = await serve(() => stop.abort());
    expect(await discoverModels('gemini', target, stop.signal)).toMatchObject({
      ok: false,
      failure: { class: 'cancelled' },
    });
  });

  it('reports a backend that is not there', async () => {
    const target = await serve(() => {});
    await server?.close();
    const found = await discoverModels('vllm', target, never());
    server = null;
    expect(found).toMatchObject({ ok: false, failure: { class: 'connect' } });
  });

  it('reports an unreadable URL', async () => {
    const target = await serve(() => {});
    const found = await discoverModels('vllm', { ...target, base_url: 'nonsense' }, never());
    expect(found).toMatchObject({ ok: false, failure: { class: 'invalid_request' } });
  });

  it('says how to install the embedded engine', async () => {
    const target = await serve(() => {});
    expect(await discoverModels('local', { ...target, base_url: '/models' }, never())).toEqual({
      ok: false,
      failure: {
        class: 'unsupported',
        message:
          'backend "b" cannot run: this version of reins has no embedded engine; an ollama backend runs the same files',
      },
    });
  });
});

describe('download by an Ollama server', () => {
  const lines =
    (...values: readonly unknown[]): Handler =>
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.end(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
    };

  it('reports progress over all layers and ends with the size', async () => {
    const target = await serve(
      lines(
        { status: 'pulling manifest' },
        { status: 'pulling a', digest: 'a', total: 100, completed: 40 },
        { status: 'pulling b', digest: 'b', total: 10 },
        { status: 'pulling a', digest: 'a', total: 100, completed: 100 },
        { status: 'pulling b', digest: 'b', total: 10, completed: 10 },
        { status: 'success' },
      ),
    );
    const progress: PullProgress[] = [];
    expect(await pullOllama(target, 'qwen3:8b', (step) => progress.push(step), never())).toEqual({
      ok: true,
      size_bytes: 110,
      downloaded: true,
    });
    expect(server?.requests[0]).toMatchObject({ path: '/api/pull', body: { model: 'qwen3:8b', stream: true } });
    expect(progress.at(1)).toEqual({ status: 'pulling a', completed_bytes: 40, total_bytes: 100 });
    expect(progress.at(-1)).toEqual({ status: 'pulling b', completed_bytes: 110, total_bytes: 110 });
  });

  it('knows when everything was there already', async () => {
    const target = await serve(
      lines({ status: 'pulling a', digest: 'a', total: 5, completed: 5 }, { status: 'success' }),
    );
    expect(await pullOllama(target, 'm', () => {}, never())).toEqual({ ok: true, size_bytes: 5, downloaded: false });
  });

  it('knows what was not there at first, however quickly it came', async () => {
    const target = await serve(
      lines(
        { status: 'pulling a', digest: 'a', total: 5 },
        { status: 'pulling a', digest: 'a', total: 5, completed: 5 },
        { status: 'success' },
      ),
    );
    expect(await pullOllama(target, 'm', () => {}, never())).toMatchObject({ ok: true, downloaded: true });
  });

  it.each([
    [[{ error: 'pull model manifest: file does not exist' }], 'model_not_found'],
    [[{ status: 'pulling manifest' }], 'malformed'],
    [['text'], 'malformed'],
  ])('fails on %j with %s', async (values, expected) => {
    const target = await serve(lines(...values));
    expect(await pullOllama(target, 'm', () => {}, never())).toMatchObject({ ok: false, failure: { class: expected } });
  });

  it('stops on abort', async () => {
    const stop = new AbortController();
    const target = await serve((_request, response) => response.write('{"status":"pulling manifest"}\n'));
    const closed = server?.nextClose();
    expect(await pullOllama(target, 'm', () => stop.abort(), stop.signal)).toMatchObject({
      ok: false,
      failure: { class: 'cancelled' },
    });
    await closed;
  });
});

describe('deletion by an Ollama server', () => {
  it('asks for it by name', async () => {
    const target = await serve(answers(200, ''));
    expect(await deleteOllama(target, 'm', never())).toEqual({ ok: true });
    expect(server?.requests[0]).toMatchObject({ method: 'DELETE', path: '/api/delete', body: { model: 'm' } });
  });

  it('reports an unknown name', async () => {
    const target = await serve(answers(404, { error: "model 'm' not found" }));
    expect(await deleteOllama(target, 'm', never())).toMatchObject({
      ok: false,
      failure: { class: 'model_not_found', status: 404 },
    });
  });

  it('reports an unreadable URL', async () => {
    const target = await serve(() => {});
    expect(await deleteOllama({ ...target, base_url: '' }, 'm', never())).toMatchObject({ ok: false });
  });
});
