import {
  array,
  boolean,
  enums,
  type Infer,
  nullable,
  number,
  object,
  optional,
  record,
  string,
  type,
  unknown,
} from 'superstruct';
import type { ErrorCode } from './errors.ts';
import type { StepError } from './event.ts';
import type { InstructionsView } from './instructions.ts';
import type { Usage } from './message.ts';

export const runKinds = [
  'run',
  'chat',
  'plan_new',
  'plan_step',
  'plan_replan',
  'plan_explore',
  'step_summary',
  'compact',
  'attention',
  'model_pull',
] as const;
export type RunKind = (typeof runKinds)[number];

export const runStatuses = [
  'queued',
  'running',
  'waiting',
  'suspended',
  'interrupted',
  'completed',
  'exhausted',
  'failed',
  'cancelled',
] as const;
export type RunStatus = (typeof runStatuses)[number];

const over: ReadonlySet<RunStatus> = new Set(['completed', 'exhausted', 'failed', 'cancelled']);

/** Whether a run has ended for good; one that was interrupted or is suspended may go on. */
export const isOver = (status: RunStatus): boolean => over.has(status);

/** Whether a run can go on. One that was interrupted, and then made room for the next turn of its session, has ended. */
export const canGoOn = ({
  status,
  ended_at,
}: {
  readonly status: RunStatus;
  readonly ended_at: string | null;
}): boolean => ended_at === null && (status === 'suspended' || status === 'interrupted');

export const inputTypes = ['string', 'chat', 'json', 'int', 'float', 'bool'] as const;
export type InputType = (typeof inputTypes)[number];

/** How an ask of this run is met (03 §10): `ask` = an interactive face waits for the row, whoever answers it. */
export const OnAsk = enums(['ask', 'wait', 'suspend', 'deny']);
export type OnAsk = Infer<typeof OnAsk>;

/** Options of every run, also of those that a plan starts. */
export const runOptions = {
  model: nullable(string()),
  provider: nullable(string()),
  policy: nullable(string()),
  on_ask: OnAsk,
  /** Milliseconds of active time; 0 = none. */
  timeout_ms: number(),
  context: number(),
  think: nullable(string()),
  /** Absolute path or null. */
  allowed_dir: nullable(string()),
  /** Tightening of the compute bounds; 0 = none. */
  max_turns: number(),
  max_tool_calls: number(),
  max_tokens: number(),
  /** Hashes accepted for this invocation (`--trust`). */
  trust: array(string()),
  /** The operator has refused the project's policy for this run and takes the next layer of the overlay (06 §6.5). */
  skip_project_policy: optional(boolean()),
};

/** What a face asks for when it starts a run. Options are those of the global flags (06 §3), already parsed. */
export const StartRun = object({
  /** Instruction and content, converted by its input type. */
  input: object({ type: enums(inputTypes), value: unknown() }),
  /** Path of a chain document named by the operator; null = the default run chain. */
  chain_path: nullable(string()),
  /** In place of a path: the name of a chain of the overlay, or the text of one that is nowhere written. */
  chain_name: optional(string()),
  chain_text: optional(string()),
  ...runOptions,
  shell: boolean(),
  variables: record(string(), string()),
  images: array(object({ path: string() })),
});
export type StartRun = Infer<typeof StartRun>;

/** A turn of a session: a run whose base is the session's history. */
export const SendMessage = object({
  ...StartRun.schema,
  /** Session name; null = the active one. */
  session: nullable(string()),
  /** Send only the last N stored messages; 0 = all. */
  trim: number(),
  abandon: boolean(),
  /** How long a turn before this one is waited for; 10 s unless given (07 §2.6). */
  wait_ms: optional(number()),
  last: optional(number()),
});
export type SendMessage = Infer<typeof SendMessage>;

/** The process that works on a run, and what it shows it on. */
export const Driver = type({ pid: number(), surface: string() });
export type Driver = Infer<typeof Driver>;

/** The step that a run belongs to. */
export type StepPlace = { readonly name: string; readonly ordinal: number };

export type PolicyState = {
  readonly name: string;
  readonly source: 'project' | 'user' | 'builtin' | 'file';
  readonly path: string | null;
  readonly sha256: string | null;
  readonly state: 'ok' | 'invalid';
};

/** One denied call, as output formats list it (06 §8.4). */
export type PermissionDenial = {
  readonly tools: string;
  readonly tool: string;
  readonly call_id: string;
  readonly args: unknown;
  readonly by: string;
  readonly rule: number | null;
  readonly reason: string;
};

/** What a run belongs to, and what it runs with. */
type RunContext = {
  readonly run_id: string;
  readonly session_id: string | null;
  readonly session_name: string | null;
  readonly plan: StepPlace | null;
  readonly chain: { readonly id: string; readonly path: string | null; readonly sha256: string };
  readonly model: string;
  readonly provider: string;
  readonly backend: string | null;
  readonly policy: PolicyState;
};

export type RunFailure = StepError & { readonly class: ErrorCode; readonly task_id?: string; readonly root?: string };

/** How a run ended or rested, complete enough for every output format of 06 §8. */
export type RunResult = RunContext & {
  readonly status: RunStatus;
  readonly exit_code: number;
  readonly error: RunFailure | null;
  readonly output_type: string | null;
  /** What text format prints (06 §8.1); empty when there is no output. */
  readonly text: string;
  /** The value; of a `chat_history` only when it was asked for (`awaitRun` with `full`), else null. */
  readonly output: unknown;
  readonly num_turns: number;
  readonly num_tool_calls: number;
  readonly executed_tool_calls: number;
  readonly duration_ms: number;
  readonly duration_api_ms: number;
  readonly waited_ms: number;
  readonly usage: Usage;
  readonly asks: readonly RunAsk[];
  readonly permission_denials: readonly PermissionDenial[];
  readonly steps: readonly RunStep[];
  readonly warnings: readonly string[];
};

/** Whether a run ended because somebody, or its time limit, ended it, and not by what it did itself. */
export const wasStopped = ({ status, error }: Pick<RunResult, 'status' | 'error'>): boolean =>
  (status !== 'completed' && status !== 'exhausted' && status !== 'failed') || error?.class === 'timeout';

export type RunAsk = {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly tools: string;
  readonly tool: string;
  readonly summary: string;
  readonly rule: number | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly by: string | null;
  readonly respond: string | null;
};

export type RunStep = {
  readonly index: number;
  readonly task_id: string;
  readonly task_handler: string;
  readonly duration_ms: number;
  readonly eval: string | null;
  readonly error: StepError | null;
};

/** A tool server at the start of a run; `error` says why it is not ready. */
export type ServerState = { readonly name: string; readonly status: string; readonly error: string | null };

/** What is known when a run has been accepted: the first line of `stream-json`, and the head of `--trace`. */
export type RunStarted = RunContext & {
  /** Of a run that goes on: the last event before, and the questions that are open still. */
  readonly resumed?: { readonly from_seq: number; readonly ask_ids: readonly string[] };
  readonly cwd: string;
  readonly tools: readonly string[];
  /** The tool servers that it may use, as they stand when it begins; absent without any. */
  readonly servers?: readonly ServerState[];
  /** Files with instructions for agents that its chain asks for; absent where there are none. */
  readonly instructions?: readonly InstructionsView[];
  readonly warnings: readonly string[];
  /** `--steps` tells what each step was given and made; absent where the chain does not ask for it. */
  readonly debug?: boolean;
  /** Stored messages that `--trim` kept out of the request; absent without it. */
  readonly trimmed?: number;
};
