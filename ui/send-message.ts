import type { RuntimeClient } from '../src/client/operations.ts';
import { RuntimeError, toWire } from '../src/schema/errors.ts';
import type { RunStarted, StartRun } from '../src/schema/run.ts';
import type { Action } from './actions.ts';
import type { Effect } from './effect.ts';
import type { OpenSession } from './state.ts';
import { endStopped, stoppedQuestion, stoppedTurn } from './stopped-turn.ts';
import { storedName } from './stored-name.ts';

type Message = Extract<Effect, { readonly do: 'send' }>;

/** What the turns of this program have that differs from what is configured. */
export type Chosen = Partial<Pick<StartRun, 'model' | 'provider' | 'think' | 'chain_path' | 'chain_name'>> & {
  readonly trim?: number;
};

export type SendDeps = {
  readonly client: () => Promise<RuntimeClient>;
  readonly request: (client: RuntimeClient) => Promise<Omit<StartRun, 'input'>>;
  readonly dispatch: (action: Action) => void;
  readonly now: () => number;
  readonly session: () => OpenSession | null;
  readonly chosen: () => Chosen;
  /** The key of a command; null where it has none, as among lines. */
  readonly key: (id: string) => string | null;
  /** Aborted when the program is left. */
  readonly signal: AbortSignal;
  /** A run is driven by this program from now on. */
  readonly started: (runId: string) => void;
  /** The turn of the message has begun. */
  readonly accepted: (client: RuntimeClient, run: RunStarted) => void;
  /** Another turn of the session goes on, which the message waits for. */
  readonly busy: (session: string | null) => Promise<void>;
};

/** Sends messages; one that could not be sent is told as `not-sent`, with why. Rejects where the client cannot be had. */
export function createSender(deps: SendDeps): (message: Message) => Promise<void> {
  const { client: clientOf, request, dispatch, now, signal, started } = deps;

  /** What the session of a message is called now: its name may be that of another one by now. @returns null = it is gone */
  const nameNow = async (client: RuntimeClient, name: string): Promise<string | null> => {
    const open = deps.session();
    return open?.name === name ? storedName(client, open.id) : name;
  };

  const send = async (message: Message): Promise<void> => {
    const { text, written } = message;
    let { session } = message;
    const client = await clientOf();
    try {
      const named = session === null ? null : await nameNow(client, session);
      if (session !== null && named === null) {
        dispatch({ type: 'session-gone' });
        const why = ['this session was deleted: /new starts another one'];
        return dispatch({ type: 'not-sent', written, why, now: now() });
      }
      if (session !== null && named !== null && named !== session) {
        dispatch({ type: 'renamed', name: named });
        dispatch({ type: 'notice', level: 'info', text: `this session was renamed elsewhere: ${session} is ${named}` });
        session = named;
      }
      const stopped = await stoppedTurn(client, session);
      if (stopped !== null && message.ends !== stopped.run_id)
        return dispatch({ type: 'overlay', overlay: stoppedQuestion(stopped, { ...message, session }) });
      if (stopped !== null && stopped.unknown.length > 0) {
        started(stopped.run_id);
        const { timeout_ms } = await request(client);
        await endStopped({ client, dispatch, now, signal }, stopped.run_id, timeout_ms);
      }
      const run = await client.sendMessage({
        ...(await request(client)),
        trim: 0,
        ...deps.chosen(),
        input: { type: 'string', value: text },
        images: written.images.map((path) => ({ path })),
        session,
        abandon: false,
        // It waits where it is seen, and can be taken back.
        wait_ms: 0,
      });
      started(run.run_id);
      const open = deps.session();
      // Another session was opened meanwhile: the turn goes on in its own.
      if (open !== null && run.session_id !== null && open.id !== run.session_id) return;
      const known: OpenSession | null =
        run.session_id === null || run.session_name === null
          ? null
          : { id: run.session_id, name: run.session_name, before: null, loading: false, deleted: false };
      dispatch({ type: 'accepted', run_id: run.run_id, session: session === null ? known : null });
      dispatch({ type: 'compose', action: { type: 'accepted' }, now: now() });
      dispatch({
        type: 'facts',
        facts: {
          model: run.model,
          backend: run.backend,
          policy: {
            name: run.policy.name,
            sha256: run.policy.sha256,
            invalid: run.policy.state === 'invalid',
          },
        },
      });
      deps.accepted(client, run);
    } catch (error) {
      // What belongs to a session that is not open any more has no queue here.
      if (toWire(error).code === 'session_busy' && (deps.session()?.name ?? null) === session) {
        dispatch({ type: 'session-busy', written, now: now() });
        return deps.busy(session);
      }
      dispatch({
        type: 'not-sent',
        written,
        why: [toWire(error).message, ...hintsOf(error, deps.key('app.run-details'))],
        now: now(),
      });
    }
  };
  return send;
}

/** Commands that mend it, where the error knows some. */
function hintsOf(error: unknown, details: string | null): readonly string[] {
  if (!(error instanceof RuntimeError)) return [];
  // What the error names are commands for a shell.
  if (error.code !== 'run_suspended') return error.hints;
  const { data } = error;
  const asks: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'ask_ids') : null;
  const [command = ''] = error.hints;
  return Array.isArray(asks) && asks.length === 0
    ? [
        details === null
          ? `${command} goes on with it; or /abandon gives the turn up`
          : `${details} shows it, and R goes on with it; or /abandon gives the turn up`,
      ]
    : ['its question is answered first; or /abandon gives the turn up'];
}
