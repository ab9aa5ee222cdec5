import type { FinishReason } from '../schema/message.ts';
import type { Capability, ProviderErrorClass, ThinkLevel } from './model.ts';

/** A text condition of 08 §6.2: a string is "contains", without case. */
export type TextMatcher =
  | string
  | {
      readonly equals?: string;
      readonly contains?: string | readonly string[];
      readonly any_of?: readonly string[];
      readonly starts_with?: string;
      readonly ends_with?: string;
      readonly regex?: string;
      readonly empty?: boolean;
      readonly not?: TextMatcher;
      readonly case?: boolean;
    };

export type NumberMatcher =
  | number
  | {
      readonly eq?: number;
      readonly lt?: number;
      readonly lte?: number;
      readonly gt?: number;
      readonly gte?: number;
    };

export type Match = {
  readonly role?: 'user' | 'assistant' | 'tool';
  readonly last_user?: TextMatcher;
  readonly last_assistant?: TextMatcher;
  readonly system?: TextMatcher;
  readonly any?: TextMatcher;
  readonly tool?: { readonly name?: TextMatcher; readonly content?: TextMatcher; readonly count?: NumberMatcher };
  readonly turn?: NumberMatcher;
  readonly user_turn?: NumberMatcher;
  readonly attempt?: NumberMatcher;
  readonly model?: TextMatcher;
  readonly offered?: readonly string[];
  readonly not_offered?: readonly string[];
  readonly images?: NumberMatcher;
  readonly think?: ThinkLevel;
};

export type Expect = Pick<Match, 'system' | 'last_user' | 'offered' | 'not_offered' | 'images' | 'think'> & {
  readonly messages?: NumberMatcher;
  readonly max_tokens?: NumberMatcher;
  readonly temperature?: NumberMatcher;
  readonly num_ctx?: NumberMatcher;
};

export type Chunk = 'word' | 'char' | 'line' | 'none' | number;

export type UsageForm =
  | 'estimate'
  | 'none'
  | {
      readonly input_tokens: number;
      readonly output_tokens: number;
      readonly reasoning_tokens?: number;
      readonly cached_input_tokens?: number;
    };

export type ErrorForm = {
  readonly class: ProviderErrorClass;
  readonly status?: number;
  readonly message?: string;
  readonly retry_after_ms?: number;
  readonly after_chars?: number;
};

export type ScriptStep =
  | { readonly text: string }
  | { readonly thinking: string }
  | { readonly wait_ms: number }
  | {
      readonly tool_call: {
        readonly index: number;
        readonly id?: string;
        readonly name?: string;
        readonly arguments?: string;
      };
    }
  | { readonly usage: UsageForm }
  | { readonly finish: FinishReason }
  | { readonly error: ErrorForm }
  | { readonly drop: true }
  | { readonly hang: true }
  | { readonly garbage: string };

export type ScriptCall = { readonly name: string; readonly arguments: unknown; readonly id?: string };

export type Pace = {
  readonly chunk?: Chunk;
  readonly delay_ms?: number;
  readonly first_delay_ms?: number;
  readonly usage?: UsageForm;
};

/** Exactly one form: spoken (`text`, `thinking`, `tool_calls`), `steps`, `error`, or `hang` alone (08 §6.3). */
export type Reply = Pace & {
  readonly text?: string | readonly string[];
  readonly thinking?: string | readonly string[];
  readonly tool_calls?: readonly ScriptCall[];
  readonly finish?: FinishReason;
  readonly steps?: readonly ScriptStep[];
  readonly error?: ErrorForm;
  readonly hang?: true;
  readonly expect?: Expect;
};

export type Turn = {
  readonly name: string;
  readonly match?: Match;
  readonly times?: number;
  readonly reply: Reply;
};

export type ScriptModel = {
  readonly name: string;
  readonly context?: number;
  readonly max_output?: number;
  readonly capabilities?: readonly Capability[];
};

export type Script = {
  readonly script: 1;
  readonly models: readonly ScriptModel[];
  readonly defaults?: Pace;
  readonly turns: readonly Turn[];
  readonly fallback?: Reply;
};
