import type { RuntimeClient } from '../src/client/operations.ts';
import { RuntimeError, toWire } from '../src/schema/errors.ts';
import type { Action } from './actions.ts';
import type { KnownSession } from './known-session.ts';
import type { OpenSession } from './state.ts';

export type NameGround = {
  /** The one that is open. */
  readonly session: () => OpenSession | null;
  readonly dispatch: (action: Action) => void;
};

/**
 * What a session is called now; null where it was deleted. Its old name may be that of another session by then.
 * @throws what the store throws
 */
export async function storedName(client: RuntimeClient, id: string): Promise<string | null> {
  try {
    const { session } = await client.exportSession({ session: { id }, after: Number.MAX_SAFE_INTEGER });
    return session.name;
  } catch (error) {
    if (toWire(error).code === 'not_found') return null;
    throw error;
  }
}

/** As `storedName`; what has become of the session that is open is shown, too. */
export async function nameNow(client: RuntimeClient, id: string, ground: NameGround): Promise<string | null> {
  const name = await storedName(client, id);
  const open = ground.session();
  if (open?.id !== id) return name;
  if (name === null) ground.dispatch({ type: 'session-gone' });
  else if (name !== open.name) {
    ground.dispatch({ type: 'renamed', name });
    const text = `this session was renamed elsewhere: ${open.name} is ${name}`;
    ground.dispatch({ type: 'notice', level: 'info', text });
  }
  return name;
}

/**
 * The name under which something is done with a session that is on the screen.
 * @throws RuntimeError not_found where it was deleted
 */
export async function actingName(client: RuntimeClient, of: KnownSession, ground: NameGround): Promise<string> {
  const name = await nameNow(client, of.id, ground);
  if (name === null) throw new RuntimeError('not_found', `the session ${of.name} was deleted`);
  return name;
}
