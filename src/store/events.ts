import type { InTask, RunEvent } from '../schema/event.ts';
import type { Sql } from './sql.ts';

/** Where an event belongs; copied to its row so that host-wide readers need no join. */
export type EventRef = {
  readonly run_id: string | null;
  readonly session_id: string | null;
  readonly mission_id: string | null;
  readonly chain_id: string;
  readonly tenant_id: string;
  /** The task that the run is at; what its calls come to is said with it (04 §18). */
  readonly task?: InTask | null;
};

export type StoredEvent = { readonly cursor: number; readonly event: RunEvent };

type EventRow = {
  readonly cursor: number;
  readonly run_id: string | null;
  readonly session_id: string | null;
  readonly seq: number | null;
  readonly kind: string;
  readonly data: string;
  readonly at: number;
};

/** The body as stored: kind and own members, without the common ones that have columns. */
type EventData = { readonly kind: string; readonly ask_id?: string };

const columns = 'cursor, run_id, session_id, seq, kind, data, at';

/** Where a run is, for what happens inside a task; its beginning and its end happen to the whole. */
export const placeIn = ({ task }: EventRef, kind: string): Partial<InTask> =>
  task == null || kind.startsWith('chain_') ? {} : task;

/** A row or a body as readers get it. Bodies come from `feed.ts` alone, whose parameter has their type. */
const eventOf = (
  ref: Pick<EventRef, 'run_id' | 'session_id' | 'chain_id'>,
  seq: number | null,
  at: number,
  body: EventData,
): RunEvent =>
  ({
    v: 1,
    seq: seq ?? 0,
    timestamp: new Date(at).toISOString(),
    run_id: ref.run_id ?? '',
    session_id: ref.session_id,
    chain_id: ref.chain_id,
    ...body,
  }) as unknown as RunEvent;

/** One table of events for readers of a run and of the host (amendment 9). Appending is for `feed.ts` alone. */
export function createEvents(sql: Sql) {
  const read = (row: EventRow): StoredEvent => {
    const { chain_id, ...own } = JSON.parse(row.data) as { chain_id: string };
    return {
      cursor: row.cursor,
      event: eventOf({ ...row, chain_id }, row.seq, row.at, { kind: row.kind, ...own }),
    };
  };
  return {
    /**
     * Inserts one event inside the caller's transaction; `seq` is dense in its run because the number is taken in the
     * same statement, also when another process adds to the run.
     */
    append(ref: EventRef, body: EventData, at: number): StoredEvent {
      const { kind, ...said } = body;
      const own = { ...placeIn(ref, kind), ...said };
      const row = sql.get<{ readonly cursor: number; readonly seq: number | null }>(
        `INSERT INTO events (tenant_id, kind, seq, ask_id, run_id, session_id, mission_id, data, at)
         VALUES (?, ?, CASE WHEN ? IS NULL THEN NULL ELSE (SELECT coalesce(max(seq), 0) + 1 FROM events WHERE run_id = ?) END,
                 ?, ?, ?, ?, ?, ?)
         RETURNING cursor, seq`,
        ref.tenant_id,
        kind,
        ref.run_id,
        ref.run_id,
        body.ask_id ?? null,
        ref.run_id,
        ref.session_id,
        ref.mission_id,
        JSON.stringify({ chain_id: ref.chain_id, ...own }),
        at,
      );
      if (row === undefined) throw new Error('an INSERT with RETURNING gave no row');
      return { cursor: row.cursor, event: eventOf(ref, row.seq, at, { kind, ...own }) };
    },
    /** Stored events of a run with a higher `seq`, in order; at most `limit`. */
    ofRun(runId: string, after: number, limit = 10_000): StoredEvent[] {
      return sql
        .all<EventRow>(
          `SELECT ${columns} FROM events WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
          runId,
          after,
          limit,
        )
        .map(read);
    },
    /** Events between two cursors, both exclusive: what other processes committed in between. */
    between(after: number, before: number): StoredEvent[] {
      return sql
        .all<EventRow>(
          `SELECT ${columns} FROM events WHERE cursor > ? AND cursor < ? ORDER BY cursor LIMIT 10000`,
          after,
          before,
        )
        .map(read);
    },
    /** The latest events of all runs and of the host, oldest first. */
    latest(limit: number): StoredEvent[] {
      return sql.all<EventRow>(`SELECT ${columns} FROM events ORDER BY cursor DESC LIMIT ?`, limit).map(read).reverse();
    },
    /** The task in which an ask was raised; null for one of no task, or whose event is gone. */
    taskOfAsk(runId: string, askId: string): InTask | null {
      const row = sql.get<{ readonly data: string }>(
        // From the end of the run, where its open asks are.
        "SELECT data FROM events WHERE run_id = ? AND ask_id = ? AND kind = 'ask' ORDER BY seq DESC LIMIT 1",
        runId,
        askId,
      );
      // A row of our own.
      const { task_id, task_handler, attempt } = JSON.parse(row?.data ?? '{}') as Partial<InTask>;
      return task_id === undefined || task_handler === undefined || attempt === undefined
        ? null
        : { task_id, task_handler, attempt };
    },
    lastCursor(): number {
      return sql.get<{ cursor: number | null }>('SELECT max(cursor) AS cursor FROM events')?.cursor ?? 0;
    },
    lastSeq(runId: string): number {
      return sql.get<{ seq: number | null }>('SELECT max(seq) AS seq FROM events WHERE run_id = ?', runId)?.seq ?? 0;
    },
  };
}

export type Events = ReturnType<typeof createEvents>;
