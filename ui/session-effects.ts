import type { RuntimeClient } from '../src/client/operations.ts';
import type { Passage } from '../src/schema/session.ts';
import type { Field } from './overlays/field.ts';
import type { Doing, EffectGround } from './effect-ground.ts';
import { actingName } from './stored-name.ts';

type Own =
  | 'switch-session'
  | 'new-session'
  | 'rename-session'
  | 'fork-session'
  | 'delete-session'
  | 'load-sessions'
  | 'find-sessions';

/** A filter is looked for in messages once nobody has typed for so long. */
const settledMs = 150;
/** One sign stands everywhere, and what is longer than any passage nowhere. */
const [leastSigns, mostSigns] = [2, 200];
/** Messages that are read; those of more sessions help nobody to choose. */
const mostHits = 200;

/** What is done with sessions as a whole; one that is on the screen is known by its id. */
export function sessionEffects({ attempt, say, dispatch, state, link }: EffectGround): Pick<Doing, Own> {
  const ground = { session: () => state().session, dispatch };
  const showSessions = async (client: RuntimeClient): Promise<void> => {
    const rows = await client.listSessions({});
    const open = state().overlays.find((overlay) => overlay.kind === 'sessions');
    if (open?.kind !== 'sessions') return;
    const { session } = state();
    const here = rows.findIndex(({ id }) => id === session?.id);
    if (session !== null && !session.deleted && here < 0) dispatch({ type: 'session-gone' });
    const at = open.rows === null && open.query === '' ? Math.max(0, here) : open.at;
    dispatch({ type: 'overlay', overlay: { ...open, rows, at } });
  };

  /** Those whose names do not match come behind the others; a filter that was changed meanwhile waits for its own. */
  const findSessions = async (client: RuntimeClient, query: string): Promise<void> => {
    const { hits } = await client.searchMessages({ text: query, session: null, limit: mostHits });
    const open = state().overlays.at(-1);
    if (open?.kind !== 'sessions' || open.query.trim() !== query) return;
    const passages = new Map<string, Passage>();
    for (const { session_id, snippet, matches } of hits)
      if (!passages.has(session_id)) passages.set(session_id, { snippet, matches });
    dispatch({ type: 'overlay', overlay: { ...open, said: { query, passages } } });
  };
  let settling: NodeJS.Timeout | undefined;

  /** A name that is not taken is put back into the field where it was typed. */
  const named = (field: Field | undefined, work: (client: RuntimeClient) => Promise<unknown>): void =>
    attempt(async (client) => {
      try {
        await work(client);
      } catch (error) {
        const open = state().overlays.at(-1);
        if (field !== undefined && open?.kind === 'sessions' && open.field === null)
          dispatch({ type: 'overlay', overlay: { ...open, field } });
        throw error;
      }
    });
  /** The list in which a session was made has done its work. */
  const shown = async (name: string, field: Field | undefined): Promise<void> => {
    await link.openSession(name);
    if (field !== undefined && state().overlays.at(-1)?.kind === 'sessions') dispatch({ type: 'no-overlays' });
  };

  return {
    'switch-session': ({ of }) =>
      attempt(async (client) => {
        const name = typeof of === 'string' ? of : await actingName(client, of, ground);
        await client.switchSession({ name });
        await link.openSession(name);
      }),
    'new-session': ({ name, field }) =>
      named(field, async (client) => {
        const made = await client.newSession({ name });
        await shown(made.name, field);
      }),
    'rename-session': ({ of, to, field }) =>
      named(field, async (client) => {
        const name = await actingName(client, of, ground);
        const made = await client.renameSession({ name, new_name: to });
        if (state().session?.id === of.id) dispatch({ type: 'renamed', name: made.name });
        await showSessions(client);
        say(`renamed ${name} to ${made.name}`);
      }),
    'fork-session': ({ of, to, at, field }) =>
      named(field, async (client) => {
        const name = await actingName(client, of, ground);
        const fork = await client.forkSession({ name, new_name: to, at });
        await shown(fork.session.name, field);
        say(`forked ${fork.from}: ${fork.messages} messages`);
      }),
    'delete-session': ({ of, force }) =>
      attempt(async (client) => {
        const name = await actingName(client, of, ground);
        const gone = await client.deleteSession({ name, force });
        if (state().session?.id === of.id) dispatch({ type: 'session-gone' });
        await showSessions(client);
        say(`deleted ${gone.name}, ${gone.messages} messages`);
      }),
    'load-sessions': () => attempt(showSessions),
    'find-sessions': ({ query }) => {
      clearTimeout(settling);
      if (query.length < leastSigns || query.length > mostSigns) return;
      settling = setTimeout(() => attempt((client) => findSessions(client, query)), settledMs);
      settling.unref();
    },
  };
}
