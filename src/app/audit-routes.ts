import type { AuditFilter, AuditRow } from '../schema/audit.ts';
import { exported } from '../store/audit-export.ts';
import type { AuditLog } from '../store/audit-log.ts';
import { keyOfCursor, type Page, pageOf, pageSize, type PageWanted } from '../schema/page.ts';
import type { AuditRoomsDeps, openAuditRooms } from './audit-rooms.ts';

export type AuditRouteDeps = {
  readonly log: Pick<AuditLog, 'before' | 'after' | 'head'>;
  readonly rooms: Pick<ReturnType<typeof openAuditRooms>, 'verifyAudit'>;
  readonly now: AuditRoomsDeps['now'];
};

type Times = { readonly since?: number | undefined; readonly until?: number | undefined };

/** Rows of an export that are in memory together: one may be as long as what a model wrote into a file. */
const exportPage = 32;

/** The operations of `client/routes/trust.ts` on the audit log. */
export function createAuditRoutes({ log, rooms, now }: AuditRouteDeps) {
  /** One row a line in order, and the head of the chain as the last (03 §14); read on as the reader takes it. */
  async function* wholeLog(times: Pick<AuditFilter, 'since' | 'until'>): AsyncGenerator<string> {
    for (let seq = 0; ; ) {
      const rows = log.after(times, seq, exportPage);
      if (rows.length > 0) yield rows.map((row) => `${JSON.stringify(exported(row, null))}\n`).join('');
      const last = rows.at(-1);
      if (last === undefined || rows.length < exportPage) break;
      seq = last.seq;
    }
    yield `${JSON.stringify({ type: 'head', ...log.head(), exported_at: new Date(now()).toISOString() })}\n`;
  }

  return {
    async pageAudit({
      type,
      run,
      tools,
      since,
      until,
      ...wanted
    }: PageWanted &
      Times & {
        readonly type?: string | undefined;
        readonly run?: string | undefined;
        readonly tools?: string | undefined;
      }): Promise<Page<AuditRow>> {
      const [mark] = keyOfCursor(wanted.cursor, ['number']) ?? [];
      const filter = { type: type ?? null, run: run ?? null, tools: tools ?? null, since: since ?? null, until };
      const rows = log.before(filter, Number(mark ?? Number.MAX_SAFE_INTEGER), pageSize(wanted) + 1);
      return pageOf(
        rows,
        wanted,
        ({ seq }) => [seq],
        (row) => exported(row, null),
      );
    },

    checkAudit: async ({ head }: { readonly head?: string | undefined }) => rooms.verifyAudit({ head: head ?? null }),

    downloadAudit: async ({ since, until }: Times) => ({
      file: 'audit.ndjson',
      content_type: 'application/x-ndjson',
      pieces: wholeLog({ since: since ?? null, until }),
    }),
  };
}
