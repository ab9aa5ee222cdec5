import type { CapturedStep } from '../schema/event.ts';
import type { Sql } from './sql.ts';

/** What a run writes down of its own way (11 §2.4): its messages, and the steps that were captured. */
export function createRunTranscript(sql: Sql) {
  return {
    /** Appends one message of the run's own; append-only (amendment 8). */
    appendMessage(runId: string, seq: number, payload: string): void {
      sql.run('INSERT INTO run_messages (run_id, seq, payload) VALUES (?, ?, ?)', runId, seq, payload);
    },

    /** The run's own messages, in order. */
    messages(runId: string): { readonly seq: number; readonly payload: string }[] {
      return sql.all('SELECT seq, payload FROM run_messages WHERE run_id = ? ORDER BY seq', runId);
    },

    captureStep(runId: string, step: CapturedStep): void {
      sql.run(
        'INSERT OR REPLACE INTO run_steps (run_id, idx, data) VALUES (?, ?, ?)',
        runId,
        step.index,
        JSON.stringify(step),
      );
    },

    /** Bytes of all captured steps of a run. */
    stepBytes: (runId: string): number =>
      sql.get<{ bytes: number }>(
        'SELECT coalesce(sum(length(CAST(data AS BLOB))), 0) AS bytes FROM run_steps WHERE run_id = ?',
        runId,
      )?.bytes ?? 0,

    steps(runId: string): CapturedStep[] {
      return sql
        .all<{ data: string }>('SELECT data FROM run_steps WHERE run_id = ? ORDER BY idx', runId)
        .map((row) => JSON.parse(row.data) as CapturedStep);
    },

    /** Takes back the messages from a number on: they were written behind the last checkpoint. @returns their texts */
    dropMessages(runId: string, from: number): string[] {
      return sql
        .all<{ payload: string }>(
          'DELETE FROM run_messages WHERE run_id = ? AND seq >= ? RETURNING payload',
          runId,
          from,
        )
        .map((row) => row.payload);
    },
  };
}
