import type { Ask, AskState } from '../schema/ask.ts';
import { type AskRow, askColumns, readAsk } from './asks.ts';
import type { Sql, SqlValue } from './sql.ts';

export type AskPageFilter = {
  readonly state: AskState | 'all';
  readonly kind: string | null;
  readonly run_id: string | null;
  readonly session_id: string | null;
  readonly mission_id: string | null;
  /** `operator`, `agent` or `system`. */
  readonly by: string | null;
};

/** Where an ask stands in its list: pending ones first, by deadline, those without one last; then the newest verdict. */
export type AskPlace = readonly [rank: number, key: number, id: string];
type PlacedAsk = { readonly ask: Ask; readonly place: AskPlace };

/** Later than every deadline; a number that JSON keeps. */
const never = 9_000_000_000_000_000;
const rank = `(state <> 'pending')`;
const key = `(CASE WHEN state = 'pending' THEN ifnull(expires_at, ${never}) ELSE -ifnull(resolved_at, 0) END)`;

/** Asks a page at a time (09 §6.6). */
export function createAskPages(sql: Sql, tenant: string) {
  return {
    /** Asks behind a place in their order, at most `limit`. */
    list(filter: AskPageFilter, behind: AskPlace | null, limit: number): PlacedAsk[] {
      const conditions: readonly (readonly [condition: string, value: SqlValue])[] = [
        ['tenant_id = ?', tenant],
        ['state = ?', filter.state === 'all' ? null : filter.state],
        ['kind = ?', filter.kind],
        ['run_id = ?', filter.run_id],
        ['session_id = ?', filter.session_id],
        ['mission_id = ?', filter.mission_id],
        ["substr(json_extract(verdict, '$.by'), 1, instr(json_extract(verdict, '$.by'), ':') - 1) = ?", filter.by],
      ];
      const used = conditions.filter(([, value]) => value !== null);
      const where = [
        ...used.map(([condition]) => condition),
        ...(behind === null ? [] : [`(${rank}, ${key}, id) > (?, ?, ?)`]),
      ].join(' AND ');
      return sql
        .all<AskRow & { readonly place_rank: number; readonly place_key: number }>(
          `SELECT ${askColumns}, ${rank} AS place_rank, ${key} AS place_key FROM asks WHERE ${where}
           ORDER BY place_rank, place_key, id LIMIT ?`,
          ...used.map(([, value]) => value),
          ...(behind ?? []),
          limit,
        )
        .map(({ place_rank, place_key, ...row }) => ({
          ask: readAsk(row as AskRow),
          place: [place_rank, place_key, row.id],
        }));
    },
  };
}

export type AskPages = ReturnType<typeof createAskPages>;
