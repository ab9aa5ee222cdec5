import { describe, expect, it, vi } from 'vitest';
import type { ModelPart } from '../../src/models/model.ts';
import { assistant, call, result, user } from './conversation.ts';
import { recordedStreams } from './streams.ts';
import {
  answers,
  collect,
  contentTypes,
  type Handler,
  harness,
  inTurn,
  merged,
  passed,
  oneHarness,
  request,
  sends,
  type WireType,
} from './wire-server.ts';

/** What every adapter has to do, whatever its wire looks like (08 §7, §9.2, §9.4). */
const types: readonly WireType[] = [
  'openai',
  'responses',
  'vllm',
  'openai-compatible',
  'ollama',
  'gemini',
  'anthropic',
];

const firstText: Readonly<Record<WireType, string>> = {
  openai: 'data: {"choices":[{"delta":{"content":"part"}}]}\n\n',
  responses: 'data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"part"}\n\n',
  vllm: 'data: {"choices":[{"delta":{"content":"part"}}]}\n\n',
  'openai-compatible': 'data: {"choices":[{"delta":{"content":"part"}}]}\n\n',
  ollama: '{"message":{"role":"assistant","content":"part"},"done":false}\n',
  gemini: 'data: {"candidates":[{"content":{"parts":[{"text":"part"}],"role":"model"}}]}\n\n',
  anthropic:
    'data: {"type":"message_start","message":{"usage":{"input_tokens":0}}}\n\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"part"}}\n\n',
};

const lastFrames: Readonly<Record<WireType, string>> = {
  openai: 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  responses: 'data: {"type":"response.completed","response":{"status":"completed","output":[],"usage":null}}\n\n',
  vllm: 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  'openai-compatible': 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  ollama: '{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}\n',
  gemini: 'data: {"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]}\n\n',
  anthropic: 'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\ndata: {"type":"message_stop"}\n\n',
};

const midStreamError: Readonly<Record<WireType, string>> = {
  openai: 'data: {"error":{"message":"boom","type":"server_error","code":null}}\n\n',
  responses: 'data: {"type":"error","code":"server_error","message":"boom","param":null,"sequence_number":4}\n\n',
  vllm: 'data: {"object":"error","message":"boom","type":"InternalServerError","code":500}\n\n',
  'openai-compatible': 'data: {"error":{"message":"boom","code":502}}\n\n',
  ollama: '{"error":"llama runner process has terminated: boom"}\n',
  gemini: 'data: {"error":{"code":500,"message":"boom","status":"INTERNAL"}}\n\n',
  anthropic: 'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"boom"}}\n\n',
};

const text: ModelPart = { kind: 'text', text: 'part' };

/** Sends the first text and then leaves the connection to the test. */
const startsOnly =
  (type: WireType, then: (response: Parameters<Handler>[1]) => void = () => {}): Handler =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': contentTypes[type] });
    response.write(firstText[type], () => void passed().then(() => then(response)));
  };

const { start } = oneHarness();

describe.each(types)('adapter %s', (type) => {
  const whole = firstText[type] + lastFrames[type];

  it('uses one connection for one turn after another', async () => {
    const { model, server } = await start(type, sends(type, whole));
    for (let turn = 0; turn < 5; turn += 1) {
      expect((await collect(model)).at(-1)).toEqual({ kind: 'finish', reason: 'stop' });
      await passed();
    }
    expect(server.sockets).toHaveLength(1);
  });

  it('writes nothing to the console', async () => {
    const written = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')];
    const { model } = await start(
      type,
      inTurn(sends(type, `${firstText[type]}data: {"cut\n\n{"cut\n`), answers(500, 'x')),
    );
    await collect(model);
    await collect(model);
    for (const spy of written) {
      expect(spy).not.toHaveBeenCalled();
      spy.mockRestore();
    }
  });

  it('keeps the text before an error inside the stream', async () => {
    const { model } = await start(type, sends(type, firstText[type] + midStreamError[type] + lastFrames[type]));
    const parts = merged(await collect(model));
    expect(parts[0]).toEqual(text);
    expect(parts[1]).toMatchObject({ kind: 'error', error: { class: 'server_error' } });
    expect(parts).toHaveLength(2);
  });

  it('calls undecodable data malformed', async () => {
    const broken = type === 'ollama' ? '{"message":\n' : 'data: {"choices":\n\n';
    const { model } = await start(type, sends(type, firstText[type] + broken + lastFrames[type]));
    const parts = merged(await collect(model));
    expect(parts[0]).toEqual(text);
    expect(parts[1]).toMatchObject({ kind: 'error', error: { class: 'malformed' } });
    expect(parts).toHaveLength(2);
  });

  it('calls data that are nested without end malformed, in words that say so', async () => {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const calls: Partial<Record<WireType, string>> = {
      ollama: `{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":${deep}}}]}}\n`,
      gemini: `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${deep}}}]}}]}\n\n`,
    };
    const { model } = await start(type, sends(type, firstText[type] + (calls[type] ?? `data: ${deep}\n\n`)));
    const parts = merged(await collect(model));
    expect(parts[1]).toMatchObject({ kind: 'error', error: { class: 'malformed' } });
    expect(JSON.stringify(parts[1])).toContain('sent data nested deeper than 500 levels');
  });

  it('sends a call on whose arguments are nested too deep to be written again', async () => {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const { model, server } = await start(type, sends(type, whole));
    const messages = [user('go'), assistant('', { tool_calls: [call('c1', deep)] }), result('c1', 'no')];
    expect((await collect(model, request({ messages }))).at(-1)).toEqual({ kind: 'finish', reason: 'stop' });
    expect(server.requests).toHaveLength(1);
  });

  it('calls a stream without its end malformed', async () => {
    const { model } = await start(type, sends(type, firstText[type]));
    const parts = await collect(model);
    expect(parts[0]).toEqual(text);
    expect(parts[1]).toMatchObject({ kind: 'error', error: { class: 'malformed' } });
    expect(parts).toHaveLength(2);
  });

  it('calls an empty body malformed', async () => {
    const { model } = await start(type, sends(type, ''));
    expect(await collect(model)).toMatchObject([{ kind: 'error', error: { class: 'malformed' } }]);
  });

  it('calls a connection that drops after the first byte server_error', async () => {
    const { model } = await start(
      type,
      startsOnly(type, (response) => response.socket?.destroy()),
    );
    const parts = await collect(model);
    expect(parts).toEqual([
      text,
      {
        kind: 'error',
        error: { class: 'server_error', message: 'backend "b" dropped the connection during its reply' },
      },
    ]);
  });

  it('calls a connection that drops before a byte connect', async () => {
    const { model } = await start(type, (_request, response) => response.socket?.destroy());
    const parts = await collect(model);
    expect(parts).toMatchObject([{ kind: 'error', error: { class: 'connect' } }]);
  });

  it('ends with cancelled on abort, and the server sees the connection close', async () => {
    const { model, server } = await start(type, startsOnly(type));
    const stop = new AbortController();
    const parts: ModelPart[] = [];
    const closed = server.nextClose();
    for await (const part of model.stream(request(), stop.signal)) {
      parts.push(part);
      stop.abort();
    }
    expect(parts).toEqual([
      text,
      { kind: 'error', error: { class: 'cancelled', message: 'the model call was cancelled' } },
    ]);
    await closed;
  });

  it('gives nothing more after an abort, even when it has arrived', async () => {
    const { model } = await start(type, sends(type, whole));
    const stop = new AbortController();
    const kinds: string[] = [];
    for await (const part of model.stream(request(), stop.signal)) {
      kinds.push(part.kind === 'error' ? part.error.class : part.kind);
      stop.abort();
    }
    expect(kinds).toEqual(['text', 'cancelled']);
  });

  it('closes the connection when its reader leaves', async () => {
    const { model, server } = await start(type, startsOnly(type));
    const closed = server.nextClose();
    for await (const part of model.stream(request(), new AbortController().signal)) {
      expect(part).toEqual(text);
      break;
    }
    await closed;
  });

  it('sends nothing when it is aborted before it begins', async () => {
    const { model, server } = await start(type, sends(type, whole));
    const parts = await collect(model, request(), AbortSignal.abort());
    expect(parts).toMatchObject([{ kind: 'error', error: { class: 'cancelled' } }]);
    expect(server.requests).toHaveLength(0);
  });

  it('names the first-byte limit when a server accepts and stays silent', async () => {
    const { model } = await start(type, () => {}, { timeouts: { connect_ms: 9000, first_byte_ms: 30, idle_ms: 9000 } });
    expect(await collect(model)).toEqual([
      {
        kind: 'error',
        error: { class: 'timeout', message: 'backend "b" sent no reply within 0.03 s (first byte limit)' },
      },
    ]);
  });

  it('counts headers without a body as silence', async () => {
    const silent: Handler = (_request, response) => {
      response.writeHead(200, { 'content-type': contentTypes[type] });
      response.flushHeaders();
    };
    const { model } = await start(type, silent, { timeouts: { connect_ms: 9000, first_byte_ms: 30, idle_ms: 9000 } });
    expect(await collect(model)).toMatchObject([{ kind: 'error', error: { class: 'timeout' } }]);
  });

  it('names the idle limit when a stream stalls', async () => {
    const { model } = await start(type, startsOnly(type), {
      timeouts: { connect_ms: 9000, first_byte_ms: 9000, idle_ms: 30 },
    });
    expect(await collect(model)).toEqual([
      text,
      { kind: 'error', error: { class: 'timeout', message: 'backend "b" sent nothing more for 0.03 s (idle limit)' } },
    ]);
  });

  it.each([
    [401, { error: { message: 'no' } }, 'auth'],
    [403, { error: { message: 'no' } }, 'permission'],
    [404, { error: { message: "model 'm' not found" } }, 'model_not_found'],
    [404, 'page gone', 'invalid_request'],
    [408, '', 'timeout'],
    [429, { error: { message: 'slow down' } }, 'rate_limit'],
    [429, { error: { message: 'used up', type: 'insufficient_quota', code: 'insufficient_quota' } }, 'quota'],
    [402, '', 'quota'],
    [400, { error: { message: "This model's maximum context length is 4096 tokens" } }, 'context_exceeded'],
    [400, { error: 'registry.ollama.ai/library/m does not support tools' }, 'no_tool_support'],
    [422, { error: { message: 'odd' } }, 'invalid_request'],
    [500, '<html><body>Internal</body></html>', 'server_error'],
    [503, '', 'overloaded'],
    [504, '', 'timeout'],
    [529, { type: 'error', error: { type: 'overloaded_error', message: 'busy' } }, 'overloaded'],
  ])('classes status %i with %j as %s', async (status, body, expected) => {
    const { model, server } = await start(type, answers(status, body));
    expect(await collect(model)).toMatchObject([{ kind: 'error', error: { class: expected, status } }]);
    expect(server.requests).toHaveLength(1);
  });

  it('reports when to try again and the request id', async () => {
    const { model } = await start(type, answers(429, {}, { 'retry-after': '2', 'x-request-id': 'req_7' }));
    expect(await collect(model)).toMatchObject([
      { kind: 'error', error: { class: 'rate_limit', retry_after_ms: 2000, request_id: 'req_7' } },
    ]);
  });

  it('takes no id that is its key, or more than a name', async () => {
    for (const id of ['sk-secret-key-1', 'a b', 'x'.repeat(300)]) {
      const { model } = await start(type, answers(500, {}, { 'x-request-id': id }));
      const [ended] = await collect(model);
      expect(ended).toMatchObject({ kind: 'error', error: { class: 'server_error' } });
      expect(ended).not.toHaveProperty('error.request_id');
    }
  });

  it('masks its key in an echo of the server', async () => {
    const { model } = await start(type, (asked, response) => {
      response.writeHead(400);
      response.end(`you sent ${JSON.stringify(asked.headers)}`);
    });
    const [part] = await collect(model);
    expect(JSON.stringify(part)).not.toContain('sk-secret-key-1');
    expect(JSON.stringify(part)).toContain('•••(b.key)');
  });

  it('does not follow a redirect to another origin, and its key is not sent there', async () => {
    const other = await harness('openai', () => {});
    const { model } = await start(type, (_request, response) => {
      response.writeHead(307, { location: `${other.server.url}/steal` });
      response.end();
    });
    const parts = await collect(model);
    expect(parts).toMatchObject([{ kind: 'error', error: { class: 'invalid_request', status: 307 } }]);
    expect(JSON.stringify(parts)).toContain(`redirected to ${other.server.url}`);
    expect(other.server.requests).toEqual([]);
    await other.close();
  });

  it('follows a redirect of the same origin with the same body', async () => {
    const { model, server } = await start(
      type,
      inTurn(
        (_request, response) => {
          response.writeHead(308, { location: '/moved' });
          response.end();
        },
        sends(type, whole),
      ),
    );
    expect(merged(await collect(model))).toEqual([text, { kind: 'finish', reason: 'stop' }]);
    expect(server.requests[1]?.path).toBe('/moved');
    expect(server.requests[1]?.body).toEqual(server.requests[0]?.body);
  });

  it('gives up after three redirects', async () => {
    const { model, server } = await start(type, (_request, response) => {
      response.writeHead(307, { location: '/again' });
      response.end();
    });
    expect(await collect(model)).toMatchObject([{ kind: 'error', error: { class: 'invalid_request' } }]);
    expect(server.requests).toHaveLength(4);
  });

  it('sends registered headers, but not in place of its key', async () => {
    const headers = { 'X-Team': 'blue', authorization: 'mine', 'x-api-key': 'mine', 'X-Goog-Api-Key': 'mine' };
    const { model, server } = await start(type, sends(type, whole), { headers });
    await collect(model);
    const sent = server.requests[0]?.headers ?? {};
    expect(sent['x-team']).toBe('blue');
    expect(sent['user-agent']).toBe('reins/dev');
    const keys = { gemini: 'x-goog-api-key', anthropic: 'x-api-key' } as const;
    const name = type === 'gemini' || type === 'anthropic' ? keys[type] : 'authorization';
    expect(sent[name]).toBe(name === 'authorization' ? 'Bearer sk-secret-key-1' : 'sk-secret-key-1');
  });

  it('makes content well-formed before it is sent', async () => {
    const { model, server } = await start(type, sends(type, whole));
    await collect(model, request({ system: 'a\ud800b', messages: request().messages }));
    expect(JSON.stringify(server.requests[0]?.body)).toContain('a\ufffdb');
  });

  it('drops an empty assistant message and joins all system text', async () => {
    const { model, server } = await start(type, sends(type, whole));
    const [hello] = request().messages;
    await collect(
      model,
      request({
        system: 'first',
        messages: [
          { ...hello!, id: '0', role: 'system', content: 'second' },
          hello!,
          { ...hello!, id: '2', role: 'assistant', content: '' },
          { ...hello!, id: '3', content: 'again' },
        ],
      }),
    );
    const sent = JSON.stringify(server.requests[0]?.body);
    expect(sent).toContain('first\\n\\nsecond');
    expect(sent).not.toContain('assistant');
    expect(sent).not.toContain('"model",');
  });
});

describe('every recorded stream', () => {
  it('ends in exactly one finish, the last part', () => {
    for (const { parts } of recordedStreams) {
      expect(parts.filter((part) => part.kind === 'finish')).toHaveLength(1);
      expect(parts.at(-1)?.kind).toBe('finish');
    }
  });
});
