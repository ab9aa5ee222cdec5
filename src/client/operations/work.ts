import { boolean, nullable, number, object, optional, string, union } from 'superstruct';
import { OnAsk, type RunResult, type RunStarted, SendMessage, StartRun } from '../../schema/run.ts';
import {
  SearchResult,
  Session,
  SessionFork,
  type SessionName,
  SessionPage,
  SessionView,
} from '../../schema/session.ts';
import { masked, operation, returns } from '../operation.ts';

const named = object({ name: string() });

/** Runs and sessions. */
export const work = {
  /** Starts a stateless run and returns as soon as it is accepted: rows written, job queued. */
  startRun: operation('POST', '/api/runs', 'run', StartRun, returns<RunStarted>()),
  /** Stores the message, then starts the turn's run. */
  sendMessage: operation(
    'POST',
    '/api/sessions/messages',
    'run',
    SendMessage,
    returns<RunStarted & { readonly turn: number; readonly message_id: string }>(),
  ),
  /** Waits until the run ended or rests. With `full` a history output is given whole. */
  awaitRun: operation(
    'GET',
    '/api/runs/{run_id}/result',
    'read',
    object({ run_id: string(), full: optional(boolean()) }),
    returns<RunResult>(),
  ),
  /** Goes on with a run that rests, named by its id or an end of it; its open questions are met as `on_ask` says. */
  resumeRun: operation(
    'POST',
    '/api/runs/{run_id}/resume',
    'run',
    object({ run_id: string(), accept_changed_chain: boolean(), on_ask: OnAsk, timeout_ms: number() }),
    returns<RunStarted>(),
  ),
  /**
   * Ends a live or resting run, here or of another process (03 §11); its open asks become `cancelled`. With `wait` it
   * resolves when a run of another process has ended.
   */
  cancelRun: operation(
    'POST',
    '/api/runs/{run_id}/cancel',
    'run',
    object({ run_id: string(), reason: string(), wait: optional(boolean()) }),
    returns<null>(),
  ),
  /** Stops at the last checkpoint: `interrupted` (SIGTERM, SIGHUP) or `ask` (an ask left for later). */
  stopRun: operation(
    'POST',
    '/api/runs/{run_id}/stop',
    'run',
    object({ run_id: string(), reason: string() }),
    returns<null>(),
  ),
  /** Newest activity first. Not masked: that would take longer than reading them, and `view` names each member. */
  listSessions: operation('GET', '/api/sessions', 'read', object({}), returns<readonly Session[]>()),
  /** Names, sizes and times in the same order, without a look at the messages. */
  sessionNames: operation('GET', '/api/session-names', 'read', object({}), returns<readonly SessionName[]>()),
  newSession: operation('POST', '/api/sessions', 'run', object({ name: nullable(string()) }), masked(Session)),
  switchSession: operation('POST', '/api/sessions/active', 'run', named, masked(Session)),
  showSession: operation(
    'GET',
    '/api/sessions/{name}',
    'read',
    object({ name: nullable(string()), tail: optional(number()), head: optional(number()), tools: boolean() }),
    masked(SessionView),
  ),
  renameSession: operation(
    'PATCH',
    '/api/sessions/{name}',
    'run',
    object({ name: string(), new_name: string() }),
    masked(Session),
  ),
  /** Copies a session's messages, up to `at` and back to the end of a unit, into a new one, which becomes active. */
  forkSession: operation(
    'POST',
    '/api/sessions/forks',
    'run',
    object({ name: nullable(string()), new_name: nullable(string()), at: nullable(number()) }),
    masked(SessionFork),
  ),
  /** Everything that is stored of a session, in pages; `next` is the `after` of the one that follows. */
  exportSession: operation(
    'POST',
    '/api/sessions/export',
    'read',
    object({ session: union([object({ name: nullable(string()) }), object({ id: string() })]), after: number() }),
    masked(SessionPage),
  ),
  /** Messages that hold all the words of a text, best first. */
  searchMessages: operation(
    'GET',
    '/api/messages/search',
    'read',
    object({ text: string(), session: nullable(string()), limit: number() }),
    masked(SearchResult),
  ),
  deleteSession: operation(
    'DELETE',
    '/api/sessions/{name}',
    'run',
    object({ name: string(), force: boolean() }),
    returns<{ readonly name: string; readonly messages: number; readonly was_active: boolean }>(),
  ),
} as const;
