import {
  array,
  boolean,
  enums,
  type Infer,
  literal,
  nullable,
  number,
  optional,
  record,
  string,
  type,
  unknown,
} from 'superstruct';

/** One requested call as stored in an assistant message (04 §6.3). `arguments` is JSON text, kept as the model wrote it. */
export const ToolCallPart = type({
  id: string(),
  type: literal('function'),
  function: type({ name: string(), arguments: string() }),
  /** Opaque; handed back to the provider type that made it, under that type's name. */
  provider_meta: optional(record(string(), unknown())),
});
export type ToolCallPart = Infer<typeof ToolCallPart>;

export const Image = type({
  data: string(),
  mime_type: string(),
  sha256: string(),
  name: optional(string()),
  /** How many there are, where `data` is kept elsewhere. */
  bytes: optional(number()),
});
export type Image = Infer<typeof Image>;

/** A message of a history, in storage, on ports and in events alike (04 §6.3). */
export const Message = type({
  id: string(),
  role: enums(['system', 'user', 'assistant', 'tool']),
  content: string(),
  timestamp: string(),
  thinking: optional(string()),
  images: optional(array(Image)),
  tool_calls: optional(array(ToolCallPart)),
  tool_call_id: optional(string()),
  /** `<tools>.<tool>` of the call that a tool message answers; wire formats such as Ollama's want it. */
  tool_name: optional(string()),
  is_error: optional(boolean()),
  /** Set when the text is only what arrived before a cancellation or a failure. */
  interrupted: optional(boolean()),
  provider_meta: optional(record(string(), unknown())),
});
export type Message = Infer<typeof Message>;

/** The value of type `chat_history` (04 §6.3). */
export const History = type({
  messages: array(Message),
  model: optional(nullable(string())),
  input_tokens: optional(number()),
  output_tokens: optional(number()),
  finish_reason: optional(nullable(string())),
});
export type History = Infer<typeof History>;

/** Tokens of one model call or a sum of them (08 §9.5). `output_tokens` includes reasoning, `input_tokens` cached ones. */
export const Usage = type({
  input_tokens: number(),
  output_tokens: number(),
  reasoning_tokens: number(),
  cached_input_tokens: number(),
  total_tokens: number(),
  estimated: boolean(),
});
export type Usage = Infer<typeof Usage>;

export const noUsage: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  cached_input_tokens: 0,
  total_tokens: 0,
  estimated: false,
};

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
    cached_input_tokens: a.cached_input_tokens + b.cached_input_tokens,
    total_tokens: a.total_tokens + b.total_tokens,
    estimated: a.estimated || b.estimated,
  };
}

/** A tool as a model or a chain sees it (05 §1.3). `input_schema` is JSON Schema. */
export const ToolSpec = type({
  tools: string(),
  tool: string(),
  description: string(),
  input_schema: record(string(), unknown()),
  /** For concurrency only, never for a decision. */
  read_only: boolean(),
});
export type ToolSpec = Infer<typeof ToolSpec>;

/**
 * Whether a tool reads files of this machine and does nothing else: nothing leaves, and a call that was found started
 * simply runs again (03 §11.5).
 */
export const readsFiles = ({ tools, read_only }: ToolSpec): boolean => tools === 'local_fs' && read_only;

/**
 * Whether a call that was found started is made again, because nobody can tell the second from the first: a server goes on
 * with a download, and what was said to a question stands in its ask.
 */
export const runsAgain = (spec: ToolSpec): boolean =>
  readsFiles(spec) || spec.tools === 'model_pull' || spec.tools === 'engine';

export const FinishReason = enums(['stop', 'tool_calls', 'length', 'content_filter', 'other']);
export type FinishReason = Infer<typeof FinishReason>;

/** What the result says of a call that had not been started when its run was stopped (07 §2.7). */
export const neverBegun = 'The run was stopped before this call began: it was not run.';
