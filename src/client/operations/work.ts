import { boolean, nullable, number, object, optional, string, union } from 'superstruct';
import { SavedDraft } from '../../schema/draft.ts';
import { OnAsk, type RunResult, type RunStarted, SendMessage, StartRun } from '../../schema/run.ts';
import {
  type CompactionStarted,
  type InterruptedTurn,
  SearchResult,
  Session,
  SessionFork,
  type SessionName,
  SessionPage,
  SessionView,
  type SummaryForkStarted,
} from '../../schema/session.ts';
import { masked, operation, returns } from '../operation.ts';

const named = object({ name: string() });

/** Runs and sessions. */
export const work = {
  /** Starts a stateless run and returns as soon as it is accepted: rows written, job queued. */
  startRun: operation('acts', StartRun, returns<RunStarted>()),
  /** Stores the message, then starts the turn's run. */
  sendMessage: operation(
    'acts',
    SendMessage,
    returns<RunStarted & { readonly turn: number; readonly message_id: string }>(),
  ),
  /** The turn of a session (null = the active one) that nobody drives and that a new turn would take the place of. */
  interruptedTurn: operation('reads', object({ session: nullable(string()) }), returns<InterruptedTurn | null>()),
  /** Waits until the run ended or rests. With `full` a history output is given whole. */
  awaitRun: operation('reads', object({ run_id: string(), full: optional(boolean()) }), returns<RunResult>()),
  /** Goes on with a run that rests, named by its id or an end of it; its open questions are met as `on_ask` says. */
  resumeRun: operation(
    'acts',
    object({
      run_id: string(),
      accept_changed_chain: boolean(),
      on_ask: OnAsk,
      timeout_ms: number(),
      /** Only its open calls are settled; then it ends, because a new turn takes its place (07 §2.7). */
      settle: optional(boolean()),
    }),
    returns<RunStarted>(),
  ),
  /**
   * Ends a live or resting run, here or of another process (03 §11); its open asks become `cancelled`. With `wait` it
   * resolves when a run of another process has ended.
   */
  cancelRun: operation(
    'acts',
    object({ run_id: string(), reason: string(), wait: optional(boolean()) }),
    returns<null>(),
  ),
  /**
   * Stops at the last checkpoint: `interrupted` (SIGTERM, SIGHUP), `ask` (an ask left for later) or `shutdown`. With
   * `within_ms` a call that is being executed may end in that time, and it resolves when the run rests.
   */
  stopRun: operation(
    'acts',
    object({ run_id: string(), reason: string(), within_ms: optional(number()) }),
    returns<null>(),
  ),
  /** Newest activity first. Not masked: that would take longer than reading them, and `view` names each member. */
  listSessions: operation('reads', object({}), returns<readonly Session[]>()),
  /** Names, sizes and times in the same order, without a look at the messages. */
  sessionNames: operation('reads', object({}), returns<readonly SessionName[]>()),
  newSession: operation('acts', object({ name: nullable(string()) }), masked(Session)),
  switchSession: operation('acts', named, masked(Session)),
  showSession: operation(
    'reads',
    object({ name: nullable(string()), tail: optional(number()), head: optional(number()), tools: boolean() }),
    masked(SessionView),
  ),
  renameSession: operation('acts', object({ name: string(), new_name: string() }), masked(Session)),
  /** Copies a session's messages, up to `at` and back to the end of a unit, into a new one, which becomes active. */
  forkSession: operation(
    'acts',
    object({ name: nullable(string()), new_name: nullable(string()), at: nullable(number()) }),
    masked(SessionFork),
  ),
  /** Starts the run that sums up older messages; when it has completed, requests hold the summary in their place. */
  compactSession: operation(
    'acts',
    object({ ...StartRun.schema, name: nullable(string()), keep: number() }),
    returns<CompactionStarted>(),
  ),
  /** Starts the run that sums up all but the last `keep` messages; when it has completed, the copy is there and active. */
  forkWithSummary: operation(
    'acts',
    object({
      ...StartRun.schema,
      name: nullable(string()),
      new_name: nullable(string()),
      at: nullable(number()),
      keep: number(),
    }),
    returns<SummaryForkStarted>(),
  ),
  /**
   * Everything that is stored of a session, in pages; `next` is the `after` of the one that follows. With `most_bytes` a
   * page that would be larger ends before it is, but behind one message at least.
   */
  exportSession: operation(
    'reads',
    object({
      session: union([object({ name: nullable(string()) }), object({ id: string() })]),
      after: number(),
      most_bytes: optional(number()),
    }),
    masked(SessionPage),
  ),
  /** Messages that hold all the words of a text, best first. */
  searchMessages: operation(
    'reads',
    object({ text: string(), session: nullable(string()), limit: number() }),
    masked(SearchResult),
  ),
  /** What was written in a session and not sent (10 §6.9); null when there is nothing. */
  readDraft: operation('acts', object({ session_id: string() }), returns<SavedDraft | null>()),
  saveDraft: operation('acts', object({ session_id: string(), saved: nullable(SavedDraft) }), returns<null>()),
  deleteSession: operation(
    'acts',
    object({ name: string(), force: boolean() }),
    returns<{ readonly name: string; readonly messages: number; readonly was_active: boolean }>(),
  ),
} as const;
