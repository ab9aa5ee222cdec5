import type { Sql } from './sql.ts';

/** What the calls of a run have done, counted: what undoing it says of itself. */
export function createRunDeeds(sql: Sql) {
  return {
    /** Commands that were started. */
    commandsOf(runId: string): number {
      return (
        sql.get<{ n: number }>(
          `SELECT count(*) AS n FROM tool_calls WHERE run_id = ? AND tools = 'local_shell' AND started_at IS NOT NULL`,
          runId,
        )?.n ?? 0
      );
    },

    /** Calls of file tools that have written. */
    writesOf(runId: string): number {
      return (
        sql.get<{ n: number }>(
          `SELECT count(*) AS n FROM tool_calls WHERE run_id = ? AND tools = 'local_fs'
             AND tool IN ('write_file', 'edit_file', 'sed') AND state = 'done'`,
          runId,
        )?.n ?? 0
      );
    },
  };
}
