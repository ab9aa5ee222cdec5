import type { KeptReply, RepeatRecords, Repetition } from '../schema/repeats.ts';
import type { Sql } from './sql.ts';

const keptMs = 86_400_000;

type Row = { readonly body_sha256: string; readonly status: number | null; readonly reply: string | null };

/** The table of idempotency keys (11 §2.4). */
export function createRepeats({ sql, now }: { readonly sql: Sql; readonly now: () => number }): RepeatRecords {
  const prune = (): void =>
    void sql.write('normal', () => sql.run('DELETE FROM idempotency WHERE created_at < ?', now() - keptMs));

  return {
    begin: ({ credential, key, sha256 }): Repetition =>
      sql.write('full', () => {
        const at = now();
        sql.run(
          'DELETE FROM idempotency WHERE credential = ? AND key = ? AND created_at < ?',
          credential,
          key,
          at - keptMs,
        );
        const row = sql.get<Row>(
          'SELECT body_sha256, status, reply FROM idempotency WHERE credential = ? AND key = ?',
          credential,
          key,
        );
        if (row === undefined) {
          sql.run(
            'INSERT INTO idempotency (credential, key, body_sha256, created_at) VALUES (?, ?, ?, ?)',
            credential,
            key,
            sha256,
            at,
          );
          return { state: 'first' };
        }
        if (row.body_sha256 !== sha256) return { state: 'other' };
        if (row.status === null || row.reply === null) return { state: 'going' };
        // Our own row.
        const reply = JSON.parse(row.reply) as Omit<KeptReply, 'status'>;
        return { state: 'answered', reply: { status: row.status, ...reply } };
      }),

    answered({ credential, key }, { status, headers, json }) {
      sql.write('normal', () =>
        sql.run(
          'UPDATE idempotency SET status = ?, reply = ? WHERE credential = ? AND key = ?',
          status,
          JSON.stringify({ headers, json }),
          credential,
          key,
        ),
      );
    },

    forget({ credential, key }) {
      sql.write('normal', () => sql.run('DELETE FROM idempotency WHERE credential = ? AND key = ?', credential, key));
    },

    prune,
  };
}
