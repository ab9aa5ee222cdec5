import { describe, expect, it } from 'vitest';
import type { Message } from '../../src/schema/message.ts';
import { assistant, call, longTalk, readFile, result, user } from './conversation.ts';
import { answers, collect, inTurn, merged, oneHarness, passed, request, sends } from './wire-server.ts';

const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const done = frame({ candidates: [{ content: { parts: [{ text: 'ok' }] }, finishReason: 'STOP' }] });
const ok = sends('gemini', done);

const { start, body, close } = oneHarness();
const contentsOf = async (messages: readonly Message[]): Promise<unknown> => {
  const { model } = await start('gemini', ok);
  await collect(model, request({ messages, tools: [readFile] }));
  return body()['contents'];
};

describe('request of a Gemini server', () => {
  it('holds system, history, tools, images and settings in the service’s form', async () => {
    const { model, server } = await start('gemini', ok);
    await collect(
      model,
      request({
        model: 'models/gemini-2.5/x',
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
    expect(server.requests[0]?.path).toBe('/v1beta/models/gemini-2.5%2Fx:streamGenerateContent?alt=sse');
    expect(server.requests[0]?.headers['x-goog-api-key']).toBe('sk-secret-key-1');
    expect(body()).toEqual({
      systemInstruction: { parts: [{ text: 'be kind' }] },
      contents: [
        { role: 'user', parts: [{ text: 'look' }, { inlineData: { mimeType: 'image/png', data: 'aW1n' } }] },
        {
          role: 'model',
          parts: [
            {
              functionCall: { name: 'local_fs_read_file', args: { path: 'a' } },
              thoughtSignature: 'skip_thought_signature_validator',
            },
            {
              functionCall: { name: 'local_fs_read_file', args: {} },
              thoughtSignature: 'skip_thought_signature_validator',
            },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'local_fs_read_file', response: { content: 'text of a' } } },
            { inlineData: { mimeType: 'image/png', data: 'aW1n' } },
            { functionResponse: { name: 'local_fs_read_file', response: { error: 'invalid_arguments' } } },
            { text: 'and now?' },
          ],
        },
      ],
      tools: [
        {
          functionDeclarations: [
            {
              name: 'local_fs_read_file',
              description: 'Reads a file.',
              parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
            },
          ],
        },
      ],
      generationConfig: { temperature: 0.5, topP: 0.9, seed: 7, maxOutputTokens: 100, stopSequences: ['END'] },
    });
  });

  it('begins and ends with a user content when the history does not, none of them empty', async () => {
    expect(await contentsOf([assistant('I said'), assistant('more')])).toEqual([
      { role: 'user', parts: [{ text: '(continued)' }] },
      { role: 'model', parts: [{ text: 'I said' }, { text: 'more' }] },
      { role: 'user', parts: [{ text: '(continued)' }] },
    ]);
    expect(await contentsOf([user('')])).toEqual([{ role: 'user', parts: [{ text: '(empty)' }] }]);
  });

  it('hands a signature back unchanged and invents none in a message of its own', async () => {
    const own = assistant('', {
      tool_calls: [call('1', '{}', { gemini: { thoughtSignature: 'c2ln' } }), call('2', '{}')],
      provider_meta: { gemini: {} },
    });
    expect(await contentsOf([user('go'), own, result('1', '[1]'), result('2', '')])).toEqual([
      { role: 'user', parts: [{ text: 'go' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'local_fs_read_file', args: {} }, thoughtSignature: 'c2ln' },
          { functionCall: { name: 'local_fs_read_file', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'local_fs_read_file', response: { content: '[1]' } } },
          { functionResponse: { name: 'local_fs_read_file', response: { content: '' } } },
        ],
      },
    ]);
  });

  it('hands back the ids that the service gave, on calls and results, where they pair anything', async () => {
    const own = (id: string, given: string) => call(id, '{}', { gemini: { id: given, thoughtSignature: 'c2ln' } });
    const messages = [
      user('go'),
      assistant('', { tool_calls: [own('1', 'g1'), own('2', 'twice')], provider_meta: { gemini: {} } }),
      result('1', 'a'),
      result('2', 'b'),
      assistant('', { tool_calls: [own('3', 'twice'), call('4', '{}')], provider_meta: { gemini: {} } }),
      result('3', 'c'),
      result('4', 'd'),
    ];
    const refusal = 'Invalid JSON payload received. Unknown name "id" at \'contents[1].parts[0].function_call\'';
    const { model } = await start('gemini', inTurn(ok, answers(400, { error: { code: 400, message: refusal } }), ok));
    await collect(model, request({ messages }));
    const idsOf = (sent: unknown) => JSON.stringify(sent).match(/"id":"\w+"/g);
    expect(idsOf(body()['contents'])).toEqual(['"id":"g1"', '"id":"g1"']);
    // A service that does not know them is asked without.
    expect(await collect(model, request({ messages }))).toContainEqual({ kind: 'text', text: 'ok' });
    expect(idsOf(body(2)['contents'])).toBeNull();
  });

  it('gives the first call of a message a signature where the model refuses one without', async () => {
    const own = assistant('', { tool_calls: [call('1', '{}'), call('2', '{}')], provider_meta: { gemini: {} } });
    const messages = [user('go'), own, result('1', 'a'), result('2', 'b')];
    const { model } = await start('gemini', ok);
    await collect(model, request({ messages, model: 'gemini-3-pro' }));
    await collect(model, request({ messages, model: 'gemini-2.5-flash' }));
    const signed = [0, 1].map((index) => JSON.stringify(body(index)['contents']).match(/skip_thought_signature/g));
    expect(signed).toEqual([['skip_thought_signature'], null]);
  });

  it('returns the signature that a reply gave', async () => {
    const signed = frame({
      candidates: [
        { content: { parts: [{ text: 'hi' }, { text: '', thoughtSignature: 'dGV4dA' }] }, finishReason: 'STOP' },
      ],
    });
    const { model } = await start('gemini', inTurn(sends('gemini', signed), ok));
    const parts = merged(await collect(model));
    expect(parts[1]).toEqual({ kind: 'meta', provider_meta: { gemini: { text_signature: 'dGV4dA' } } });
    const reply = assistant('hi', { provider_meta: { gemini: { text_signature: 'dGV4dA' } } });
    await collect(model, request({ messages: [user('a'), reply, user('b')] }));
    expect(body(1)['contents']).toMatchObject([{}, { parts: [{ text: 'hi', thoughtSignature: 'dGV4dA' }] }, {}]);
  });

  it('declares a tool without parameters as such', async () => {
    const { model } = await start('gemini', ok);
    const bare = { ...readFile, input_schema: { type: 'object', properties: {}, additionalProperties: false } };
    await collect(model, request({ tools: [bare] }));
    expect(body()['tools']).toEqual([
      { functionDeclarations: [{ name: 'local_fs_read_file', description: 'Reads a file.' }] },
    ]);
  });

  it.each([
    ['gemini-2.5-flash', 'auto', { includeThoughts: true }],
    ['gemini-2.5-flash', 'off', { thinkingBudget: 0 }],
    ['gemini-2.5-flash', 'low', { thinkingBudget: 1024, includeThoughts: true }],
    ['gemini-2.5-flash', 'high', { thinkingBudget: 24_576, includeThoughts: true }],
    ['gemini-2.5-flash', 'xhigh', { thinkingBudget: -1, includeThoughts: true }],
    ['gemini-3-pro-preview', 'off', { thinkingLevel: 'minimal' }],
    ['gemini-3-pro-preview', 'medium', { thinkingLevel: 'medium', includeThoughts: true }],
    ['gemini-3-pro-preview', 'xhigh', { thinkingLevel: 'high', includeThoughts: true }],
  ] as const)('sends for %s at %s: %j', async (name, think, expected) => {
    const { model } = await start('gemini', ok, { capabilities: { think: true } });
    await collect(model, request({ model: name, think }));
    expect(body()['generationConfig']).toEqual({ thinkingConfig: expected });
  });

  it('sends no thinking settings to a model that does not think', async () => {
    const { model } = await start('gemini', ok);
    expect((await collect(model, request({ think: 'low' })))[0]).toMatchObject({ code: 'think_unsupported' });
    expect(body()).not.toHaveProperty('generationConfig');
  });

  it('puts the instruction in front of the first message where a model knows none', async () => {
    const refusal = { error: { code: 400, message: 'Developer instruction is not enabled for models/gemma-3-27b-it' } };
    const { model } = await start('gemini', inTurn(answers(400, refusal), ok));
    await collect(model, request({ system: 'be kind', messages: [user('hi')] }));
    expect(body(1)).toEqual({ contents: [{ role: 'user', parts: [{ text: 'be kind' }, { text: 'hi' }] }] });
  });

  it('repeats once without a budget that the server refuses', async () => {
    const refusal = answers(400, {
      error: {
        code: 400,
        message: 'Budget 0 is invalid. This model only works in thinking mode.',
        status: 'INVALID_ARGUMENT',
      },
    });
    const { model } = await start('gemini', inTurn(refusal, ok), { capabilities: { think: true } });
    const parts = await collect(model, request({ model: 'gemini-2.5-pro', think: 'off' }));
    expect(parts.map((part) => part.kind)).toEqual(['notice', 'text', 'finish']);
    expect(body(1)).not.toHaveProperty('generationConfig');
  });
});

describe('reply of a Gemini server', () => {
  const reads = async (...frames: readonly unknown[]) => {
    const { model } = await start('gemini', sends('gemini', frames.map(frame).join('')));
    return merged(await collect(model));
  };

  it.each(['SAFETY', 'RECITATION', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII', 'IMAGE_SAFETY'])(
    'finishes %s with content_filter',
    async (finishReason) => {
      expect(await reads({ candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason }] })).toEqual([
        { kind: 'text', text: 'a' },
        { kind: 'finish', reason: 'content_filter' },
      ]);
    },
  );

  it('finishes MAX_TOKENS with length and an unknown reason with other', async () => {
    expect((await reads({ candidates: [{ finishReason: 'MAX_TOKENS' }] })).at(-1)).toEqual({
      kind: 'finish',
      reason: 'length',
    });
    await close();
    expect((await reads({ candidates: [{ finishReason: 'LANGUAGE' }] })).at(-1)).toEqual({
      kind: 'finish',
      reason: 'other',
    });
  });

  it('is whole where the connection is lost behind its last piece, not where every piece gives a reason', async () => {
    const piece = (text: string, reason: object) =>
      frame({ candidates: [{ content: { parts: [{ text }] }, ...reason }] });
    const reason = { finishReason: 'STOP' };
    const lost = async (stream: string) => {
      const { model } = await start(
        'gemini',
        (_request, response) => void response.write(stream, () => void passed().then(() => response.destroy())),
      );
      const parts = await collect(model);
      await close();
      return parts.at(-1);
    };
    expect(await lost(piece('a', {}) + piece('b', reason))).toEqual({ kind: 'finish', reason: 'stop' });
    expect(await lost(piece('a', reason))).toMatchObject({ kind: 'error', error: { class: 'server_error' } });
  });

  it('reads a part that holds text and a call', async () => {
    const content = { parts: [{ text: 'see', functionCall: { name: 'x' } }] };
    expect(await reads({ candidates: [{ content, finishReason: 'STOP' }] })).toMatchObject([
      { kind: 'text', text: 'see' },
      { kind: 'tool_call', name: 'x', arguments_delta: '{}' },
      { kind: 'meta' },
      { kind: 'finish', reason: 'tool_calls' },
    ]);
  });

  it('takes one of several candidates', async () => {
    const of = (text: string, index: number, more = {}) => ({ index, content: { parts: [{ text }] }, ...more });
    expect(
      await reads(
        { candidates: [of('a', 0), of('x', 1)] },
        { candidates: [of('y', 1, { finishReason: 'MAX_TOKENS' })] },
        { candidates: [{ content: { parts: [{ text: 'b' }] }, finishReason: 'STOP' }] },
      ),
    ).toEqual([
      { kind: 'text', text: 'ab' },
      { kind: 'finish', reason: 'stop' },
    ]);
  });

  it('calls a blocked prompt content_filter', async () => {
    expect(await reads({ promptFeedback: { blockReason: 'SAFETY' } })).toMatchObject([
      { kind: 'error', error: { class: 'content_filter' } },
    ]);
  });

  it.each([
    ['MALFORMED_FUNCTION_CALL', 'a malformed function call: print(x)'],
    ['UNEXPECTED_TOOL_CALL', 'a reply that ends with UNEXPECTED_TOOL_CALL: print(x)'],
  ])('calls %s malformed, and says what the service says', async (finishReason, words) => {
    expect(await reads({ candidates: [{ finishReason, finishMessage: 'print(x)' }] })).toEqual([
      { kind: 'error', error: { class: 'malformed', message: `backend "b" sent ${words}` } },
    ]);
  });

  it('takes an error that is null for none', async () => {
    const candidate = { content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' };
    expect(await reads({ error: null, candidates: [candidate] })).toMatchObject([{ kind: 'text' }, { kind: 'finish' }]);
  });

  it.each([
    [[], 'overloaded', undefined],
    [
      [
        { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [] },
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' },
      ],
      'rate_limit',
      34_500,
    ],
  ])('reads an exhausted resource with details %j as %s', async (details, expected, wait) => {
    const error = { code: 429, message: 'exhausted', status: 'RESOURCE_EXHAUSTED', details };
    const { model } = await start('gemini', answers(429, [{ error }]));
    const [part] = await collect(model);
    expect(part).toMatchObject({ kind: 'error', error: { class: expected, status: 429 } });
    expect(part?.kind === 'error' ? part.error.retry_after_ms : null).toBe(wait);
  });

  it('reads a token count above the limit as context_exceeded', async () => {
    const error = {
      code: 400,
      message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      status: 'INVALID_ARGUMENT',
    };
    const { model } = await start('gemini', answers(400, { error }));
    expect(await collect(model)).toMatchObject([{ kind: 'error', error: { class: 'context_exceeded' } }]);
  });
});
