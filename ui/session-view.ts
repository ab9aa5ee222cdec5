import type { RuntimeClient } from '../src/client/operations.ts';
import { toWire } from '../src/schema/errors.ts';
import type { FeedEntry } from '../src/schema/feed.ts';
import { storedItems } from '../src/view/stored-items.ts';
import type { Action } from './actions.ts';
import type { OpenSession } from './state.ts';
import { stoppedTurn } from './stopped-turn.ts';
import { pageSize, wholeFrom } from './stored-pages.ts';

/** What the view of a session and the link around it both stand on. */
export type SessionGround = {
  readonly client: () => Promise<RuntimeClient>;
  readonly dispatch: (action: Action) => void;
  readonly now: () => number;
  /** The one that is open now. */
  readonly session: () => OpenSession | null;
  /** A turn is in view that has not ended. */
  readonly busy: () => boolean;
  /** The turn of that session that rests. */
  readonly resting: () => string | null;
  /** Another session was opened: its draft comes back. */
  readonly opened: (sessionId: string) => Promise<void>;
};

export type SessionViewDeps = SessionGround & {
  /** Another session is about to be shown: what is followed belongs to the one before. */
  readonly left: () => void;
  /** Told to which message the session was read. */
  readonly read: (sessionId: string, seq: number) => void;
  /** Whether this program has begun a run, or gone on with it. */
  readonly isOwn: (runId: string) => boolean;
  /** Shows what a run does, from its beginning. */
  readonly follow: (client: RuntimeClient, runId: string) => void;
};

/** What becomes of a run that rests. */
const goesOn: ReadonlySet<string> = new Set(['chain_resumed', 'chain_completed', 'chain_failed', 'chain_cancelled']);

/** The session that is open: as it is stored, and with what other processes do to it meanwhile. */
export function createSessionView(deps: SessionViewDeps) {
  const { client: clientOf, dispatch, now } = deps;

  const followed = (client: RuntimeClient, runId: string): void => {
    dispatch({ type: 'following', run_id: runId, line: false, now: now() });
    deps.follow(client, runId);
  };

  /** Shows a session as it is stored, and the run that goes on in it. */
  const show = async (name: string | null): Promise<OpenSession> => {
    const client = await clientOf();
    const view = await client.showSession({ name, tail: pageSize, tools: true });
    const messages = wholeFrom(view.messages);
    const first = messages[0];
    const session: OpenSession = {
      id: view.session.id,
      name: view.session.name,
      before: first !== undefined && messages.length < view.total ? first.seq : null,
      loading: false,
      deleted: false,
    };
    deps.read(session.id, messages.at(-1)?.seq ?? 0);
    const active = view.session.active_run_id;
    // A run whose process is gone has no more to tell: its end is offered with the next message.
    const stopped = await stoppedTurn(client, session.name);
    const running = stopped === null ? active : null;
    // What a run that is followed has stored comes with its events.
    const stored = messages.filter(({ run_id }) => run_id === null || run_id !== running);
    if (session.id !== deps.session()?.id) deps.left();
    dispatch({
      type: 'opened',
      session,
      items: storedItems(stored),
      resting: view.session.suspended_run_id ?? stopped?.run_id ?? null,
    });
    if (running !== null) followed(client, running);
    return session;
  };

  /** A turn that another process has begun in this session, and that is not the work of another run. */
  const isNewHere = ({ kind, run_id, session_id, data }: FeedEntry): boolean =>
    kind === 'chain_started' &&
    data['run_kind'] === 'chat' &&
    run_id !== undefined &&
    session_id !== undefined &&
    session_id === deps.session()?.id &&
    data['parent_run_id'] === undefined &&
    !deps.isOwn(run_id);

  return {
    async open(name: string | null): Promise<void> {
      const before = deps.session();
      const opened = await show(name);
      // What is being written in the session that was open is newer than what is stored of it.
      if (opened.id !== before?.id) await deps.opened(opened.id);
    },

    /** Shows what another process does in the session. @throws what the store throws */
    async happened(entries: readonly FeedEntry[]): Promise<void> {
      const resting = deps.resting();
      const session = deps.session();
      const taken = entries.some(({ kind, run_id }) => goesOn.has(kind) && run_id !== undefined && run_id === resting);
      if (session !== null && resting !== null && taken && !deps.isOwn(resting)) {
        await show(session.name);
        return;
      }
      const begun = entries.findLast(isNewHere);
      // What is in view goes on to its end; the next look shows the rest.
      if (begun?.run_id !== undefined && !deps.busy()) followed(await clientOf(), begun.run_id);
    },

    /** Looks whether the session is still there, and under its name. @throws what the store throws */
    async look(): Promise<void> {
      const session = deps.session();
      if (session === null || session.deleted) return;
      const client = await clientOf();
      try {
        const wanted = { session: { id: session.id }, after: Number.MAX_SAFE_INTEGER };
        const { session: stored } = await client.exportSession(wanted);
        if (deps.session()?.id !== session.id || stored.name === deps.session()?.name) return;
        dispatch({ type: 'renamed', name: stored.name });
        const text = `this session was renamed elsewhere: ${session.name} is ${stored.name}`;
        dispatch({ type: 'notice', level: 'info', text });
      } catch (error) {
        if (toWire(error).code !== 'not_found') throw error;
        if (deps.session()?.id === session.id) dispatch({ type: 'session-gone' });
      }
    },
  };
}
