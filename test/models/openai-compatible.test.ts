import { describe, expect, it } from 'vitest';
import { longTalk, readFile } from './conversation.ts';
import { answers, chatOnly, collect, inTurn, merged, passed, oneHarness, request, sends } from './wire-server.ts';

const done = 'data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const ok = sends('openai', done);

const { start, body } = oneHarness();
/** What was sent to a server without the newer interface of OpenAI, where its first request goes in vain. */
const newest = (server: { readonly requests: readonly { readonly body: unknown }[] }) =>
  server.requests.at(-1)?.body as Record<string, unknown>;

describe('request of an OpenAI server', () => {
  it('holds system, history, tools and images in the service’s form', async () => {
    const { model, server } = await start('openai', ok);
    await collect(
      model,
      request({
        system: 'be kind',
        messages: longTalk,
        tools: [readFile],
        temperature: 0,
        top_p: 0.9,
        seed: 7,
        max_tokens: 100,
        stop: ['END'],
      }),
    );
    expect(server.requests[0]?.path).toBe('/v1/chat/completions');
    expect(server.requests[0]?.headers['authorization']).toBe('Bearer sk-secret-key-1');
    expect(server.requests[0]?.headers['accept']).toBe('text/event-stream');
    expect(body()).toEqual({
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'be kind' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,aW1n' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'local_fs_read_file', arguments: '{"path":"a"}' } },
            { id: 'call_2', type: 'function', function: { name: 'local_fs_read_file', arguments: '{}' } },
          ],
        },
        {
          role: 'tool',
          tool_call_id: 'call_1',
          content: 'text of a\n[image cat.png, 3 bytes, not shown to the model]',
        },
        { role: 'tool', tool_call_id: 'call_2', content: '{"error":"invalid_arguments"}' },
        { role: 'user', content: 'and now?' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'local_fs_read_file', description: 'Reads a file.', parameters: readFile.input_schema },
        },
      ],
      temperature: 0,
      top_p: 0.9,
      seed: 7,
      max_completion_tokens: 100,
      stop: ['END'],
    });
  });

  it('leaves out everything that is unset', async () => {
    const { model } = await start('openai', ok);
    await collect(model);
    expect(body()).toEqual({
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'hello' }],
    });
  });

  it('needs no key', async () => {
    const { model, server } = await start('vllm', ok, { key: null });
    await collect(model);
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it('leaves temperature out for a reasoning model, and says so', async () => {
    const { model, server } = await start('openai', chatOnly(ok));
    const wanted = request({ model: 'gpt-5-mini', temperature: 0.2 });
    expect((await collect(model, wanted))[0]).toEqual({
      kind: 'notice',
      code: 'parameter_ignored',
      message: 'reasoning model "gpt-5-mini" takes no temperature and no top_p; they are left out',
    });
    expect(server.requests).toHaveLength(2);
    expect(newest(server)).toMatchObject({ messages: [{ role: 'user', content: 'hello' }] });
    expect(newest(server)).not.toHaveProperty('temperature');
  });

  it('keeps temperature for the same name on a compatible server, and spells max_tokens', async () => {
    const { model } = await start('openai-compatible', ok);
    await collect(model, request({ model: 'gpt-5-mini', temperature: 0.2, max_tokens: 9 }));
    expect(body()).toMatchObject({ temperature: 0.2, max_tokens: 9 });
  });
});

describe('reasoning levels (08 §8)', () => {
  it.each([
    ['openai', 'gpt-5', 'auto', {}],
    ['openai', 'gpt-5', 'off', { reasoning_effort: 'minimal' }],
    ['openai', 'gpt-5.1', 'off', { reasoning_effort: 'none' }],
    ['openai', 'o3', 'off', { reasoning_effort: 'low' }],
    ['openai', 'o3', 'low', { reasoning_effort: 'low' }],
    ['openai', 'o3', 'xhigh', { reasoning_effort: 'high' }],
    ['openai', 'gpt-5.2', 'xhigh', { reasoning_effort: 'xhigh' }],
    ['openai', 'gpt-6-sol', 'off', { reasoning_effort: 'none' }],
    ['openai', 'gpt-6.1-sol', 'off', { reasoning_effort: 'low' }],
    ['openai', 'gpt-6-sol', 'xhigh', { reasoning_effort: 'xhigh' }],
    ['openai', 'gpt-35-turbo', 'off', {}],
    ['openai', 'gpt-4o', 'off', {}],
    ['openai-compatible', 'openai/o4-mini', 'medium', { reasoning_effort: 'medium' }],
    ['vllm', 'qwen3', 'auto', {}],
    ['vllm', 'qwen3', 'off', { chat_template_kwargs: { enable_thinking: false } }],
    ['vllm', 'qwen3', 'low', { chat_template_kwargs: { enable_thinking: true } }],
    ['vllm', 'qwen3', 'xhigh', { chat_template_kwargs: { enable_thinking: true } }],
  ] as const)('%s sends for %s at %s: %j', async (type, name, think, expected) => {
    const { model, server } = await start(type, chatOnly(ok));
    const parts = await collect(model, request({ model: name, think }));
    const { reasoning_effort, chat_template_kwargs } = newest(server);
    expect({
      ...(reasoning_effort === undefined ? {} : { reasoning_effort }),
      ...(chat_template_kwargs === undefined ? {} : { chat_template_kwargs }),
    }).toEqual(expected);
    expect(parts[0]).toEqual({ kind: 'text', text: 'ok' });
  });

  it('asks a model of another house not to reason where reasoning is off', async () => {
    const { model } = await start('openai-compatible', ok, { capabilities: { think: true } });
    await collect(model, request({ model: 'anthropic/claude-x', think: 'off' }));
    await collect(model, request({ model: 'openai/gpt-oss-120b', think: 'off' }));
    expect([0, 1].map((index) => body(index)['reasoning_effort'])).toEqual(['none', 'low']);
  });

  it('warns when a model takes no level and one was asked for', async () => {
    const { model } = await start('openai', ok);
    const wanted = request({ model: 'gpt-4o', think: 'high' });
    expect((await collect(model, wanted))[0]).toEqual({
      kind: 'notice',
      code: 'think_unsupported',
      message: 'model "gpt-4o" of backend "b" takes no reasoning level; high is left out',
    });
    expect((await collect(model, { ...wanted, think: 'off' }))[0]).toEqual({ kind: 'text', text: 'ok' });
  });

  it('repeats once without a level that the server refuses, says so, and remembers it', async () => {
    const refusal = {
      error: { message: "Unsupported value: 'none'", param: 'reasoning_effort', code: 'unsupported_value' },
    };
    const { model, server } = await start('openai', chatOnly(inTurn(answers(400, refusal), ok)));
    const wanted = request({ model: 'gpt-5.1', think: 'off' });
    expect(await collect(model, wanted)).toEqual([
      {
        kind: 'notice',
        code: 'think_unsupported',
        message: 'backend "b" refuses a reasoning level for model "gpt-5.1"; it is left out',
      },
      { kind: 'text', text: 'ok' },
      { kind: 'finish', reason: 'stop' },
    ]);
    await collect(model, wanted);
    expect(server.requests.map((one) => 'reasoning_effort' in (one.body as object))).toEqual([
      false,
      true,
      false,
      false,
    ]);
  });
});

describe('compatibility repeats (08 §5.3)', () => {
  const full = request({ max_tokens: 50, seed: 3 });

  it('repeats without stream_options, and remembers it for every model that shares the set', async () => {
    const refused = new Set<string>();
    const refusal = answers(400, { error: { message: 'Unrecognized request argument: stream_options' } });
    const { model, server } = await start('openai-compatible', inTurn(refusal, ok), {}, { refused });
    expect(merged(await collect(model))).toEqual([
      { kind: 'text', text: 'ok' },
      { kind: 'finish', reason: 'stop' },
    ]);
    await collect(model);
    expect(server.requests.map((one) => 'stream_options' in (one.body as object))).toEqual([true, false, false]);
  });

  it('uses the other spelling of max_tokens', async () => {
    const refusal = answers(422, { detail: [{ loc: ['body', 'max_tokens'], msg: 'extra fields not permitted' }] });
    const { model } = await start('vllm', inTurn(refusal, ok));
    await collect(model, full);
    expect(body(0)).toMatchObject({ max_tokens: 50 });
    expect(body(1)).toMatchObject({ max_completion_tokens: 50 });
    expect(body(1)).not.toHaveProperty('max_tokens');
  });

  it('repeats once for each of several fields', async () => {
    const { model, server } = await start(
      'vllm',
      inTurn(
        answers(400, { error: { message: 'unknown field seed' } }),
        answers(400, { error: { message: 'chat_template_kwargs is not supported' } }),
        ok,
      ),
    );
    const parts = await collect(model, request({ seed: 3, think: 'low' }));
    expect(parts.map((part) => part.kind)).toEqual(['notice', 'text', 'finish']);
    expect(server.requests).toHaveLength(3);
    expect(body(2)).not.toHaveProperty('seed');
    expect(body(2)).not.toHaveProperty('chat_template_kwargs');
  });

  it('fails when the repeat is refused for the same field', async () => {
    const { model, server } = await start('vllm', answers(400, { error: { message: 'bad seed' } }));
    expect(await collect(model, full)).toMatchObject([{ kind: 'error', error: { class: 'invalid_request' } }]);
    expect(server.requests).toHaveLength(2);
  });

  it('does not repeat for a field that was not sent', async () => {
    const { model, server } = await start('vllm', answers(400, { error: { message: 'bad seed' } }));
    await collect(model);
    expect(server.requests).toHaveLength(1);
  });

  it('does not repeat for OpenAI itself', async () => {
    const { model, server } = await start('openai', answers(400, { error: { message: 'bad stream_options' } }));
    await collect(model);
    expect(server.requests).toHaveLength(1);
  });

  it('never drops tools', async () => {
    const { model, server } = await start(
      'vllm',
      answers(400, { error: { message: '"auto" tool choice requires --enable-auto-tool-choice' } }),
    );
    expect(await collect(model, request({ tools: [readFile] }))).toMatchObject([
      { kind: 'error', error: { class: 'no_tool_support' } },
    ]);
    expect(server.requests).toHaveLength(1);
  });
});

describe('reply of an OpenAI server', () => {
  const reads = async (raw: string, tools = [readFile]) => {
    const { model } = await start('openai', sends('openai', raw));
    return merged(await collect(model, request({ tools })));
  };
  const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
  const delta = (value: unknown, finish_reason: string | null = null) =>
    frame({ choices: [{ index: 0, delta: value, finish_reason }] });

  it('calls a changed name at an index malformed', async () => {
    const parts = await reads(
      delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'a', arguments: '{' } }] }) +
        delta({ tool_calls: [{ index: 0, function: { name: 'b', arguments: '}' } }] }) +
        delta({}, 'tool_calls'),
    );
    expect(parts).toEqual([
      { kind: 'tool_call', index: 0, id: 'c', name: 'a', arguments_delta: '{' },
      {
        kind: 'error',
        error: { class: 'malformed', message: 'backend "b" sent a tool call that changes its id or name at index 0' },
      },
    ]);
  });

  it('takes a repeated equal id and name as one call', async () => {
    const parts = await reads(
      delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'a', arguments: '{' } }] }) +
        delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'a', arguments: '}' } }] }, 'stop'),
    );
    expect(parts).toEqual([
      { kind: 'tool_call', index: 0, id: 'c', name: 'a', arguments_delta: '{}' },
      { kind: 'finish', reason: 'tool_calls' },
    ]);
  });

  it('tells calls without an index apart by their id', async () => {
    const parts = await reads(
      delta({ tool_calls: [{ id: 'c1', function: { name: 'a', arguments: '{}' } }] }) +
        delta({ tool_calls: [{ id: 'c2', function: { name: 'a', arguments: { path: 'x' } } }] }, 'tool_calls'),
    );
    expect(parts).toEqual([
      { kind: 'tool_call', index: 0, id: 'c1', name: 'a', arguments_delta: '{}' },
      { kind: 'tool_call', index: 1, id: 'c2', name: 'a', arguments_delta: '{"path":"x"}' },
      { kind: 'finish', reason: 'tool_calls' },
    ]);
  });

  it('shows a refusal as text and finishes with content_filter', async () => {
    expect(await reads(delta({ refusal: 'I cannot.' }) + delta({}, 'stop'))).toEqual([
      { kind: 'text', text: 'I cannot.' },
      { kind: 'finish', reason: 'content_filter' },
    ]);
  });

  it('calls a filter that let nothing through content_filter', async () => {
    expect(await reads(delta({}, 'content_filter'))).toMatchObject([
      { kind: 'error', error: { class: 'content_filter' } },
    ]);
  });

  it('leaves a reply with nothing in it to the engine', async () => {
    expect(await reads(delta({}, 'stop'))).toEqual([{ kind: 'finish', reason: 'stop' }]);
  });

  it('reads content that comes as a list of pieces', async () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'so' },
    ];
    expect(await reads(delta({ content }, 'odd'))).toEqual([
      { kind: 'thinking', text: 'hm' },
      { kind: 'text', text: 'so' },
      { kind: 'finish', reason: 'other' },
    ]);
  });

  it('puts a surrogate pair together that two network chunks share', async () => {
    const { model } = await start('openai', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\n', () => {
        const rest = 'data: {"choices":[{"delta":{"content":"\\ude00"},"finish_reason":"stop"}]}\n\n';
        void passed().then(() => response.end(rest));
      });
    });
    expect(await collect(model)).toEqual([
      { kind: 'text', text: 'a' },
      { kind: 'text', text: '😀' },
      { kind: 'finish', reason: 'stop' },
    ]);
  });

  it('replaces half a surrogate pair', async () => {
    expect(await reads('data: {"choices":[{"delta":{"content":"a\\ud83d"},"finish_reason":"stop"}]}\n\n')).toEqual([
      { kind: 'text', text: 'a\ufffd' },
      { kind: 'finish', reason: 'stop' },
    ]);
  });

  it('reads a server that answers in one piece instead of a stream', async () => {
    const whole = {
      choices: [{ index: 0, message: { role: 'assistant', content: 'all at once' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 4 },
    };
    const { model } = await start('openai-compatible', answers(200, whole));
    expect((await collect(model)).map((part) => part.kind)).toEqual(['text', 'usage', 'finish']);
  });

  it.each([
    [
      { prompt_tokens: 0, completion_tokens: 4 },
      { input_tokens: 0, output_tokens: 4 },
    ],
    [
      { prompt_tokens: 3, completion_tokens: 0 },
      { input_tokens: 3, output_tokens: 0 },
    ],
    [{ prompt_tokens: 0, completion_tokens: 0 }, null],
  ])('takes what a server counts, and zeros alone for nothing: %j', async (usage, told) => {
    const whole = {
      choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
      usage,
    };
    const { model } = await start('openai-compatible', answers(200, whole));
    const parts = await collect(model);
    expect(parts.flatMap((part) => (part.kind === 'usage' ? [part.usage] : []))).toMatchObject(
      told === null ? [] : [told],
    );
  });

  it.each(['text/html; charset=utf-8', 'text/plain'])(
    'knows a page where the interface should be, as %s',
    async (type) => {
      const { model } = await start('openai-compatible', (_request, response) => {
        response.writeHead(200, { 'content-type': type });
        response.end('<html>Sign in</html>');
      });
      expect(await collect(model)).toMatchObject([
        {
          kind: 'error',
          error: { class: 'malformed', message: expect.stringContaining('sent a web page, not a reply') },
        },
      ]);
    },
  );

  it('reads an error that comes with status 200', async () => {
    const { model } = await start('openai-compatible', answers(200, { error: { message: 'model is overloaded' } }));
    expect(await collect(model)).toMatchObject([{ kind: 'error', error: { class: 'overloaded' } }]);
  });

  it('stops at [DONE], whatever follows', async () => {
    expect(await reads(`${delta({ content: 'a' }, 'stop')}data: [DONE]\n\n${delta({ content: 'b' })}`)).toEqual([
      { kind: 'text', text: 'a' },
      { kind: 'finish', reason: 'stop' },
    ]);
  });

  it('gives a call of an unknown name to the engine unchanged', async () => {
    const parts = await reads(
      delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'no.such' } }] }, 'tool_calls'),
    );
    expect(parts[0]).toEqual({ kind: 'tool_call', index: 0, id: 'c', name: 'no.such' });
  });
});
