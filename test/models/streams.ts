import type { ModelPart } from '../../src/models/model.ts';
import type { WireType } from './wire-server.ts';

/** Recorded replies, byte for byte, with what they mean. */
export type RecordedStream = {
  readonly name: string;
  readonly type: WireType;
  readonly raw: string;
  readonly parts: readonly ModelPart[];
};

const usage = (input: number, output: number, more: { reasoning?: number; cached?: number } = {}): ModelPart => ({
  kind: 'usage',
  usage: {
    input_tokens: input,
    output_tokens: output,
    reasoning_tokens: more.reasoning ?? 0,
    cached_input_tokens: more.cached ?? 0,
    total_tokens: input + output,
    estimated: false,
  },
});

export const recordedStreams: readonly RecordedStream[] = [
  {
    name: 'openai text with usage',
    type: 'openai',
    raw: `: keep-alive

data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}],"usage":null}

data: {"id":"c1","choices":[{"index":0,"delta":{"content":"Grüße "},"finish_reason":null}]}

data: {"id":"c1","choices":[{"index":0,"delta":{"content":"🌍!"},"finish_reason":null}]}

data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"id":"c1","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":7,"total_tokens":19,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":3}}}

data: [DONE]

`,
    parts: [
      { kind: 'text', text: 'Grüße 🌍!' },
      usage(12, 7, { reasoning: 3, cached: 4 }),
      { kind: 'finish', reason: 'stop' },
    ],
  },
  {
    name: 'openai two calls interleaved over two indexes',
    type: 'openai',
    raw: `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"local_fs_read_file","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"local_fs_read_file","arguments":"{\\"path\\":"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\\"path\\":\\"é\\"}"}},{"index":1,"function":{"arguments":"\\"b\\"}"}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

`,
    parts: [
      { kind: 'tool_call', index: 0, id: 'call_a', name: 'local_fs.read_file' },
      { kind: 'tool_call', index: 1, id: 'call_b', name: 'local_fs.read_file', arguments_delta: '{"path":' },
      { kind: 'tool_call', index: 0, arguments_delta: '{"path":"é"}' },
      { kind: 'tool_call', index: 1, arguments_delta: '"b"}' },
      { kind: 'finish', reason: 'tool_calls' },
    ],
  },
  {
    name: 'responses with sealed reasoning and two calls interleaved over two places',
    type: 'responses',
    raw: `event: response.created
data: {"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","error":null,"output":[],"usage":null},"sequence_number":0}

data: {"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}

data: {"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"hm 🤔"}

data: {"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA=","summary":[{"type":"summary_text","text":"hm 🤔"}]}}

data: {"type":"response.output_item.added","output_index":1,"item":{"id":"fc_1","type":"function_call","arguments":"","call_id":"call_a","name":"local_fs_read_file"}}

data: {"type":"response.output_item.added","output_index":2,"item":{"id":"fc_2","type":"function_call","arguments":"","call_id":"call_b","name":"local_fs_read_file"}}

data: {"type":"response.function_call_arguments.delta","item_id":"fc_2","output_index":2,"delta":"{\\"path\\":"}

data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":1,"delta":"{\\"path\\":\\"é\\"}"}

data: {"type":"response.function_call_arguments.delta","item_id":"fc_2","output_index":2,"delta":"\\"b\\"}"}

data: {"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":1,"arguments":"{\\"path\\":\\"é\\"}"}

event: response.completed
data: {"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","output":[],"usage":{"input_tokens":12,"input_tokens_details":{"cached_tokens":4},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":19}}}

`,
    parts: [
      { kind: 'thinking', text: 'hm 🤔' },
      { kind: 'tool_call', index: 0, id: 'call_a', name: 'local_fs.read_file' },
      { kind: 'tool_call', index: 1, id: 'call_b', name: 'local_fs.read_file', arguments_delta: '{"path":' },
      { kind: 'tool_call', index: 0, arguments_delta: '{"path":"é"}' },
      { kind: 'tool_call', index: 1, arguments_delta: '"b"}' },
      usage(12, 7, { reasoning: 3, cached: 4 }),
      {
        kind: 'meta',
        provider_meta: {
          openai: {
            backend: 'b',
            responses: {
              model: 'm',
              output: [
                {
                  type: 'reasoning',
                  summary: [{ type: 'summary_text', text: 'hm 🤔' }],
                  encrypted_content: 'gAAA=',
                },
                { type: 'function_call' },
                { type: 'function_call' },
              ],
            },
          },
        },
      },
      { kind: 'finish', reason: 'tool_calls' },
    ],
  },
  {
    name: 'compatible server with carriage returns, reasoning, no blank lines, no [DONE]',
    type: 'openai-compatible',
    raw: 'data:{"choices":[{"delta":{"reasoning":"hm 🤔"}}]}\r\ndata:{"choices":[{"delta":{"content":"ok"}}]}\r\n\r\nevent: x\r\nid: 7\r\ndata: {"choices":[{"delta":{"content":"."},"finish_reason":"length"}]}',
    parts: [
      { kind: 'thinking', text: 'hm 🤔' },
      { kind: 'text', text: 'ok.' },
      { kind: 'finish', reason: 'length' },
    ],
  },
  {
    name: 'vllm reasoning_content before text',
    type: 'vllm',
    raw: `data: {"choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"let me "}}]}

data: {"choices":[{"index":0,"delta":{"reasoning_content":"see"}}]}

data: {"choices":[{"index":0,"delta":{"content":"4"}}]}

data: {"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop","stop_reason":null}]}

data: {"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}

data: [DONE]

`,
    parts: [
      { kind: 'thinking', text: 'let me see' },
      { kind: 'text', text: '4' },
      { kind: 'finish', reason: 'stop' },
    ],
  },
  {
    name: 'ollama text with thinking',
    type: 'ollama',
    raw: `{"model":"m","created_at":"2026-01-02T10:00:00Z","message":{"role":"assistant","content":"","thinking":"über"},"done":false}
{"model":"m","message":{"role":"assistant","content":"Tschüß 👋"},"done":false}
{"model":"m","message":{"role":"assistant","content":" bye"},"done":false}
{"model":"m","message":{"role":"assistant","content":""},"done_reason":"stop","done":true,"total_duration":1,"prompt_eval_count":26,"eval_count":9}
`,
    parts: [
      { kind: 'thinking', text: 'über' },
      { kind: 'text', text: 'Tschüß 👋 bye' },
      usage(26, 9),
      { kind: 'finish', reason: 'stop' },
    ],
  },
  {
    name: 'ollama two calls that both say index 0',
    type: 'ollama',
    raw: `{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"index":0,"name":"local_fs_read_file","arguments":{"path":"a"}}}]},"done":false}
{"message":{"role":"assistant","content":"","tool_calls":[{"id":"call_9","function":{"index":0,"name":"unknown_tool","arguments":{}}}]},"done":false}
{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}
`,
    parts: [
      { kind: 'tool_call', index: 0, name: 'local_fs.read_file', arguments_delta: '{"path":"a"}' },
      { kind: 'tool_call', index: 1, id: 'call_9', name: 'unknown_tool', arguments_delta: '{}' },
      { kind: 'finish', reason: 'tool_calls' },
    ],
  },
  {
    name: 'gemini thoughts, text and a signed call',
    type: 'gemini',
    raw: 'data: {"candidates":[{"content":{"parts":[{"text":"plan ✓","thought":true}],"role":"model"},"index":0}]}\r\n\r\ndata: {"candidates":[{"content":{"parts":[{"text":"Näher "},{"text":"dran"}],"role":"model"}}]}\r\n\r\ndata: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"local_fs_read_file","args":{"path":"a"}},"thoughtSignature":"c2ln"}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":20,"candidatesTokenCount":5,"thoughtsTokenCount":6,"cachedContentTokenCount":8,"totalTokenCount":31}}\r\n\r\n',
    parts: [
      { kind: 'thinking', text: 'plan ✓' },
      { kind: 'text', text: 'Näher dran' },
      {
        kind: 'tool_call',
        index: 0,
        name: 'local_fs.read_file',
        arguments_delta: '{"path":"a"}',
        provider_meta: { gemini: { thoughtSignature: 'c2ln' } },
      },
      usage(20, 11, { reasoning: 6, cached: 8 }),
      { kind: 'meta', provider_meta: { gemini: {} } },
      { kind: 'finish', reason: 'tool_calls' },
    ],
  },
  {
    name: 'anthropic thinking, text and a call',
    type: 'anthropic',
    raw: `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m","usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":5,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"I öffne"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: ping
data: {"type": "ping"}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Reading 📄"}}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"local_fs_read_file","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\\"path\\":\\"a\\"}"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":40}}

event: message_stop
data: {"type":"message_stop"}

`,
    parts: [
      { kind: 'thinking', text: 'I öffne' },
      { kind: 'text', text: 'Reading 📄' },
      { kind: 'tool_call', index: 0, id: 'toolu_1', name: 'local_fs.read_file', arguments_delta: '{"path":"a"}' },
      usage(18, 40, { cached: 5 }),
      {
        kind: 'meta',
        provider_meta: { anthropic: { blocks: [{ type: 'thinking', thinking: 'I öffne', signature: 'EqQB' }] } },
      },
      { kind: 'finish', reason: 'tool_calls' },
    ],
  },
];
