import { describe, expect, it } from 'vitest';
import { readStream } from '../../src/engine/read-stream.ts';
import type { Model, ModelPart, ModelRequest } from '../../src/models/model.ts';
import type { Message } from '../../src/schema/message.ts';
import { assistant, call, image, longTalk, readFile, result, user } from './conversation.ts';
import { answers, chatOnly, collect, type Handler, inTurn, merged, oneHarness, request, sends } from './wire-server.ts';

const { start, body } = oneHarness();
const quiet = { text() {}, thinking() {}, notice() {} };

type Bag = Record<string, unknown>;

const frame = (value: Bag) => `event: ${String(value['type'])}\ndata: ${JSON.stringify(value)}\n\n`;
const completed = (more: Bag = {}) =>
  frame({ type: 'response.completed', response: { status: 'completed', output: [], usage: null, ...more } });
const said = (text: string, output_index = 0) =>
  frame({ type: 'response.output_text.delta', output_index, content_index: 0, delta: text });
const added = (output_index: number, item: Bag) => frame({ type: 'response.output_item.added', output_index, item });
const done = (output_index: number, item: Bag) => frame({ type: 'response.output_item.done', output_index, item });
const args = (output_index: number, delta: string) =>
  frame({ type: 'response.function_call_arguments.delta', output_index, delta });
const calls = (call_id: string, name = 'local_fs_read_file', args = '') => ({
  type: 'function_call',
  id: `fc_${call_id}`,
  call_id,
  name,
  arguments: args,
});

const ok = sends('responses', said('ok') + completed());
const okChat = sends('openai', 'data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\n');
/** Answers each interface of its own. */
const byPath =
  (responses: Handler, chat: Handler): Handler =>
  (asked, response, index) =>
    (asked.path === '/v1/responses' ? responses : chat)(asked, response, index);

const okParts: readonly ModelPart[] = [
  { kind: 'text', text: 'ok' },
  { kind: 'finish', reason: 'stop' },
];
const asked = request({ model: 'gpt-5' });
const refusal = (message: string, more: Bag = {}) => ({ error: { message, type: 'invalid_request_error', ...more } });
const onlyThere = refusal('This model is only supported in v1/responses and not in v1/chat/completions.', {
  param: 'model',
  code: null,
});

describe('a request of the Responses API', () => {
  it('holds system, history, tools and images in its form, and leaves nothing with the service', async () => {
    const { model, server } = await start('openai', ok, { capabilities: { vision: true } });
    const messages = [...longTalk, assistant('so'), user('go on')];
    await collect(
      model,
      request({ model: 'gpt-5', system: 'be kind', messages, tools: [readFile], max_tokens: 100, think: 'low' }),
    );
    expect(server.requests[0]?.path).toBe('/v1/responses');
    expect(server.requests[0]?.headers['authorization']).toBe('Bearer sk-secret-key-1');
    const picture = { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,aW1n' };
    const name = 'local_fs_read_file';
    expect(body()).toEqual({
      model: 'gpt-5',
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      instructions: 'be kind',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'look' }, picture] },
        { type: 'function_call', call_id: 'call_1', name, arguments: '{"path":"a"}' },
        { type: 'function_call', call_id: 'call_2', name, arguments: '{}' },
        {
          type: 'function_call_output',
          call_id: 'call_1',
          output: [{ type: 'input_text', text: 'text of a' }, picture],
        },
        { type: 'function_call_output', call_id: 'call_2', output: '{"error":"invalid_arguments"}' },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'and now?' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'so' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go on' }] },
      ],
      tools: [
        {
          type: 'function',
          name,
          description: 'Reads a file.',
          parameters: readFile.input_schema,
          strict: false,
        },
      ],
      max_output_tokens: 100,
      reasoning: { effort: 'low', summary: 'auto' },
    });
  });

  it('leaves out everything that is unset', async () => {
    const { model } = await start('openai', ok);
    expect(merged(await collect(model, asked))).toEqual(okParts);
    expect(body()).toEqual({
      model: 'gpt-5',
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] }],
      reasoning: { summary: 'auto' },
    });
  });

  it('says what it has no place for, each once', async () => {
    const { model } = await start('openai', ok);
    const wanted = request({ model: 'o3-pro', temperature: 0, seed: 7, stop: ['END'], max_tokens: 3 });
    const told = (await collect(model, wanted)).flatMap((part) => (part.kind === 'notice' ? [part.message] : []));
    expect(told).toEqual([
      'reasoning model "o3-pro" takes no temperature and no top_p; they are left out',
      'model "o3-pro" of backend "b" is asked over an interface without seed; it is left out',
      'model "o3-pro" of backend "b" is asked over an interface without stop; it is left out',
    ]);
    expect(Object.keys(body())).toEqual([
      'model',
      'stream',
      'store',
      'include',
      'input',
      'max_output_tokens',
      'reasoning',
    ]);
    expect(body()['max_output_tokens']).toBe(16);
  });

  it.each([
    ['gpt-5', 'off', { effort: 'minimal' }],
    ['gpt-5.1', 'off', { effort: 'none' }],
    ['gpt-5', 'auto', { summary: 'auto' }],
    ['gpt-5.2-pro', 'low', { summary: 'auto' }],
    ['gpt-5.2-pro', 'xhigh', { effort: 'xhigh', summary: 'auto' }],
    ['codex-mini-latest', 'off', { effort: 'low' }],
  ] as const)('tells %s to reason at %s as %j', async (name, think, reasoning) => {
    const { model } = await start('openai', ok);
    await collect(model, request({ model: name, think }));
    expect(body()['reasoning']).toEqual(reasoning);
  });

  it('shortens an id that the service would refuse, the same way for a call and its result', async () => {
    const { model } = await start('openai', ok);
    const long = 'x'.repeat(100);
    const messages = [user('go'), assistant('', { tool_calls: [call(long, '{}')] }), result(long, 'text')];
    await collect(model, request({ model: 'gpt-5', messages }));
    const ids = (body()['input'] as Bag[]).flatMap(({ call_id: id }) => (id === undefined ? [] : [id]));
    expect(ids).toEqual([expect.stringMatching(/^call_[0-9a-f]{32}$/), ids[0]]);
  });
});

describe('which interface a model is asked over', () => {
  it.each([
    ['openai', 'gpt-5', '/v1/responses'],
    ['openai', 'gpt-5.2-pro', '/v1/responses'],
    ['openai', 'gpt-5.3-codex', '/v1/responses'],
    ['openai', 'gpt-6-sol', '/v1/responses'],
    ['openai', 'o4-mini', '/v1/responses'],
    ['openai', 'codex-mini-latest', '/v1/responses'],
    ['openai', 'gpt-5-chat-latest', '/v1/chat/completions'],
    ['openai', 'gpt-5-search-api', '/v1/chat/completions'],
    ['openai', 'o1-mini', '/v1/chat/completions'],
    ['openai', 'gpt-4o', '/v1/chat/completions'],
    ['openai', 'openai/gpt-5', '/v1/chat/completions'],
    ['openai-compatible', 'gpt-5', '/v1/chat/completions'],
    ['vllm', 'gpt-5', '/v1/chat/completions'],
  ] as const)('%s asks %s at %s', async (type, name, path) => {
    const { model, server } = await start(type, byPath(ok, okChat));
    expect(merged(await collect(model, request({ model: name })))).toEqual(okParts);
    expect(server.requests.map((one) => one.path)).toEqual([path]);
  });

  it('is the older one where a text is to stop at a word, unless it has neither the model nor the word', async () => {
    const stop = ['END'];
    const { model, server } = await start(
      'openai',
      byPath(
        ok,
        inTurn(okChat, answers(400, refusal("Unsupported parameter: 'stop' is not supported with this model."))),
      ),
    );
    await collect(model, request({ model: 'gpt-5', stop }));
    expect(body(0)).toMatchObject({ stop });
    const told = (await collect(model, request({ model: 'gpt-5', stop }))).filter(({ kind }) => kind === 'notice');
    expect(told).toMatchObject([
      { code: 'parameter_ignored', message: 'backend "b" refuses stop for model "gpt-5"; it is left out' },
      { code: 'parameter_ignored' },
    ]);
    expect(server.requests.map((one) => one.path)).toEqual([
      '/v1/chat/completions',
      '/v1/chat/completions',
      '/v1/responses',
    ]);
  });

  it.each([
    [404, onlyThere],
    [404, refusal('This is not a chat model and thus not supported in the v1/chat/completions endpoint.')],
    [
      400,
      refusal(
        'Function tools with reasoning_effort are not supported for m in /v1/chat/completions. Please use /v1/responses instead.',
        { param: 'reasoning_effort' },
      ),
    ],
  ])('is the newer one where the server says so (%i), asked once', async (status, said) => {
    const { model, server } = await start('openai', byPath(ok, answers(status, said)));
    const wanted = request({ tools: [readFile], temperature: 0 });
    for (let turn = 0; turn < 2; turn += 1) expect(merged(await collect(model, wanted))).toEqual(okParts);
    expect(server.requests.map((one) => one.path)).toEqual(['/v1/chat/completions', '/v1/responses', '/v1/responses']);
    expect(body(1)['temperature']).toBe(0);
    expect(body(1)).not.toHaveProperty('reasoning');
  });

  it.each([
    onlyThere,
    refusal('model "m" is not accessible via the /chat/completions endpoint', { code: 'unsupported_api_for_model' }),
  ])('is the newer one of another type where its server has no other: %j', async (said) => {
    const { model, server } = await start('openai-compatible', byPath(ok, answers(404, said)), { key: null });
    for (let turn = 0; turn < 2; turn += 1) expect(merged(await collect(model))).toEqual(okParts);
    expect(server.requests.map((one) => one.path)).toEqual(['/v1/chat/completions', '/v1/responses', '/v1/responses']);
  });

  it('stays the older one of another type where there is a way with it', async () => {
    const said = 'Function tools with reasoning_effort are not supported for m. Use /v1/responses or set it to none.';
    const { model, server } = await start('openai-compatible', byPath(ok, inTurn(answers(400, refusal(said)), okChat)));
    const parts = merged(await collect(model, request({ tools: [readFile] })));
    expect(parts.slice(1)).toEqual(okParts);
    expect(body(1)['reasoning_effort']).toBe('none');
    expect(server.requests.map((one) => one.path)).toEqual(['/v1/chat/completions', '/v1/chat/completions']);
  });

  it.each<[number, unknown]>([
    [404, '404 page not found'],
    [404, { detail: 'Not Found' }],
    [404, refusal('Invalid URL (POST /v1/responses)')],
    [405, { detail: 'Method Not Allowed' }],
    [501, ''],
  ])('is the older one for all models of a server without the newer (%i %j)', async (status, said) => {
    const { model, server } = await start('openai', byPath(answers(status, said), okChat));
    for (const name of ['gpt-5', 'gpt-5', 'o3']) {
      expect(merged(await collect(model, request({ model: name })))).toEqual(okParts);
    }
    expect(server.requests.map((one) => one.path)).toEqual([
      '/v1/responses',
      '/v1/chat/completions',
      '/v1/chat/completions',
      '/v1/chat/completions',
    ]);
  });

  it.each<[number, unknown]>([
    [400, refusal("The requested model 'gpt-5' is not supported with the Responses API.")],
    [401, refusal('You have insufficient permissions for this operation. Missing scopes: api.responses.write.')],
    [403, { error: { message: 'Virtual key is not allowed to call this route: /v1/responses' } }],
    [400, { success: false, errors: [{ code: 7000, message: 'No route for that URI' }] }],
    [403, '<html><head><title>403 Forbidden</title></head><body>nginx</body></html>'],
    [400, { error: { message: 'Responses API is enabled only for api-version 2025-03-01-preview and later' } }],
    [500, { error: { message: 'not implemented (request id: 7)', code: 'convert_request_failed' } }],
  ])('is the older one for a model, or a key, that the newer is closed to (%i %j)', async (status, said) => {
    const { model, server } = await start('openai', byPath(answers(status, said), okChat));
    for (let turn = 0; turn < 2; turn += 1) expect(merged(await collect(model, asked))).toEqual(okParts);
    expect(server.requests).toHaveLength(3);
  });

  it.each<[number, unknown, string]>([
    [401, refusal('Incorrect API key provided', { code: 'invalid_api_key' }), 'auth'],
    [404, refusal('The model `gpt-5` does not exist', { code: 'model_not_found' }), 'model_not_found'],
    [400, refusal("Invalid 'input[0].content': too long"), 'invalid_request'],
    [429, refusal('slow down'), 'rate_limit'],
    [500, refusal('boom'), 'server_error'],
    [503, '', 'overloaded'],
  ])('stays what it is for a failure that is about something else (%i, %j)', async (status, said, expected) => {
    const { model, server } = await start('openai', byPath(answers(status, said), okChat));
    expect(await collect(model, asked)).toMatchObject([{ kind: 'error', error: { class: expected } }]);
    expect(server.requests).toHaveLength(1);
  });

  it('is not left for an answer that is worse, where a model is nowhere else', async () => {
    const said = refusal('You have insufficient permissions for this operation. Missing scopes: api.responses.write.');
    const { model, server } = await start('openai', byPath(answers(401, said), answers(404, onlyThere)));
    expect(await collect(model, request({ model: 'gpt-5-pro' }))).toMatchObject([
      { kind: 'error', error: { class: 'auth', message: expect.stringContaining('api.responses.write') } },
    ]);
    expect(server.requests).toHaveLength(1);
  });

  it('is not changed to and fro: what the second says is told', async () => {
    const { model, server } = await start('openai', chatOnly(answers(404, onlyThere)));
    const failed = [
      {
        kind: 'error',
        error: { class: 'model_not_found', message: expect.stringContaining('only supported in v1/responses') },
      },
    ];
    expect(await collect(model, request({ model: 'o3-pro' }))).toMatchObject(failed);
    expect(server.requests).toHaveLength(2);
    expect(await collect(model, request({ model: 'o3-pro' }))).toMatchObject(failed);
    expect(server.requests).toHaveLength(3);
  });
});

describe('reasoning between calls', () => {
  const sealed = (name: string) => ({
    type: 'reasoning',
    id: `rs_${name}`,
    summary: [{ type: 'summary_text', text: `thought ${name}` }],
    encrypted_content: `gAAA${name}`,
  });
  const kept = (name: string) => ({
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: `thought ${name}` }],
    encrypted_content: `gAAA${name}`,
  });
  const spoken = (text: string, phase?: string) => ({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text }],
    ...(phase === undefined ? {} : { phase }),
  });
  const called = (call_id: string) => ({
    type: 'function_call',
    call_id,
    name: 'local_fs_read_file',
    arguments: '{"path":"a"}',
  });
  const firstReply =
    done(0, sealed('1')) +
    added(1, { type: 'message', phase: 'commentary', content: [] }) +
    said('I look.', 1) +
    done(2, sealed('2')) +
    added(3, calls('call_1')) +
    args(3, '{"path":"a"}') +
    completed();

  /** What the engine keeps of a reply. */
  const stored = async (model: Model, wanted: ModelRequest, id: string): Promise<Message> => {
    const { signal } = new AbortController();
    const end = await readStream(model.stream(wanted, signal), quiet, signal);
    if (end.kind === 'broken') throw new Error(end.error.message);
    const { content, calls: made, provider_meta: meta } = end.reply;
    const tool_calls = made.map((one) => call(one.id, one.arguments));
    return assistant(content, {
      id,
      ...(tool_calls.length === 0 ? {} : { tool_calls }),
      ...(meta === null ? {} : { provider_meta: JSON.parse(JSON.stringify(meta)) }),
    });
  };

  const talk = (reply: Message): readonly Message[] => [user('go'), reply, result('call_1', 'text of a')];

  it('goes back where it stood, without ids, and for good', async () => {
    const { model } = await start('openai', inTurn(sends('responses', firstReply), ok));
    const wanted = request({ model: 'gpt-5', messages: [user('go')], tools: [readFile] });
    const messages = talk(await stored(model, wanted, 'a1'));
    await collect(model, { ...wanted, messages });
    const items = [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
      kept('1'),
      spoken('I look.', 'commentary'),
      kept('2'),
      called('call_1'),
      { type: 'function_call_output', call_id: 'call_1', output: 'text of a' },
    ];
    expect(body(1)['input']).toEqual(items);
    await collect(model, { ...wanted, messages: [...messages, assistant('ok'), user('more')] });
    expect((body(2)['input'] as unknown[]).slice(0, items.length)).toEqual(items);
  });

  it('goes back neither to another model, nor to another backend, nor over the older interface', async () => {
    const { model } = await start('openai', sends('responses', firstReply));
    const messages = talk(await stored(model, asked, 'a1'));
    for (const [changes, name] of [
      [{ backend: 'other' }, 'gpt-5'],
      [{}, 'gpt-5-mini'],
      [{}, 'gpt-4o'],
    ] as const) {
      const { model: next } = await start('openai', byPath(ok, okChat), changes);
      await collect(next, request({ model: name, messages }));
      const sent = JSON.stringify(body());
      expect(sent).toContain('I look.');
      expect(sent).toContain('call_1');
      expect(sent).not.toMatch(/gAAA|thought|phase|responses/);
    }
  });

  it('keeps two texts of one reply apart, and their phases with them', async () => {
    const reply =
      added(0, { type: 'message', phase: 'commentary', content: [] }) +
      said('First 🙂', 0) +
      done(1, sealed('1')) +
      added(2, { type: 'message', phase: 'final_answer', content: [] }) +
      said('Then', 2) +
      completed();
    const { model } = await start('openai', inTurn(sends('responses', reply), ok));
    const answer = await stored(model, asked, 'a1');
    expect(answer.content).toBe('First 🙂\n\nThen');
    await collect(model, request({ model: 'gpt-5', messages: [user('go'), answer, user('more')] }));
    expect((body(1)['input'] as unknown[]).slice(1, -1)).toEqual([
      spoken('First 🙂', 'commentary'),
      kept('1'),
      spoken('Then', 'final_answer'),
    ]);
    // A text that was changed since is sent as it is now.
    const changed = { ...answer, content: 'First' };
    await collect(model, request({ model: 'gpt-5', messages: [user('go'), changed, user('more')] }));
    expect((body(2)['input'] as unknown[]).slice(1, -1)).toEqual([spoken('First')]);
  });

  it.each([
    'The encrypted content for item rs_1 could not be verified. Reason: Encrypted content organization_id did not match the target organization.',
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
  ])('is left out up to where the service cannot read it any more: %s', async (message) => {
    const { model, server } = await start(
      'openai',
      inTurn(
        sends('responses', firstReply),
        answers(400, refusal(message, { code: 'invalid_encrypted_content' })),
        sends('responses', done(0, sealed('3')) + added(1, calls('call_2')) + args(1, '{"path":"a"}') + completed()),
        ok,
      ),
    );
    const messages = talk(await stored(model, asked, 'a1'));
    const wanted = request({ model: 'gpt-5', messages, tools: [readFile] });
    const reply = await stored(model, wanted, 'a2');
    expect((body(1)['input'] as Bag[]).filter(({ type }) => type === 'reasoning')).toEqual([kept('1'), kept('2')]);
    expect((body(2)['input'] as Bag[]).filter(({ type }) => type === 'reasoning')).toEqual([]);
    expect(body(2)['input']).toContainEqual(called('call_1'));
    await collect(model, { ...wanted, messages: [...messages, reply, result('call_2', 'b')] });
    expect((body(3)['input'] as Bag[]).filter(({ type }) => type === 'reasoning')).toEqual([kept('3')]);
    expect(server.requests).toHaveLength(4);
  });

  it('is not asked for where a model has none to give', async () => {
    const said = refusal('Encrypted content is not supported with this model.', { param: 'include' });
    const { model, server } = await start('openai', inTurn(answers(400, said), ok));
    for (let turn = 0; turn < 2; turn += 1) expect(merged(await collect(model, asked))).toEqual(okParts);
    expect(server.requests.map((one) => 'include' in (one.body as object))).toEqual([true, false, false]);
  });

  it.each([
    [refusal('Your organization must be verified to generate reasoning summaries.', { param: 'reasoning.summary' })],
    [refusal("Unsupported parameter: 'reasoning.summary' is not supported with this model.")],
  ])('is not summed up for who may not see it, which is told to who asked for it: %j', async (said) => {
    const { model } = await start('openai', inTurn(answers(400, said), ok, answers(400, said), ok));
    expect(merged(await collect(model, request({ model: 'o3' })))).toEqual(okParts);
    expect(body(1)).not.toHaveProperty('reasoning');
    const parts = await collect(model, request({ model: 'gpt-5', think: 'high' }));
    expect(parts[0]).toEqual({
      kind: 'notice',
      code: 'think_unsupported',
      message: 'backend "b" refuses a summary of the reasoning for model "gpt-5"; it is left out',
    });
    expect(body(3)['reasoning']).toEqual({ effort: 'high' });
  });

  it('is not asked for at all where a model that was declared to reason does not', async () => {
    const said = refusal("Unsupported parameter: 'reasoning.effort' is not supported with this model.");
    const { model } = await start('responses', inTurn(answers(400, said), ok), { capabilities: { think: true } });
    expect(merged(await collect(model))).toEqual(okParts);
    expect([0, 1].map((index) => body(index)['reasoning'])).toEqual([{ summary: 'auto' }, undefined]);
  });

  it('keeps its summary where the level is refused', async () => {
    const said = refusal("Unsupported value: 'none' is not supported with this model.", { param: 'reasoning.effort' });
    const { model } = await start('openai', inTurn(answers(400, said), ok));
    const parts = await collect(model, request({ model: 'gpt-5.1', think: 'low' }));
    expect(parts[0]).toMatchObject({ kind: 'notice', code: 'think_unsupported' });
    expect(body(1)['reasoning']).toEqual({ summary: 'auto' });
  });

  it('is read in one piece where nothing may be streamed', async () => {
    const said = refusal('Your organization must be verified to stream this model.', { param: 'stream' });
    const whole = {
      object: 'response',
      status: 'completed',
      error: null,
      output: [
        sealed('1'),
        { type: 'message', content: [{ type: 'output_text', text: 'Looking.', annotations: [] }] },
        calls('call_1', 'local_fs_read_file', '{"path":"a"}'),
      ],
      usage: { input_tokens: 3, output_tokens: 4 },
    };
    const { model } = await start('openai', inTurn(answers(400, said), answers(200, whole)));
    const parts = await collect(model, request({ model: 'gpt-5', tools: [readFile] }));
    expect(body(1)['stream']).toBe(false);
    expect(merged(parts)).toMatchObject([
      { kind: 'notice', code: 'parameter_ignored' },
      { kind: 'thinking', text: 'thought 1' },
      { kind: 'text', text: 'Looking.' },
      { kind: 'tool_call', id: 'call_1', name: 'local_fs.read_file', arguments_delta: '{"path":"a"}' },
      { kind: 'usage', usage: { total_tokens: 7 } },
      {
        kind: 'meta',
        provider_meta: {
          openai: { responses: { output: [kept('1'), { type: 'message', length: 8 }, { type: 'function_call' }] } },
        },
      },
      { kind: 'finish', reason: 'tool_calls' },
    ]);
  });
});

describe('a reply of the Responses API', () => {
  const reads = async (raw: string) => {
    const { model } = await start('responses', sends('responses', raw));
    return merged(await collect(model, request({ tools: [readFile] })));
  };
  const failed = (error: unknown, more: Bag = {}) =>
    frame({ type: 'response.failed', response: { status: 'failed', error, output: [], ...more } });

  it('keeps parts of a summary apart, and ignores what it does not know', async () => {
    const thought = (summary_index: number, delta: string) =>
      frame({ type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index, delta });
    const raw =
      frame({ type: 'response.queued', response: { status: 'queued' } }) +
      frame({ type: 'keepalive', sequence_number: 3 }) +
      thought(0, 'one') +
      thought(0, '') +
      thought(1, 'two') +
      frame({ type: 'response.web_search_call.searching', output_index: 9, item_id: 'ws' }) +
      done(9, { type: 'web_search_call', id: 'ws', status: 'completed' }) +
      said('', 1) +
      said('so', 1) +
      frame({ type: 'response.output_text.done', output_index: 1, text: 'so' }) +
      done(1, { type: 'message', content: [{ type: 'output_text', text: 'so' }] }) +
      completed({ output: [{ type: 'message', content: [{ type: 'output_text', text: 'so' }] }] });
    expect(await reads(raw)).toEqual([
      { kind: 'thinking', text: 'one\n\ntwo' },
      { kind: 'text', text: 'so' },
      { kind: 'finish', reason: 'stop' },
    ]);
  });

  it('takes from a whole item what no delta has said', async () => {
    const raw =
      done(0, { type: 'message', content: [{ type: 'output_text', text: 'Reading.' }] }) +
      added(1, calls('c1')) +
      args(1, '{"pa') +
      done(1, calls('c1', 'local_fs_read_file', '{"path":"a"}')) +
      done(2, calls('c2', 'local_fs_read_file', '{}')) +
      completed();
    expect(await reads(raw)).toEqual([
      { kind: 'text', text: 'Reading.' },
      { kind: 'tool_call', index: 0, id: 'c1', name: 'local_fs.read_file', arguments_delta: '{"path":"a"}' },
      { kind: 'tool_call', index: 1, id: 'c2', name: 'local_fs.read_file', arguments_delta: '{}' },
      { kind: 'finish', reason: 'tool_calls' },
    ]);
  });

  it('takes from the end what no event has said', async () => {
    const output = [
      { type: 'message', content: [{ type: 'output_text', text: 'all at once' }] },
      calls('c1', 'no.such', '{}'),
    ];
    expect(await reads(completed({ output }))).toEqual([
      { kind: 'text', text: 'all at once' },
      { kind: 'tool_call', index: 0, id: 'c1', name: 'no.such', arguments_delta: '{}' },
      { kind: 'finish', reason: 'tool_calls' },
    ]);
  });

  it('takes arguments that a server writes as an object', async () => {
    const call = { ...calls('c1'), arguments: { path: 'a' } };
    const last = { kind: 'finish', reason: 'tool_calls' };
    expect(await reads(added(0, calls('c1')) + done(0, call) + completed())).toEqual([
      { kind: 'tool_call', index: 0, id: 'c1', name: 'local_fs.read_file', arguments_delta: '{"path":"a"}' },
      last,
    ]);
    expect(await reads(completed({ output: [call] }))).toEqual([
      { kind: 'tool_call', index: 0, id: 'c1', name: 'local_fs.read_file', arguments_delta: '{"path":"a"}' },
      last,
    ]);
  });

  it('tells items apart by their ids where a server leaves their places out', async () => {
    const raw =
      frame({ type: 'response.output_item.added', item: calls('a') }) +
      frame({ type: 'response.output_item.added', item: calls('b') }) +
      frame({ type: 'response.function_call_arguments.delta', item_id: 'fc_b', delta: '{"b":1}' }) +
      frame({ type: 'response.function_call_arguments.delta', item_id: 'fc_a', delta: '{"a":1}' }) +
      completed();
    expect((await reads(raw)).filter(({ kind }) => kind === 'tool_call')).toMatchObject([
      { index: 0, id: 'a' },
      { index: 1, id: 'b', arguments_delta: '{"b":1}' },
      { index: 0, arguments_delta: '{"a":1}' },
    ]);
  });

  it.each([
    [added(0, calls('a')) + added(0, calls('b')), 'a tool call that changes its id or name at index 0'],
    [added(0, calls('a', 'x')) + done(0, calls('a', 'y')), 'a tool call that changes its id or name at index 0'],
    [args(0, '{}'), 'arguments of a tool call that was not begun'],
    [said('half') + added(1, calls('a')), 'a reply that ends without response.completed'],
  ])('is malformed where it contradicts itself: %#', async (raw, what) => {
    expect((await reads(raw)).at(-1)).toEqual({
      kind: 'error',
      error: { class: 'malformed', message: `backend "b" sent ${what}` },
    });
  });

  it('shows a refusal as text and finishes with content_filter', async () => {
    const refused = frame({ type: 'response.refusal.delta', output_index: 0, content_index: 0, delta: 'I cannot.' });
    const whole = done(0, { type: 'message', content: [{ type: 'refusal', refusal: 'I cannot.' }] });
    for (const raw of [refused + completed(), refused + whole + completed(), whole + completed()]) {
      expect(await reads(raw)).toEqual([
        { kind: 'text', text: 'I cannot.' },
        { kind: 'finish', reason: 'content_filter' },
      ]);
    }
  });

  it.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content_filter'],
    ['something', 'other'],
  ])('that is not complete for %s finishes with %s', async (reason, expected) => {
    const response = {
      status: 'incomplete',
      incomplete_details: { reason },
      output: [],
      usage: { input_tokens: 5, output_tokens: 16, output_tokens_details: { reasoning_tokens: 16 } },
    };
    expect(await reads(said('half') + frame({ type: 'response.incomplete', response }))).toMatchObject([
      { kind: 'text', text: 'half' },
      { kind: 'usage', usage: { reasoning_tokens: 16, total_tokens: 21 } },
      { kind: 'finish', reason: expected },
    ]);
  });

  it('ends as its last event says where the response in it names no status', async () => {
    const boom = { error: { code: 'server_error', message: 'boom' } };
    for (const event of [{ response: boom }, { response: null }, {}]) {
      expect(await reads(said('half') + frame({ type: 'response.failed', ...event }))).toMatchObject([
        { kind: 'text', text: 'half' },
        { kind: 'error', error: { class: 'server_error' } },
      ]);
    }
    const cut = { incomplete_details: { reason: 'max_output_tokens' } };
    expect(await reads(said('half') + frame({ type: 'response.incomplete', response: cut }))).toEqual([
      { kind: 'text', text: 'half' },
      { kind: 'finish', reason: 'length' },
    ]);
    expect(await reads(said('all') + frame({ type: 'response.completed', response: null }))).toEqual([
      { kind: 'text', text: 'all' },
      { kind: 'finish', reason: 'stop' },
    ]);
  });

  it('is an error where a filter let nothing through, and the engine’s where it is empty', async () => {
    const filtered = { status: 'incomplete', incomplete_details: { reason: 'content_filter' }, output: [] };
    expect(await reads(frame({ type: 'response.incomplete', response: filtered }))).toMatchObject([
      { kind: 'error', error: { class: 'content_filter' } },
    ]);
    expect(await reads(completed())).toEqual([{ kind: 'finish', reason: 'stop' }]);
  });

  it.each([
    [{ code: 'server_error', message: 'boom' }, 'server_error'],
    [{ code: 'context_length_exceeded', message: 'Your input exceeds the context window.' }, 'context_exceeded'],
    [{ code: 'insufficient_quota', message: 'You exceeded your current quota' }, 'quota'],
    [{ code: 'server_is_overloaded', message: 'Our servers are overloaded.' }, 'overloaded'],
    [{ code: 'invalid_prompt', message: 'Invalid prompt: flagged by our usage policy' }, 'content_filter'],
    [null, 'server_error'],
  ])('that failed with %j is of class %s', async (error, expected) => {
    const usage = { input_tokens: 5, output_tokens: 1 };
    expect(await reads(said('half') + failed(error, { usage }) + completed())).toMatchObject([
      { kind: 'text', text: 'half' },
      { kind: 'usage', usage: { total_tokens: 6 } },
      { kind: 'error', error: { class: expected } },
    ]);
  });

  it.each([
    ['Please try again in 11.054s.', 11_054],
    ['Please try again in 28ms.', 28],
    ['Please try again in 1m2.5s.', 62_500],
    ['Please try again later.', undefined],
  ])('that failed at a limit says when to ask again: %s', async (message, wait) => {
    const error = { code: 'rate_limit_exceeded', message: `Rate limit reached for gpt-5. ${message}` };
    const [part] = await reads(failed(error));
    expect(part).toMatchObject({ kind: 'error', error: { class: 'rate_limit' } });
    expect(part?.kind === 'error' && part.error.retry_after_ms).toBe(wait);
  });

  it.each([
    [frame({ type: 'error', code: 'rate_limit_exceeded', message: 'slow down', param: null }), 'rate_limit'],
    [frame({ type: 'error', error: { type: 'server_error', code: null, message: 'boom' } }), 'server_error'],
    ['data: {"error":{"message":"boom","code":502}}\n\n', 'server_error'],
    ['data: {"detail":"too many requests"}\n\n', 'overloaded'],
  ])('may hold an error anywhere: %#', async (raw, expected) => {
    expect(await reads(raw)).toMatchObject([{ kind: 'error', error: { class: expected } }]);
  });
});

describe('what a request costs', () => {
  it('does not grow with what was written before', async () => {
    const { model } = await start('openai', ok);
    const long = 'word '.repeat(200);
    const messages: Message[] = [user('go')];
    for (let step = 0; step < 400; step += 1) {
      messages.push(
        assistant('', {
          id: `a${step}`,
          tool_calls: [call(`c${step}`, '{"path":"a"}')],
          provider_meta: {
            openai: {
              backend: 'b',
              responses: {
                model: 'gpt-5',
                output: [{ type: 'reasoning', summary: [], encrypted_content: long }, { type: 'function_call' }],
              },
            },
          },
        }),
        result(`c${step}`, long),
      );
    }
    const wanted = request({ model: 'gpt-5', messages });
    await collect(model, wanted);
    let reads = 0;
    const content = {
      get: () => {
        reads += 1;
        return long;
      },
    };
    for (const message of messages) if (message.role === 'tool') Object.defineProperty(message, 'content', content);
    await collect(model, { ...wanted, messages: [...messages, user('more')] });
    expect(reads).toBe(0);
    expect(body(1)['input']).toHaveLength(1 + 3 * 400 + 1);
  });

  it('sends images of results as a note where the server cannot take them', async () => {
    const said = refusal("Invalid type for 'input[2].output': expected a string, but got an array instead.");
    const { model } = await start('openai', inTurn(answers(400, said), ok), { capabilities: { vision: true } });
    const messages = [
      user('go'),
      assistant('', { tool_calls: [call('c', '{}')] }),
      result('c', 'a', { images: [image] }),
    ];
    expect(merged(await collect(model, request({ model: 'gpt-5', messages })))).toEqual(okParts);
    expect((body(1)['input'] as Bag[])[2]).toEqual({
      type: 'function_call_output',
      call_id: 'c',
      output: 'a\n[image cat.png, 3 bytes, not shown to the model]',
    });
  });
});
