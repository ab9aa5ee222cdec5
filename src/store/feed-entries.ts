import { type FeedEntry, type FeedKind, type FeedRange, feedKinds } from '../schema/feed.ts';
import { readJson } from '../text/read-json.ts';
import type { Sql } from './sql.ts';

/** The kinds of the feed as SQL writes a list. They are constants of ours. */
export const feedKindList = feedKinds.map((kind) => `'${kind}'`).join(', ');

type EntryRow = {
  readonly cursor: number;
  readonly kind: FeedKind;
  readonly at: number;
  readonly seq: number | null;
  readonly ask_id: string | null;
  readonly run_id: string | null;
  readonly session_id: string | null;
  readonly mission_id: string | null;
  readonly data: string;
};

/** Events as readers of all runs get them (03 §13). Cursors ascend with the commits of all processes: there is one writer. */
export function createFeedEntries(sql: Sql, tenant: string) {
  return {
    /** Entries behind one cursor, up to and with another, in order; at most `limit`. */
    between(after: number, upTo: number, limit: number): FeedEntry[] {
      return sql
        .all<EntryRow>(
          `SELECT cursor, kind, at, seq, ask_id, run_id, session_id, mission_id,
             json_remove(data, '$.chain_id', '$.args', '$.diff', '$.result', '$.output') AS data
           FROM events WHERE cursor > ? AND cursor <= ? AND tenant_id = ? AND kind IN (${feedKindList})
           ORDER BY cursor LIMIT ?`,
          after,
          upTo,
          tenant,
          limit,
        )
        .map(entryOf);
    },

    range(): FeedRange {
      // Each end in a query of its own, which is one step down the tree; both in one go through every event.
      const row = sql.get<{ oldest: number | null; newest: number | null }>(
        `SELECT (SELECT min(cursor) FROM events) AS oldest,
           coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), (SELECT max(cursor) FROM events)) AS newest`,
      );
      return { oldest: row?.oldest ?? 0, newest: row?.newest ?? 0 };
    },
  };
}

export type FeedEntries = ReturnType<typeof createFeedEntries>;

const entryOf = ({ cursor, kind, at, data, ...ids }: EntryRow): FeedEntry => ({
  cursor,
  kind,
  timestamp: new Date(at).toISOString(),
  // Members that do not apply are absent, as 03 §13 has them.
  ...Object.fromEntries(Object.entries(ids).filter(([, value]) => value !== null)),
  data: readJson<FeedEntry['data']>(data, {}),
});
