import type { LoginRecords } from '../schema/login.ts';
import type { Sql } from './sql.ts';

const windowMs = 15 * 60_000;
const longestMs = 15 * 60_000;
const maxBuckets = 10_000;

type Attempts = {
  readonly failures: number;
  readonly window_start: number;
  readonly blocked_until: number | null;
};

/**
 * Failed logins by bucket (09 §4.12). Some are free within a window; each further one blocks for twice as long as the one
 * before. Times of the future, as a clock that was set back leaves them, count as now.
 */
export function createLoginAttempts(
  sql: Sql,
  now: () => number,
): Pick<LoginRecords, 'blockedFor' | 'fail' | 'succeed'> {
  const of = (bucket: string): Attempts | undefined =>
    sql.get<Attempts>('SELECT failures, window_start, blocked_until FROM auth_attempts WHERE bucket = ?', bucket);
  return {
    blockedFor: (bucket) => {
      const until = of(bucket)?.blocked_until ?? 0;
      return Math.min(Math.max(0, until - now()), longestMs);
    },

    fail(bucket, free) {
      sql.write('normal', () => {
        const at = now();
        const before = of(bucket);
        const fresh =
          before === undefined || at - Math.min(before.window_start, at) > windowMs
            ? { failures: 0, window_start: at }
            : before;
        const failures = fresh.failures + 1;
        const over = failures - free;
        const blocked = over < 1 ? null : at + Math.min(2 ** Math.min(over - 1, 30) * 1000, longestMs);
        sql.run(
          `INSERT INTO auth_attempts (bucket, failures, window_start, blocked_until, updated_at) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (bucket) DO UPDATE SET failures = excluded.failures, window_start = excluded.window_start,
             blocked_until = excluded.blocked_until, updated_at = excluded.updated_at`,
          bucket,
          failures,
          // Who goes on failing stays where he is.
          over < 1 ? fresh.window_start : at,
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
