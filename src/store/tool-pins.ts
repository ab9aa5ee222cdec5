import type { SourceKind } from '../schema/tool-sources.ts';
import { putSetting } from './settings.ts';
import type { Sql } from './sql.ts';

/** One definition of a tool that a source has listed (11 §2.2). */
export type PinRow = {
  readonly tool: string;
  readonly sha256: string;
  /** JSON text. */
  readonly definition: string;
  readonly state: 'accepted' | 'quarantined';
  /** The listing that had it last, in milliseconds; 0 = none since a listing without any tool. */
  readonly seen_at: number;
  readonly accepted_at: number | null;
  readonly accepted_by: string | null;
};

const columns = 'tool, sha256, definition, state, seen_at, accepted_at, accepted_by';

/** Present from the first listing on, which may have had no tool and so have left no row. */
const listedKey = (kind: SourceKind, id: string): string => `source.listed.${kind}.${id}`;

/** The definitions that people have accepted, and those that wait for it (05 §2.6). Its writers run in a transaction. */
export function createToolPins(sql: Sql, tenant: string) {
  return {
    /** Whether the source has been listed before, also without any tool. */
    wasListed(kind: SourceKind, id: string): boolean {
      const key = listedKey(kind, id);
      return sql.get('SELECT 1 FROM kv WHERE tenant_id = ? AND key = ?', tenant, key) !== undefined;
    },

    noteListed: (kind: SourceKind, id: string, at: number): void =>
      putSetting(sql, tenant, listedKey(kind, id), 'true', at),

    /** Sorted by tool. */
    list(kind: SourceKind, id: string): PinRow[] {
      return sql.all<PinRow>(
        `SELECT ${columns} FROM tool_pins WHERE provider_kind = ? AND provider_id = ? ORDER BY tool, sha256`,
        kind,
        id,
      );
    },

    /** Inserts a row, or replaces the one of the same tool and hash. */
    put(kind: SourceKind, id: string, row: PinRow): void {
      sql.run(
        `INSERT OR REPLACE INTO tool_pins (provider_kind, provider_id, ${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        kind,
        id,
        row.tool,
        row.sha256,
        row.definition,
        row.state,
        row.seen_at,
        row.accepted_at,
        row.accepted_by,
      );
    },

    remove(kind: SourceKind, id: string, tool: string, sha256: string): void {
      sql.run(
        'DELETE FROM tool_pins WHERE provider_kind = ? AND provider_id = ? AND tool = ? AND sha256 = ?',
        kind,
        id,
        tool,
        sha256,
      );
    },

    /** With the source itself. */
    forget(kind: SourceKind, id: string): void {
      sql.run('DELETE FROM tool_pins WHERE provider_kind = ? AND provider_id = ?', kind, id);
      sql.run('DELETE FROM kv WHERE tenant_id = ? AND key = ?', tenant, listedKey(kind, id));
    },
  };
}

export type ToolPins = ReturnType<typeof createToolPins>;
