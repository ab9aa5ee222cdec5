import { RuntimeError } from '../schema/errors.ts';
import type { StartRun } from '../schema/run.ts';
import type { Passage, Session, SessionMessage } from '../schema/session.ts';
import type { Calls } from '../store/calls.ts';
import type { RunHead } from '../store/runs.ts';
import type { SessionCopies } from '../store/session-copies.ts';
import type { BriefRow, SessionRow, Sessions } from '../store/sessions.ts';
import { comesAfter, keyOfCursor, type Page, pageOf, pageSize, type PageWanted, thatFit } from '../schema/page.ts';
import type { Compaction } from './compact.ts';
import { messageViews } from './message-view.ts';
import { createFindSession } from './names.ts';
import { type SessionOperations, view } from './sessions.ts';

export type SessionRouteDeps = {
  readonly sessions: Sessions;
  readonly copies: Pick<SessionCopies, 'page' | 'pageBack'>;
  readonly calls: Pick<Calls, 'records'>;
  /** Ids of the sessions with a message that holds all the words of a text. */
  readonly thatSay: (text: string) => Promise<ReadonlySet<string>>;
  /** A passage of each of them that says it, as far as one was read. */
  readonly passages: (text: string) => Promise<ReadonlyMap<string, Passage>>;
  readonly operations: Pick<SessionOperations, 'newSession' | 'switchSession' | 'renameSession' | 'deleteSession'>;
  readonly forkSession: (input: {
    readonly name: string;
    readonly new_name: string | null;
    readonly at: number | null;
  }) => { readonly session: Session };
  /** As a run over HTTP is started that names nothing of its own. */
  readonly request: () => StartRun;
  readonly summaries: Pick<Compaction, 'compactSession' | 'forkWithSummary'>;
  readonly openRuns: (sessionId: string) => readonly RunHead[];
  /** Ends a run, here or of another process; resolves when its row says so. */
  readonly endRun: (runId: string, reason: string) => Promise<void>;
};

type Named = { readonly session: string };
type Started = { readonly run_id: string };

/** Messages that stay as they are beside a summary, unless somebody says how many (07 §2.9). */
const keptMessages = 8;

/** The operations of `client/routes/sessions.ts`, but for the message that starts a turn. */
export function createSessionRoutes(deps: SessionRouteDeps) {
  const { sessions, copies, operations } = deps;
  const find = createFindSession(sessions);
  const shown = (id: string): Session => {
    const row = sessions.listed(id);
    if (row === undefined) throw new RuntimeError('not_found', 'The session was deleted meanwhile.');
    return view(row, sessions.activeId());
  };

  /** Those whose name has a text, or in which it was said; all where it is empty. */
  const matching = async (text: string): Promise<readonly BriefRow[]> => {
    const all = sessions.brief();
    if (text === '') return all;
    const said = await deps.thatSay(text);
    const part = text.toLowerCase();
    return all.filter(({ id, name }) => said.has(id) || name.toLowerCase().includes(part));
  };

  return {
    /** Newest activity first. Only the sessions of the page are read whole. */
    async pageSessions({
      query,
      ...wanted
    }: PageWanted & { readonly query?: string | undefined }): Promise<Page<Session>> {
      const mark = keyOfCursor(wanted.cursor, ['number', 'string']);
      const keyOf = (row: { id: string; created_at: number; last_message_at: number | null }) =>
        [row.last_message_at ?? row.created_at, row.id] as const;
      const text = query?.trim() ?? '';
      const all = await matching(text);
      const passages = text === '' || all.length === 0 ? null : await deps.passages(text);
      const rest = mark === null ? all : all.filter((row) => comesAfter(mark, keyOf(row)));
      return pageOf(rest, wanted, keyOf, ({ id }) => {
        const said = passages?.get(id);
        return said === undefined ? shown(id) : { ...shown(id), said };
      });
    },

    createSession: ({ name }: { readonly name?: string | undefined }): Promise<Session> =>
      operations.newSession({ name: name ?? null }),
    getSession: async ({ session }: Named): Promise<Session> => shown(find(session).id),
    activateSession: ({ session }: Named): Promise<Session> => operations.switchSession({ name: session }),
    patchSession: ({ session, name }: { readonly session: string; readonly name: string }): Promise<Session> =>
      operations.renameSession({ name: session, new_name: name }),

    /** @throws RuntimeError invalid_parameter for `keep` without `summary`; with it as a run that cannot start */
    async copySession({
      session,
      name,
      at,
      summary,
      keep,
    }: Named & {
      readonly name?: string | undefined;
      readonly at?: number | undefined;
      readonly summary?: boolean | undefined;
      readonly keep?: number | undefined;
    }): Promise<Session | Started> {
      const wanted = { name: session, new_name: name ?? null, at: at ?? null };
      if (summary === true) {
        const input = { ...deps.request(), ...wanted, keep: keep ?? keptMessages };
        return { run_id: (await deps.summaries.forkWithSummary(input)).run_id };
      }
      if (keep === undefined) return deps.forkSession(wanted).session;
      throw new RuntimeError('invalid_parameter', 'keep needs summary.', { data: { param: 'keep' } });
    },

    /** @throws RuntimeError conflict (too few messages), session_busy, run_suspended, and as a run that cannot start */
    async compactMessages({ session, keep }: Named & { readonly keep?: number | undefined }): Promise<Started> {
      const input = { ...deps.request(), name: session, keep: keep ?? keptMessages, wait_ms: 0 };
      return { run_id: (await deps.summaries.compactSession(input)).run_id };
    },

    /** @throws RuntimeError run_not_active when no run of the session is suspended */
    async abandonSession({ session }: Named): Promise<Session> {
      const row = find(session);
      const resting = deps.openRuns(row.id).filter(({ status }) => status === 'suspended');
      if (resting.length === 0) {
        throw new RuntimeError('run_not_active', `The session "${row.name}" has no suspended run.`);
      }
      for (const run of resting) await deps.endRun(run.id, 'the session was abandoned');
      return shown(row.id);
    },

    /** @throws RuntimeError in_use while a run has not ended, unless `force` ends it first */
    async removeSession({ session, force }: Named & { readonly force?: boolean | undefined }): Promise<null> {
      const row = find(session);
      if (force === true) for (const run of deps.openRuns(row.id)) await deps.endRun(run.id, 'session deleted');
      await operations.deleteSession({ name: session, force: force === true });
      return null;
    },

    async pageMessages({
      session,
      order,
      ...wanted
    }: Named & PageWanted & { readonly order?: 'asc' | 'desc' | undefined }): Promise<Page<SessionMessage>> {
      const row: SessionRow = find(session);
      const [mark] = keyOfCursor(wanted.cursor, ['number']) ?? [];
      const most = pageSize(wanted) + 1;
      const rows =
        order === 'asc'
          ? copies.page(row.id, Number(mark ?? 0), most)
          : copies.pageBack(row.id, Number(mark ?? Number.MAX_SAFE_INTEGER), most);
      const views = messageViews(rows, true, deps.calls);
      const { length: limit } = thatFit(views.slice(0, most - 1));
      return pageOf(
        views,
        { limit },
        ({ seq }) => [seq],
        (message) => message,
      );
    },
  };
}
