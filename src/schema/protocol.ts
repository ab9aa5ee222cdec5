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
import type { ErrorCode, WireError } from './errors.ts';
import type { EngineEvent } from './event.ts';
import type { History, ToolSpec } from './message.ts';
import type { FileIdentity, TrustedStart } from './policy.ts';

/** A permitted (backend, model) pair with what an adapter needs. Crosses to the worker for one permitted turn only. */
export type Route = {
  readonly backend: string;
  readonly type: string;
  readonly base_url: string;
  /** The key itself; null when the backend needs none. Lives in memory for this turn. */
  readonly key: string | null;
  /** Name of the variable that it was read from. */
  readonly key_env?: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** `''` = environment, `none`, or a URL (08 §2.1), already resolved to a URL or null. */
  readonly proxy: string | null;
  readonly timeouts: { readonly connect_ms: number; readonly first_byte_ms: number; readonly idle_ms: number };
  readonly model: string;
  /** Known context in tokens; null = unknown. */
  readonly context: number | null;
  readonly max_output: number | null;
  readonly capabilities: Readonly<Record<string, boolean>>;
  /** Ollama and local: a declared or hinted context (sent as it is), and the cap of automatic ones. */
  readonly num_ctx: { readonly fixed: number | null; readonly cap: number };
  readonly keep_alive: string;
  /** Workspace root; the scripted provider resolves relative scripts and `${cwd}` against it. */
  readonly workspace: string;
  /** Relaxed match of 08 §3.4: the name that was wanted, when it differs. */
  readonly substituted_for?: string;
  /** What the model's content is, as `sha256:…`, where its server tells it. */
  readonly digest?: string;
};

/** What a route is called. */
export type RouteName = Pick<Route, 'model' | 'type' | 'backend'>;

/** Asks the main side for one model turn. Checked there by the struct. */
export const TurnRequest = type({
  task_id: string(),
  /** `finish` is the last turn that a bound of `onExhausted: finish` grants. */
  purpose: enums(['turn', 'prompt', 'compaction', 'finish']),
  models: array(string()),
  providers: array(string()),
  needs_tools: boolean(),
  needs_vision: boolean(),
  /** Estimated tokens of the request, for the context check of 08 §3.5; 0 = do not check. */
  token_need: number(),
});
export type TurnRequest = Infer<typeof TurnRequest>;

export type TurnAdmission =
  /** Ordered candidates; the first is used, the rest is the fallback order of 08 §3.7. Never empty. */
  | {
      readonly kind: 'go';
      readonly routes: readonly Route[];
      /** Active milliseconds that the run has left; absent without a limit. */
      readonly time_left_ms?: number;
      /** All tools of the run, when they have changed; they are offered from the next task or attempt on. */
      readonly tools?: readonly ToolSpec[];
    }
  /** The bound asks for a last report without tools; ask again with purpose `finish`. */
  | { readonly kind: 'finish'; readonly bound: string; readonly used: number; readonly limit: number }
  | { readonly kind: 'refused'; readonly error: WireError }
  | { readonly kind: 'suspended' };

/** Asks to send one request of an admitted turn. Checked in main by the struct. */
export const BackendRequest = type({ backend: string(), type: string() });
export type BackendRequest = Infer<typeof BackendRequest>;

/** One call of an assistant message, as the model wrote it. Checked in main by the struct. */
export const CallRequest = type({
  task_id: string(),
  attempt: number(),
  call_id: string(),
  /** Exact `<tools>.<tool>`, or what the model returned. */
  name: string(),
  /** JSON text as received. */
  arguments: string(),
  batch_index: number(),
  batch_size: number(),
  /** Allowlists of the producing and the executing task; null = no restriction by that task. */
  allow: array(nullable(array(string()))),
  hide: array(string()),
  /** `tools_policies` per provider, merged by 04 §5. */
  limits: record(string(), record(string(), string())),
  /** Names offered to the model in the request that produced this call; a `tools` task sends its one name. */
  offered: array(string()),
  /** A `tools` task: the author named the tool, so task allowlists do not apply, and its arguments are a chain's. */
  direct: boolean(),
  /** Cap of the inline result in bytes (04 §14.7). */
  max_result_bytes: number(),
  /** The run rests for a call before this one: what would ask is written down, and nothing starts (03 §10). */
  ask_only: optional(boolean()),
  /** Active milliseconds that the task's `timeout` leaves to this call, waits for people excluded (04 §15.5); absent = none. */
  time_left_ms: optional(number()),
});
export type CallRequest = Infer<typeof CallRequest>;

export type ToolOutcome =
  | {
      readonly kind: 'result';
      readonly ok: boolean;
      /** Text for the model, at most `max_result_bytes`. */
      readonly content: string;
      /** Result class of 05 §11 when not ok. */
      readonly error?: string;
      /** The value itself for a `tools` task, when it is not text. */
      readonly value?: unknown;
      readonly output_ref?: string;
      /** How long the call waited for people; a task's `timeout` does not count it. Absent = 0. */
      readonly waited_ms?: number;
    }
  | { readonly kind: 'suspended' }
  /** A bound asks for a last report: the remaining calls get `not_executed`, then one turn of purpose `finish`. */
  | { readonly kind: 'finish'; readonly bound: string; readonly used: number; readonly limit: number }
  | { readonly kind: 'fatal'; readonly error: WireError };

/** Position and small state of a run; messages are rows of their own (amendment 8). */
export const CheckpointState = type({
  schema_version: literal(1),
  task_id: string(),
  attempt: number(),
  /** Encoded variables: histories as `{"$history": [[from,to],…], …}` ranges of the run's message numbers. */
  variables: record(string(), unknown()),
  previous: unknown(),
  edge_counts: record(string(), number()),
  moves: number(),
  rounds: number(),
  next_message: number(),
  step_index: number(),
  /** Repetition guard, compaction failures, remembered errors, retry state: owned by the engine. */
  engine: record(string(), unknown()),
});
export type CheckpointState = Infer<typeof CheckpointState>;

/**
 * A checkpoint and what it goes ahead of. Ahead of a call it need not be on the disk by itself: the call's own `started`
 * row is, before anything runs, and the log keeps their order.
 */
export const CheckpointRequest = type({ state: CheckpointState, ahead_of: enums(['model', 'call', 'rest']) });
export type CheckpointRequest = Infer<typeof CheckpointRequest>;

/** What a pool thread is given. Plain data; the port travels beside it. */
export type RunJob = {
  readonly run_id: string;
  readonly session_id: string | null;
  /** Normalised chain as JSON text, already vetted. */
  readonly chain_text: string;
  readonly chain_id: string;
  /** Caller's variables (04 §10.4). */
  readonly variables: Readonly<Record<string, string>>;
  /** JSON array text of the messages that stand before the run's own, numbered from 1. */
  readonly base_messages: string;
  /** Input value: `chat_history` inputs are the base messages (`{type:'chat_history'}` without value). */
  readonly input: { readonly type: string; readonly value?: unknown };
  /** Set on resume: the state, and the run's own messages as JSON array text. */
  readonly resume: { readonly state: CheckpointState; readonly messages: string } | null;
  /** All tools of this run after the run-level allowlist. */
  readonly tools: readonly ToolSpec[];
  readonly defaults: {
    readonly model: string;
    readonly provider: string;
    readonly think: string;
    /** `--context`, 0 = none. */
    readonly context: number;
    readonly max_rounds: number;
    readonly max_tool_result_bytes: number;
    readonly tool_parallelism: number;
  };
  readonly host: { readonly os: string; readonly arch: string; readonly timezone: string };
};

/** A history outside the engine's thread: ranges of the run's message numbers, first and last included. */
export type HistoryRanges = Omit<History, 'messages'> & {
  readonly $history: readonly (readonly [number, number])[];
};

export type RunEnd =
  | {
      readonly kind: 'completed';
      readonly status: 'completed' | 'exhausted';
      readonly output_type: string;
      /** The value itself; for `chat_history` a `HistoryRanges`, whose messages main has. */
      readonly output: unknown;
    }
  | {
      readonly kind: 'failed';
      readonly error: {
        readonly class: ErrorCode;
        readonly message: string;
        readonly task_id?: string;
        readonly root?: string;
      };
    }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'suspended' };

export type HostOp = 'openTurn' | 'openRequest' | 'callTool' | 'checkpoint';

/** The port carries lists of these: each message between threads wakes the other side, which costs more than its content. */
export type WorkerMessage =
  | { readonly kind: 'events'; readonly events: readonly EngineEvent[] }
  | { readonly kind: 'request'; readonly id: number; readonly op: HostOp; readonly input: unknown }
  | { readonly kind: 'end'; readonly end: RunEnd };

export type HostMessage =
  | { readonly kind: 'reply'; readonly id: number; readonly ok: true; readonly output: unknown }
  | { readonly kind: 'reply'; readonly id: number; readonly ok: false; readonly error: WireError }
  /** `begun`: the calls that may have run; no other one has begun, and none begins any more. */
  | { readonly kind: 'cancel'; readonly reason: string; readonly begun: readonly string[] }
  | { readonly kind: 'suspend' };

/** What the hash job says of a file. Numbers of the file system as decimal text: they may exceed 2^53. */
export type HashResult =
  | (FileIdentity & { readonly kind: 'hash'; readonly sha256: string })
  | { readonly kind: 'unreadable'; readonly message: string };

/** What `workers/spawn-tool` is given. `file` is the resolved program or `/proc/self/fd`-style path; argv[0] as written. */
export type SpawnRequest = {
  readonly file: string;
  readonly argv0: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeout_ms: number;
  /** Inline budget in bytes for stdout and stderr together (05 §3.6.4). */
  readonly max_output_bytes: number;
  /** Spool file names without suffix; full streams go there when they do not fit. */
  readonly spool: { readonly directory: string; readonly name: string } | null;
  /** Identity that must hold immediately before the start; a difference is `path_changed`. */
  readonly identity: FileIdentity | null;
  /** What `trusted_binaries` judged of each command: started as judged, or not at all (02 §10.6). */
  readonly trusted?: readonly TrustedStart[];
  /** The working directory as the precheck opened it; a difference is `path_changed` (05 §3.4). */
  readonly cwd_identity: { readonly dev: string; readonly ino: string } | null;
};

export type SpawnResult =
  | {
      readonly kind: 'ended';
      readonly exit_code: number;
      readonly signal: string | null;
      readonly timed_out: boolean;
      readonly cancelled: boolean;
      readonly output_limit: boolean;
      readonly background_killed: boolean;
      readonly stdout: string;
      readonly stderr: string;
      readonly stdout_bytes: number;
      readonly stderr_bytes: number;
      readonly truncated: boolean;
      /** Spool names (`@output/…`) of the full streams. */
      readonly spooled: { readonly stdout?: string; readonly stderr?: string };
      readonly spool_truncated: boolean;
      /** Where and why a full stream could not be kept (05 §2.5), as `notKeptIn` says it. */
      readonly spool_fault: string | null;
      readonly duration_ms: number;
    }
  | {
      readonly kind: 'not_started';
      readonly error: 'path_changed' | 'spawn_failed' | 'cancelled';
      readonly message: string;
    }
  /** The child was started, and whoever watched it is gone: what it did is not known. */
  | { readonly kind: 'lost'; readonly message: string };

/** Messages of a spawn job to main, over the port that travels with it: the pid first, then live output. */
export type SpawnMessage =
  | { readonly kind: 'started'; readonly pid: number }
  | { readonly kind: 'output'; readonly stream: 'stdout' | 'stderr'; readonly text: string };

/** What main tells the spawner. `cancel` ends the process group; the job still reports what is known. */
export type SpawnerCommand =
  | { readonly kind: 'spawn'; readonly id: number; readonly request: SpawnRequest }
  | { readonly kind: 'cancel'; readonly id: number };

/** What the spawner reports. Before `ready` it has started nothing; a job reports its pid before anything else. */
export type SpawnerReport =
  | { readonly kind: 'ready' }
  | (SpawnMessage & { readonly id: number })
  | { readonly kind: 'result'; readonly id: number; readonly result: SpawnResult };
