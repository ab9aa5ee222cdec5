import type { AuditCheck, AuditFilter } from '../schema/audit.ts';
import type { Asks as AskRows } from '../store/asks.ts';
import type { Audit } from '../store/audit.ts';
import { type AnchorsDeps, knownHeads } from '../store/audit-anchors.ts';
import { type ExportInput, exported } from '../store/audit-export.ts';
import { createAuditLog } from '../store/audit-log.ts';
import { pruneAudit } from '../store/audit-prune.ts';

export type AuditRoomsDeps = AnchorsDeps & {
  readonly audit: Audit;
  readonly asks: Pick<AskRows, 'get'>;
  readonly tenant: string;
  /** Who acts, for the record. */
  readonly by: string;
};

/** What reads the audit log as a whole; loaded when somebody asks for it. */
export function openAuditRooms(deps: AuditRoomsDeps) {
  const log = createAuditLog(deps.sql, deps.tenant);
  return {
    listAudit: ({ limit, ...filter }: AuditFilter & { readonly limit: number }) => log.list(filter, limit),
    /** `head`: a hash that must be in the chain, beside those that were noted outside the database. */
    verifyAudit: ({ head }: { readonly head: string | null }): AuditCheck => {
      const noted = knownHeads(deps);
      const found = log.verify([...noted, ...(head === null ? [] : [{ seq: null, hash: head }])]);
      return { ...found, noted: noted.length };
    },
    exportAudit: ({ after, since, limit, with_text }: ExportInput) => ({
      rows: log
        .after({ since }, after, limit)
        .map((row) => exported(row, with_text ? (id) => deps.asks.get(id)?.verdict ?? null : null)),
      head: log.head(),
    }),
    pruneAudit: ({ before }: { readonly before: number }) => ({ removed: pruneAudit(deps, before, deps.by) }),
  };
}
