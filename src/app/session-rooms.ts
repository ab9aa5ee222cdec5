import { type ForkDeps, type ForkInput, forkSession } from '../sessions/fork.ts';
import { messageViews } from '../sessions/message-view.ts';
import { createFindSession } from '../sessions/names.ts';
import { passagesThatSay, type SearchInput, searchMessages, sessionsThatSay } from '../sessions/search.ts';
import { view } from '../sessions/sessions.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { SessionPage } from '../schema/session.ts';
import type { Calls } from '../store/calls.ts';
import { createMessageSearch } from '../store/message-search.ts';
import { createSessionCopies } from '../store/session-copies.ts';

export type SessionRoomsDeps = Omit<ForkDeps, 'copies' | 'find'> & {
  readonly tenant: string;
  readonly calls: Pick<Calls, 'records'>;
};

type ExportInput = {
  readonly session: { readonly name: string | null } | { readonly id: string };
  readonly after: number;
  readonly most_bytes?: number | undefined;
};

/** Rows of one page of an export (07 §5). */
const page = 200;

/** What reads or copies whole sessions; loaded when somebody asks for it. */
export function openSessionRooms(deps: SessionRoomsDeps) {
  const { sql, sessions, tenant } = deps;
  const copies = createSessionCopies(sql, tenant);
  const search = createMessageSearch(sql, tenant);
  const find = createFindSession(sessions);
  return {
    damagedSessions: copies.damaged,
    forkSession: (input: ForkInput) => forkSession({ ...deps, copies, find }, input),
    sessionsThatSay: (text: string) => sessionsThatSay(search, text),
    passagesThatSay: (text: string) => passagesThatSay(search, text),
    searchMessages: (input: SearchInput) => searchMessages({ search, find }, input),
    /** Later pages name the session by its id, which a rename leaves alone. */
    exportSession({ session, after, most_bytes }: ExportInput): SessionPage {
      const id = 'id' in session ? session.id : find(session.name).id;
      const row = sessions.listed(id);
      if (row === undefined) throw new RuntimeError('not_found', 'The session was deleted meanwhile.');
      const end = most_bytes === undefined ? null : copies.pageEnd(id, after, page, most_bytes);
      const rows = copies.page(id, after, page, end ?? undefined);
      return {
        session: view(row, sessions.activeId()),
        messages: messageViews(rows, true, deps.calls),
        next: end ?? (rows.length === page ? (rows.at(-1)?.seq ?? null) : null),
      };
    },
  };
}
