import { RuntimeError } from '../schema/errors.ts';
import type { SessionFork } from '../schema/session.ts';
import type { Runs } from '../store/runs.ts';
import type { SessionCopies } from '../store/session-copies.ts';
import type { SessionRow, Sessions } from '../store/sessions.ts';
import type { Sql } from '../store/sql.ts';
import { ulid } from '../text/ids.ts';
import { checkedName, copyName } from './names.ts';
import { view } from './sessions.ts';

export type ForkDeps = {
  readonly sql: Sql;
  readonly sessions: Sessions;
  readonly copies: SessionCopies;
  readonly runs: Pick<Runs, 'openOfSession'>;
  readonly find: (name: string | null) => SessionRow;
  readonly now: () => number;
};

export type ForkInput = {
  /** The session to copy; null = the active one. */
  readonly name: string | null;
  /** Null: made of the session's own. */
  readonly new_name: string | null;
  /** `seq` of the last message to copy; null = all. */
  readonly at: number | null;
};

/**
 * Copies messages into a new session, which becomes the active one (07 §2.8). All in one transaction, so that a turn that
 * goes on meanwhile is copied up to one moment. Runs, asks and remembered choices stay with the session they belong to.
 * @throws RuntimeError usage (bad name or number), already_exists, not_found, storage
 */
export function forkSession(deps: ForkDeps, input: ForkInput): SessionFork {
  const { sql, sessions, copies } = deps;
  const wanted = input.new_name === null ? null : checkedName(input.new_name);
  const source = deps.find(input.name);
  return sql.write('full', () => {
    const { border, moved_back } = borderOf(deps, source, input.at);
    const created = deps.now();
    const made = {
      id: ulid(created),
      name: wanted ?? copyName(sessions, source.name),
      workspace: source.workspace,
      created_at: created,
      forked_from: source.id,
    };
    sessions.insert(made);
    const messages = copies.copyMessages(source.id, made.id, border);
    sessions.setActive(made.id, created);
    const row = sessions.listed(made.id);
    if (row === undefined) throw new Error('a session that was just inserted is not there');
    return {
      session: view(row, made.id),
      from: source.name,
      messages,
      moved_back,
    };
  });
}

/**
 * Where a copy ends that was wanted up to `wanted` (null = whole): at the end of a unit.
 * @throws RuntimeError usage for a number that is not there
 */
export function borderOf(
  deps: { readonly copies: SessionCopies; readonly runs: Pick<Runs, 'openOfSession'> },
  source: SessionRow,
  wanted: number | null,
): { readonly border: number; readonly moved_back: SessionFork['moved_back'] } {
  const { copies } = deps;
  const last = copies.lastSeq(source.id);
  const at = wanted ?? last;
  if (!Number.isSafeInteger(at) || at < (wanted === null ? 0 : 1) || at > last) {
    const range = last === 0 ? 'has no messages' : `has messages 1 to ${last}`;
    throw new RuntimeError('usage', `The session "${source.name}" ${range}; it cannot be copied up to ${at}.`, {
      hints: [`reins session show ${source.name} --json`],
    });
  }
  const openRuns = deps.runs.openOfSession(source.id).map(({ id }) => id);
  const border = copies.unitBorder(source.id, at, openRuns);
  return { border, moved_back: border < at ? { wanted: at, cut: border } : null };
}
