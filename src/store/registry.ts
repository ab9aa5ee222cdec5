import { RuntimeError } from '../schema/errors.ts';
import { orTaken } from './failure.ts';
import type { Sql, SqlValue } from './sql.ts';

/** Rows as stored (11 §2.2): JSON columns are text, times are milliseconds. */
export type BackendRow = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly base_url: string;
  readonly key_env: string | null;
  readonly key_literal: string | null;
  readonly headers: string;
  readonly proxy: string;
  readonly connect_timeout_ms: number | null;
  readonly first_byte_timeout_ms: number | null;
  readonly idle_timeout_ms: number | null;
  readonly created_at: number;
  readonly updated_at: number;
};

export type DeclarationRow = {
  readonly backend_id: string | null;
  readonly model: string;
  readonly context: number | null;
  readonly max_output: number | null;
  readonly capabilities: string;
  readonly source_url: string | null;
  readonly sha256: string | null;
  readonly created_at: number;
  readonly updated_at: number;
};

export type CachedModelRow = {
  readonly model: string;
  readonly source_hash: string;
  readonly data: string;
  readonly fetched_at: number;
};

export type CheckRow = {
  readonly backend_id: string;
  readonly status: string;
  readonly error_class: string | null;
  readonly error: string | null;
  readonly checked_at: number;
};

const backendColumns = `id, name, type, base_url, key_env, key_literal, headers, proxy, connect_timeout_ms,
  first_byte_timeout_ms, idle_timeout_ms, created_at, updated_at`;

/** What a change may replace, in the order of the columns. */
const settingsOf = (row: BackendRow): readonly SqlValue[] => [
  row.name,
  row.type,
  row.base_url,
  row.key_env,
  row.key_literal,
  row.headers,
  row.proxy,
  row.connect_timeout_ms,
  row.first_byte_timeout_ms,
  row.idle_timeout_ms,
];

/** Backends and what is known of their models, of one tenant. A change is durable when its call returns (11 §2.7). */
export function createRegistry(sql: Sql, tenant: string) {
  const owned = 'backend_id IN (SELECT id FROM backends WHERE tenant_id = ?)';
  return {
    /** Sorted by name. */
    listBackends(): BackendRow[] {
      return sql.all<BackendRow>(`SELECT ${backendColumns} FROM backends WHERE tenant_id = ? ORDER BY name`, tenant);
    },

    findBackend(name: string): BackendRow | undefined {
      return sql.get<BackendRow>(
        `SELECT ${backendColumns} FROM backends WHERE tenant_id = ? AND name = ?`,
        tenant,
        name,
      );
    },

    /** @throws RuntimeError already_exists when the name is taken. */
    insertBackend(row: BackendRow): void {
      orTaken(
        (cause) => new RuntimeError('already_exists', `A backend named "${row.name}" exists already.`, { cause }),
        () =>
          sql.write('full', () =>
            sql.run(
              `INSERT INTO backends (${backendColumns}, tenant_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
              row.id,
              ...settingsOf(row),
              row.created_at,
              row.updated_at,
              tenant,
            ),
          ),
      );
    },

    /** Replaces every column but id and creation time. @returns false when there is no such backend. */
    updateBackend(row: BackendRow): boolean {
      return sql.write(
        'full',
        () =>
          sql.run(
            `UPDATE backends SET name = ?, type = ?, base_url = ?, key_env = ?, key_literal = ?, headers = ?, proxy = ?,
               connect_timeout_ms = ?, first_byte_timeout_ms = ?, idle_timeout_ms = ?, updated_at = ?
             WHERE tenant_id = ? AND id = ?`,
            ...settingsOf(row),
            row.updated_at,
            tenant,
            row.id,
          ) === 1,
      );
    },

    /** Its declarations, cached models and last check go with it. @returns false when there is no such backend. */
    deleteBackend(id: string): boolean {
      return sql.write('full', () => sql.run('DELETE FROM backends WHERE tenant_id = ? AND id = ?', tenant, id) === 1);
    },

    /** Declared models, sorted by model; those of no backend first. */
    declarations(): DeclarationRow[] {
      return sql.all<DeclarationRow>(
        `SELECT backend_id, model, context, max_output, capabilities, source_url, sha256, created_at, updated_at
         FROM model_declarations WHERE tenant_id = ? ORDER BY model, ifnull(backend_id, '')`,
        tenant,
      );
    },

    /** Inserts, or replaces the declaration of this model on this backend; its creation time stays. */
    putDeclaration(row: DeclarationRow): void {
      sql.write('full', () =>
        sql.run(
          `INSERT INTO model_declarations
             (tenant_id, backend_id, model, context, max_output, capabilities, source_url, sha256, created_at, updated_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (tenant_id, ifnull(backend_id, ''), model) DO UPDATE SET context = excluded.context,
             max_output = excluded.max_output, capabilities = excluded.capabilities, source_url = excluded.source_url,
             sha256 = excluded.sha256, updated_at = excluded.updated_at`,
          tenant,
          row.backend_id,
          row.model,
          row.context,
          row.max_output,
          row.capabilities,
          row.source_url,
          row.sha256,
          row.created_at,
          row.updated_at,
        ),
      );
    },

    /** @returns the number of removed declarations, 0 or 1. */
    deleteDeclaration(backendId: string | null, model: string): number {
      return sql.write('full', () =>
        sql.run(
          `DELETE FROM model_declarations WHERE tenant_id = ? AND ifnull(backend_id, '') = ifnull(?, '') AND model = ?`,
          tenant,
          backendId,
          model,
        ),
      );
    },

    /** What a backend was last seen to serve, sorted by model. */
    cached(backendId: string): CachedModelRow[] {
      return sql.all<CachedModelRow>(
        `SELECT model, source_hash, data, fetched_at FROM model_cache WHERE backend_id = ? AND ${owned} ORDER BY model`,
        backendId,
        tenant,
      );
    },

    /** Replaces the whole list of a backend. Only a cache: a power failure or another's lock may lose it. */
    putCache(
      backendId: string,
      sourceHash: string,
      models: readonly { readonly model: string; readonly data: string }[],
      fetchedAt: number,
    ): void {
      sql.writeNow(() => {
        sql.run(`DELETE FROM model_cache WHERE backend_id = ? AND ${owned}`, backendId, tenant);
        for (const { model, data } of models) {
          sql.run(
            `INSERT OR REPLACE INTO model_cache (backend_id, model, source_hash, data, fetched_at)
             SELECT id, ?, ?, ?, ? FROM backends WHERE id = ? AND tenant_id = ?`,
            model,
            sourceHash,
            data,
            fetchedAt,
            backendId,
            tenant,
          );
        }
      });
    },

    /** Names of registered hooks and tool servers, sorted. */
    toolsets(): string[] {
      return sql
        .all<{ name: string }>(
          'SELECT name FROM hooks WHERE tenant_id = ? UNION SELECT name FROM mcp_servers WHERE tenant_id = ? ORDER BY name',
          tenant,
          tenant,
        )
        .map(({ name }) => name);
    },

    checks(): CheckRow[] {
      return sql.all<CheckRow>(
        `SELECT backend_id, status, error_class, error, checked_at FROM backend_checks WHERE ${owned} ORDER BY backend_id`,
        tenant,
      );
    },

    /** What was seen last; lost like the cache. */
    putCheck(row: CheckRow): void {
      sql.writeNow(() => {
        sql.run(
          `INSERT INTO backend_checks (backend_id, status, error_class, error, checked_at)
           SELECT id, ?, ?, ?, ? FROM backends WHERE id = ? AND tenant_id = ?
           ON CONFLICT (backend_id) DO UPDATE SET status = excluded.status, error_class = excluded.error_class,
             error = excluded.error, checked_at = excluded.checked_at`,
          row.status,
          row.error_class,
          row.error,
          row.checked_at,
          row.backend_id,
          tenant,
        );
      });
    },
  };
}

export type Registry = ReturnType<typeof createRegistry>;
