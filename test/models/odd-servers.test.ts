import { describe, expect, it } from 'vitest';
import type { ModelPart } from '../../src/models/model.ts';
import { assistant, call, readFile, result, user } from './conversation.ts';
import { answers, chatOnly, collect, inTurn, merged, oneHarness, passed, request, sends } from './wire-server.ts';

/** What servers of the OpenAI form were seen to send beside what the form says. */
const { start, body } = oneHarness();

const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const delta = (value: unknown, finish_reason: string | null = null) =>
  frame({ choices: [{ index: 0, delta: value, finish_reason }] });
const done = 'data: [DONE]\n\n';
const ok = sends('openai', delta({ content: 'ok' }, 'stop') + done);

const text = (said: string): ModelPart => ({ kind: 'text', text: said });
const thought = (said: string): ModelPart => ({ kind: 'thinking', text: said });
const made = (index: number, name: string, arguments_delta: string, id?: string): ModelPart => ({
  kind: 'tool_call',
  index,
  ...(id === undefined ? {} : { id }),
  name,
  arguments_delta,
});
const finish = (reason: 'stop' | 'tool_calls' | 'length'): ModelPart => ({ kind: 'finish', reason });
const spent = (input_tokens: number, output_tokens: number, reasoning_tokens = 0, cached = 0): ModelPart => ({
  kind: 'usage',
  usage: {
    input_tokens,
    output_tokens,
    reasoning_tokens,
    cached_input_tokens: cached,
    total_tokens: input_tokens + output_tokens,
    estimated: false,
  },
});
const piece = (index: number | null, id: string | null, name: string | null, args: unknown) => ({
  tool_calls: [{ ...(index === null ? {} : { index }), id, function: { name, arguments: args } }],
});

describe('replies of compatible servers', () => {
  const stop = delta({}, 'stop') + done;
  const calls = delta({}, 'tool_calls') + done;

  it.each<[string, string, readonly ModelPart[]]>([
    [
      'keep-alive events without data',
      `data:\n\ndata: \n\n: ping\n\n${delta({ content: 'a' })}${stop}`,
      [text('a'), finish('stop')],
    ],
    [
      'a payload over several lines',
      'data: {"choices":[\ndata: {"delta":{"content":"a"},\ndata: "finish_reason":"stop"}]}\n\n',
      [text('a'), finish('stop')],
    ],
    ['an end mark with blanks', `${delta({ content: 'a' })}data:  [DONE] \n\n`, [text('a'), finish('stop')]],
    ['an end mark and no reason', delta({ content: 'a' }) + done, [text('a'), finish('stop')]],
    ['an empty reason in every piece', delta({ content: 'a' }, '') + stop, [text('a'), finish('stop')]],
    [
      'a reason of another service for the output limit',
      delta({ content: 'a' }, 'model_length') + done,
      [text('a'), finish('length')],
    ],
    [
      'two calls with one index',
      delta(piece(0, 'x1', 'a', '{"p":1}')) +
        delta(piece(0, 'x2', 'a', '{"p":')) +
        delta(piece(0, null, null, '2}')) +
        calls,
      [made(0, 'a', '{"p":1}', 'x1'), made(1, 'a', '{"p":2}', 'x2'), finish('tool_calls')],
    ],
    [
      'two calls without index and id',
      delta(piece(null, null, 'a', '{}')) +
        delta(piece(null, null, 'a', '{"p":')) +
        delta(piece(null, '', null, '2}')) +
        calls,
      [made(0, 'a', '{}'), made(1, 'a', '{"p":2}'), finish('tool_calls')],
    ],
    [
      'several calls in one piece, arguments as objects',
      delta({
        tool_calls: [{ function: { name: 'a', arguments: { p: 1 } } }, { function: { name: 'b', arguments: null } }],
      }) + calls,
      [made(0, 'a', '{"p":1}'), { kind: 'tool_call', index: 1, name: 'b' }, finish('tool_calls')],
    ],
    [
      'reasoning under two names, one empty',
      delta({ reasoning_content: '', reasoning: 'hm' }) + delta({ content: 'a' }) + stop,
      [thought('hm'), text('a'), finish('stop')],
    ],
    [
      'reasoning twice',
      delta({ reasoning_content: 'hm', reasoning: 'hm' }) + delta({ content: 'a' }) + stop,
      [thought('hm'), text('a'), finish('stop')],
    ],
    [
      'usage inside the choice, and an empty one behind',
      frame({
        choices: [
          { delta: { content: 'a' }, finish_reason: 'stop', usage: { prompt_tokens: 3, completion_tokens: 2 } },
        ],
      }) +
        frame({ choices: [], usage: { prompt_tokens: 0 } }) +
        done,
      [text('a'), spent(3, 2), finish('stop')],
    ],
    [
      'usage under a name of its own',
      delta({ content: 'a' }) +
        frame({
          choices: [{ delta: {}, finish_reason: 'stop' }],
          x_groq: { usage: { prompt_tokens: 3, completion_tokens: 2 } },
        }),
      [text('a'), spent(3, 2), finish('stop')],
    ],
    [
      'usage that nobody can have had',
      delta({ content: 'a' }) +
        frame({ choices: [], usage: { prompt_tokens: 1e308, completion_tokens: 2, total_tokens: -4 } }) +
        stop,
      [text('a'), spent(0, 2), finish('stop')],
    ],
    [
      'reasoning counted beside the answer, a cache by another name',
      delta({ content: 'a' }) +
        frame({
          choices: [],
          usage: {
            prompt_tokens: 10,
            completion_tokens: 2,
            total_tokens: 19,
            prompt_cache_hit_tokens: 4,
            completion_tokens_details: { reasoning_tokens: 7 },
          },
        }) +
        stop,
      [text('a'), spent(10, 9, 7, 4), finish('stop')],
    ],
    [
      'two calls with one index and no ids',
      delta(piece(0, '', 'a', '{"p":1}')) + delta(piece(0, '', 'b', '{"p":2}')) + calls,
      [made(0, 'a', '{"p":1}'), made(1, 'b', '{"p":2}'), finish('tool_calls')],
    ],
    [
      'two calls of one tool with one index and one id',
      delta(piece(0, 'x', 'a', '{"p":1}')) + delta(piece(0, 'x', 'a', '{"p":2}')) + calls,
      [made(0, 'a', '{"p":1}', 'x'), made(1, 'a', '{"p":2}', 'x'), finish('tool_calls')],
    ],
    [
      'two calls with one id and no index',
      delta(piece(null, 'x', 'a', '{"p":1}')) + delta(piece(null, 'x', 'b', '{"p":2}')) + calls,
      [made(0, 'a', '{"p":1}', 'x'), made(1, 'b', '{"p":2}', 'x'), finish('tool_calls')],
    ],
    [
      'calls without the list around them',
      delta({ tool_calls: { index: 0, id: 'x', function: { name: 'a', arguments: '{"p":' } } }) +
        delta({ tool_calls: { index: 0, id: '', function: { name: null, arguments: '1}' } } }) +
        calls,
      [made(0, 'a', '{"p":1}', 'x'), finish('tool_calls')],
    ],
    [
      'a call whose pieces have an id each',
      delta(piece(0, 'x1', 'a', '')) +
        delta(piece(0, 'x2', null, '{"p":')) +
        delta(piece(0, 'x3', '', '1}')) +
        delta(piece(1, 'y1', 'b', '{}')) +
        calls,
      [made(0, 'a', '{"p":1}', 'x1'), made(1, 'b', '{}', 'y1'), finish('tool_calls')],
    ],
    [
      'a name with marks of a model’s format behind it',
      delta(piece(0, 'x', 'local_fs_read_file<|channel|>commentary', '{}')) + calls,
      [made(0, 'local_fs.read_file', '{}', 'x'), finish('tool_calls')],
    ],
    [
      'a call that is sent twice',
      delta(piece(0, 'x', 'a', '{"p":1}')) + delta(piece(0, 'x', 'a', '{"p":1}')) + calls,
      [made(0, 'a', '{"p":1}', 'x'), finish('tool_calls')],
    ],
    [
      'a call without the object around its name',
      delta({ tool_calls: [{ index: 0, id: 'x', name: 'a', arguments: { p: 1 } }] }) + calls,
      [made(0, 'a', '{"p":1}', 'x'), finish('tool_calls')],
    ],
    [
      'the whole message behind its deltas',
      delta({ content: 'a' }) + frame({ choices: [{ message: { content: 'a' }, finish_reason: 'stop' }] }) + done,
      [text('a'), finish('stop')],
    ],
    [
      'plain words among the pieces of a content',
      delta({ content: ['a', { type: 'text', text: 'b' }] }) + stop,
      [text('ab'), finish('stop')],
    ],
    ['a reason in capitals', delta({ content: 'a' }, 'MAX_TOKENS') + done, [text('a'), finish('length')]],
    ['a reason of another service for the end', delta({ content: 'a' }, 'eos') + done, [text('a'), finish('stop')]],
    [
      'no choice at all in a piece',
      frame({ choices: null }) + frame({}) + delta({ content: 'a' }) + stop,
      [text('a'), finish('stop')],
    ],
    [
      'several answers, of which the first one counts',
      delta({ content: 'a' }) +
        frame({ choices: [{ index: 1, delta: { content: 'x', ...piece(0, 'x1', 'b', '{}') }, finish_reason: null }] }) +
        frame({ choices: [{ index: 1, delta: {}, finish_reason: 'tool_calls' }] }) +
        frame({
          choices: [
            { index: 1, delta: { content: 'y' } },
            { index: 0, delta: { content: 'b' } },
          ],
        }) +
        stop,
      [text('ab'), finish('stop')],
    ],
  ])('read %s', async (_what, raw, expected) => {
    const { model } = await start('openai-compatible', sends('openai-compatible', raw));
    expect(merged(await collect(model, request({ tools: [readFile] })))).toEqual(expected);
  });

  it.each<[string, string, string, string]>([
    [
      'an error in a field of that name',
      'error: {"code":400,"message":"the request exceeds the available context size","type":"invalid_request_error"}\n\n' +
        done,
      'context_exceeded',
      'available context size',
    ],
    [
      'an error that is no event',
      `${frame({ choices: [] })}{"error":{"message":"slow down","code":429}}\n`,
      'rate_limit',
      'slow down',
    ],
    ['an error that is all of the body', '{"error":{"message":"slow down","code":429}}', 'rate_limit', 'slow down'],
    ['an error in a list', '[{"error":{"code":503,"message":"full","status":"UNAVAILABLE"}}]', 'overloaded', 'full'],
    ['a message and nothing else', frame({ message: 'no such route', code: 5 }) + done, 'permanent', 'no such route'],
    [
      'an ordinary reason beside that of a provider that failed',
      frame({ choices: [{ delta: {}, finish_reason: 'stop', native_finish_reason: 'network_error' }] }) + done,
      'server_error',
      'broke off its reply: network_error',
    ],
    [
      'why a stream was stopped early',
      frame({ x_groq: { id: 'r', error: 'internal server error' }, choices: [{ delta: {}, finish_reason: 'stop' }] }),
      'server_error',
      'internal server error',
    ],
    [
      'a reason that is an error',
      delta({}, 'insufficient_system_resource') + done,
      'overloaded',
      'insufficient_system_resource',
    ],
    [
      'an error beside its reason',
      frame({ choices: [{ delta: {}, finish_reason: 'error', error: { code: 502, message: 'upstream' } }] }),
      'server_error',
      'upstream',
    ],
    [
      'an error whose status is a text',
      frame({ error: { message: 'litellm.Timeout', type: 'None', param: 'None', code: '429' } }) + done,
      'rate_limit',
      'litellm.Timeout',
    ],
    ['JSON that is no reply', '{"code":1001,"msg":"no such key"}', 'malformed', 'no reply: "{\\"code\\":1001'],
    ['words that are no reply', 'It works!', 'malformed', 'no reply: "It works!"'],
    ['nothing', '', 'malformed', 'sent an empty reply'],
  ])('report %s', async (_what, raw, errorClass, words) => {
    const { model } = await start('openai-compatible', sends('openai-compatible', raw));
    expect(await collect(model)).toMatchObject([
      { kind: 'error', error: { class: errorClass, message: expect.stringContaining(words) } },
    ]);
  });

  it.each<[string, readonly string[], readonly ModelPart[]]>([
    ['in pieces', ['\n<th', 'ink>a < b</thi', 'nk', '>\n\n', 'so'], [thought('a < b'), text('so')]],
    ['never closed', ['<think>hm</th'], [thought('hm</th')]],
    ['further on', ['see <think>x</think>'], [text('see <think>x</think>')]],
    ['twice', ['<think></think>a<think>b</think>'], [text('a<think>b</think>')]],
    ['only begun', ['<thi'], [text('<thi')]],
    ['another', ['<thinker>'], [text('<thinker>')]],
  ])('tell reasoning in an element from the answer behind it: %s', async (_what, pieces, expected) => {
    const raw = pieces.map((content) => delta({ content })).join('') + stop;
    const { model } = await start('vllm', sends('vllm', raw));
    expect(merged(await collect(model))).toEqual([...expected, finish('stop')]);
  });

  it('are read as a stream though they are announced as JSON, and behind a byte order mark in pieces', async () => {
    const raw = Buffer.from(`\ufeff${delta({ content: 'a' })}${stop}`);
    const { model } = await start('openai-compatible', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(raw.subarray(0, 1), () => void passed().then(() => response.end(raw.subarray(1))));
    });
    expect(await collect(model)).toEqual([text('a'), finish('stop')]);
  });

  it('are whole where the connection is lost or silent behind their reason', async () => {
    const answer = delta({ content: 'a' }) + delta({}, 'stop');
    const { model } = await start(
      'openai-compatible',
      inTurn(
        (_request, response) => void response.write(answer, () => void passed().then(() => response.destroy())),
        (_request, response) => void response.write(answer),
      ),
      { timeouts: { connect_ms: 10_000, first_byte_ms: 10_000, idle_ms: 50 } },
    );
    expect(await collect(model)).toEqual([text('a'), finish('stop')]);
    expect(await collect(model)).toEqual([text('a'), finish('stop')]);
  });

  it('show no half of a key where what came in their place is cut', async () => {
    const { model } = await start(
      'openai-compatible',
      inTurn(
        sends('openai', `${'x'.repeat(190)}sk-secret-key-1`),
        sends('openai', `data: ${'x'.repeat(72)}sk-secret-key-1\n\n`),
      ),
    );
    expect(JSON.stringify([await collect(model), await collect(model)])).not.toContain('sk-sec');
  });

  it('hold one call for each of a message, whatever its ids', async () => {
    const whole = (name: string) => ({ id: 'same', type: 'function', function: { name, arguments: '{}' } });
    const message = { role: 'assistant', content: null, tool_calls: [whole('a'), whole('b'), whole('b')] };
    const { model } = await start('openai-compatible', answers(200, { choices: [{ message, finish_reason: null }] }));
    expect(await collect(model)).toEqual([
      made(0, 'a', '{}', 'same'),
      made(1, 'b', '{}', 'same'),
      made(2, 'b', '{}', 'same'),
      finish('tool_calls'),
    ]);
  });

  it('give back what they signed, to the backend that did and to no other', async () => {
    const extra_content = { google: { thought_signature: 's1' } };
    const sealed = { type: 'reasoning.encrypted', data: 'd', id: 'x1' };
    const raw =
      delta({ reasoning_details: [{ type: 'reasoning.text', text: 'hm' }, sealed] }) +
      delta({
        tool_calls: [
          { index: 0, id: 'x1', function: { name: 'local_fs_read_file', arguments: '{"path":"a"}' }, extra_content },
        ],
      }) +
      calls;
    const { model } = await start('openai-compatible', inTurn(sends('openai-compatible', raw), ok));
    const parts = await collect(model, request({ tools: [readFile] }));
    const ofCall = parts.find((part) => part.kind === 'tool_call')?.provider_meta;
    const ofReply = parts.find((part) => part.kind === 'meta')?.provider_meta;
    const history = [
      user('look'),
      assistant('', { tool_calls: [call('x1', '{"path":"a"}', ofCall)], ...(ofReply && { provider_meta: ofReply }) }),
      result('x1', 'text of a'),
    ];
    await collect(model, request({ tools: [readFile], messages: history }));
    expect(body(1)['messages']).toMatchObject([
      { role: 'user' },
      { reasoning_details: [sealed], tool_calls: [{ id: 'x1', extra_content }] },
      { role: 'tool' },
    ]);
    const other = await start('openai-compatible', ok, { backend: 'other' });
    await collect(other.model, request({ messages: history }));
    expect(JSON.stringify(body()['messages'])).not.toMatch(/extra_content|reasoning_details/);
  });
});

describe('signed reasoning of a router', () => {
  it('comes back whole, with its signature, and unsigned text does not', async () => {
    const piece = (text: string | undefined, signature: string | null, index: number) => ({
      reasoning_details: [{ type: 'reasoning.text', text, signature, format: 'f', index }],
    });
    const raw =
      delta(piece('he ', null, 0)) +
      delta(piece('thinks', null, 0)) +
      delta(piece(undefined, 's0', 0)) +
      delta(piece('more', 's1', 1)) +
      delta(piece('unsigned', null, 2)) +
      delta(
        { tool_calls: [{ index: 0, id: 'x1', function: { name: 'local_fs_read_file', arguments: '{}' } }] },
        'stop',
      ) +
      done;
    const { model } = await start('openai-compatible', sends('openai-compatible', raw));
    const parts = await collect(model, request({ tools: [readFile] }));
    expect(parts.find((part) => part.kind === 'meta')?.provider_meta).toEqual({
      'openai-compatible': {
        backend: 'b',
        reasoning_details: [
          { type: 'reasoning.text', text: 'he thinks', signature: 's0', format: 'f', index: 0 },
          { type: 'reasoning.text', text: 'more', signature: 's1', format: 'f', index: 1 },
        ],
      },
    });
  });
});

describe('requests in the form that a server turns out to want', () => {
  const long = 'x'.repeat(1500);
  const history = [
    user('one'),
    user('two'),
    assistant('', { thinking: 'hm', tool_calls: [call('call_1', '{"path":"a"}')] }),
    result('call_1', 'text of a'),
    user('three'),
  ];
  const loop = history.slice(0, 4);
  const repeat = async (
    status: number,
    message: string,
    changes: Parameters<typeof request>[0],
    type = 'vllm' as 'vllm' | 'openai',
  ) => {
    const { model, server } = await start(type, inTurn(answers(status, { error: { message } }), ok));
    const wanted = request({ messages: history, system: 'be kind', ...changes });
    const parts = await collect(model, wanted);
    expect(parts.at(-1)).toEqual(finish('stop'));
    expect(server.requests).toHaveLength(2);
    await collect(model, wanted);
    expect(server.requests).toHaveLength(3);
    expect(body(2)).toEqual(body(1));
    return { parts, sent: body(1), messages: body(1)['messages'] as readonly Record<string, unknown>[] };
  };

  it.each([400, 500])('let nobody speak twice in a row where roles must alternate (%i)', async (status) => {
    const { messages } = await repeat(status, 'Conversation roles must alternate user/assistant/user/...', {});
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'be kind'],
      ['user', 'one\n\ntwo'],
      ['assistant', null],
      ['tool', 'text of a'],
      ['assistant', '(continued)'],
      ['user', 'three'],
    ]);
  });

  it('put the instruction into the first message where there is no system role', async () => {
    const { messages } = await repeat(400, 'System role not supported', { messages: [user('one')] });
    expect(messages).toEqual([{ role: 'user', content: 'be kind\n\none' }]);
  });

  it('carry arguments as the model wrote them, with the blanks around, and none where they are no object', async () => {
    const { model } = await start('openai-compatible', ok);
    const calls = ['\n{"path": "a"}\n', '{"path":', '[1]'].map((args, index) => call(`c${index}`, args));
    const results = calls.map(({ id }) => result(id, 'x'));
    await collect(model, request({ messages: [user('go'), assistant('', { tool_calls: calls }), ...results] }));
    expect(body()['messages']).toMatchObject([
      {},
      {
        tool_calls: ['\n{"path": "a"}\n', '{}', '{}'].map((text) => ({ function: { arguments: text } })),
      },
      {},
      {},
      {},
    ]);
  });

  it('carry ids of nine letters and digits', async () => {
    const said = 'Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.';
    const { messages } = await repeat(400, said, {});
    const [first] = (messages[3]?.['tool_calls'] ?? []) as readonly { readonly id: string }[];
    const id = first?.id;
    expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(messages[4]).toEqual({ role: 'tool', tool_call_id: id, content: 'text of a' });
  });

  it('carry the reasoning of tool loops where the server wants it back, and no other', async () => {
    const said = 'The reasoning_content in the thinking mode must be passed back to the API.';
    const { messages } = await repeat(400, said, { messages: loop });
    expect(messages[3]).toMatchObject({ role: 'assistant', reasoning_content: 'hm' });
    const later = await repeat(400, said, {
      messages: [...history, assistant('3', { thinking: 'no call' }), user('four'), assistant('4'), user('five')],
    });
    expect(later.messages.map((message) => message['reasoning_content'])).toEqual([
      undefined,
      undefined,
      undefined,
      'hm',
      undefined,
      undefined,
      ' ',
      undefined,
      ' ',
      undefined,
    ]);
  });

  it.each([
    [422, 'body.messages.2.content: Input should be a valid string'],
    [500, "argument of type 'NoneType' is not iterable"],
  ])('hold an empty content where none is refused (%i)', async (status, said) => {
    const { messages } = await repeat(status, said, {});
    expect(messages[3]).toMatchObject({ role: 'assistant', content: '', tool_calls: [{}] });
  });

  it('cut descriptions where they are too long', async () => {
    const said = "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024";
    const { sent } = await repeat(400, said, { tools: [{ ...readFile, description: long }] }, 'openai');
    const [tool] = sent['tools'] as readonly { readonly function: { readonly description: string } }[];
    expect(tool?.function.description).toBe(`${'x'.repeat(1023)}…`);
  });

  it.each(['openai', 'vllm'] as const)(
    'ask %s for the answer in one piece where streaming is refused',
    async (type) => {
      const message = 'Your organization must be verified to stream this model. Please go to: https://h.example';
      const error = { message, type: 'invalid_request_error', param: 'stream', code: 'unsupported_value' };
      const whole = { choices: [{ message: { role: 'assistant', content: 'all' }, finish_reason: 'stop' }] };
      const { model } = await start(type, inTurn(answers(400, { error }), answers(200, whole)));
      expect(await collect(model)).toEqual([
        {
          kind: 'notice',
          code: 'parameter_ignored',
          message: 'backend "b" refuses streaming for model "m"; it is left out',
        },
        text('all'),
        finish('stop'),
      ]);
      expect(body(1)).toEqual({ model: 'm', stream: false, messages: [{ role: 'user', content: 'hello' }] });
    },
  );

  it('leave a refused temperature out, and say so', async () => {
    const said = "Unsupported value: 'temperature' does not support 0 with this model.";
    const { parts, sent } = await repeat(400, said, { temperature: 0 }, 'openai');
    expect(sent).not.toHaveProperty('temperature');
    expect(parts[0]).toMatchObject({ kind: 'notice', code: 'parameter_ignored' });
  });

  it('are told as tools that the model cannot take where it does not reason less either', async () => {
    const said =
      "Function tools with reasoning_effort are not supported for gpt-6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
    const none = "Unsupported value: 'reasoning_effort' does not support 'none' with this model.";
    const { model, server } = await start(
      'openai',
      chatOnly(
        inTurn(
          answers(400, { error: { message: said } }),
          answers(400, { error: { message: none } }),
          answers(400, { error: { message: said } }),
        ),
      ),
    );
    const parts = await collect(model, request({ model: 'gpt-6-sol', tools: [readFile] }));
    expect(parts.at(-1)).toMatchObject({ kind: 'error', error: { class: 'no_tool_support' } });
    expect(server.requests).toHaveLength(4);
  });

  it('reason no more where reasoning and tools do not go together', async () => {
    const said =
      "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. Use /v1/responses or set reasoning_effort to 'none'.";
    const { model, server } = await start('openai', chatOnly(inTurn(answers(400, { error: { message: said } }), ok)));
    const wanted = request({ model: 'gpt-5.6', tools: [readFile] });
    expect((await collect(model, wanted))[0]).toMatchObject({ kind: 'notice', code: 'think_unsupported' });
    await collect(model, wanted);
    expect(
      server.requests.map(({ path, body: sent }) => [path, (sent as Record<string, unknown>)['reasoning_effort']]),
    ).toEqual([
      ['/v1/responses', undefined],
      ['/v1/chat/completions', undefined],
      ['/v1/chat/completions', 'none'],
      ['/v1/chat/completions', 'none'],
    ]);
  });
});

describe('schemas of tools', () => {
  const tool = (input_schema: Record<string, unknown>) => ({ ...readFile, input_schema });
  const item = { type: 'object', properties: { list: { type: ['array', 'null'] } } };

  it.each([
    [{ type: 'object' }, { type: 'object', properties: {} }],
    [{}, { type: 'object', properties: {} }],
    [item, { type: 'object', properties: { list: { type: ['array', 'null'], items: {} } } }],
    [
      {
        type: 'object',
        anyOf: [{ properties: { a: {} }, required: ['a'] }, { properties: { b: {} } }],
        required: ['c'],
      },
      { type: 'object', properties: { a: {}, b: {} }, required: ['c'] },
    ],
  ])('are an object with properties and lists with items: %j', async (schema, expected) => {
    for (const type of ['openai', 'anthropic'] as const) {
      const { model } = await start(type, sends(type, ''));
      await collect(model, request({ tools: [tool(schema)] }));
      expect(JSON.stringify(body()['tools'])).not.toMatch(/anyOf|additionalProperties/);
      const given = type === 'openai' ? { function: { parameters: expected } } : { input_schema: expected };
      expect(body()['tools']).toMatchObject([given]);
    }
  });
});
