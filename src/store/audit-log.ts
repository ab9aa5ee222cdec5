import type { AuditCheck, AuditFilter, AuditRow } from '../schema/audit.ts';
import { readJson } from '../text/read-json.ts';
import { auditHash, genesis } from './audit.ts';
import type { Sql, SqlValue } from './sql.ts';

type StoredRow = Omit<AuditRow, 'body'> & { readonly body: string };

const columns = 'seq, at, type, tenant_id, run_id, session_id, body, prev_hash, hash';
/** Rows of the chain that are looked at together. */
const batch = 1000;

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

  return {
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
    after(seq: number, since: number | null, limit: number): readonly AuditRow[] {
      const { where, params } = wanted({ since, run: null, type: null, tools: null });
      return sql
        .all<StoredRow>(
          `SELECT ${columns} FROM audit WHERE ${where} AND seq > ? ORDER BY seq LIMIT ?`,
          ...params,
          seq,
          limit,
        )
        .map(read);
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
     * @param known hashes that must be in the chain, with the number where that is known
     */
    verify(known: readonly { readonly seq: number | null; readonly hash: string }[]): AuditCheck {
      let entries = 0;
      let first: number | null = null;
      let seq = 0;
      let head = genesis;
      /** What stood before the first row; of a log that was pruned the row that says so is among the others. */
      let start = genesis;
      let anchored = false;
      const missing = new Map(known.map((one) => [one.hash, one]));
      const result = (broken: AuditCheck['break'], follows = false): AuditCheck => ({
        ok: broken === null,
        follows,
        entries,
        first_seq: first,
        last_seq: entries === 0 ? null : seq,
        head,
        break: broken,
      });
      for (;;) {
        const rows = sql.all<StoredRow>(`SELECT ${columns} FROM audit WHERE seq > ? ORDER BY seq LIMIT ${batch}`, seq);
        for (const row of rows) {
          if (first === null) {
            first = row.seq;
            seq = row.seq - 1;
            start = first === 1 ? genesis : row.prev_hash;
            head = start;
          }
          if (row.seq !== seq + 1) return result({ seq: row.seq, reason: `gap after ${seq}` });
          if (row.prev_hash !== head) return result({ seq: row.seq, reason: 'prev_hash mismatch' });
          const { hash } = row;
          if (hashOf(row) !== hash) return result({ seq: row.seq, reason: 'hash mismatch' });
          if (row.type === 'anchor' && names(read(row).body, first, start)) anchored = true;
          const anchor = missing.get(hash);
          if (anchor !== undefined && (anchor.seq === null || anchor.seq === row.seq)) missing.delete(hash);
          entries += 1;
          seq = row.seq;
          head = hash;
        }
        if (rows.length < batch) break;
      }
      if (first !== null && first > 1 && !anchored) return result({ seq: first, reason: 'gap after 0' });
      // Heads of rows that were pruned are gone with them.
      const [gone] = [...missing.values()].filter((one) => one.seq === null || one.seq >= (first ?? 1));
      if (gone === undefined) return result(null, true);
      const cut = gone.seq !== null && gone.seq > seq;
      const reason = cut ? `cut after ${seq}` : `the known hash ${gone.hash.slice(0, 12)}… is not in the chain`;
      return result({ seq: gone.seq ?? seq, reason }, true);
    },
  };
}

const names = (anchor: AuditRow['body'], first: number, start: string): boolean =>
  anchor['first_seq'] === first && anchor['first_prev_hash'] === start;

const hashOf = ({ hash: _hash, body, ...row }: StoredRow): string => auditHash(row, body);

// The column is checked to be JSON, and bodies are written as objects.
const read = (row: StoredRow): AuditRow => ({
  ...row,
  body: readJson<AuditRow['body']>(row.body, { unreadable: true }),
});
export type AuditLog = ReturnType<typeof createAuditLog>;
