import type { LoginRecords } from '../schema/login.ts';
import type { Sql } from './sql.ts';

const windowMs = 15 * 60_000;
const longestMs = 15 * 60_000;
const maxBuckets = 10_000;

type Attempts = {
  readonly failures: number;
  readonly window_start: number;
  readonly blocked_until: number | null;
  readonly updated_at: number;
};

/**
 * Failed logins by bucket (09 §4.12). Some are free within a window; each further one blocks for twice as long as the one
 * before. Neither a clock that is set back under this process nor one that was set back before it began makes a block longer.
 * @param elapsed whole milliseconds that no setting of the clock changes
 */
export function createLoginAttempts(
  sql: Sql,
  wall: () => number,
  elapsed: () => number,
): Pick<LoginRecords, 'blockedFor' | 'fail' | 'succeed'> {
  const now = steady(wall, elapsed);

  /** A row of the future was written before the clock was set back: it is taken to where it would stand now. */
  const of = (bucket: string, at: number): Attempts | undefined => {
    const row = sql.get<Attempts>(
      'SELECT failures, window_start, blocked_until, updated_at FROM auth_attempts WHERE bucket = ?',
      bucket,
    );
    if (row === undefined || row.updated_at <= at) return row;
    const ahead = row.updated_at - at;
    const moved = {
      failures: row.failures,
      window_start: row.window_start - ahead,
      blocked_until: row.blocked_until === null ? null : row.blocked_until - ahead,
      updated_at: at,
    };
    sql.write('normal', () =>
      sql.run(
        'UPDATE auth_attempts SET window_start = ?, blocked_until = ?, updated_at = ? WHERE bucket = ?',
        moved.window_start,
        moved.blocked_until,
        moved.updated_at,
        bucket,
      ),
    );
    return moved;
  };

  return {
    blockedFor: (bucket) => {
      const at = now();
      const until = of(bucket, at)?.blocked_until ?? 0;
      return Math.min(Math.max(0, until - at), longestMs);
    },

    fail(bucket, free) {
      sql.write('normal', () => {
        const at = now();
        const before = of(bucket, at);
        const fresh =
          before === undefined || at - before.window_start > windowMs ? { failures: 0, window_start: at } : before;
        const failures = fresh.failures + 1;
        const over = failures - free;
        const blocked = over < 1 ? null : at + Math.min(2 ** Math.min(over - 1, 30) * 1000, longestMs);
        sql.run(
          `INSERT INTO auth_attempts (bucket, failures, window_start, blocked_until, updated_at) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (bucket) DO UPDATE SET failures = excluded.failures, window_start = excluded.window_start,
             blocked_until = excluded.blocked_until, updated_at = excluded.updated_at`,
          bucket,
          failures,
          // Who goes on failing stays where he is: the longest block alone would be a whole window.
          blocked ?? fresh.window_start,
          blocked,
          at,
        );
        sql.run(
          `DELETE FROM auth_attempts WHERE bucket IN
             (SELECT bucket FROM auth_attempts ORDER BY updated_at DESC LIMIT -1 OFFSET ${maxBuckets})`,
        );
      });
    },

    succeed(bucket) {
      sql.write('normal', () => sql.run('DELETE FROM auth_attempts WHERE bucket = ?', bucket));
    },
  };
}

/**
 * A clock that goes on where the system's is set back. A machine that slept counts as having waited. Spans are
 * measured from one place and never added up: the ticks of two clocks would count twice for who asks often enough.
 */
function steady(wall: () => number, elapsed: () => number): () => number {
  let from = { wall: wall(), elapsed: elapsed() };
  return () => {
    const now = { wall: wall(), elapsed: elapsed() };
    const at = from.wall + now.elapsed - from.elapsed;
    if (now.wall < at) return at;
    from = now;
    return now.wall;
  };
}
