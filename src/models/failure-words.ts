import type { ProviderErrorClass } from './model.ts';

/** How servers name the length that a request did not fit. */
export const contextLengths: readonly RegExp[] = [
  // Not "exceeded the context length by 3024 tokens".
  /context (?:length|size|window)(?:(?! by )[^0-9]){0,40}(\d{3,8})\b(?![,.]\d)/i,
  /(\d{3,8}) maximum context length/i,
  /configured limit of (\d{3,8}) tokens/i,
  /max(?:imum)? (?:model|prompt|allowed input) length (?:of |is )?(\d{3,8})\b/i,
  /model token limit:? ?(\d{3,8})\b/i,
  /> (\d{3,8}) maximum/,
  /context limit: \d+ \+ \d+ > (\d{3,8})\b/,
  /maximum number of tokens allowed \((\d{3,8})\)/,
];

/** Words of an error object that settle the class by themselves, whatever the status. */
export const classByWord: Readonly<Record<string, ProviderErrorClass>> = {
  insufficient_quota: 'quota',
  exceeded_current_quota_error: 'quota',
  arrearage: 'quota',
  billing_error: 'quota',
  billing_hard_limit_reached: 'quota',
  billing_not_active: 'quota',
  budget_exceeded: 'quota',
  quota_of_day: 'quota',
  overloaded_error: 'overloaded',
  server_is_overloaded: 'overloaded',
  context_length_exceeded: 'context_exceeded',
  tokens_limit_reached: 'context_exceeded',
  exceed_context_size_error: 'context_exceeded',
  // Groq: the model wrote a call or an answer that the service could not read; asked again, it writes it better.
  tool_use_failed: 'malformed',
  output_parse_failed: 'malformed',
  model_not_found: 'model_not_found',
  model_not_supported: 'model_not_found',
  model_decommissioned: 'model_not_found',
  invalid_model: 'model_not_found',
  deploymentnotfound: 'model_not_found',
  invalid_api_key: 'auth',
  authentication_error: 'auth',
  unauthenticated: 'auth',
  permission_error: 'permission',
  permission_denied: 'permission',
  key_model_access_denied: 'permission',
  rate_limit_error: 'rate_limit',
  rate_limit_exceeded: 'rate_limit',
  content_filter: 'content_filter',
  content_policy_violation: 'content_filter',
};

/** Words that settle it only where the status does not (an error inside a stream has none). */
export const classByLooseWord: Readonly<Record<string, ProviderErrorClass>> = {
  api_error: 'server_error',
  server_error: 'server_error',
  internal_server_error: 'server_error',
  internalservererror: 'server_error',
  internal: 'server_error',
  unavailable: 'overloaded',
  timeout_error: 'timeout',
  deadline_exceeded: 'timeout',
  not_found_error: 'model_not_found',
  // OpenAI, of what its policy does not allow.
  invalid_prompt: 'content_filter',
};

/** Texts that name a class where status and words are only "bad request" or nothing (08 §9.2). */
export const classByText: readonly (readonly [RegExp, ProviderErrorClass])[] = [
  // Ollama, llama.cpp, Groq: what a model wrote follows, so nothing behind it is looked at. Asked again, it writes it better.
  [
    /^(error parsing tool call|failed to parse (input at pos|xml)|xml syntax error|expected element type|tool call validation failed)/i,
    'malformed',
  ],
  [
    /(prompt|input) (is )?too long|context[ _-]?(length|window|size|limit)|too many (input )?tokens(?!, please)|token count.{0,40}exceeds|exceeds? the (available|maximum).{0,20}(context|tokens|input length)/i,
    'context_exceeded',
  ],
  // The same of xAI, vLLM, Text Generation Inference, Qwen, Moonshot, Groq, GitHub and Zhipu.
  [
    /max(imum)? (prompt|model) length|max_(model|seq)_len|tokens \+ `max_new_tokens`|range of input length|model token limit|tokens per minute.{0,80}requested|tokens_limit_reached|max size: \d+ tokens|reduce the length of the (messages|prompt|input)|prompt exceeds max length/i,
    'context_exceeded',
  ],
  [
    /(do(es)?n'?t|do(es)? not|not) support (tool|function)|tools? (use |calling )?(is|are) not supported|tools param requires|support tool use|enable-auto-tool-choice|function calling is not (enabled|supported)|function tools.{0,80}not supported/i,
    'no_tool_support',
  ],
  [
    /model.{0,200}(not found|does not exist|doesn't exist|not exist\b|is not available)|unknown model|no such model/i,
    'model_not_found',
  ],
  // The same of OpenRouter, LM Studio, LiteLLM, Bedrock and Groq.
  [
    /not a valid model\b|no endpoints found for|no models? (is |are )?loaded|invalid model( name| id(entifier)?)?\b(?! (param|config|input|output|option|response))|model identifier is invalid|has been decommissioned/i,
    'model_not_found',
  ],
  [
    /(do(es)? not|doesn't|not) support (image|vision|multimodal)|image (input|url).{0,30}not supported|not a (vision|multimodal) model|missing data required for image input|no endpoints found that support image/i,
    'unsupported',
  ],
  // LM Studio answers 400; asked again, it loads the model anew.
  [/\bmodel (has )?(unloaded|crashed)|unloaded or crashed/i, 'server_error'],
  [/api[ _]key (not (valid|found)|expired)|invalid api key|incorrect api key/i, 'auth'],
  [/insufficient_quota|billing|credit balance/i, 'quota'],
];

/** A limit that no wait of a run outlasts, of OpenRouter and Ollama. */
export const usedUp = /free-models-per-day|\b(session|hourly|daily|weekly|monthly) usage limit/i;

/** Texts of a server that names no status: Ollama's error lines, mid-stream errors. */
export const classByLooseText: readonly (readonly [RegExp, ProviderErrorClass])[] = [
  [/overloaded|server busy|too many requests|try again later/i, 'overloaded'],
  [/rate ?limit/i, 'rate_limit'],
  [/unauthorized/i, 'auth'],
  [/timed? ?out/i, 'timeout'],
  [/runner|out of memory|cuda|internal (server )?error|unexpected eof|resource|crash|terminated/i, 'server_error'],
];
