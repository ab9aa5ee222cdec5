import { RuntimeError } from '../schema/errors.ts';
import type { Session, SessionName, SessionView } from '../schema/session.ts';
import type { Calls } from '../store/calls.ts';
import type { Runs } from '../store/runs.ts';
import { nameTaken, type SessionListRow, type SessionRow, type Sessions } from '../store/sessions.ts';
import type { Sql } from '../store/sql.ts';
import { ulid } from '../text/ids.ts';
import { messageViews } from './message-view.ts';
import { stamp } from '../text/stamp.ts';
import { checkedName, createFindSession, freeName } from './names.ts';

export type SessionDeps = {
  readonly sql: Sql;
  readonly sessions: Sessions;
  readonly runs: Pick<Runs, 'openOfSession'>;
  readonly calls: Pick<Calls, 'records'>;
  /** Real path of the workspace root, noted in a new session. */
  readonly workspace: string;
  readonly now: () => number;
  /** Ends a run, live or resting, with its open asks; resolves when its row says so. */
  readonly cancelRun: (runId: string, reason: string) => Promise<void>;
};

/** What `chat` uses when nothing is active (07 §2.2). */
const defaultName = 'default';

/** Sessions by name (07 §2.2, §2.8): the operations of `client/operations/work.ts`, and the choice of one for a turn. */
export function createSessionOperations(deps: SessionDeps) {
  const { sessions, sql } = deps;

  const insert = (name: string): SessionRow => {
    const at = deps.now();
    const row = { id: ulid(at), name, workspace: deps.workspace, created_at: at, forked_from: null };
    sessions.insert(row);
    return { ...row, last_message_at: null, message_count: 0 };
  };
  const viewOf = (id: string): Session => {
    const row = sessions.listed(id);
    if (row === undefined) throw new RuntimeError('not_found', 'The session was deleted meanwhile.');
    return view(row, sessions.activeId());
  };
  const find = createFindSession(sessions);

  return {
    async listSessions(): Promise<Session[]> {
      const activeId = sessions.activeId();
      return sessions.list().map((row) => view(row, activeId));
    },

    async sessionNames(): Promise<readonly SessionName[]> {
      const activeId = sessions.activeId();
      return sessions.brief().map((row) => ({
        name: row.name,
        active: row.id === activeId,
        message_count: row.message_count,
        at: stamp(row.last_message_at ?? row.created_at),
      }));
    },

    /** @throws RuntimeError usage (bad name), already_exists. */
    async newSession(input: { readonly name: string | null }): Promise<Session> {
      const name = input.name === null ? null : checkedName(input.name);
      const row = sql.write('full', () => {
        const made = insert(name ?? freeName(sessions));
        sessions.setActive(made.id, deps.now());
        return made;
      });
      return viewOf(row.id);
    },

    async switchSession(input: { readonly name: string }): Promise<Session> {
      const row = find(input.name);
      sessions.setActive(row.id, deps.now());
      return viewOf(row.id);
    },

    /**
     * The new name must be free, the old one included; the pointer follows the id (07 §2.8).
     * @throws RuntimeError usage (bad name), already_exists, not_found
     */
    async renameSession(input: { readonly name: string; readonly new_name: string }): Promise<Session> {
      const name = checkedName(input.new_name);
      const row = find(input.name);
      if (row.name === name) throw nameTaken(name);
      if (!sessions.rename(row.id, name)) throw new RuntimeError('not_found', `There is no session "${row.name}".`);
      return viewOf(row.id);
    },

    /** Without a name the active session. `tail` and `head` count messages (07 §2.8). */
    async showSession(input: {
      readonly name: string | null;
      readonly tail?: number | undefined;
      readonly head?: number | undefined;
      readonly tools: boolean;
    }): Promise<SessionView> {
      const { tail, head } = input;
      if (tail !== undefined && head !== undefined) {
        throw new RuntimeError('usage', 'Give --tail or --head, not both.');
      }
      for (const count of [tail, head]) {
        if (count !== undefined && (!Number.isSafeInteger(count) || count < 0)) {
          throw new RuntimeError('usage', 'The number of messages must be 0 or a whole number above it.');
        }
      }
      const row = find(input.name);
      const rows = sessions.messages(row.id, {
        tools: input.tools,
        ...(head === undefined ? {} : { head }),
        ...(tail === undefined ? {} : { tail }),
      });
      return {
        session: viewOf(row.id),
        total: row.message_count,
        messages: messageViews(rows, input.tools, deps.calls),
        summary: sessions.newestSummary(row.id),
      };
    },

    /** A run that has not ended refuses it; `force` cancels that first (07 §2.8). */
    async deleteSession(input: {
      readonly name: string;
      readonly force: boolean;
    }): Promise<{ readonly name: string; readonly messages: number; readonly was_active: boolean }> {
      const row = find(input.name);
      if (input.force) {
        for (const run of deps.runs.openOfSession(row.id)) await deps.cancelRun(run.id, 'session deleted');
      }
      return sql.write('full', () => {
        // Looked at again in the transaction that deletes: a turn may have begun meanwhile.
        const open = deps.runs.openOfSession(row.id)[0];
        if (open !== undefined) throw hasOpenRun(row.name, open.id, open.status);
        const was_active = sessions.activeId() === row.id;
        const messages = sessions.delete(row.id);
        if (messages === undefined) throw new RuntimeError('not_found', `There is no session "${row.name}".`);
        return { name: row.name, messages, was_active };
      });
    },

    /**
     * The session of a turn (07 §2.2): the named one, which must exist and does not become active; else the active one;
     * else `default`, made when it is missing, and then active.
     */
    sessionForTurn(name: string | null): SessionRow {
      if (name !== null) return find(name);
      const id = sessions.activeId();
      const row = id === null ? undefined : sessions.byId(id);
      if (row !== undefined) return row;
      return sql.write('full', () => {
        const made = sessions.byName(defaultName) ?? insert(defaultName);
        sessions.setActive(made.id, deps.now());
        return made;
      });
    },
  };
}

export type SessionOperations = ReturnType<typeof createSessionOperations>;

const hasOpenRun = (name: string, run: string, status: string): RuntimeError =>
  new RuntimeError('in_use', `The session "${name}" has a run that has not ended: ${run} (${status}).`, {
    data: { run_id: run, status },
    hints: [`reins session delete ${name} --force`, `reins state cancel ${run}`],
  });

export const view = (row: SessionListRow, activeId: string | null): Session => ({
  id: row.id,
  name: row.name,
  active: row.id === activeId,
  message_count: row.message_count,
  created_at: stamp(row.created_at),
  last_message_at: row.last_message_at === null ? null : stamp(row.last_message_at),
  preview: row.preview,
  forked_from: row.forked_from,
  active_run_id: row.active_run_id,
  suspended_run_id: row.suspended_run_id,
});
