import type { RuntimeClient } from '../src/client/operations.ts';
import type { Field } from './overlays/field.ts';
import type { Doing, EffectGround } from './effect-ground.ts';
import { actingName } from './stored-name.ts';

type Own = 'switch-session' | 'new-session' | 'rename-session' | 'fork-session' | 'delete-session' | 'load-sessions';

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
  };
}
