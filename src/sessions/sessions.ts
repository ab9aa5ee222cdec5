import { randomBytes } from 'node:crypto';
import { RuntimeError } from '../schema/errors.ts';
import type { Session, SessionMessage, SessionView } from '../schema/session.ts';
import type { Runs } from '../store/runs.ts';
import { maxPayloadBytes, type MessageRow } from '../store/messages.ts';
import type { SessionListRow, SessionRow, Sessions } from '../store/sessions.ts';
import type { Sql } from '../store/sql.ts';
import { ulid } from '../text/ids.ts';

export type SessionDeps = {
  readonly sql: Sql;
  readonly sessions: Sessions;
  readonly runs: Pick<Runs, 'openOfSession'>;
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
  const named = (name: string): SessionRow => {
    const row = sessions.byName(name.normalize('NFC'));
    if (row !== undefined) return row;
    const near = nearNames(
      name,
      sessions.list().map((other) => other.name),
    );
    const hint = near.length === 0 ? '' : ` Near names: ${near.join(', ')}.`;
    throw new RuntimeError('not_found', `There is no session "${name}".${hint}`, {
      data: { near },
      hints: ['reins session list'],
    });
  };
  const active = (): SessionRow => {
    const id = sessions.activeId();
    const row = id === null ? undefined : sessions.byId(id);
    if (row !== undefined) return row;
    throw new RuntimeError('not_found', 'No session is active.', {
      hints: ['reins session list', 'reins session new'],
    });
  };

  return {
    async listSessions(): Promise<Session[]> {
      const activeId = sessions.activeId();
      return sessions.list().map((row) => view(row, activeId));
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
      const row = named(input.name);
      sessions.setActive(row.id, deps.now());
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
      const row = input.name === null ? active() : named(input.name);
      const rows = sessions.messages(row.id, {
        tools: input.tools,
        ...(head === undefined ? {} : { head }),
        ...(tail === undefined ? {} : { tail }),
      });
      return {
        session: viewOf(row.id),
        total: row.message_count,
        messages: rows.map((message) => messageView(message, input.tools)),
      };
    },

    /** A run that has not ended refuses it; `force` cancels that first (07 §2.8). */
    async deleteSession(input: {
      readonly name: string;
      readonly force: boolean;
    }): Promise<{ readonly name: string; readonly messages: number; readonly was_active: boolean }> {
      const row = named(input.name);
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
      if (name !== null) return named(name);
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

/** 07 §1.5, in NFC. @throws RuntimeError usage. */
function checkedName(text: string): string {
  const name = text.normalize('NFC');
  if (/^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*$/u.test(name) && [...name].length <= 64) return name;
  throw new RuntimeError(
    'usage',
    'A session name has 1 to 64 characters: first a letter or digit, then letters, digits, ".", "_" or "-".',
  );
}

function freeName(sessions: Sessions): string {
  for (;;) {
    const name = `session-${randomBytes(4).toString('hex')}`;
    if (sessions.byName(name) === undefined) return name;
  }
}

const iso = (at: number): string => new Date(at).toISOString();

const view = (row: SessionListRow, activeId: string | null): Session => ({
  id: row.id,
  name: row.name,
  active: row.id === activeId,
  message_count: row.message_count,
  created_at: iso(row.created_at),
  last_message_at: row.last_message_at === null ? null : iso(row.last_message_at),
  preview: row.preview,
  forked_from: row.forked_from,
  active_run_id: row.active_run_id,
  suspended_run_id: row.suspended_run_id,
});

const roles: readonly string[] = ['system', 'user', 'assistant', 'tool'];
const isRole = (text: string): text is SessionMessage['role'] => roles.includes(text);

/** A stored row as people see it. One that cannot be read says so and keeps its place (07 §1.3). */
function messageView(row: MessageRow, withTools: boolean): SessionMessage {
  const body = parseBody(row.payload);
  const readable = body !== null && typeof body['content'] === 'string' && isRole(row.role);
  return {
    seq: row.seq,
    id: row.id,
    role: isRole(row.role) ? row.role : 'assistant',
    kind: row.kind,
    status: row.status,
    text: readable ? textOf(body['content']) : '[unreadable message]',
    thinking: readable && typeof body['thinking'] === 'string' ? body['thinking'] : null,
    tool_calls: readable && withTools ? callsOf(body['tool_calls']) : [],
    tool_call_id: readable && typeof body['tool_call_id'] === 'string' ? body['tool_call_id'] : null,
    run_id: row.run_id,
    error: parseJson(row.error),
    created_at: iso(row.created_at),
  };
}

type Body = { readonly [member: string]: unknown };

function parseBody(payload: string): Body | null {
  if (Buffer.byteLength(payload) > maxPayloadBytes) return null;
  const value = parseJson(payload);
  return isBody(value) ? value : null;
}

const isBody = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value);

function parseJson(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function callsOf(value: unknown): SessionMessage['tool_calls'] {
  if (!Array.isArray(value)) return [];
  return value.filter(isBody).map((call) => {
    const named = isBody(call['function']) ? call['function'] : {};
    return { id: textOf(call['id']), name: textOf(named['name']), arguments: textOf(named['arguments']) };
  });
}

/** Up to five names that the given one may have meant, nearest first. */
function nearNames(wanted: string, names: readonly string[]): string[] {
  const limit = Math.max(2, Math.floor([...wanted].length / 2));
  return names
    .map((name) => ({ name, far: name.startsWith(wanted) ? 0 : distance(wanted, name) }))
    .filter(({ far }) => far <= limit)
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
    .slice(0, 5)
    .map(({ name }) => name);
}

/** Levenshtein distance of two names, which have at most 64 characters. */
function distance(a: string, b: string): number {
  const right = [...b].slice(0, 64);
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [at, left] of [...a].slice(0, 64).entries()) {
    const next = [at + 1];
    for (const [index, char] of right.entries()) {
      const replaced = (row[index] ?? 0) + (left === char ? 0 : 1);
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
