import type { Verdict } from './ask.ts';
import type { CapturedStep, StepError } from './event.ts';
import type { Message } from './message.ts';
import type { PermissionDenial, PolicyState, RunAsk, RunKind, RunStatus } from './run.ts';

/** A bound of a run and how far it is used up; `max` null = none. */
export type BoundUse = { readonly used: number; readonly max: number | null };

/** A run as listings have it (09 §6.4). Times are RFC 3339. */
export type RunSummary = {
  readonly id: string;
  readonly kind: RunKind;
  /** `interrupted` also where the process that drove it is gone and nobody has written that down yet. */
  readonly status: RunStatus;
  readonly chain: { readonly id: string; readonly name: string; readonly sha256: string };
  /** Name of the session, the plan and its step. */
  readonly session: string | null;
  readonly plan: string | null;
  readonly plan_step: number | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly backend: string | null;
  readonly policy: Omit<PolicyState, 'path'>;
  /** The beginning of what it was asked. */
  readonly input: string;
  readonly output_type: string | null;
  readonly is_error: boolean;
  readonly error: StepError | null;
  readonly exit_code: number | null;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly estimated: boolean };
  readonly num_turns: number;
  readonly num_tool_calls: number;
  readonly asks: readonly string[];
  /** The oldest ask that it waits for. */
  readonly waiting_on: string | null;
  /** Number of its last stored event; 0 when they have been pruned. */
  readonly last_seq: number;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  /** To its end, its last checkpoint where it rests, or now. */
  readonly duration_ms: number;
};

export type RunRecord = RunSummary & {
  readonly cwd: string;
  readonly result: string;
  readonly bounds: { readonly turns: BoundUse; readonly tool_calls: BoundUse; readonly tokens: BoundUse };
  readonly permission_denials: readonly PermissionDenial[];
};

/**
 * A captured step; `index` counts from 1. What it was given and made is there where everything was asked for: histories
 * are numbers of messages.
 */
export type StepRecord = Omit<CapturedStep, Whole> & Partial<Pick<CapturedStep, Whole>>;
type Whole = 'input' | 'output' | 'partial';

/** A call with its decision (09 §6.4). A denied one is `skipped`. */
export type RunCall = {
  readonly seq: number;
  readonly call_id: string;
  readonly run_id: string;
  readonly tools: string;
  readonly tool: string;
  readonly args: unknown;
  readonly call_hash: string;
  /** Null for a call that was refused before anybody decided. */
  readonly decision: {
    readonly action: 'allow' | 'approve' | 'deny';
    readonly matched_rule: number | null;
    readonly reason: string;
    readonly detail: string | null;
    readonly policy: { readonly name: string; readonly sha256: string | null };
  } | null;
  readonly ask_id: string | null;
  readonly verdict: Verdict | null;
  readonly state: 'planned' | 'started' | 'done' | 'failed' | 'unknown' | 'skipped';
  /** Class of the failure, where there is one. */
  readonly error: string | null;
  /** The beginning of what the model got. */
  readonly result_preview: string | null;
  /** All of it, where everything was asked for. */
  readonly result?: unknown;
  readonly result_bytes: number | null;
  readonly result_sha256: string | null;
  readonly output_ref: string | null;
  readonly planned_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
};

/** One message of the run's own, by its number in the run; those that it began with are its session's. */
export type NumberedMessage = { readonly number: number; readonly message: Message };

/** An ask of the run, and how long it stood open; null while it does. */
export type RunWait = RunAsk & { readonly waited_ms: number | null };

/** Everything that is kept of a run (06 §25 `state show`). */
export type RunDetails = RunRecord & {
  readonly steps: readonly StepRecord[];
  readonly calls: readonly RunCall[];
  readonly waits: readonly RunWait[];
  /** Where everything was asked for. */
  readonly messages?: readonly NumberedMessage[];
};

/** What a prune did. */
export type Pruned = {
  /** Runs of which nothing is left. */
  readonly removed: number;
  /** Runs whose steps and events went and whose outcome stays. */
  readonly cleared: number;
};
