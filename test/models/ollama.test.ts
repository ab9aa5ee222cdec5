import { describe, expect, it } from 'vitest';
import { user } from './conversation.ts';
import { longTalk, readFile } from './conversation.ts';
import { answers, collect, inTurn, merged, oneHarness, request, sends } from './wire-server.ts';

const done = (more: Record<string, unknown> = {}) =>
  `${JSON.stringify({ message: { role: 'assistant', content: 'ok' }, done: true, done_reason: 'stop', ...more })}\n`;
const ok = sends('ollama', done());

const { start, body } = oneHarness();

describe('request of an Ollama server', () => {
  it('holds system, history, tools, images and options in its own form', async () => {
    const { model, server } = await start('ollama', ok);
    await collect(
      model,
      request({
        system: 'be kind',
        messages: longTalk,
        tools: [readFile],
        temperature: 0.5,
        top_p: 0.9,
        seed: 7,
        max_tokens: 100,
        stop: ['END'],
        num_ctx: 12_345,
      }),
    );
    expect(server.requests[0]?.path).toBe('/api/chat');
    expect(body()).toEqual({
      model: 'm',
      stream: true,
      messages: [
        { role: 'system', content: 'be kind' },
        { role: 'user', content: 'look', images: ['aW1n'] },
        {
          role: 'assistant',
          content: '',
          tool_calls: [
            { function: { name: 'local_fs_read_file', arguments: { path: 'a' } } },
            { function: { name: 'local_fs_read_file', arguments: {} } },
          ],
        },
        {
          role: 'tool',
          tool_name: 'local_fs_read_file',
          content: 'text of a\n[image cat.png, 3 bytes, not shown to the model]',
        },
        { role: 'tool', tool_name: 'local_fs_read_file', content: '{"error":"invalid_arguments"}' },
        { role: 'user', content: 'and now?' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'local_fs_read_file', description: 'Reads a file.', parameters: readFile.input_schema },
        },
      ],
      keep_alive: '5m',
      options: { num_ctx: 12_345, temperature: 0.5, top_p: 0.9, seed: 7, stop: ['END'], num_predict: 100 },
    });
  });

  it('LLM-001: always says num_ctx and keep_alive', async () => {
    const { model } = await start('ollama', ok, { keep_alive: '-1' });
    await collect(model);
    expect(body()).toEqual({
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
      keep_alive: -1,
      options: { num_ctx: 8192 },
    });
  });

  it('sends a declared context when the request names none', async () => {
    const { model } = await start('ollama', ok, { num_ctx: { fixed: 16_000, cap: 8192 } });
    await collect(model);
    expect(body()['options']).toEqual({ num_ctx: 16_000 });
  });

  it.each([
    ['qwen3', 'auto', undefined],
    ['qwen3', 'off', false],
    ['qwen3', 'low', true],
    ['qwen3', 'xhigh', true],
    ['gpt-oss:20b', 'off', false],
    ['gpt-oss:20b', 'minimal', 'low'],
    ['gpt-oss:20b', 'medium', 'medium'],
    ['gpt-oss:20b', 'xhigh', 'high'],
  ] as const)('sends for %s at %s: think %s', async (name, think, expected) => {
    const { model } = await start('ollama', ok, { capabilities: { think: true } });
    await collect(model, request({ model: name, think }));
    expect(body()['think']).toBe(expected);
  });

  it('sends no level to a model that does not think, and says so', async () => {
    const { model } = await start('ollama', ok, { capabilities: { think: false } });
    expect((await collect(model, request({ think: 'high' })))[0]).toMatchObject({ code: 'think_unsupported' });
    expect((await collect(model, request({ think: 'off' })))[0]).toEqual({ kind: 'text', text: 'ok' });
    expect(body()).not.toHaveProperty('think');
  });

  it('repeats once without a level that the server refuses', async () => {
    const refusal = answers(400, { error: '"m" does not support thinking' });
    const { model, server } = await start('ollama', inTurn(refusal, ok), { capabilities: { think: true } });
    const parts = await collect(model, request({ think: 'low' }));
    expect(parts.map((part) => part.kind)).toEqual(['notice', 'text', 'finish']);
    expect(server.requests.map((one) => (one.body as { think?: unknown }).think)).toEqual([true, undefined]);
  });
});

describe('reply of an Ollama server', () => {
  it('repeats a request that only loaded the model', async () => {
    const loaded = sends('ollama', '{"message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}\n');
    const { model, server } = await start('ollama', inTurn(loaded, ok));
    expect(merged(await collect(model))).toEqual([
      { kind: 'text', text: 'ok' },
      { kind: 'finish', reason: 'stop' },
    ]);
    expect(server.requests).toHaveLength(2);
  });

  it('repeats it once only', async () => {
    const loaded = sends('ollama', '{"message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}\n');
    const { model, server } = await start('ollama', loaded);
    expect(await collect(model)).toEqual([{ kind: 'finish', reason: 'other' }]);
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ["model 'm' not found", 'model_not_found'],
    ['registry.ollama.ai/library/m does not support tools', 'no_tool_support'],
    ['llama runner process has terminated: exit status 2', 'server_error'],
    ['server busy, please try again.', 'overloaded'],
    ['something else', 'permanent'],
  ])('classes the error line %j as %s', async (error, expected) => {
    const { model } = await start('ollama', sends('ollama', `${JSON.stringify({ error })}\n`));
    expect(await collect(model)).toEqual([
      { kind: 'error', error: { class: expected, message: `backend "b" reported an error: ${error}` } },
    ]);
  });

  it('ends with length and other as the server says', async () => {
    const { model } = await start(
      'ollama',
      inTurn(sends('ollama', done({ done_reason: 'length' })), sends('ollama', done({ done_reason: 'odd' }))),
    );
    expect((await collect(model)).at(-1)).toEqual({ kind: 'finish', reason: 'length' });
    expect((await collect(model)).at(-1)).toEqual({ kind: 'finish', reason: 'other' });
  });

  it('LLM-001: warns when the context was filled', async () => {
    const { model } = await start('ollama', sends('ollama', done({ prompt_eval_count: 8000, eval_count: 191 })));
    expect((await collect(model))[1]).toEqual({
      kind: 'notice',
      code: 'context_truncated',
      message:
        'the request and the answer (8000 and 191 tokens) fill num_ctx 8192; raise it with reins model set-context m --context <tokens>',
    });
  });

  it('LLM-001: warns when the server read much less than was sent', async () => {
    const { model } = await start('ollama', sends('ollama', done({ prompt_eval_count: 4096, eval_count: 5 })));
    const wanted = request({ messages: [user('word '.repeat(8000))], num_ctx: 8192 });
    expect((await collect(model, wanted))[1]).toMatchObject({
      code: 'context_truncated',
      message: expect.stringMatching(/^the request of about \d{5} tokens did not fit num_ctx 8192; raise/),
    });
  });

  it('says that the model may be loading when nothing comes for a while', async () => {
    let answer = (): void => {};
    const noticed = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { model } = await start(
      'ollama',
      (asked, response, index) => void noticed.then(() => ok(asked, response, index)),
      {},
      { loading_note_ms: 5 },
    );
    const kinds: string[] = [];
    for await (const part of model.stream(request(), new AbortController().signal)) {
      kinds.push(part.kind === 'notice' ? part.code : part.kind);
      if (part.kind === 'notice') answer();
    }
    expect(kinds).toEqual(['model_loading', 'text', 'finish']);
  });

  it.each([null, ''])('takes an error that is %j for none', async (error) => {
    const raw = done({ error, message: { role: 'assistant', content: 'a' } });
    const { model } = await start('ollama', sends('ollama', raw));
    expect(await collect(model)).toMatchObject([{ kind: 'text', text: 'a' }, { kind: 'finish' }]);
  });

  it('LLM-002: keeps a call that is written as text as text', async () => {
    const text = '{"name":"local_fs_read_file","arguments":{"path":"a"}}';
    const { model } = await start('ollama', sends('ollama', done({ message: { role: 'assistant', content: text } })));
    expect(await collect(model, request({ tools: [readFile] }))).toEqual([
      { kind: 'text', text },
      { kind: 'finish', reason: 'stop' },
    ]);
  });
});
