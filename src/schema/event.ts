import type { InstructionsView } from './instructions.ts';
import type { FinishReason, Message, Usage } from './message.ts';

/**
 * Events of a run (04 §18, the owner of every name here). The engine emits its own; the gate and the supervisor add
 * theirs; main numbers and stores them. `step_chunk` and `tool_output` are never stored.
 */

/** Inside a task. */
export type InTask = { readonly task_id: string; readonly task_handler: string; readonly attempt: number };

export type StepError = { readonly class: string; readonly message: string };

/** 04 §17: one attempt at a task. Histories in `input` and `output` are message ranges, not copies. */
export type CapturedStep = InTask & {
  readonly index: number;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly input_type: string;
  readonly output_type: string | null;
  readonly input_var: string;
  readonly eval: string | null;
  readonly next: string | null;
  readonly input: unknown;
  readonly output: unknown;
  readonly partial: unknown;
  readonly provider: string | null;
  readonly backend: string | null;
  readonly model: string | null;
  readonly model_digest: string | null;
  readonly tool_names: readonly string[];
  readonly usage: {
    readonly prompt: number;
    readonly completion: number;
    readonly total: number;
    readonly estimated: boolean;
  } | null;
  readonly finish_reason: string | null;
  readonly retries: number;
  readonly cancelled: boolean;
  readonly timed_out: boolean;
  readonly error: StepError | null;
  /** Members that are not stored whole. */
  readonly truncated?: readonly string[];
};

/** What crosses from the worker. Of the kinds in `Unpublished` nobody outside hears: they are for the record, or for main. */
export type EngineEvent =
  | (InTask & { readonly kind: 'step_started'; readonly input_type: string; readonly input_var: string })
  | (InTask & {
      readonly kind: 'step_chunk';
      readonly content?: string;
      readonly thinking?: string;
      readonly index: number;
      /** All of the message so far, for who begins to look in the middle of it: it replaces what is known. */
      readonly from_start?: true;
    })
  | (InTask & {
      readonly kind: 'step_stream_end';
      readonly chunk_count: number;
      readonly finish_reason: FinishReason | 'cancelled' | null;
      readonly usage: Usage;
    })
  | (InTask & {
      readonly kind: 'step_completed';
      readonly output_type: string;
      readonly eval: string;
      readonly next: string;
      readonly duration_ms: number;
    })
  | (InTask & {
      readonly kind: 'step_failed';
      readonly error: StepError;
      readonly will_retry: boolean;
      readonly on_failure?: string;
      readonly duration_ms: number;
    })
  /**
   * `number` is the message's place in the run, from 1, base messages included. `working`: part of the run's working
   * history only (a compaction summary, a cut copy): kept with the run, not in the session, not shown (07 §2.9).
   */
  | (InTask & {
      readonly kind: 'message';
      readonly number: number;
      readonly message: Message;
      readonly working?: true;
    })
  | (InTask & {
      readonly kind: 'model_selected';
      readonly provider: string;
      readonly backend: string;
      readonly model: string;
      readonly context_length: number | null;
      readonly limit: number | null;
    })
  | (InTask & {
      readonly kind: 'model_retry';
      readonly class: string;
      readonly message: string;
      readonly wait_ms: number;
      readonly next_attempt: number;
      readonly model: string;
    })
  | (InTask & {
      readonly kind: 'token_usage';
      readonly prompt: number;
      readonly completion: number;
      readonly total: number;
      readonly estimated: boolean;
      readonly run_total: number;
      readonly limit: number | null;
    })
  /** The request that the host let go is over, or is not wanted any more. Not stored. */
  | { readonly kind: 'request_over' }
  /** Counts one accepted model call toward the bounds of 02 §11. */
  | { readonly kind: 'turn_usage'; readonly usage: Usage; readonly api_ms: number }
  /** A call that the engine answered without sending it: what the model asked for, and what it was told. */
  | {
      readonly kind: 'unsent_call';
      readonly call_id: string;
      readonly name: string;
      /** As the model wrote them. */
      readonly arguments: string;
      readonly batch_index: number;
      readonly content: string;
      /** When its step began, in milliseconds since the epoch. */
      readonly at: number;
    }
  | (InTask & {
      readonly kind: 'context_shifted';
      readonly dropped_messages: number;
      readonly kept_messages: number;
      readonly before_tokens: number;
      readonly after_tokens: number;
    })
  | (InTask & {
      readonly kind: 'compaction';
      readonly ok: boolean;
      readonly replaced_messages: number;
      readonly before_tokens: number;
      readonly after_tokens: number;
      readonly error?: string;
    })
  | (InTask & { readonly kind: 'print'; readonly text: string })
  | (InTask & Notice)
  | { readonly kind: 'captured_step'; readonly step: CapturedStep };

export type Notice = {
  readonly kind: 'notice';
  readonly level: 'info' | 'warn';
  readonly code: string;
  readonly message: string;
  readonly data?: unknown;
};

export type PolicyRef = { readonly name: string; readonly sha256: string | null };

/** What main adds: the gate's and the supervisor's kinds. */
export type MainEvent =
  | {
      readonly kind: 'chain_started';
      readonly chain_sha256: string;
      readonly input_type: string;
      readonly policy: PolicyRef;
      readonly model: string;
      readonly provider: string;
      readonly surface: string;
      readonly run_kind: string;
      readonly cwd: string;
      readonly tools: readonly string[];
      readonly parent_run_id?: string;
      /** Files with instructions for agents that the chain asks for; absent where there are none. */
      readonly instructions?: readonly InstructionsView[];
    }
  | {
      readonly kind: 'chain_completed';
      readonly status: 'completed' | 'exhausted';
      readonly exit_code: number;
      readonly output_type: string;
      readonly output: unknown;
      readonly usage: Usage;
      readonly num_turns: number;
      readonly num_tool_calls: number;
      readonly duration_ms: number;
    }
  | {
      readonly kind: 'chain_failed';
      readonly error: StepError & { readonly root?: string };
      readonly exit_code: number;
      readonly usage: Usage;
      readonly num_turns: number;
      readonly num_tool_calls: number;
      readonly duration_ms: number;
    }
  | { readonly kind: 'chain_cancelled'; readonly reason: string; readonly by: string; readonly duration_ms: number }
  | {
      readonly kind: 'chain_suspended';
      readonly reason: 'ask' | 'shutdown' | 'interrupted';
      readonly ask_ids: readonly string[];
      /** Event of the last message that the saved state holds; 0 = none. What came after it is done again. */
      readonly checkpoint_seq: number;
    }
  | { readonly kind: 'chain_resumed'; readonly by: string; readonly from_seq: number }
  | {
      readonly kind: 'tool_call_pending';
      readonly call_id: string;
      readonly tools: string;
      readonly tool: string;
      readonly args: unknown;
      readonly batch_index: number;
      readonly batch_size: number;
    }
  | {
      readonly kind: 'policy_decision';
      readonly call_id: string;
      readonly tools: string;
      readonly tool: string;
      readonly action: 'allow' | 'approve' | 'deny';
      readonly rule: number | null;
      readonly reason: string;
      readonly detail?: string;
      readonly policy: PolicyRef;
    }
  | {
      readonly kind: 'ask';
      readonly ask_id: string;
      readonly ask_kind: string;
      readonly call_id: string | null;
      readonly tools: string;
      readonly tool: string;
      readonly args: unknown;
      readonly summary: string;
      readonly diff?: string;
      readonly expires_at: string | null;
    }
  | {
      readonly kind: 'ask_updated';
      readonly ask_id: string;
      readonly policy?: PolicyRef;
      readonly binding?: string;
      readonly adjudicator?: 'looking' | 'waited' | 'none';
    }
  | {
      readonly kind: 'verdict';
      readonly ask_id: string;
      readonly call_id: string | null;
      readonly verdict: 'approved' | 'denied' | 'answered' | 'expired' | 'cancelled';
      readonly treat_as?: string;
      readonly by: string;
      readonly feedback?: string;
    }
  | { readonly kind: 'tool_call_started'; readonly call_id: string; readonly tools: string; readonly tool: string }
  | {
      readonly kind: 'tool_output';
      readonly call_id: string;
      readonly stream: 'stdout' | 'stderr' | 'progress';
      readonly text: string;
    }
  | {
      readonly kind: 'tool_call';
      readonly call_id: string;
      readonly tools: string;
      readonly tool: string;
      readonly ok: boolean;
      readonly error?: string;
      readonly result: unknown;
      readonly result_bytes: number;
      readonly truncated_result: boolean;
      readonly output_ref?: string;
      readonly duration_ms: number;
    }
  | {
      readonly kind: 'compute_exhausted';
      readonly bound: string;
      readonly limit: number;
      readonly used: number;
      readonly action: 'fail' | 'ask' | 'finish';
    }
  | Notice
  | { readonly kind: 'print'; readonly text: string }
  /** Of no run (04 §18.1): a plan or one of its steps changed. */
  | { readonly kind: 'plan_changed'; readonly plan: string; readonly ordinal?: number; readonly status: string };

type Unpublished = 'captured_step' | 'request_over' | 'turn_usage' | 'unsent_call';

/** What happens to the host and to no run (04 §18.1). */
export type HostEvent = DocumentChanged | SetupChanged;

export type DocumentChanged = {
  readonly kind: 'document_changed';
  readonly document: 'policy' | 'chain' | 'backend' | 'hook' | 'mcp_server' | 'config' | 'trust';
  readonly name: string;
  readonly sha256?: string;
};

/** Readiness, or the state of a backend, is another one. */
export type SetupChanged = {
  readonly kind: 'setup_changed';
  readonly ready: boolean;
  /** How many issues there are of each severity. */
  readonly issues: { readonly error: number; readonly warning: number; readonly info: number };
};

/** The body of a published event: its kind and own members. */
export type EventBody = Exclude<EngineEvent, { readonly kind: Unpublished }> | MainEvent;

/** The common members of 04 §18. `seq` is dense per run over stored events; ephemeral events carry `seq: 0`. */
export type RunEvent = {
  readonly v: 1;
  readonly seq: number;
  readonly timestamp: string;
  readonly run_id: string;
  readonly session_id: string | null;
  readonly chain_id: string;
  readonly truncated?: readonly string[];
} & Partial<InTask> &
  EventBody;

const ephemeral: ReadonlySet<string> = new Set(['step_chunk', 'tool_output']);
export const isEphemeral = (kind: string): boolean => ephemeral.has(kind);

/** The kinds that a worker may send; anything else fails the run. A set, because deltas come by the thousand. */
export const engineKinds: ReadonlySet<string> = new Set<EngineEvent['kind']>([
  'step_started',
  'step_chunk',
  'step_stream_end',
  'step_completed',
  'step_failed',
  'message',
  'model_selected',
  'model_retry',
  'token_usage',
  'request_over',
  'turn_usage',
  'unsent_call',
  'context_shifted',
  'compaction',
  'print',
  'notice',
  'captured_step',
]);
