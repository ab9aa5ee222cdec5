import { feedKindList } from './feed-entries.ts';
import { answerOf } from './run-output.ts';
import type { Sql, SqlValue } from './sql.ts';

/** Milliseconds since the epoch; null keeps all. */
type PruneUntil = {
  /** Ended runs before this go with everything that is theirs. */
  readonly records: number | null;
  /** Of ended runs before this the steps, messages and events go; their outcome stays. */
  readonly details: number | null;
  /** Events of the feed are kept this long in any case. */
  readonly feed: number;
  /** Blobs that were stored before this go when nothing refers to them; a younger one may wait for who does. */
  readonly blobs: number;
};

/** Rows of one transaction (11 §2.11): nobody else waits long for the lock. */
const mostRows = 1000;

/** What is a run's own, the run itself last: what is left after a crash is still found and removed by the next prune. */
const ofRun = ['events', 'run_messages', 'run_steps', 'tool_calls', 'asks', 'remembered'] as const;

/** Events that the feed does not need any more; takes the time up to which it does. */
const notOfFeed = `(at < ? OR kind NOT IN (${feedKindList}))`;

/** Images of the messages in a table; one that does not parse refers to nothing. */
const imagesOf = (table: 'messages' | 'run_messages'): string =>
  `SELECT json_extract(image.value, '$.sha256') AS sha256 FROM ${table},
     json_each(CASE WHEN json_valid(payload) THEN payload ELSE '{}' END, '$.images') AS image
   WHERE instr(payload, '"images"') > 0`;
/** Instructions that runs were given, for those that go on. */
const instructionTexts = `SELECT json_extract(each.value, '$.sha256') AS sha256
   FROM runs, json_each(CASE WHEN json_valid(options) THEN options ELSE '{}' END, '$.instructions') AS each`;
/** Texts that were trusted are kept to be held against what stands there later. */
const trustedTexts = "SELECT json_extract(body, '$.sha256') AS sha256 FROM audit WHERE type = 'trust'";

/**
 * A step of a plan is still on the run: what came of it is taken in by the next command that looks at the plan
 * (07 §4.10.4). Without the run the step would count as interrupted, and be carried out a second time.
 */
const isAwaited =
  "EXISTS (SELECT 1 FROM plan_steps WHERE plan_steps.run_id = runs.id AND plan_steps.status IN ('running', 'waiting'))";

/**
 * Removes runs that have ended. One that rests or goes on is never touched: it has no `ended_at`. One whose outcome is
 * awaited by a plan stays until it has been taken in.
 */
export function createRunPruner(sql: Sql, tenant: string) {
  /** @returns how many rows went. */
  const remove = (table: string, where: string, ...params: readonly SqlValue[]): number => {
    let all = 0;
    for (;;) {
      const removed = sql.write('normal', () =>
        sql.run(
          `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${where} LIMIT ${mostRows})`,
          ...params,
        ),
      );
      all += removed;
      if (removed < mostRows) return all;
    }
  };
  /** The outcome stays when the message that it refers to goes. */
  const keepAnswer = (id: string): void =>
    sql.write('normal', () => {
      sql.run(
        `UPDATE runs SET output = json_object('type', json_extract(output, '$.type'), 'text', ${answerOf('runs')})
         WHERE id = ? AND json_valid(output) AND json_extract(output, '$.message') IS NOT NULL`,
        id,
      );
    });
  const removeRun = (id: string): void => {
    for (const table of ofRun) remove(table, 'run_id = ?', id);
    remove('runs', 'id = ? AND ended_at IS NOT NULL', id);
  };
  const endedBefore = (at: number): string[] =>
    sql.column<string>(
      `SELECT id FROM runs WHERE tenant_id = ? AND ended_at < ? AND NOT ${isAwaited} ORDER BY ended_at`,
      tenant,
      at,
    );

  /** Those of them of which there is still something to clear. */
  const detailedBefore = (at: number, feed: number): string[] =>
    sql.column<string>(
      `SELECT id FROM runs WHERE tenant_id = ? AND ended_at < ? AND NOT ${isAwaited} AND (
         EXISTS (SELECT 1 FROM run_steps WHERE run_id = runs.id) OR EXISTS (SELECT 1 FROM run_messages WHERE run_id = runs.id)
         OR EXISTS (SELECT 1 FROM events WHERE run_id = runs.id AND ${notOfFeed})) ORDER BY ended_at`,
      tenant,
      at,
      feed,
    );

  /** Texts that no kept row refers to. */
  const removeSnapshots = (): void => {
    remove('chain_snapshots', 'sha256 NOT IN (SELECT chain_sha256 FROM runs)');
    const used = ['runs.policy', 'asks.policy', 'tool_calls.record']
      .map((column) => {
        const [table, name] = column.split('.');
        const path = name === 'record' ? '$.policy.sha256' : '$.sha256';
        return `SELECT json_extract(${name}, '${path}') AS sha256 FROM ${table}`;
      })
      .join(' UNION ');
    remove('policy_snapshots', `sha256 NOT IN (SELECT sha256 FROM (${used}) WHERE sha256 IS NOT NULL)`);
  };

  /** Images whose messages were deleted with their session or run. Most databases hold no blob at all. */
  const removeBlobs = (before: number): void => {
    if (sql.get('SELECT 1 FROM blobs WHERE created_at < ? LIMIT 1', before) === undefined) return;
    const used = [imagesOf('messages'), imagesOf('run_messages'), instructionTexts, trustedTexts].join(' UNION ');
    remove('blobs', `created_at < ? AND sha256 NOT IN (SELECT sha256 FROM (${used}) WHERE sha256 IS NOT NULL)`, before);
  };

  return {
    /** @returns false when the run has not ended, is awaited by a plan, or is not there: then nothing was removed. */
    remove(id: string): boolean {
      const ended = sql.get(
        `SELECT 1 FROM runs WHERE id = ? AND tenant_id = ? AND ended_at IS NOT NULL AND NOT ${isAwaited}`,
        id,
        tenant,
      );
      if (ended === undefined) return false;
      removeRun(id);
      removeSnapshots();
      return true;
    },

    /** @param goOn asked before each run: false ends it early, and the next prune goes on from there */
    prune(
      until: PruneUntil,
      goOn: () => boolean = () => true,
    ): { readonly removed: string[]; readonly cleared: number } {
      const removed: string[] = [];
      for (const id of until.records === null ? [] : endedBefore(until.records)) {
        if (!goOn()) return { removed, cleared: 0 };
        removeRun(id);
        removed.push(id);
      }
      let cleared = 0;
      for (const id of until.details === null ? [] : detailedBefore(until.details, until.feed)) {
        if (!goOn()) return { removed, cleared };
        remove('run_steps', 'run_id = ?', id);
        keepAnswer(id);
        remove('run_messages', 'run_id = ?', id);
        remove('events', `run_id = ? AND ${notOfFeed}`, id, until.feed);
        cleared += 1;
      }
      remove('events', 'run_id IS NULL AND at < ?', until.feed);
      removeSnapshots();
      removeBlobs(until.blobs);
      return { removed, cleared };
    },
  };
}
