/** The chain document (chapter 04) as it is after normalisation: aliases are gone, defaults are not filled in. */

export const handlers = [
  'chat_completion',
  'execute_tool_calls',
  'tools',
  'route',
  'prompt_to_string',
  'prompt_to_int',
  'prompt_to_float',
  'prompt_to_range',
  'prompt_to_condition',
  'noop',
  'raise_error',
] as const;
export type Handler = (typeof handlers)[number];

/** A Go duration string (`1m30s`) or whole nanoseconds (04 §4); `durationMs` of `chain/values.ts` reads it. */
export type Duration = string | number;

/** 04 §12. */
export type RetryPolicy = {
  readonly max_attempts?: number;
  readonly initial_backoff?: Duration;
  readonly max_backoff?: Duration;
  readonly jitter?: number;
  readonly rate_limit_min_wait?: Duration;
  readonly fallback_model_id?: string;
  readonly fallback_after?: number;
};

/** 04 §13.4. */
export type CompactPolicy = {
  readonly trigger_fraction?: number;
  readonly keep_recent?: number;
  readonly min_replaced_messages?: number;
  readonly max_failures?: number;
  readonly model?: string;
  readonly provider?: string;
};

/** 04 §5. Every string still holds its macros. */
export type ExecuteConfig = {
  readonly model?: string;
  readonly models?: readonly string[];
  readonly provider?: string;
  readonly providers?: readonly string[];
  readonly temperature?: number;
  /** A string is expanded and must then be a non-negative integer or empty. */
  readonly max_tokens?: number | string;
  readonly think?: string;
  /** Allowlist of 04 §11; absent, null and empty expose nothing. */
  readonly tools?: readonly string[] | null;
  readonly hide_tools?: readonly string[];
  readonly tools_policies?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly pass_clients_tools?: boolean;
  readonly shift?: boolean;
  readonly retry_policy?: RetryPolicy;
  readonly compact_policy?: CompactPolicy;
};

export const operators = [
  'equals',
  'contains',
  'starts_with',
  'ends_with',
  'gt',
  'lt',
  'in_range',
  'edge_traversed_at_least',
  'default',
] as const;
export type Operator = (typeof operators)[number];

export const composeStrategies = ['override', 'merge_chat_histories', 'append_string_to_chat_history'] as const;
export type ComposeStrategy = (typeof composeStrategies)[number];

/** 04 §8.4. */
export type Compose = { readonly with_var: string; readonly strategy?: ComposeStrategy };

/** 04 §8. `goto` absent, empty or `end` ends the run. */
export type Branch = {
  readonly operator: Operator;
  readonly when?: string;
  readonly edge?: string;
  readonly goto?: string;
  readonly compose?: Compose;
};

export type Transition = { readonly on_failure?: string; readonly branches?: readonly Branch[] };

/** The one call of a `tools` task. Strings in `args` are templates, at any depth. */
export type ToolsBlock = {
  readonly name: string;
  readonly tool_name?: string;
  readonly args?: Readonly<Record<string, unknown>>;
};

/** 04 §4. */
export type Task = {
  readonly id: string;
  readonly handler: Handler;
  readonly description?: string;
  readonly system_instruction?: string;
  /** Sent as a message of the user's ahead of the history; in no history itself. */
  readonly preface?: string;
  readonly execute_config?: ExecuteConfig;
  readonly tools?: ToolsBlock;
  readonly prompt_template?: string;
  readonly output_template?: string;
  readonly print?: string;
  readonly input_var?: string;
  readonly input_max_bytes?: number;
  readonly valid_conditions?: Readonly<Record<string, boolean>>;
  readonly transition?: Transition;
  /** Per attempt. */
  readonly timeout?: Duration;
  readonly retry_on_failure?: number;
};

/** 04 §3. */
export type Chain = {
  readonly id: string;
  readonly description?: string;
  readonly debug?: boolean;
  readonly tasks: readonly Task[];
  /** Tokens, input plus output; 0 or negative = the model's own. */
  readonly token_limit?: number;
};

/** A finding of the loader (04 §16). `path` is a JSON Pointer, line and column count from 1, columns in characters. */
export type Finding = {
  readonly severity: 'error' | 'warning' | 'info';
  readonly code: string;
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
};

/** Types of task values (04 §6.1). */
export type DataType = 'any' | 'string' | 'bool' | 'int' | 'float' | 'json' | 'chat_history' | 'nil';

const modelHandlers: ReadonlySet<Handler> = new Set([
  'chat_completion',
  'route',
  'prompt_to_string',
  'prompt_to_int',
  'prompt_to_float',
  'prompt_to_range',
  'prompt_to_condition',
]);
export const isModelHandler = (handler: Handler): boolean => modelHandlers.has(handler);

/** Words of 08 §8 for the reasoning level, aliases included. */
const thinkLevels: Readonly<Record<string, 'auto' | 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh'>> = {
  '': 'auto',
  default: 'auto',
  auto: 'auto',
  off: 'off',
  false: 'off',
  none: 'off',
  no: 'off',
  '0': 'off',
  disabled: 'off',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  true: 'high',
  on: 'high',
  yes: 'high',
  '1': 'high',
  xhigh: 'xhigh',
  max: 'xhigh',
};

/** The level that a word means, ignoring case and surrounding blanks; null when it means none. */
export function thinkLevel(word: string): 'auto' | 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | null {
  const key = word.trim().toLowerCase();
  return Object.hasOwn(thinkLevels, key) ? (thinkLevels[key] ?? null) : null;
}
