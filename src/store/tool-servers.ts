import { RuntimeError } from '../schema/errors.ts';
import { orTaken } from './failure.ts';
import type { Sql } from './sql.ts';

/** A registered MCP server as stored (11 §2.2): JSON columns are text, times are milliseconds. */
export type ToolServerRow = {
  readonly id: string;
  readonly name: string;
  readonly transport: string;
  readonly command: string | null;
  readonly args: string;
  readonly cwd: string | null;
  readonly env: string;
  readonly url: string | null;
  readonly auth_type: string;
  readonly auth_env: string | null;
  readonly auth_token: string | null;
  readonly oauth: string | null;
  readonly headers: string;
  readonly inject: string;
  readonly connect_timeout_ms: number;
  readonly call_timeout_ms: number;
  readonly pin_command: number;
  readonly command_pin: string | null;
  readonly last_error: string | null;
  readonly created_at: number;
  readonly updated_at: number;
};

/** What a sign-in has left: JSON texts. */
type SignInRow = { readonly client: string | null; readonly token: string | null };

const columns = [
  'id',
  'name',
  'transport',
  'command',
  'args',
  'cwd',
  'env',
  'url',
  'auth_type',
  'auth_env',
  'auth_token',
  'oauth',
  'headers',
  'inject',
  'connect_timeout_ms',
  'call_timeout_ms',
  'pin_command',
  'command_pin',
  'last_error',
  'created_at',
  'updated_at',
] as const;
const list = columns.join(', ');
const wordsKey = (id: string): string => `mcp.words.${id}`;
const instructionsKey = (id: string): string => `mcp.instructions.${id}`;

/** Registered MCP servers of one tenant, and what their sign-ins have left. A change is durable when its call returns. */
export function createToolServers(sql: Sql, tenant: string) {
  const note = (id: string, key: string, value: unknown, now: number): void => {
    const text = JSON.stringify(value);
    sql.writeNow(() => {
      sql.run(
        `INSERT INTO kv (tenant_id, key, value, updated_at)
         SELECT tenant_id, ?, ?, ? FROM mcp_servers WHERE tenant_id = ? AND id = ?
         ON CONFLICT (tenant_id, key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at
           WHERE value IS NOT excluded.value`,
        key,
        text,
        now,
        tenant,
        id,
      );
    });
  };
  /** What `note` has written; null = nothing. */
  const noted = (key: string): unknown => {
    const row = sql.get<{ value: string }>('SELECT value FROM kv WHERE tenant_id = ? AND key = ?', tenant, key);
    return row === undefined ? null : (JSON.parse(row.value) as unknown);
  };

  return {
    /** Sorted by name. */
    all(): ToolServerRow[] {
      return sql.all<ToolServerRow>(`SELECT ${list} FROM mcp_servers WHERE tenant_id = ? ORDER BY name`, tenant);
    },

    names(): string[] {
      return sql.column<string>('SELECT name FROM mcp_servers WHERE tenant_id = ? ORDER BY name', tenant);
    },

    find(name: string): ToolServerRow | undefined {
      return sql.get<ToolServerRow>(`SELECT ${list} FROM mcp_servers WHERE tenant_id = ? AND name = ?`, tenant, name);
    },

    /** @throws RuntimeError already_exists when the name is taken. */
    insert(row: ToolServerRow): void {
      const places = columns.map(() => '?').join(', ');
      orTaken(
        (cause) => new RuntimeError('already_exists', `An MCP server named "${row.name}" exists already.`, { cause }),
        () =>
          sql.write('full', () =>
            sql.run(
              `INSERT INTO mcp_servers (${list}, tenant_id) VALUES (${places}, ?)`,
              ...columns.map((column) => row[column]),
              tenant,
            ),
          ),
      );
    },

    /** Replaces every column but id and creation time. @returns false when there is no such server. */
    update(row: ToolServerRow): boolean {
      const changed = columns.filter((column) => column !== 'id' && column !== 'created_at');
      return sql.write(
        'full',
        () =>
          sql.run(
            `UPDATE mcp_servers SET ${changed.map((column) => `${column} = ?`).join(', ')} WHERE tenant_id = ? AND id = ?`,
            ...changed.map((column) => row[column]),
            tenant,
            row.id,
          ) === 1,
      );
    },

    /** What its sign-in left goes with it. @returns false when there is no such server. */
    remove(id: string): boolean {
      return sql.write('full', () => {
        sql.run('DELETE FROM kv WHERE tenant_id = ? AND key IN (?, ?)', tenant, wordsKey(id), instructionsKey(id));
        return sql.run('DELETE FROM mcp_servers WHERE tenant_id = ? AND id = ?', tenant, id) === 1;
      });
    },

    /** Why it could not be used last; null = it could. Like a cache, it is lost by a power failure or another's lock. */
    noteError(id: string, error: string | null): void {
      sql.writeNow(() => {
        sql.run(
          'UPDATE mcp_servers SET last_error = ? WHERE tenant_id = ? AND id = ? AND last_error IS NOT ?',
          error,
          tenant,
          id,
          error,
        );
      });
    },

    /** What it wrote last beside the protocol, where it was looked at or failed. Lost like `noteError`. */
    noteWords: (id: string, lines: readonly string[], now: number): void => note(id, wordsKey(id), lines, now),

    words: (id: string): readonly string[] => (noted(wordsKey(id)) as readonly string[] | null) ?? [],

    /** What it told its clients to do when it was looked at; null = nothing. Lost like `noteError`. */
    noteInstructions: (id: string, text: string | null, now: number): void => note(id, instructionsKey(id), text, now),

    instructions: (id: string): string | null => noted(instructionsKey(id)) as string | null,

    signIn(serverId: string): SignInRow {
      const row = sql.get<SignInRow>(
        `SELECT client, token FROM mcp_auth
         WHERE server_id = (SELECT id FROM mcp_servers WHERE tenant_id = ? AND id = ?)`,
        tenant,
        serverId,
      );
      return row ?? { client: null, token: null };
    },

    putSignIn(serverId: string, { client, token }: SignInRow, now: number): void {
      sql.write('full', () =>
        sql.run(
          `INSERT INTO mcp_auth (server_id, client, token, updated_at)
           SELECT id, ?, ?, ? FROM mcp_servers WHERE tenant_id = ? AND id = ?
           ON CONFLICT (server_id) DO UPDATE SET client = excluded.client, token = excluded.token,
             updated_at = excluded.updated_at`,
          client,
          token,
          now,
          tenant,
          serverId,
        ),
      );
    },

    /** Puts a token in the place of another. @returns false when that one is there no more: somebody signed in or out */
    renewToken(serverId: string, before: string, token: string | null, now: number): boolean {
      return sql.write(
        'full',
        () =>
          sql.run(
            `UPDATE mcp_auth SET token = ?, updated_at = ?
             WHERE token = ? AND server_id = (SELECT id FROM mcp_servers WHERE tenant_id = ? AND id = ?)`,
            token,
            now,
            before,
            tenant,
            serverId,
          ) === 1,
      );
    },
  };
}

export type ToolServers = ReturnType<typeof createToolServers>;
