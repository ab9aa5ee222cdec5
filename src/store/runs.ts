import type { ErrorCode } from '../schema/errors.ts';
import { noUsage, type Usage } from '../schema/message.ts';
import type { PolicyState, RunFailure, RunKind, RunStatus } from '../schema/run.ts';
import { readJson } from '../text/read-json.ts';
import { ownerIsDead } from './owner.ts';
import { createRunLeases } from './run-leases.ts';
import { answerOf, type StoredOutput } from './run-output.ts';
import { createRunTranscript } from './run-transcript.ts';
import type { Sql } from './sql.ts';

/** A run row (11 §2.4). Times are milliseconds; JSON columns are values here. */
type RunRow = {
  readonly id: string;
  readonly tenant_id: string;
  readonly kind: RunKind;
  readonly status: RunStatus;
  readonly workspace: string;
  readonly cwd: string;
  readonly chain_id: string;
  readonly chain_sha256: string;
  readonly chain_path: string | null;
  readonly policy: PolicyState;
  readonly session_id: string | null;
  readonly plan_id: string | null;
  readonly plan_step_id: string | null;
  readonly parent_run_id: string | null;
  readonly mission_id: string;
  readonly surface: string;
  readonly model: string | null;
  readonly provider: string | null;
  readonly options: unknown;
  readonly input: unknown;
  readonly created_at: number;
};

/** What a run has used of its bounds (02 §11), kept in its row so that a crash forgets nothing. */
export type Counters = {
  readonly turns: number;
  readonly tool_calls: number;
  readonly tokens: number;
  readonly tokens_estimated: boolean;
  readonly api_ms: number;
  /** How often a spent bound was granted once more (02 §11), by its name. */
  readonly grants?: Readonly<Record<string, number>>;
};

export const noCounters: Counters = { turns: 0, tool_calls: 0, tokens: 0, tokens_estimated: false, api_ms: 0 };

type RunOutcome = {
  readonly status: RunStatus;
  readonly output: StoredOutput | null;
  readonly error: unknown;
  readonly exit_code: number;
  readonly backend: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly usage: Usage;
  readonly counters: Counters;
  readonly ended_at: number | null;
};

export type RunHead = {
  readonly id: string;
  readonly kind: RunKind;
  readonly status: RunStatus;
  readonly session_id: string | null;
  readonly mission_id: string;
  readonly chain_id: string;
  readonly ended_at: number | null;
  readonly lease_owner: string | null;
  readonly lease_until: number | null;
};

type EndedRow = {
  readonly status: RunStatus;
  readonly text: string;
  readonly error: { readonly class: ErrorCode; readonly message: string } | null;
};

/** All that is needed to go on with a run. `options`, `input` as they were written; times are milliseconds. */
export type StoredRun = RunHead & {
  readonly plan_id: string | null;
  readonly plan_step_id: string | null;
  readonly workspace: string;
  readonly chain_sha256: string;
  readonly chain_path: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly options: unknown;
  readonly input: unknown;
  readonly usage: Usage;
  readonly counters: Counters;
  /** JSON text; null without a checkpoint row. */
  readonly payload: string | null;
  readonly payload_sha256: string | null;
};

type StoredRow = Omit<StoredRun, 'options' | 'input' | 'usage' | 'counters'> & {
  readonly [name in 'options' | 'input' | 'usage' | 'counters']: string;
};

/** Whether a process drives the run: a lease that has not expired, of an owner that may still live (11 §2.9). */
export const isDriven = (head: Pick<RunHead, 'lease_owner' | 'lease_until'>, now: number): boolean =>
  head.lease_owner !== null && (head.lease_until ?? 0) > now && !ownerIsDead(head.lease_owner);

/**
 * Whether the lease has only run out of time, of an owner that may still live: after a clock has jumped ahead it looks
 * like this until the owner renews it (11 §2.9).
 */
export const hasLapsed = (head: Pick<RunHead, 'lease_owner' | 'lease_until'>, now: number): boolean =>
  head.lease_owner !== null && (head.lease_until ?? 0) <= now && !ownerIsDead(head.lease_owner);

const headColumns =
  'r.id, r.kind, r.status, r.session_id, r.mission_id, r.chain_id, r.ended_at, s.lease_owner, s.lease_until';

const json = (value: unknown): string | null => (value === undefined || value === null ? null : JSON.stringify(value));

/** Runs: their rows, what is theirs to say of them, and with them their transcripts and checkpoints. */
export function createRuns(sql: Sql) {
  return {
    ...createRunLeases(sql),
    ...createRunTranscript(sql),

    insert(row: RunRow, usage: Usage): void {
      sql.run(
        `INSERT INTO runs (id, tenant_id, kind, status, workspace, cwd, chain_id, chain_sha256, chain_path, policy, session_id,
           plan_id, plan_step_id, parent_run_id, mission_id, surface, model, provider, backend, options, input, output, error,
           exit_code, usage, counters, created_at, started_at, ended_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?, NULL, NULL, NULL, ?, ?, ?, ?, NULL)`,
        row.id,
        row.tenant_id,
        row.kind,
        row.status,
        row.workspace,
        row.cwd,
        row.chain_id,
        row.chain_sha256,
        row.chain_path,
        JSON.stringify(row.policy),
        row.session_id,
        row.plan_id,
        row.plan_step_id,
        row.parent_run_id,
        row.mission_id,
        row.surface,
        row.model,
        row.provider,
        JSON.stringify(row.options),
        JSON.stringify(row.input ?? null),
        JSON.stringify(usage),
        JSON.stringify(noCounters),
        row.created_at,
        row.created_at,
      );
    },

    /** Shows a run that is going as waiting for a person, or running again; nothing when it has ended or is another's. */
    setWaiting(id: string, owner: string, waiting: boolean): void {
      sql.run(
        `UPDATE runs SET status = ? WHERE id = ? AND status IN ('running', 'waiting')
           AND EXISTS (SELECT 1 FROM run_state s WHERE s.run_id = runs.id AND s.lease_owner = ?)`,
        waiting ? 'waiting' : 'running',
        id,
        owner,
      );
    },

    /** Whether the run waits for its turn in the process that has it. */
    setQueued(id: string, owner: string, queued: boolean): void {
      sql.run(
        `UPDATE runs SET status = ? WHERE id = ? AND status = ?
           AND EXISTS (SELECT 1 FROM run_state s WHERE s.run_id = runs.id AND s.lease_owner = ?)`,
        queued ? 'queued' : 'running',
        id,
        queued ? 'running' : 'queued',
        owner,
      );
    },

    /** The workspace root of a run; null when it is not there. */
    workspaceOf(id: string): string | null {
      return sql.get<{ workspace: string }>('SELECT workspace FROM runs WHERE id = ?', id)?.workspace ?? null;
    },

    /** Ends a run that nobody drives. */
    close(id: string, status: RunStatus, at: number): void {
      sql.run('UPDATE runs SET status = ?, ended_at = ? WHERE id = ?', status, at, id);
    },

    /** What a run has used; nothing where that cannot be read any more. */
    spent(id: string): { readonly usage: Usage; readonly counters: Counters } {
      const row = sql.get<{ usage: string; counters: string }>('SELECT usage, counters FROM runs WHERE id = ?', id);
      return { usage: readJson(row?.usage ?? '', noUsage), counters: readJson(row?.counters ?? '', noCounters) };
    },

    /** Says why a run that nobody drives has failed; beside `close`. */
    setError(id: string, error: RunFailure, exitCode: number): void {
      sql.run('UPDATE runs SET error = ?, exit_code = ? WHERE id = ?', JSON.stringify(error), exitCode, id);
    },

    setCounters(id: string, counters: Counters): void {
      sql.run('UPDATE runs SET counters = ? WHERE id = ?', JSON.stringify(counters), id);
    },

    finish(id: string, outcome: RunOutcome): void {
      sql.run(
        `UPDATE runs SET status = ?, output = ?, error = ?, exit_code = ?, backend = ?, model = coalesce(?, model),
           provider = coalesce(?, provider), usage = ?, counters = ?, ended_at = ? WHERE id = ?`,
        outcome.status,
        json(outcome.output),
        json(outcome.error),
        outcome.exit_code,
        outcome.backend,
        outcome.model,
        outcome.provider,
        JSON.stringify(outcome.usage),
        JSON.stringify(outcome.counters),
        outcome.ended_at,
        id,
      );
    },

    head(id: string): RunHead | undefined {
      return sql.get<RunHead>(
        `SELECT ${headColumns} FROM runs r LEFT JOIN run_state s ON s.run_id = r.id WHERE r.id = ?`,
        id,
      );
    },

    stored(id: string): StoredRun | undefined {
      const row = sql.get<StoredRow>(
        `SELECT ${headColumns}, r.plan_id, r.plan_step_id, r.workspace, r.chain_sha256, r.chain_path, r.model, r.provider, r.options, r.input,
           r.usage,
           r.counters, s.payload, s.payload_sha256
         FROM runs r LEFT JOIN run_state s ON s.run_id = r.id WHERE r.id = ?`,
        id,
      );
      if (row === undefined) return undefined;
      return {
        ...row,
        options: JSON.parse(row.options) as unknown,
        input: JSON.parse(row.input) as unknown,
        usage: JSON.parse(row.usage) as Usage,
        counters: JSON.parse(row.counters) as Counters,
      };
    },

    /**
     * How a run that has ended went: `text` is its output, or the last text of its model where it has none.
     * @returns undefined for one that has not ended, or is gone
     */
    ended(id: string): EndedRow | undefined {
      const row = sql.get<{ status: RunStatus; text: string | null; error: string | null }>(
        `SELECT status, error, coalesce(json_extract(output, '$.text'), ${answerOf('runs')},
           (SELECT json_extract(m.payload, '$.content') FROM run_messages m
            WHERE m.run_id = runs.id AND json_extract(m.payload, '$.role') = 'assistant' AND json_extract(m.payload, '$.content') <> ''
            ORDER BY m.seq DESC LIMIT 1)) AS text
         FROM runs WHERE id = ? AND ended_at IS NOT NULL`,
        id,
      );
      if (row === undefined) return undefined;
      const { status, text, error } = row;
      // Written by `finish`.
      return { status, text: text ?? '', error: error === null ? null : (JSON.parse(error) as EndedRow['error']) };
    },

    /** Runs of a session that have not ended, oldest first. */
    openOfSession(sessionId: string): RunHead[] {
      return sql.all<RunHead>(
        `SELECT ${headColumns} FROM runs r LEFT JOIN run_state s ON s.run_id = r.id
         WHERE r.session_id = ? AND r.ended_at IS NULL AND r.status IN ('queued', 'running', 'waiting', 'suspended', 'interrupted')
         ORDER BY r.created_at`,
        sessionId,
      );
    },

    /** Runs of a session: their spooled results are its own. */
    idsOfSession(sessionId: string): string[] {
      return sql.all<{ id: string }>('SELECT id FROM runs WHERE session_id = ?', sessionId).map((row) => row.id);
    },

    /** Runs that somebody holds the lease of, or held it last; the index of leases makes this a short look. */
    leased(): RunHead[] {
      return sql.all<RunHead>(
        `SELECT ${headColumns} FROM run_state s JOIN runs r ON r.id = s.run_id
         WHERE s.lease_until IS NOT NULL AND r.ended_at IS NULL`,
      );
    },

    /** A run that nobody drives rests at its last checkpoint. */
    interrupt(id: string): void {
      sql.run("UPDATE runs SET status = 'interrupted' WHERE id = ?", id);
      sql.run('UPDATE run_state SET lease_owner = NULL, lease_until = NULL WHERE run_id = ?', id);
    },

    /**
     * Runs that rest without a live owner and wait for nobody, and runs with calls whose outcome is unknown (06 §15). Who
     * cancels a run has given its calls up.
     */
    resting(now: number): { readonly interrupted: number; readonly suspended: number; readonly unknown: string[] } {
      const heads = sql
        .all<RunHead>(
          `SELECT ${headColumns} FROM runs r LEFT JOIN run_state s ON s.run_id = r.id
           WHERE r.ended_at IS NULL AND (r.status <> 'suspended'
             OR NOT EXISTS (SELECT 1 FROM asks a WHERE a.run_id = r.id AND a.state = 'pending'))`,
        )
        .filter((head) => !isDriven(head, now));
      const lost = heads.map(({ id }) => id);
      const suspended = heads.filter(({ status }) => status === 'suspended').length;
      const unknown = sql
        .all<{ run_id: string }>(
          `SELECT DISTINCT run_id FROM tool_calls
           WHERE (state = 'unknown' AND result IS NULL AND (SELECT status FROM runs WHERE id = run_id) <> 'cancelled')
             OR (state = 'started' AND run_id IN (SELECT value FROM json_each(?))) LIMIT 20`,
          JSON.stringify(lost),
        )
        .map((row) => row.run_id);
      return { interrupted: lost.length - suspended, suspended, unknown };
    },

    /**
     * Runs of a workspace that nobody drives although somebody has answered them, oldest answer first: their process ended
     * between the verdict and its taking (03 §15). Not those that could not go on the last time.
     */
    answered(given: { readonly tenant: string; readonly workspace: string }, now: number): readonly string[] {
      return sql
        .all<RunHead>(
          `SELECT ${headColumns} FROM asks a JOIN runs r ON r.id = a.run_id JOIN run_state s ON s.run_id = r.id
           WHERE a.tenant_id = ? AND a.state IN ('approved', 'denied', 'answered') AND a.delivered_at IS NULL
             AND json_extract(a.verdict, '$.by') NOT LIKE 'system:%'
             AND r.ended_at IS NULL AND r.workspace = ? AND s.last_error IS NULL
           GROUP BY r.id ORDER BY min(a.resolved_at)`,
          given.tenant,
          given.workspace,
        )
        .filter((head) => !isDriven(head, now) && !hasLapsed(head, now))
        .map(({ id }) => id);
    },

    /** Runs that could not go on the last time (03 §11.6), at most 20. */
    stuck(): { readonly id: string; readonly attempts: number; readonly last_error: string }[] {
      return sql.all(
        `SELECT r.id, s.attempts, s.last_error FROM run_state s JOIN runs r ON r.id = s.run_id
         WHERE s.last_error IS NOT NULL AND r.ended_at IS NULL ORDER BY r.created_at LIMIT 20`,
      );
    },
  };
}

export type Runs = ReturnType<typeof createRuns>;
