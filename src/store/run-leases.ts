import { RuntimeError } from '../schema/errors.ts';
import { ownerIsDead } from './owner.ts';
import type { Sql } from './sql.ts';

export const takenOverText = 'the run was taken over by another process';

/** What a process is told that writes for a run which another one has taken over. */
export const takenOver = (): RuntimeError => new RuntimeError('storage', takenOverText);

/** Who wants a run of another process to end, and why. */
export type CancelRequest = { readonly by: string; readonly reason: string };

/** A lease that goes from one owner to another; null = nobody has it. */
type LeaseChange = { readonly from: string | null; readonly to: string; readonly until: number };

/** The word for the owner of a run that it is to end: one row of `kv`, found by its whole key. */
const cancelRow = `(tenant_id, key) IN (SELECT tenant_id, 'cancel.' || id FROM runs WHERE id = ?)`;

/** Who drives a run, where it can go on from, and who wants it to end (03 §11): the row of its state. */
export function createRunLeases(sql: Sql) {
  return {
    /**
     * Takes over the lease of a run that rests (03 §11.1): only from the owner that was seen, and only if that one is gone
     * or its time has passed. One that was stopped for a while may have renewed it since it was seen.
     * @returns false when another process was quicker, or the owner is back
     */
    takeLease(id: string, lease: LeaseChange, at: number): boolean {
      const { from, to, until } = lease;
      const taken = sql.run(
        `UPDATE run_state SET lease_owner = ?, lease_until = ?, attempts = 0, last_error = NULL, updated_at = ?
         WHERE run_id = ? AND lease_owner IS ? AND (lease_owner IS NULL OR lease_until <= ? OR ?)`,
        to,
        until,
        at,
        id,
        from,
        at,
        from !== null && ownerIsDead(from) ? 1 : 0,
      );
      if (taken === 0) return false;
      return sql.run("UPDATE runs SET status = 'running' WHERE id = ? AND ended_at IS NULL", id) === 1;
    },

    /**
     * Notes that a run could not go on (03 §11.6); the next one that takes it begins to count anew. What is shown as the
     * time of its checkpoint stays.
     * @returns how often it has failed in a row
     */
    failAttempt(runId: string, error: string): number {
      const noted = sql.get<{ attempts: number }>(
        'UPDATE run_state SET attempts = attempts + 1, last_error = ? WHERE run_id = ? RETURNING attempts',
        error,
        runId,
      );
      return noted?.attempts ?? 0;
    },

    /** Takes the lease of a new run. */
    openState(runId: string, owner: string, until: number, at: number): void {
      sql.run(
        `INSERT INTO run_state (run_id, ask_id, schema_version, payload, payload_sha256, lease_owner, lease_until, attempts,
           last_error, created_at, updated_at) VALUES (?, NULL, 1, 'null', '', ?, ?, 0, NULL, ?, ?)`,
        runId,
        owner,
        until,
        at,
        at,
      );
    },

    /** `payload` is JSON text. @returns false when the lease is no longer this owner's: then nothing was written. */
    checkpoint(runId: string, owner: string, payload: string, sha256: string, at: number): boolean {
      return (
        sql.run(
          'UPDATE run_state SET payload = ?, payload_sha256 = ?, updated_at = ? WHERE run_id = ? AND lease_owner = ?',
          payload,
          sha256,
          at,
          runId,
          owner,
        ) === 1
      );
    },

    /** The number of the event of the last message that the checkpoint holds; 0 without one. What came later is done again. */
    checkpointSeq(runId: string): number {
      const found = sql.get<{ seq: number }>(
        `SELECT coalesce(max(seq), 0) AS seq FROM events WHERE run_id = ? AND kind = 'message'
           AND json_extract(data, '$.number') < (SELECT json_extract(payload, '$.next_message') FROM run_state WHERE run_id = ?)`,
        runId,
        runId,
      );
      return found?.seq ?? 0;
    },

    /** @returns false when the lease was lost. */
    renewLease(runId: string, owner: string, until: number): boolean {
      return (
        sql.run('UPDATE run_state SET lease_until = ? WHERE run_id = ? AND lease_owner = ?', until, runId, owner) === 1
      );
    },

    holdsLease(runId: string, owner: string): boolean {
      return sql.get('SELECT 1 FROM run_state WHERE run_id = ? AND lease_owner = ?', runId, owner) !== undefined;
    },

    /** A resting run keeps its checkpoint and gives the lease back. */
    releaseLease(runId: string): void {
      sql.run('UPDATE run_state SET lease_owner = NULL, lease_until = NULL WHERE run_id = ?', runId);
    },

    /** The runs that nobody drives, as one text. It changes when a run comes to rest, and when one that rested goes on or ends. */
    unheld: (): string =>
      sql.get<{ ids: string }>(
        "SELECT ifnull(group_concat(run_id), '') AS ids FROM run_state WHERE lease_owner IS NULL",
      )?.ids ?? '',

    /** The run has ended: it is nowhere to go on from, and nobody needs to end it. */
    deleteState(runId: string): void {
      sql.run('DELETE FROM run_state WHERE run_id = ?', runId);
      sql.run(`DELETE FROM kv WHERE ${cancelRow}`, runId);
    },

    /** Leaves word for the process that drives the run; the first one stands. It lasts until the run has ended. */
    requestCancel(runId: string, request: CancelRequest, at: number): void {
      sql.run(
        `INSERT INTO kv (tenant_id, key, value, updated_at)
         SELECT tenant_id, 'cancel.' || id, ?, ? FROM runs WHERE id = ? ON CONFLICT (tenant_id, key) DO NOTHING`,
        JSON.stringify(request),
        at,
        runId,
      );
    },

    cancelRequest(runId: string): CancelRequest | null {
      const row = sql.get<{ value: string }>(`SELECT value FROM kv WHERE ${cancelRow}`, runId);
      // Written by `requestCancel`.
      return row === undefined ? null : (JSON.parse(row.value) as CancelRequest);
    },
  };
}
