import type { AuditRow } from '../schema/audit.ts';
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

const exportPage = 500;
/** A reply has at most 8 MiB (09 §2). */
const mostBytes = 8 * 1024 * 1024 - 4096;

async function* inOrder(lines: readonly string[]): AsyncGenerator<string> {
  yield lines.join('');
}

/** The operations of `client/routes/trust.ts` on the audit log. */
export function createAuditRoutes({ log, rooms, now }: AuditRouteDeps) {
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

    async downloadAudit({ since, until }: Times) {
      const lines: string[] = [];
      let bytes = 0;
      let cut: number | null = null;
      for (let after = 0; cut === null; ) {
        const rows = log.after(after, since ?? null, exportPage);
        for (const row of rows.filter(({ at }) => until === undefined || at < until)) {
          const line = `${JSON.stringify(exported(row, null))}\n`;
          bytes += Buffer.byteLength(line);
          if (bytes > mostBytes) {
            cut = row.seq;
            break;
          }
          lines.push(line);
        }
        const last = rows.at(-1);
        if (last === undefined || rows.length < exportPage) break;
        after = last.seq;
      }
      const head = { type: 'head', ...log.head(), exported_at: new Date(now()).toISOString() };
      // A reader goes on with `since`, whose time the row of that number has.
      lines.push(`${JSON.stringify(cut === null ? head : { ...head, cut_before_seq: cut })}\n`);
      return { file: 'audit.ndjson', content_type: 'application/x-ndjson', pieces: inOrder(lines) };
    },
  };
}
