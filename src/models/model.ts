import type { FinishReason, Message, ToolSpec, Usage } from '../schema/message.ts';
import type { Route } from '../schema/protocol.ts';

/** Provider error classes (08 §9.2). */
export type ProviderErrorClass =
  | 'cancelled'
  | 'timeout'
  | 'connect'
  | 'rate_limit'
  | 'overloaded'
  | 'server_error'
  | 'malformed'
  | 'empty_reply'
  | 'auth'
  | 'permission'
  | 'model_not_found'
  | 'context_exceeded'
  | 'quota'
  | 'content_filter'
  | 'no_tool_support'
  | 'unsupported'
  | 'invalid_request'
  | 'permanent';

export type ModelFailure = {
  readonly class: ProviderErrorClass;
  /** At most 1000 characters, secrets masked. */
  readonly message: string;
  readonly status?: number;
  readonly request_id?: string;
  readonly retry_after_ms?: number;
  /** Of `context_exceeded`: the context length that the server names. */
  readonly context_tokens?: number;
  /** Whatever its class, the same request would end the same way. */
  readonly futile?: true;
};

/** The reasoning levels of 08 §8; `auto` sends nothing. */
export type ThinkLevel = 'auto' | 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';

/** The neutral request of 08 §1. An absent member is unset and is not sent. */
export type ModelRequest = {
  readonly model: string;
  readonly system: string;
  /** Repaired history (04 §14.6): every call has exactly one result, system messages are in `system`. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly temperature?: number;
  readonly top_p?: number;
  readonly seed?: number;
  readonly max_tokens?: number;
  readonly stop?: readonly string[];
  readonly think: ThinkLevel;
  /** Ollama and local only. */
  readonly num_ctx?: number;
  /** Try number of this model call, from 1. */
  readonly attempt: number;
  /** Called when the request is made. Nothing of it is sent before the promise has resolved; absent: at once. */
  readonly leave?: () => Promise<void>;
};

/**
 * What a call yields (08 §7). Failures are parts, never throws; `error` ends the stream. On abort the stream ends
 * with `error` of class `cancelled`. Exactly one `finish` on success, after the last `usage`.
 */
export type ModelPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | {
      readonly kind: 'tool_call';
      readonly index: number;
      readonly id?: string;
      readonly name?: string;
      readonly arguments_delta?: string;
      readonly provider_meta?: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'usage'; readonly usage: Usage }
  /** `provider_meta`, here and on calls, is `{<backend type>: …}`: an adapter writes and reads its own type's member only. */
  | { readonly kind: 'meta'; readonly provider_meta: Readonly<Record<string, unknown>> }
  | { readonly kind: 'notice'; readonly code: string; readonly message: string }
  | { readonly kind: 'finish'; readonly reason: FinishReason }
  | { readonly kind: 'error'; readonly error: ModelFailure };

/** One backend type behind our contract. Connections are kept alive for the life of the instance. */
export type Model = {
  /** Streams one reply. Never throws; never writes to the console; never retries a failed call by itself. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
  /** Closes kept connections. */
  close(): void;
};

/** Makes the adapter of a route. Filled in by `workers/run-chain.ts` (architecture, section 9). */
export type CreateModel = (route: Route) => Promise<Model>;

/** A model as discovered or declared (08 §4); null = unknown. */
export type DiscoveredModel = {
  readonly name: string;
  readonly context: number | null;
  readonly max_output: number | null;
  readonly capabilities: Readonly<Partial<Record<Capability, boolean>>>;
  readonly digest?: string;
  readonly size_bytes?: number;
};
export type Capability = 'chat' | 'tools' | 'think' | 'vision' | 'embed';

/** What discovery needs of a backend (08 §4). `key` and `headers` are resolved values, as in a Route. */
export type DiscoverTarget = {
  /** Named in failures; the host of the URL when absent. */
  readonly backend?: string;
  readonly base_url: string;
  readonly key: string | null;
  /** Name of the variable that the key was read from. */
  readonly key_env?: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly proxy: string | null;
  /** Limit of the whole discovery (08 §9.4). */
  readonly timeout_ms: number;
  readonly workspace: string;
  /** Earlier findings: a model whose name and digest are unchanged is not asked for again. */
  readonly known?: readonly DiscoveredModel[];
};

/** `complete: false`: the server answers but cannot list, so any wanted name is an exact match there (08 §4.3). */
export type Discovery =
  | { readonly ok: true; readonly models: readonly DiscoveredModel[]; readonly complete: boolean }
  | { readonly ok: false; readonly failure: ModelFailure };
