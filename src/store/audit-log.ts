import type { AuditCheck, AuditFilter, AuditLoss, AuditRestored, AuditRow } from '../schema/audit.ts';
import { readJson } from '../text/read-json.ts';
import { auditHash, genesis } from './audit.ts';
import type { Noted } from './audit-anchors.ts';
import { excuses, lossOf, restoredIn, saidIn } from './audit-restored.ts';
import type { Sql, SqlValue } from './sql.ts';
import { idPart } from '../text/ids.ts';

type StoredRow = Omit<AuditRow, 'body'> & { readonly body: string };

const columns = 'seq, at, type, tenant_id, run_id, session_id, body, prev_hash, hash';
/** Rows of the chain that are looked at together. */
const batch = 1000;
/** Of the numbers that a column can hold. */
const lowest = -(2 ** 63);

/** Reads the log that `audit.ts` writes: rows of one tenant, and the one chain of them all. */
export function createAuditLog(sql: Sql, tenant: string) {
  const wanted = (filter: AuditFilter): { readonly where: string; readonly params: readonly SqlValue[] } => {
    const conditions: readonly (readonly [condition: string, value: SqlValue])[] = [
      ['tenant_id = ?', tenant],
      ['at >= ?', filter.since],
      ['at < ?', filter.until ?? null],
      // Ids are shown by their ends; the function takes the value once.
      ["instr(run_id || '|', ? || '|') > 0", filter.run],
      ['type = ?', filter.type],
      ["json_extract(body, '$.tools') = ?", filter.tools],
    ];
    const used = conditions.filter(([, value]) => value !== null);
    return { where: used.map(([condition]) => condition).join(' AND '), params: used.map(([, value]) => value) };
  };

  /** Every row of the chain, read in batches; one with a number that none of ours has comes first. */
  function* inOrder(): Generator<StoredRow> {
    for (let from = lowest; ; ) {
      const rows = sql.all<StoredRow>(`SELECT ${columns} FROM audit WHERE seq >= ? ORDER BY seq LIMIT ${batch}`, from);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < batch) return;
      from = last.seq + 1;
    }
  }

  return {
    /** Runs of which there are rows, or which are still recorded, by an id or its beginning or end, at most 20. */
    runsNamed(part: string): string[] {
      const text = idPart(part);
      if (text === null) return [];
      const like = (id: string) => `(${id} = ? OR substr(${id}, 5, ?) = ? OR substr(${id}, -?) = ?)`;
      const given = [tenant, part, text.length, text, text.length, text];
      return sql.column<string>(
        `SELECT run_id FROM audit WHERE tenant_id = ? AND ${like('run_id')}
         UNION SELECT id FROM runs WHERE tenant_id = ? AND ${like('id')} ORDER BY 1 LIMIT 20`,
        ...given,
        ...given,
      );
    },

    /** Rows before a number, newest first, at most `limit`. */
    before(filter: AuditFilter, seq: number, limit: number): readonly AuditRow[] {
      const { where, params } = wanted(filter);
      return sql
        .all<StoredRow>(
          `SELECT ${columns} FROM audit WHERE ${where} AND seq < ? ORDER BY seq DESC LIMIT ?`,
          ...params,
          seq,
          limit,
        )
        .map(read);
    },

    /** Rows that tell of an ask, oldest first. */
    ofAsk(askId: string, runId: string | null): readonly AuditRow[] {
      return sql
        .all<StoredRow>(
          `SELECT ${columns} FROM audit WHERE tenant_id = ? AND run_id IS ? AND json_extract(body, '$.ask_id') = ?
           ORDER BY seq`,
          tenant,
          runId,
          askId,
        )
        .map(read);
    },

    /** The newest rows, newest first, at most `limit`, and how many there are. */
    list(filter: AuditFilter, limit: number): { readonly rows: readonly AuditRow[]; readonly total: number } {
      const { where, params } = wanted(filter);
      const rows = sql.all<StoredRow>(
        `SELECT ${columns} FROM audit WHERE ${where} ORDER BY seq DESC LIMIT ?`,
        ...params,
        limit,
      );
      const total = sql.get<{ n: number }>(`SELECT count(*) AS n FROM audit WHERE ${where}`, ...params)?.n ?? 0;
      return { rows: rows.map(read), total };
    },

    /** Rows in order behind a number, at most `limit`. */
    after(times: Pick<AuditFilter, 'since' | 'until'>, seq: number, limit: number): readonly AuditRow[] {
      const { where, params } = wanted({ ...times, run: null, type: null, tools: null });
      return sql
        .all<StoredRow>(
          `SELECT ${columns} FROM audit WHERE ${where} AND seq > ? ORDER BY seq LIMIT ?`,
          ...params,
          seq,
          limit,
        )
        .map(read);
    },

    /** What rows up to a number say of backups that were put back, oldest first. */
    restored(end: number): readonly AuditRestored[] {
      return sql
        .all<StoredRow>(
          `SELECT ${columns} FROM audit WHERE type IN ('restored', 'anchor') AND seq <= ? ORDER BY seq`,
          end,
        )
        .flatMap((row) => saidIn(read(row)));
    },

    /** Number and hash of the last row. */
    head(): { readonly seq: number; readonly hash: string } {
      return (
        sql.get<{ seq: number; hash: string }>('SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1') ?? {
          seq: 0,
          hash: genesis,
        }
      );
    },

    /**
     * Looks at every row in order, of all tenants: numbers without gaps, each hash over its row and the hash before.
     * @param noted heads that must be in the chain, but for those of a log in whose place a backup was put
     * @param head a hash that must be in it, wherever
     */
    verify(noted: Noted = nothing, head: string | null = null): AuditCheck {
      const missing = new Map(noted.heads.map((one) => [one.hash, one]));
      let missingHead = head;
      const restored: AuditRestored[] = [];
      let entries = 0;
      let first: Link | null = null;
      let last: Link = { seq: 0, hash: genesis };
      /** A log that was pruned says so in one of its rows. */
      let anchored = false;
      const result = (broken: AuditCheck['break'], follows = false, lost: AuditLoss | null = null): AuditCheck => ({
        ok: broken === null,
        follows,
        entries,
        first_seq: first === null ? null : first.seq + 1,
        last_seq: entries === 0 ? null : last.seq,
        head: last.hash,
        noted: noted.heads.length,
        copies: noted.copies,
        break: broken,
        lost,
        restored,
      });
      for (const row of inOrder()) {
        if (row.seq < 1) return result({ seq: row.seq, reason: 'a number below 1' });
        first ??= { seq: row.seq - 1, hash: row.seq === 1 ? genesis : row.prev_hash };
        if (entries === 0) last = first;
        const fault = faultOf(row, last);
        if (fault !== null) return result({ seq: row.seq, reason: fault });
        if (row.type === 'anchor' && names(read(row).body, first)) anchored = true;
        if (row.type === 'anchor' || row.type === 'restored') restored.push(...restoredIn(read(row), noted.restored));
        const { seq, hash } = row;
        if (missing.get(hash)?.seq === seq) missing.delete(hash);
        if (missingHead === hash) missingHead = null;
        entries += 1;
        last = { seq, hash };
      }
      const pruned = first?.seq ?? 0;
      if (pruned > 0 && !anchored) return result({ seq: pruned + 1, reason: 'gap after 0' });
      // Heads of rows that were pruned are gone with them.
      const gone = [...missing.values()].filter(
        (one) => one.seq > pruned && !restored.some((entry) => excuses(entry, one)),
      );
      const lost = lossOf(gone);
      const [firstGone] = gone;
      if (firstGone !== undefined) return result(breakAt(firstGone, last.seq), true, lost);
      return result(missingHead === null ? null : breakAt({ seq: null, hash: missingHead }, last.seq), true);
    },
  };
}

const nothing: Noted = { heads: [], restored: [], copies: [] };

function breakAt(gone: { readonly seq: number | null; readonly hash: string }, last: number): AuditCheck['break'] {
  const cut = gone.seq !== null && gone.seq > last;
  const reason = cut ? `cut after ${last}` : `the known hash ${gone.hash.slice(0, 12)}… is not in the chain`;
  return { seq: gone.seq ?? last, reason };
}

/** Where the chain stands behind a row. */
type Link = { readonly seq: number; readonly hash: string };

/** Why a row does not follow the one before; null when it does. */
function faultOf(row: StoredRow, before: Link): string | null {
  if (row.seq !== before.seq + 1) return `gap after ${before.seq}`;
  if (row.prev_hash !== before.hash) return 'prev_hash mismatch';
  return hashOf(row) === row.hash ? null : 'hash mismatch';
}

/** Whether an anchor names what stood before the first row. */
const names = (anchor: AuditRow['body'], { seq, hash }: Link): boolean =>
  anchor['first_seq'] === seq + 1 && anchor['first_prev_hash'] === hash;

const hashOf = ({ hash: _hash, body, ...row }: StoredRow): string => auditHash(row, body);

// The column is checked to be JSON, and bodies are written as objects.
const read = (row: StoredRow): AuditRow => ({
  ...row,
  body: readJson<AuditRow['body']>(row.body, { unreadable: true }),
});
export type AuditLog = ReturnType<typeof createAuditLog>;
