import { createFindSession } from '../../src/sessions/names.ts';
import type { RunStatus } from '../../src/schema/run.ts';
import type { NewMessage } from '../../src/store/messages.ts';
import { createSessions, type Sessions } from '../../src/store/sessions.ts';
import type { SessionRow } from '../../src/store/sessions.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import { openIn, startOfTime, tenant } from '../store/open.ts';
import { tempHome } from '../support/temp-home.ts';

/** Sessions in a database of their own. */
export type Place = {
  readonly store: OpenedStore;
  readonly sessions: Sessions;
  readonly find: (name: string | null) => SessionRow;
  add(name: string): void;
  /** Stores a message whose text is `text`; returns its number. */
  say(session: string, role: string, text: string, over?: Partial<NewMessage> & { body?: object }): number;
  /** A run of a session, with nothing but what sessions look at. */
  run(id: string, session: string, status: RunStatus): void;
  close(): void;
};

export async function createPlace(): Promise<Place> {
  const temp = tempHome();
  const store = await openIn(temp);
  const sessions = createSessions(store.sql, tenant);
  const find = createFindSession(sessions);
  let count = 0;
  return {
    store,
    sessions,
    find,
    add(name) {
      count += 1;
      const row = { id: `s${count}`, name, workspace: temp.workspace, created_at: startOfTime, forked_from: null };
      sessions.insert(row);
      sessions.setActive(row.id, startOfTime);
    },
    say(session, role, text, { body, ...over } = {}) {
      count += 1;
      const id = `m${count}`;
      return sessions.appendMessage(find(session).id, {
        id,
        role,
        kind: 'message',
        payload: JSON.stringify({ id, role, content: text, ...body }),
        status: 'complete',
        run_id: null,
        error: null,
        tokens_in: null,
        tokens_out: null,
        created_at: startOfTime + count,
        ...over,
      });
    },
    run(id, session, status) {
      store.sql.run(
        `INSERT INTO runs (id, kind, status, workspace, cwd, chain_id, chain_sha256, policy, session_id, mission_id, surface,
           options, input, usage, counters, created_at)
         VALUES (?, 'chat', ?, '/', '/', 'c', '0', '{}', ?, ?, 'cli', '{}', '{}', '{}', '{}', 1)`,
        id,
        status,
        find(session).id,
        id,
      );
    },
    close() {
      store.close();
      temp.remove();
    },
  };
}
