import type { RuntimeClient } from '../src/client/operations.ts';
import type { FeedEntry } from '../src/schema/feed.ts';
import type { InterruptedTurn, Session } from '../src/schema/session.ts';
import { storedItems } from '../src/view/stored-items.ts';
import type { Action } from './actions.ts';
import type { OpenSession, Resting } from './state.ts';
import { stoppedTurn } from './stopped-turn.ts';
import { nameNow } from './stored-name.ts';
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
  /** The run in view that another process drives. */
  readonly elsewhere: () => string | null;
  /** Another session was opened: its draft comes back. */
  readonly opened: (sessionId: string) => Promise<void>;
};

export type SessionViewDeps = SessionGround & {
  /** Another session is about to be shown: what is followed belongs to the one before. */
  readonly left: () => void;
  /** Told to which message the session was read. */
  readonly read: (sessionId: string, seq: number) => void;
  /** Says whether edits pass unasked in the session that has come into view. Never rejects. */
  readonly edits: (client: RuntimeClient) => Promise<void>;
  /** Whether this program has begun a run, or gone on with it. */
  readonly isOwn: (runId: string) => boolean;
  /** Shows what a run does, from its beginning. */
  readonly follow: (client: RuntimeClient, runId: string) => void;
};

type Shown = { readonly session: OpenSession; readonly running: string | null };

/** Between two tries of a message whose session is busy. */
const againMs = 250;

/** What becomes of a run that rests. */
const goesOn: ReadonlySet<string> = new Set(['chain_resumed', 'chain_completed', 'chain_failed', 'chain_cancelled']);

function restingOf(session: Session, stopped: InterruptedTurn | null): Resting | null {
  const { suspended_run_id } = session;
  if (suspended_run_id !== null) return { rests: suspended_run_id, stands: 'suspended' };
  return stopped === null ? null : { rests: stopped.run_id, stands: 'interrupted' };
}

/** The session that is open: as it is stored, and with what other processes do to it meanwhile. */
export function createSessionView(deps: SessionViewDeps) {
  const { client: clientOf, dispatch, now } = deps;

  /** Another process has begun a turn while one was in view. */
  let missed = false;
  /** How often another session was wanted: what is read of one is shown only while nobody wants the next. */
  let wanted = 0;
  /** Reads that go on, and what the feed has told meanwhile: of a run that they have not seen, it would be lost. */
  let reading = 0;
  let meanwhile: readonly FeedEntry[] = [];
  /** Runs that are in view: word of their beginning may come behind what was read of them. */
  let shown: ReadonlySet<string> = new Set();

  const followed = (client: RuntimeClient, runId: string): void => {
    dispatch({ type: 'following', run_id: runId, line: false, elsewhere: !deps.isOwn(runId), now: now() });
    deps.follow(client, runId);
  };

  /** Shows a session as it is stored, and the run that goes on in it. @returns null where another one is wanted by then */
  const show = async (name: string | null): Promise<Shown | null> => {
    const mine = wanted;
    reading += 1;
    const found = await readAndShow(name, () => mine === wanted).finally(() => {
      reading -= 1;
    });
    if (reading > 0) return found;
    const begun = meanwhile.some(isNewHere);
    meanwhile = [];
    const session = deps.session();
    if (begun && deps.busy()) missed = true;
    else if (begun && session !== null) await showAnew(session);
    return found;
  };

  const readAndShow = async (name: string | null, isWanted: () => boolean): Promise<Shown | null> => {
    const client = await clientOf();
    missed = false;
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
    const active = view.session.active_run_id;
    // A run whose process is gone has no more to tell: its end is offered with the next message.
    const stopped = await stoppedTurn(client, session.name);
    if (!isWanted()) return null;
    shown = new Set([...messages.flatMap(({ run_id }) => run_id ?? []), ...(active === null ? [] : [active])]);
    deps.read(session.id, messages.at(-1)?.seq ?? 0);
    const running = stopped === null ? active : null;
    // What a run that is followed has stored comes with its events.
    const stored = messages.filter(({ run_id }) => run_id === null || run_id !== running);
    if (session.id !== deps.session()?.id) deps.left();
    dispatch({
      type: 'opened',
      session,
      items: storedItems(stored),
      resting: restingOf(view.session, stopped),
    });
    if (running !== null) followed(client, running);
    // It never rejects, and nothing waits for the word of it in the status line.
    void deps.edits(client);
    return { session, running };
  };

  /** Shows the session that is open anew, under the name that it has by now. */
  const showAnew = async (session: OpenSession): Promise<void> => {
    const name = await nameNow(await clientOf(), session.id, deps);
    if (name !== null && deps.session()?.id === session.id) await show(name);
  };

  /** The process of the turn in view is gone without a word, as after `kill -9`: nobody else would end it here. */
  const lookAfter = async (client: RuntimeClient, session: OpenSession): Promise<void> => {
    const runId = deps.elsewhere();
    if (runId === null) return;
    const { status } = await client.showRun({ run_id: runId });
    if (status !== 'interrupted') return;
    const stopped = await stoppedTurn(client, session.name);
    if (deps.elsewhere() !== runId || deps.session()?.id !== session.id) return;
    deps.left();
    dispatch({ type: 'deserted', run_id: runId, is_turn: stopped !== null, now: now() });
    if (stopped !== null) await showAnew(session);
  };

  /** A turn that another process has begun in this session, and that is not the work of another run. */
  const isNewHere = ({ kind, run_id, session_id, data }: FeedEntry): boolean =>
    kind === 'chain_started' &&
    data['run_kind'] === 'chat' &&
    run_id !== undefined &&
    session_id !== undefined &&
    session_id === deps.session()?.id &&
    data['parent_run_id'] === undefined &&
    !deps.isOwn(run_id) &&
    !shown.has(run_id);

  return {
    async open(name: string | null): Promise<void> {
      const before = deps.session();
      wanted += 1;
      const found = await show(name);
      // What is being written in the session that was open is newer than what is stored of it.
      if (found !== null && found.session.id !== before?.id) await deps.opened(found.session.id);
    },

    /** Shows the turn that keeps a message waiting, and who drives it. @throws what the store throws */
    async wait(name: string | null): Promise<void> {
      const found = await show(name);
      const running = found?.running ?? null;
      const id = found === null ? deps.session()?.id : found.session.id;
      if (found === null || running === null) {
        // It is over, its process is gone, or it was read anew: who tries again at once may find the same.
        await new Promise((resolve) => setTimeout(resolve, againMs));
        if (deps.session()?.id === id) dispatch({ type: 'session-free', now: now() });
        return;
      }
      const { session } = found;
      const { run_by } = await (await clientOf()).showRun({ run_id: running });
      const who = run_by === null ? '' : ` with pid ${run_by.pid} (${run_by.surface})`;
      const text = `session "${session.name}" is busy${who}: the message is sent when that turn is over`;
      dispatch({ type: 'say', text, bad: false, now: now() });
    },

    /** Nothing is in view any more that goes on: what was missed meanwhile is shown. @throws what the store throws */
    async rested(): Promise<void> {
      const session = deps.session();
      if (missed && session !== null && !session.deleted && !deps.busy()) await showAnew(session);
    },

    /** Shows what another process does in the session. @throws what the store throws */
    async happened(entries: readonly FeedEntry[]): Promise<void> {
      const resting = deps.resting();
      const session = deps.session();
      const taken = entries.some(({ kind, run_id }) => goesOn.has(kind) && run_id !== undefined && run_id === resting);
      if (session !== null && resting !== null && taken && !deps.isOwn(resting)) {
        await showAnew(session);
        return;
      }
      if (reading > 0) {
        meanwhile = [...meanwhile, ...entries.filter(({ kind }) => kind === 'chain_started')];
        return;
      }
      const [begun, ...more] = entries.filter(isNewHere);
      if (session === null || begun?.run_id === undefined) return;
      // What is in view goes on to its end.
      if (deps.busy()) missed = true;
      // Of several, as behind a stop of this program, all but the last are over.
      else if (more.length > 0) await showAnew(session);
      else followed(await clientOf(), begun.run_id);
    },

    /** Looks whether the session is still there, under its name, and who drives its turn. @throws what the store throws */
    async look(): Promise<void> {
      const session = deps.session();
      if (session === null || session.deleted) return;
      const client = await clientOf();
      await lookAfter(client, session);
      await nameNow(client, session.id, deps);
    },
  };
}
