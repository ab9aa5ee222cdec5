import { describe, expect, it } from 'vitest';
import { assistant, call, longTalk, readFile, result, user } from './conversation.ts';
import { answers, collect, inTurn, merged, oneHarness, passed, request, sends } from './wire-server.ts';

const frame = (value: { type: string; [member: string]: unknown }) =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
const stop = (stop_reason: string) =>
  frame({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 0 } }) +
  frame({ type: 'message_stop' });
const textBlock = (text: string, index = 0) =>
  frame({ type: 'content_block_start', index, content_block: { type: 'text', text } });
const ok = sends('anthropic', textBlock('ok') + stop('end_turn'));

const { start, body, close } = oneHarness();

describe('request of an Anthropic server', () => {
  it('holds system, history, tools, images and settings in the service’s form', async () => {
    const { model, server } = await start('anthropic', ok);
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
      }),
    );
    expect(server.requests[0]?.path).toBe('/v1/messages');
    expect(server.requests[0]?.headers['x-api-key']).toBe('sk-secret-key-1');
    expect(server.requests[0]?.headers['anthropic-version']).toBe('2023-06-01');
    expect(body()).toEqual({
      model: 'm',
      stream: true,
      max_tokens: 100,
      system: 'be kind',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aW1n' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'call_1', name: 'local_fs_read_file', input: { path: 'a' } },
            { type: 'tool_use', id: 'call_2', name: 'local_fs_read_file', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'call_1',
              content: [
                { type: 'text', text: 'text of a' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aW1n' } },
              ],
            },
            { type: 'tool_result', tool_use_id: 'call_2', content: '{"error":"invalid_arguments"}', is_error: true },
            { type: 'text', text: 'and now?' },
          ],
        },
      ],
      tools: [
        {
          name: 'local_fs_read_file',
          description: 'Reads a file.',
          input_schema: readFile.input_schema,
        },
      ],
      temperature: 0.5,
      top_p: 0.9,
      stop_sequences: ['END'],
    });
  });

  it('always says max_tokens: the task’s, else the model’s, else 8192', async () => {
    const { model } = await start('anthropic', ok);
    await collect(model);
    expect(body()['max_tokens']).toBe(8192);
    await close();
    const known = await start('anthropic', ok, { max_output: 64_000 });
    await collect(known.model);
    expect(body()['max_tokens']).toBe(64_000);
  });

  it('repeats once without a temperature that the model refuses', async () => {
    const refusal = answers(400, { error: { type: 'invalid_request_error', message: '`temperature` is deprecated' } });
    const { model } = await start('anthropic', inTurn(refusal, ok));
    const parts = await collect(model, request({ temperature: 0 }));
    expect(parts[0]).toMatchObject({ kind: 'notice', code: 'parameter_ignored' });
    expect(body(1)).not.toHaveProperty('temperature');
  });

  it('ends with a user message when the history does not', async () => {
    const { model } = await start('anthropic', ok);
    await collect(model, request({ messages: [user('hi'), assistant('I said')] }));
    expect(body()['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'I said' }] },
      { role: 'user', content: [{ type: 'text', text: '(continued)' }] },
    ]);
  });

  it('begins with a user message when the history does not', async () => {
    const { model } = await start('anthropic', ok);
    await collect(model, request({ messages: [assistant('I said'), user('  ')] }));
    expect(body()['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: '(continued)' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'I said' }] },
      { role: 'user', content: [{ type: 'text', text: '(empty)' }] },
    ]);
  });

  it('replaces call ids that the service would refuse, the same for call and result', async () => {
    const { model } = await start('anthropic', ok);
    const turn = [assistant('', { tool_calls: [call('functions.a:0', '{}')] }), result('functions.a:0', 'x')];
    await collect(model, request({ messages: [user('go'), ...turn] }));
    expect(body()['messages']).toMatchObject([
      {},
      { content: [{ type: 'tool_use', id: 'call_r0' }] },
      { content: [{ type: 'tool_result', tool_use_id: 'call_r0' }] },
    ]);
  });
});

describe('thinking (08 §5.5, §8)', () => {
  const thinks = { capabilities: { think: true } };

  it.each([
    ['auto', 8192, undefined],
    ['off', 8192, undefined],
    ['minimal', 8192, 1024],
    ['low', 8192, 2048],
    ['medium', 64_000, 8192],
    ['medium', 8192, 4096],
    ['high', 64_000, 16_384],
    ['xhigh', 64_000, 32_768],
    ['xhigh', 2048, 1024],
    ['high', 2000, undefined],
  ] as const)('asks at %s with max_tokens %i for a budget of %s', async (think, max_tokens, budget) => {
    const { model } = await start('anthropic', ok, thinks);
    await collect(model, request({ think, max_tokens, temperature: 0.5 }));
    expect(body()['thinking']).toEqual(budget === undefined ? undefined : { type: 'enabled', budget_tokens: budget });
    expect(body()['temperature']).toBe(budget === undefined ? 0.5 : undefined);
  });

  it('hands thinking blocks back unchanged inside the tool loop', async () => {
    const thought = { type: 'thinking', thinking: 'hm', signature: 'EqQB' };
    const hidden = { type: 'redacted_thinking', data: 'AbC=' };
    const raw =
      frame({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      }) +
      frame({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } }) +
      frame({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'EqQB' } }) +
      frame({ type: 'content_block_start', index: 1, content_block: hidden }) +
      frame({
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'tool_use', id: 'toolu_1', name: 'local_fs_read_file', input: {} },
      }) +
      stop('tool_use');
    const { model } = await start('anthropic', inTurn(sends('anthropic', raw), ok), thinks);
    const parts = merged(await collect(model, request({ think: 'low', tools: [readFile] })));
    const meta = parts.find((part) => part.kind === 'meta');
    expect(meta).toEqual({ kind: 'meta', provider_meta: { anthropic: { blocks: [thought, hidden] } } });

    const reply = assistant('', {
      tool_calls: [call('toolu_1', '{}')],
      provider_meta: { anthropic: { blocks: [thought, hidden] } },
    });
    await collect(model, request({ think: 'low', messages: [user('go'), reply, result('toolu_1', 'x')] }));
    expect(body(1)['messages']).toMatchObject([{}, { content: [thought, hidden, { type: 'tool_use' }] }, {}]);
  });

  it('hands them back where they stood between text and calls', async () => {
    const thinking = (index: number, signature: string) =>
      frame({ type: 'content_block_start', index, content_block: { type: 'thinking', thinking: 'hm', signature } });
    const use = (index: number, id: string) =>
      frame({ type: 'content_block_start', index, content_block: { type: 'tool_use', id, name: 'a', input: {} } });
    const raw =
      [thinking(0, 's1'), textBlock('I look. ', 1), thinking(2, 's2'), textBlock('Both.', 3), use(4, 't1')].join('') +
      [thinking(5, 's3'), use(6, 't2'), stop('tool_use')].join('');
    const { model } = await start('anthropic', inTurn(sends('anthropic', raw), ok), thinks);
    const parts = merged(await collect(model, request({ think: 'low', tools: [readFile] })));
    const meta = parts.find((part) => part.kind === 'meta');
    const reply = assistant('I look. Both.', {
      tool_calls: [call('t1', '{}'), call('t2', '{}')],
      ...(meta?.kind === 'meta' ? { provider_meta: meta.provider_meta } : {}),
    });
    const results = [result('t1', 'x'), result('t2', 'y')];
    await collect(model, request({ think: 'low', messages: [user('go'), reply, ...results] }));
    expect(body(1)['messages']).toMatchObject([
      {},
      {
        content: [
          { signature: 's1' },
          { text: 'I look. ' },
          { signature: 's2' },
          { text: 'Both.' },
          { id: 't1' },
          { signature: 's3' },
          { id: 't2' },
        ],
      },
      {},
    ]);
  });

  it('does not hand them back once a person has spoken again', async () => {
    const { model } = await start('anthropic', ok, thinks);
    const reply = assistant('a', { provider_meta: { anthropic: { blocks: [{ type: 'thinking' }] } } });
    await collect(model, request({ think: 'low', messages: [user('go'), reply, user('more')] }));
    expect(body()['messages']).toMatchObject([{}, { content: [{ type: 'text', text: 'a' }] }, {}]);
  });

  it('leaves thinking out in a tool loop that another model began', async () => {
    const { model } = await start('anthropic', ok, thinks);
    const turn = [assistant('', { tool_calls: [call('c', '{}')] }), result('c', 'x')];
    await collect(model, request({ think: 'low', messages: [user('go'), ...turn] }));
    expect(body()).not.toHaveProperty('thinking');
  });

  it.each([
    ['minimal', 'low'],
    ['xhigh', 'xhigh'],
  ] as const)('lets a model that takes no budget choose its own, at %s by the effort %s', async (think, effort) => {
    const message =
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';
    const refusal = answers(400, { type: 'error', error: { type: 'invalid_request_error', message } });
    const { model } = await start('anthropic', inTurn(refusal, ok), thinks);
    expect((await collect(model, request({ think, temperature: 0.5 }))).map((part) => part.kind)).toEqual([
      'text',
      'finish',
    ]);
    const { thinking, output_config, temperature } = body(1);
    expect({ thinking, output_config, temperature }).toEqual({
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort },
      temperature: undefined,
    });
    // It may have thought at some of its turns alone.
    const thought = { anthropic: { blocks: [{ type: 'thinking', thinking: '', signature: 's' }] } };
    const turn = (id: string, meta: object) => [
      assistant('', { tool_calls: [call(id, '{}')], ...meta }),
      result(id, 'x'),
    ];
    const messages = [user('go'), ...turn('a', { provider_meta: thought }), ...turn('b', {})];
    await collect(model, request({ think, messages }));
    expect(body(2)).toMatchObject({
      thinking: { type: 'adaptive' },
      messages: [{}, { content: [{ signature: 's' }, { id: 'a' }] }, {}, { content: [{ id: 'b' }] }, {}],
    });
  });

  it('leaves an effort out that a model does not know, and says so', async () => {
    const refuses = (message: string) =>
      answers(400, { type: 'error', error: { type: 'invalid_request_error', message } });
    const { model } = await start(
      'anthropic',
      inTurn(refuses('use adaptive'), refuses('output_config.effort: xhigh is not supported'), ok),
      thinks,
    );
    const parts = await collect(model, request({ think: 'xhigh' }));
    expect(parts[0]).toMatchObject({ kind: 'notice', code: 'think_unsupported' });
    expect(body(2)['thinking']).toEqual({ type: 'adaptive', display: 'summarized' });
    expect(body(2)).not.toHaveProperty('output_config');
  });

  it('hands back what a model thought unasked', async () => {
    const { model } = await start('anthropic', ok, thinks);
    const thought = { anthropic: { blocks: [{ type: 'thinking', thinking: '', signature: 's' }] } };
    const reply = assistant('', { tool_calls: [call('a', '{}')], provider_meta: thought });
    await collect(model, request({ messages: [user('go'), reply, result('a', 'x')] }));
    expect(body()).not.toHaveProperty('thinking');
    expect(body()['messages']).toMatchObject([{}, { content: [{ signature: 's' }, { id: 'a' }] }, {}]);
  });

  it('repeats once without a budget that the server refuses', async () => {
    const refusal = answers(400, {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'thinking: this model does not support thinking' },
    });
    const { model } = await start('anthropic', inTurn(refusal, ok), thinks);
    const parts = await collect(model, request({ think: 'low' }));
    expect(parts.map((part) => part.kind)).toEqual(['notice', 'text', 'finish']);
  });
});

describe('reply of an Anthropic server', () => {
  const reads = async (raw: string) => {
    const { model } = await start('anthropic', sends('anthropic', raw));
    return merged(await collect(model));
  };

  it.each([
    ['max_tokens', 'length'],
    ['stop_sequence', 'stop'],
    ['refusal', 'content_filter'],
    ['pause_turn', 'other'],
  ])('finishes %s with %s', async (word, reason) => {
    expect(await reads(textBlock('a') + stop(word))).toEqual([
      { kind: 'text', text: 'a' },
      { kind: 'finish', reason },
    ]);
  });

  it('is whole where the connection is lost behind its reason', async () => {
    const delta = { stop_reason: 'end_turn' };
    const stream = textBlock('a') + frame({ type: 'message_delta', delta, usage: { output_tokens: 0 } });
    const { model } = await start(
      'anthropic',
      (_request, response) => void response.write(stream, () => void passed().then(() => response.destroy())),
    );
    expect(await collect(model)).toEqual([
      { kind: 'text', text: 'a' },
      { kind: 'finish', reason: 'stop' },
    ]);
  });

  it('calls an overloaded_error in the stream overloaded', async () => {
    const raw = frame({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
    expect(await reads(textBlock('a') + raw)).toEqual([
      { kind: 'text', text: 'a' },
      { kind: 'error', error: { class: 'overloaded', message: 'backend "b" reported an error: Overloaded' } },
    ]);
  });

  it('calls a prompt that is too long context_exceeded', async () => {
    const error = { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' };
    const { model } = await start('anthropic', answers(400, { type: 'error', error }));
    expect(await collect(model)).toMatchObject([{ kind: 'error', error: { class: 'context_exceeded' } }]);
  });

  it('calls an unknown model model_not_found', async () => {
    const error = { type: 'not_found_error', message: 'model: claude-x' };
    const { model } = await start('anthropic', answers(404, { type: 'error', error }));
    expect(await collect(model)).toMatchObject([{ kind: 'error', error: { class: 'model_not_found' } }]);
  });

  it('takes arguments that come whole with the block', async () => {
    const block = { type: 'tool_use', id: 't', name: 'x', input: { a: 1 } };
    expect(
      await reads(frame({ type: 'content_block_start', index: 3, content_block: block }) + stop('tool_use')),
    ).toEqual([
      { kind: 'tool_call', index: 0, id: 't', name: 'x', arguments_delta: '{"a":1}' },
      { kind: 'finish', reason: 'tool_calls' },
    ]);
  });

  it('takes arguments once that come whole with the block and in deltas', async () => {
    const block = { type: 'tool_use', id: 't', name: 'x', input: { a: 1 } };
    const delta = { type: 'input_json_delta', partial_json: '{"a":1}' };
    const raw =
      frame({ type: 'content_block_start', index: 0, content_block: block }) +
      frame({ type: 'content_block_delta', index: 0, delta });
    expect(await reads(raw + stop('tool_use'))).toEqual([
      { kind: 'tool_call', index: 0, id: 't', name: 'x', arguments_delta: '{"a":1}' },
      { kind: 'finish', reason: 'tool_calls' },
    ]);
  });

  it('reads a message that a proxy sends as a whole', async () => {
    const { model } = await start(
      'anthropic',
      answers(200, {
        type: 'message',
        content: [
          { type: 'text', text: 'a' },
          { type: 'tool_use', id: 't', name: 'x', input: {} },
        ],
        stop_reason: 'tool_use',
        usage: { input_tokens: 3, output_tokens: 2 },
      }),
    );
    expect(await collect(model)).toMatchObject([
      { kind: 'text', text: 'a' },
      { kind: 'tool_call', index: 0, id: 't', name: 'x' },
      { kind: 'usage', usage: { input_tokens: 3, output_tokens: 2 } },
      { kind: 'finish', reason: 'tool_calls' },
    ]);
  });

  it('takes the end mark of another service behind a stop reason', async () => {
    const reason = frame({ type: 'message_delta', delta: { stop_reason: 'end_turn' } });
    expect(await reads(`${textBlock('a')}${reason}data: [DONE]\n\n`)).toEqual([
      { kind: 'text', text: 'a' },
      { kind: 'finish', reason: 'stop' },
    ]);
    expect(await reads(`${textBlock('a')}data: [DONE]\n\n`)).toMatchObject([{ kind: 'text' }, { kind: 'error' }]);
  });

  it('reads an error that has no type', async () => {
    expect(await reads('data: {"error":{"message":"no such key"}}\n\n')).toMatchObject([
      { kind: 'error', error: { message: 'backend "b" reported an error: no such key' } },
    ]);
  });

  it('tells calls apart that a proxy gives one index', async () => {
    const use = (id: string, json: string) =>
      frame({ type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id, name: 'a', input: {} } }) +
      frame({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: json } });
    expect(await reads(use('t1', '{"p":1}') + use('t2', '{"p":2}') + stop('tool_use'))).toMatchObject([
      { kind: 'tool_call', index: 0, id: 't1', name: 'a', arguments_delta: '{"p":1}' },
      { kind: 'tool_call', index: 1, id: 't2', name: 'a', arguments_delta: '{"p":2}' },
      { kind: 'finish', reason: 'tool_calls' },
    ]);
  });

  it('passes over blocks of a kind that nobody asked for', async () => {
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
    const raw =
      frame({ type: 'content_block_start', index: 0, content_block: search }) +
      frame({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"q":1}' } }) +
      textBlock('found', 1) +
      stop('end_turn');
    expect(await reads(raw)).toMatchObject([
      { kind: 'text', text: 'found' },
      { kind: 'finish', reason: 'stop' },
    ]);
  });

  it('calls arguments of a call that was not begun malformed', async () => {
    const raw = frame({
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'input_json_delta', partial_json: '{' },
    });
    expect(await reads(raw)).toMatchObject([{ kind: 'error', error: { class: 'malformed' } }]);
  });
});
