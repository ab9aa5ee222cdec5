import type { AuditCheck, AuditFilter, AuditLoss } from '../schema/audit.ts';
import { runNamed } from '../runs/run-named.ts';
import type { Asks as AskRows } from '../store/asks.ts';
import type { Audit } from '../store/audit.ts';
import { type AnchorsDeps, notedHeads, noteRestored } from '../store/audit-anchors.ts';
import { type ExportInput, exported } from '../store/audit-export.ts';
import { createAuditLog } from '../store/audit-log.ts';
import { pruneAudit } from '../store/audit-prune.ts';
import { notABackup } from '../store/audit-restored.ts';

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
    /** @throws RuntimeError not_found, ambiguous_id for the run: what is asked by mistake is not answered by "nothing" */
    listAudit: ({ limit, ...filter }: AuditFilter & { readonly limit: number }) =>
      log.list({ ...filter, run: filter.run === null ? null : runNamed(filter.run, log.runsNamed(filter.run)) }, limit),
    ofAsk: log.ofAsk,
    /** `head`: a hash that must be in the chain, beside those that were noted outside the database. */
    verifyAudit: ({ head }: { readonly head: string | null }): AuditCheck => log.verify(notedHeads(deps), head),
    /** Writes down that a backup was put in the place of the database, with what is missing since; null = nothing is. */
    recordRestored: (): { readonly recorded: AuditLoss | null } => {
      const { follows, break: broken, lost } = log.verify(notedHeads(deps));
      if (!follows && broken !== null) throw notABackup(broken);
      if (lost === null) return { recorded: null };
      const { sql, audit, tenant, by, now } = deps;
      const entry = {
        type: 'restored',
        tenant_id: tenant,
        run_id: null,
        session_id: null,
        body: { ...lost, by },
      } as const;
      const written = sql.write('full', () => {
        audit.append(entry, now());
        return log.head();
      });
      noteRestored(deps, written);
      return { recorded: lost };
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
