import { array, boolean, enums, nullable, number, object, optional, string, unknown } from 'superstruct';
import type { Verdict } from './ask.ts';
import type { CapturedStep, StepError } from './event.ts';
import { InstructionsView } from './instructions.ts';
import type { Message } from './message.ts';
import { Driver, type PermissionDenial, type RunAsk, runKinds, runStatuses } from './run.ts';
import { type Known, whole } from './shape.ts';

/** A bound of a run and how far it is used up; `max` null = none. */
const BoundUse = object({ used: number(), max: nullable(number()) });
export type BoundUse = Known<typeof BoundUse>;

/** A run that could not go on as often as this, in a row, has failed (03 §11.6). */
export const mostAttempts = 5;

/** A run as listings have it (09 §6.4). Times are RFC 3339. */
export const RunSummary = object({
  id: string(),
  kind: enums(runKinds),
  /** `interrupted` also where the process that drove it is gone and nobody has written that down yet. */
  status: enums(runStatuses),
  chain: object({ id: string(), name: string(), sha256: string() }),
  /** Name of the session, the plan and its step. */
  session: nullable(string()),
  plan: nullable(string()),
  plan_step: nullable(number()),
  model: nullable(string()),
  provider: nullable(string()),
  backend: nullable(string()),
  policy: object({
    name: string(),
    source: enums(['project', 'user', 'builtin', 'file']),
    sha256: nullable(string()),
    state: enums(['ok', 'invalid']),
  }),
  /** The beginning of what it was asked. */
  input: string(),
  output_type: nullable(string()),
  is_error: boolean(),
  error: nullable(whole<StepError>()),
  exit_code: nullable(number()),
  usage: object({ input_tokens: number(), output_tokens: number(), estimated: boolean() }),
  num_turns: number(),
  num_tool_calls: number(),
  /** Calls that were denied; the record of the run names them. */
  num_denials: number(),
  asks: array(string()),
  /** The oldest ask that it waits for. */
  waiting_on: nullable(string()),
  /** How often in a row it could not go on where it rests, and why not the last time (03 §11.6). */
  attempts: number(),
  last_error: nullable(string()),
  /** Number of its last stored event; 0 when they have been pruned. */
  last_seq: number(),
  created_at: string(),
  started_at: nullable(string()),
  ended_at: nullable(string()),
  /** To its end, its last checkpoint where it rests, or now. */
  duration_ms: number(),
});
export type RunSummary = Known<typeof RunSummary>;

export const RunRecord = object({
  ...RunSummary.schema,
  cwd: string(),
  result: string(),
  bounds: object({ turns: BoundUse, tool_calls: BoundUse, tokens: BoundUse }),
  permission_denials: array(whole<PermissionDenial>()),
  /** Files with instructions for agents that its chain asks for; absent where there are none. */
  instructions: optional(array(InstructionsView)),
  /** Of a queued run its place among those that wait, from 1; null for others, and where another process has it. */
  queue_place: nullable(number()),
  /** Null when no process works on it. */
  run_by: nullable(Driver),
});
export type RunRecord = Known<typeof RunRecord>;

/**
 * A captured step; `index` counts from 1. What it was given and made is there where everything was asked for: histories
 * are numbers of messages.
 */
export type StepRecord = Omit<CapturedStep, Whole> & Partial<Pick<CapturedStep, Whole>>;
type Whole = 'input' | 'output' | 'partial';

/** A call with its decision (09 §6.4). A denied one is `skipped`. */
export const RunCall = object({
  seq: number(),
  call_id: string(),
  run_id: string(),
  tools: string(),
  tool: string(),
  args: unknown(),
  call_hash: string(),
  /** Null for a call that was refused before anybody decided. */
  decision: nullable(
    object({
      action: enums(['allow', 'approve', 'deny']),
      matched_rule: nullable(number()),
      reason: string(),
      detail: nullable(string()),
      policy: object({ name: string(), sha256: nullable(string()) }),
    }),
  ),
  ask_id: nullable(string()),
  verdict: nullable(whole<Verdict>()),
  state: enums(['planned', 'started', 'done', 'failed', 'unknown', 'skipped']),
  /** Class of the failure, where there is one. */
  error: nullable(string()),
  /** The beginning of what the model got. */
  result_preview: nullable(string()),
  /** All of it, where everything was asked for. */
  result: optional(whole<object | string | number | boolean | null>()),
  result_bytes: nullable(number()),
  result_sha256: nullable(string()),
  output_ref: nullable(string()),
  planned_at: string(),
  started_at: nullable(string()),
  ended_at: nullable(string()),
});
export type RunCall = Known<typeof RunCall>;

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
