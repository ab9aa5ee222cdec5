import type { GateRun } from '../gate/run.ts';
import type { TurnDefaults } from '../gate/turn.ts';
import type { Usage } from '../schema/message.ts';
import type { RunJob } from '../schema/protocol.ts';
import type { RunFailure, RunKind, RunStarted, StartRun } from '../schema/run.ts';
import type { Calls } from '../store/calls.ts';
import type { Said } from '../store/messages.ts';
import type { RunSources } from '../tools/source.ts';
import type { ActiveClock } from './clock.ts';
import type { RunPlan } from './prepared-run.ts';

/** Why a run stops before its chain ended. The first reason stands. */
export type StopReason =
  /** Cancelled by a person (`operator`), a closed surface, or the program: status `cancelled`. */
  | { readonly kind: 'cancel'; readonly by: string; readonly reason: string }
  /** `--timeout`: status `failed`, class `timeout`. */
  | { readonly kind: 'timeout' }
  /** Stops at the last checkpoint: `interrupted` (SIGTERM, SIGHUP) or `suspended`. */
  | { readonly kind: 'rest'; readonly reason: 'interrupted' | 'ask' | 'shutdown' };

/** A run of this process, from its rows to its end. */
export type LiveRun = {
  readonly kind: RunKind;
  readonly started: RunStarted;
  readonly plan: RunPlan | null;
  /** What the face asked for. */
  readonly request: StartRun;
  readonly job: RunJob;
  readonly gate: GateRun;
  readonly clock: ActiveClock;
  /** Tokens of the segments before this one. */
  readonly usedBefore: Usage;
  /** Model, provider and `--context` that a turn falls back to. */
  readonly defaults: TurnDefaults;
  /** Why the model is asked again, until it has answered. */
  retried: string | null;
  stopped: StopReason | null;
  /** No further turn or call is begun: the run rests once the calls that are being executed have ended. */
  resting: boolean;
  /** Aborts the gate's signal; the supervisor listens too. */
  readonly abort: AbortController;
  /** Stores what belongs to a session, in the transaction of the run's own rows; nothing for a stateless run. */
  readonly turn: SessionTurn | null;
  readonly warnings: string[];
  /** Closed with the run. */
  readonly sources: Pick<RunSources, 'close'>;
};

/** A rest stops at the last checkpoint: what the thread says after it is not recorded. */
export const isRecorded = ({ stopped }: Pick<LiveRun, 'stopped'>): boolean => stopped?.kind !== 'rest';

/** What a run has ended with, as its session needs it. */
export type RunOutput = {
  readonly status: 'completed' | 'exhausted';
  readonly type: string;
  readonly text: string;
};

/** A message that a run has added; `usage` is that of the model's turn that it came from, null where it came from none. */
export type SaidMessage = {
  readonly payload: string;
  readonly role: string;
  readonly interrupted: boolean;
  readonly usage: Usage | null;
};

/** The session's side of a run (07 §2.3, §2.9). Every method runs inside the caller's transaction. */
export type SessionTurn = {
  readonly session_name: string;
  /** A complete message that the run added; replaces the partial text, if any. */
  message(said: SaidMessage, at: number): void;
  /** Results for the calls of the run that have none, from what is recorded of them. */
  closeCalls(recorded: ReturnType<Calls['results']>, mask: <T>(value: T) => T, at: number): void;
  /** What was received so far, stored at least every 2 s. */
  partial(said: Said, at: number): void;
  /** What the chain came to; the messages of a history have been stored one by one. */
  output(output: RunOutput, at: number): void;
  /** What people see of a turn that did not complete. @param failure null where it was stopped */
  note(failure: RunFailure | null, at: number): void;
};
