import { noUsage } from '../../src/schema/message.ts';
import { createRuns } from '../../src/store/runs.ts';
import type { Sql } from '../../src/store/sql.ts';

/** Stores a running run, so that asks, calls and events have one to belong to. */
export function insertRun(sql: Sql, id: string, sessionId: string | null = null): void {
  createRuns(sql).insert(
    {
      id,
      tenant_id: '00000000-0000-0000-0000-000000000001',
      kind: 'run',
      status: 'running',
      workspace: '/',
      cwd: '/',
      chain_id: 'c',
      chain_sha256: '0',
      chain_path: null,
      policy: { name: 'default', source: 'builtin', path: null, sha256: null, state: 'ok' },
      session_id: sessionId,
      plan_id: null,
      plan_step_id: null,
      parent_run_id: null,
      mission_id: id,
      surface: 'cli',
      model: null,
      provider: null,
      options: {},
      input: null,
      created_at: 0,
    },
    noUsage,
  );
}
