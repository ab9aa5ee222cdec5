import { RuntimeError } from '../schema/errors.ts';
import { orTaken } from './failure.ts';
import { mergeSearchIndex } from './merge-search.ts';
import { createMessages, member } from './messages.ts';
import { putSetting } from './settings.ts';
import type { Sql } from './sql.ts';

export type SessionRow = {
  readonly id: string;
  readonly name: string;
  readonly workspace: string;
  readonly created_at: number;
  readonly last_message_at: number | null;
  /** All stored rows: messages, summaries and notes. */
  readonly message_count: number;
  readonly forked_from: string | null;
};

/** A session with what lists show beside it. */
export type SessionListRow = SessionRow & {
  /** Text of the newest user message, cut to 80 characters; empty when there is none. */
  readonly preview: string;
  /** Its run that is queued, running or waiting; null when there is none. */
  readonly active_run_id: string | null;
  readonly suspended_run_id: string | null;
};

export type BriefRow = Pick<SessionRow, 'id' | 'name' | 'created_at' | 'last_message_at' | 'message_count'>;

/** Most sessions of one database (11 §11). */
const maxSessions = 10_000;
const activeKey = 'session.active';

const sessionColumns = 'id, name, workspace, created_at, last_message_at, message_count, forked_from';
/** Sessions, their messages and the active pointer (11 §2.3), of one tenant. */
export function createSessions(sql: Sql, tenant: string) {
  const runOf = (statuses: string): string =>
    `(SELECT r.id FROM runs r WHERE r.session_id = s.id AND r.status IN (${statuses}) ORDER BY r.created_at DESC LIMIT 1)`;
  const listed = `SELECT ${sessionColumns},
      ifnull((SELECT substr(${member('$.content')}, 1, 80) FROM messages m
        WHERE m.session_id = s.id AND m.role = 'user' AND m.kind = 'message' ORDER BY m.seq DESC LIMIT 1), '') AS preview,
      ${runOf("'queued', 'running', 'waiting'")} AS active_run_id, ${runOf("'suspended'")} AS suspended_run_id
    FROM sessions s WHERE tenant_id = ?`;

  const change = (name: string, body: () => number): boolean =>
    orTaken(
      (cause) => nameTaken(name, cause),
      () => sql.write('full', () => body() === 1),
    );

  const checkRoom = (): void => {
    const count = sql.get<{ n: number }>('SELECT count(*) AS n FROM sessions WHERE tenant_id = ?', tenant)?.n ?? 0;
    if (count < maxSessions) return;
    throw new RuntimeError('storage', `There are ${maxSessions} sessions, which is the most; delete some first.`, {
      hints: ['reins session list', 'reins session delete <name>'],
    });
  };

  return {
    ...createMessages(sql, tenant),

    /** @throws RuntimeError storage at 10,000 sessions. */
    checkRoom,

    /** @throws RuntimeError already_exists when the name is taken, storage at 10,000 sessions. */
    insert(row: Omit<SessionRow, 'last_message_at' | 'message_count'>): void {
      change(row.name, () => {
        checkRoom();
        return sql.run(
          `INSERT INTO sessions (id, tenant_id, name, workspace, created_at, last_message_at, message_count, forked_from)
           VALUES (?, ?, ?, ?, ?, NULL, 0, ?)`,
          row.id,
          tenant,
          row.name,
          row.workspace,
          row.created_at,
          row.forked_from,
        );
      });
    },

    byId(id: string): SessionRow | undefined {
      return sql.get<SessionRow>(`SELECT ${sessionColumns} FROM sessions WHERE tenant_id = ? AND id = ?`, tenant, id);
    },

    byName(name: string): SessionRow | undefined {
      return sql.get<SessionRow>(
        `SELECT ${sessionColumns} FROM sessions WHERE tenant_id = ? AND name = ?`,
        tenant,
        name,
      );
    },

    /** Newest activity first. */
    list(): SessionListRow[] {
      return sql.all<SessionListRow>(`${listed} ORDER BY ifnull(last_message_at, created_at) DESC, id DESC`, tenant);
    },

    /** What a list of names shows, in the order of `list`, without reading a message: 5,000 previews take 40 ms. */
    brief(): BriefRow[] {
      return sql.all<BriefRow>(
        `SELECT id, name, created_at, last_message_at, message_count FROM sessions WHERE tenant_id = ?
         ORDER BY ifnull(last_message_at, created_at) DESC, id DESC`,
        tenant,
      );
    },

    listed(id: string): SessionListRow | undefined {
      return sql.get<SessionListRow>(`${listed} AND id = ?`, tenant, id);
    },

    /** @throws RuntimeError already_exists. @returns false when there is no such session. */
    rename(id: string, name: string): boolean {
      return change(name, () =>
        sql.run('UPDATE sessions SET name = ? WHERE tenant_id = ? AND id = ?', name, tenant, id),
      );
    },

    /**
     * Removes a session with its messages, remembered choices, read marks and draft, and the active pointer when it named
     * it; its runs and the audit stay.
     * @returns the number of removed messages; undefined when there was no such session
     */
    delete(id: string): number | undefined {
      return sql.write('full', () => {
        const row = sql.get<{ n: number }>(
          `SELECT (SELECT count(*) FROM messages WHERE session_id = s.id) AS n FROM sessions s WHERE tenant_id = ? AND id = ?`,
          tenant,
          id,
        );
        if (row === undefined) return undefined;
        sql.run('DELETE FROM sessions WHERE tenant_id = ? AND id = ?', tenant, id);
        if (row.n > 0) mergeSearchIndex(sql);
        sql.run('DELETE FROM remembered WHERE session_id = ?', id);
        sql.run('DELETE FROM read_marks WHERE scope = ?', id);
        sql.run('DELETE FROM kv WHERE tenant_id = ? AND key = ?', tenant, `tui.draft.${id}`);
        sql.run('DELETE FROM kv WHERE tenant_id = ? AND key = ? AND value = ?', tenant, activeKey, JSON.stringify(id));
        return row.n;
      });
    },

    /** Id of the active session; null when there is none or it was deleted. */
    activeId(): string | null {
      return (
        sql.get<{ id: string }>(
          `SELECT s.id FROM kv JOIN sessions s ON s.id = CASE WHEN json_valid(kv.value) THEN json_extract(kv.value, '$') END AND s.tenant_id = kv.tenant_id
           WHERE kv.tenant_id = ? AND kv.key = ?`,
          tenant,
          activeKey,
        )?.id ?? null
      );
    },

    setActive(id: string | null, now: number): void {
      sql.write('full', () => {
        if (id === null) sql.run('DELETE FROM kv WHERE tenant_id = ? AND key = ?', tenant, activeKey);
        else putSetting(sql, tenant, activeKey, JSON.stringify(id), now);
      });
    },
  };
}

export type Sessions = ReturnType<typeof createSessions>;

export const nameTaken = (name: string, cause?: unknown): RuntimeError =>
  new RuntimeError('already_exists', `A session named "${name}" exists already.`, {
    cause,
    hints: [`reins session switch ${name}`],
  });
