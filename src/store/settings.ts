import type { Sql } from './sql.ts';

type Setting = { readonly key: string; readonly value: string };

/** Puts an entry in the place of the one before. Belongs in the caller's transaction. */
export const putSetting = (sql: Sql, tenant: string, key: string, json: string, now: number): void =>
  void sql.run(
    `INSERT INTO kv (tenant_id, key, value, updated_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (tenant_id, key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
    tenant,
    key,
    json,
    now,
  );

/** Key-value entries of one tenant (11 §2.2 `kv`). Values are JSON text. */
export function createSettings(sql: Sql, tenant: string) {
  return {
    get(key: string): string | null {
      const row = sql.get<{ value: string }>('SELECT value FROM kv WHERE tenant_id = ? AND key = ?', tenant, key);
      return row?.value ?? null;
    },

    /** Configuration is durable when this returns (11 §2.7). Inside a transaction it joins that one. */
    set(key: string, json: string, now: number): void {
      sql.write('full', () => putSetting(sql, tenant, key, json, now));
    },

    /** @returns whether there was such a key. */
    delete(key: string): boolean {
      return sql.write('full', () => sql.run('DELETE FROM kv WHERE tenant_id = ? AND key = ?', tenant, key) === 1);
    },

    /** Entries whose key begins with the prefix, sorted by key. */
    list(prefix: string): Setting[] {
      return sql.all<Setting>(
        'SELECT key, value FROM kv WHERE tenant_id = ? AND substr(key, 1, ?) = ? ORDER BY key',
        tenant,
        [...prefix].length,
        prefix,
      );
    },
  };
}

export type Settings = ReturnType<typeof createSettings>;
