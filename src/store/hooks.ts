import { RuntimeError } from '../schema/errors.ts';
import { orTaken } from './failure.ts';
import type { Sql } from './sql.ts';

/** A registered OpenAPI service as stored (11 §2.2), but for the text of its description. */
export type HookRow = {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly spec: string | null;
  readonly timeout_ms: number;
  readonly allow_private: number;
  /** JSON text, as `inject`. */
  readonly headers: string;
  readonly inject: string;
  readonly spec_sha256: string | null;
  /** `ETag` of a fetched description; size, time and inode of a file. */
  readonly spec_etag: string | null;
  readonly spec_fetched_at: number | null;
  readonly last_error: string | null;
  readonly created_at: number;
  readonly updated_at: number;
};

type FetchedSpecification = {
  readonly text: string;
  readonly sha256: string;
  readonly etag: string | null;
  readonly at: number;
};

const columns = `id, name, url, spec, timeout_ms, allow_private, headers, inject, spec_sha256, spec_etag, spec_fetched_at,
  last_error, created_at, updated_at`;

/** The registered OpenAPI services of one tenant, and their descriptions as they were last fetched. */
export function createHookRows(sql: Sql, tenant: string) {
  return {
    /** Sorted by name. */
    list(): HookRow[] {
      return sql.all<HookRow>(`SELECT ${columns} FROM hooks WHERE tenant_id = ? ORDER BY name`, tenant);
    },

    names(): string[] {
      return sql.column<string>('SELECT name FROM hooks WHERE tenant_id = ? ORDER BY name', tenant);
    },

    find(name: string): HookRow | undefined {
      return sql.get<HookRow>(`SELECT ${columns} FROM hooks WHERE tenant_id = ? AND name = ?`, tenant, name);
    },

    /** @throws RuntimeError already_exists when the name is taken. */
    insert(row: HookRow): void {
      orTaken(
        (cause) => new RuntimeError('already_exists', `A hook named "${row.name}" exists already.`, { cause }),
        () =>
          sql.write('full', () =>
            sql.run(
              `INSERT INTO hooks (${columns}, tenant_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
              row.id,
              row.name,
              row.url,
              row.spec,
              row.timeout_ms,
              row.allow_private,
              row.headers,
              row.inject,
              row.spec_sha256,
              row.spec_etag,
              row.spec_fetched_at,
              row.last_error,
              row.created_at,
              row.updated_at,
              tenant,
            ),
          ),
      );
    },

    /**
     * Replaces what the operator sets.
     * @param forget the description belongs to another place now and is fetched anew
     */
    update(row: HookRow, forget: boolean): void {
      sql.write('full', () => {
        sql.run(
          `UPDATE hooks SET url = ?, spec = ?, timeout_ms = ?, allow_private = ?, headers = ?, inject = ?, updated_at = ?
           WHERE tenant_id = ? AND id = ?`,
          row.url,
          row.spec,
          row.timeout_ms,
          row.allow_private,
          row.headers,
          row.inject,
          row.updated_at,
          tenant,
          row.id,
        );
        if (!forget) return;
        sql.run(
          `UPDATE hooks SET spec_text = NULL, spec_sha256 = NULL, spec_etag = NULL, spec_fetched_at = NULL,
             last_error = NULL WHERE tenant_id = ? AND id = ?`,
          tenant,
          row.id,
        );
      });
    },

    delete(id: string): void {
      sql.write('full', () => sql.run('DELETE FROM hooks WHERE tenant_id = ? AND id = ?', tenant, id));
    },

    specificationText(id: string): string | null {
      const row = sql.get<{ spec_text: string | null }>('SELECT spec_text FROM hooks WHERE id = ?', id);
      return row?.spec_text ?? null;
    },

    /** The description as it was fetched; what failed before is over. */
    putSpecification(id: string, { text, sha256, etag, at }: FetchedSpecification): void {
      sql.write('normal', () =>
        sql.run(
          `UPDATE hooks SET spec_text = ?, spec_sha256 = ?, spec_etag = ?, spec_fetched_at = ?, last_error = NULL
           WHERE tenant_id = ? AND id = ?`,
          text,
          sha256,
          etag,
          at,
          tenant,
          id,
        ),
      );
    },

    /** The description is still what it was. */
    confirmSpecification(id: string, etag: string | null, at: number): void {
      sql.write('normal', () =>
        sql.run(
          'UPDATE hooks SET spec_etag = ?, spec_fetched_at = ?, last_error = NULL WHERE tenant_id = ? AND id = ?',
          etag,
          at,
          tenant,
          id,
        ),
      );
    },

    /** What was seen last; lost like a cache. */
    putError(id: string, error: string): void {
      sql.writeNow(() => {
        sql.run('UPDATE hooks SET last_error = ? WHERE tenant_id = ? AND id = ?', error, tenant, id);
      });
    },
  };
}

export type HookRows = ReturnType<typeof createHookRows>;
