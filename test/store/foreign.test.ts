import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acceptForeign, readForeign } from '../../src/store/foreign.ts';
import { hasPassword } from '../../src/store/logins.ts';
import { openStore } from '../../src/store/store.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

/** A database that came with a repository (11 §4.7): what could act for its operator goes, the rest stays. */

let place: TempHome;
beforeEach(() => {
  place = tempHome();
});
afterEach(() => place.remove());

const path = (): string => join(place.workspace, 'local.db');
const options = (home: string) => ({
  path: path(),
  reinsHome: join(place.dir, home),
  version: 'test',
  now: () => 1_800_000_000_000,
});

async function planted(): Promise<void> {
  const store = await openStore({ ...options('theirs'), mode: 'create', warn: () => {} });
  store.close();
  const database = new Database(path());
  const ask = (id: string, state: string) =>
    `INSERT INTO asks (id, kind, state, run_id, tools, tool, args, summary, preview, cwd, record, policy, call_hash, binding,
       timeout_s, created_at, updated_at)
     VALUES ('${id}', 'permission', '${state}', 'run_1', 'local_shell', 'local_shell', '{}', 's', '{}', '/', '{}', '{}', 'h',
       'b', 0, 1, 1)`;
  database.exec(`
    INSERT INTO backends (id, name, type, base_url, key_literal, headers, proxy, created_at, updated_at)
      VALUES ('b_1', 'far', 'openai', 'http://far.invalid', 'planted-key', '{"X-A":"planted-header"}',
        'http://u:planted-password@proxy.invalid', 1, 1);
    INSERT INTO hooks (id, name, url, timeout_ms, allow_private, headers, inject, created_at, updated_at)
      VALUES ('h_1', 'svc', 'http://svc.invalid', 1, 0, '{"A":"planted-header","B":"Bearer \${env:MINE}"}',
        '{"tenant":"planted-value"}', 1, 1);
    INSERT INTO kv (key, value, updated_at) VALUES ('config.shell-env', '"AWS_SECRET_ACCESS_KEY"', 1);
    INSERT INTO mcp_servers (id, name, transport, args, env, auth_type, auth_token, headers, inject, connect_timeout_ms,
      call_timeout_ms, pin_command, command_pin, created_at, updated_at)
      VALUES ('m_1', 'srv', 'stdio', '["-c","touch mark"]', '{"A":"planted-value","MINE":null}', 'bearer', 'planted-token', '{}',
        '{}', 1, 1, 0, '{}', 1, 1);
    UPDATE mcp_servers SET command = 'sh';
    INSERT INTO tool_pins (provider_kind, provider_id, tool, sha256, definition, state, seen_at, accepted_at)
      VALUES ('mcp', 'm_1', 't', 'x', '{}', 'accepted', 1, 1);
    INSERT INTO remembered (id, call_hash, policy_sha256, ask_id, created_at) VALUES ('r', 'h', 'p', 'a', 1);
    INSERT INTO auth_credential (id, username, password_hash, updated_at) VALUES (1, 'admin', 'planted', 1);
    INSERT INTO sessions (id, name, workspace, created_at, message_count) VALUES ('s_1', 'talk', '/', 1, 0);
    INSERT INTO runs (id, kind, status, workspace, cwd, chain_id, chain_sha256, policy, mission_id, surface, options, input,
      usage, counters, created_at)
      VALUES ('run_1', 'run', 'suspended', '/', '/', 'c', 'x', '{}', 'run_1', 'cli', '{}', '{}', '{}', '{}', 1);
    INSERT INTO run_state (run_id, schema_version, payload, payload_sha256, attempts, created_at, updated_at)
      VALUES ('run_1', 1, '{}', 'x', 0, 1, 1);
    ${ask('ask_open', 'pending')};
    ${ask('ask_yes', 'approved')};
  `);
  database.close();
}

describe('a database of another installation', () => {
  it('is counted without being used, and is nothing to its own', async () => {
    await planted();
    expect(await readForeign(options('ours'))).toMatchObject({
      path: path(),
      counts: { backends: 1, sessions: 1, runs: 1 },
      brings: [
        { kind: 'backend', name: 'far', value: 'http://far.invalid, by http://proxy.invalid', gets: [] },
        { kind: 'hook', name: 'svc', value: 'http://svc.invalid', gets: ['MINE'] },
        { kind: 'MCP server', name: 'srv', value: 'starts sh -c touch mark', gets: ['MINE'] },
        { kind: 'setting', name: 'shell-env', value: 'AWS_SECRET_ACCESS_KEY', gets: [] },
      ],
      more: 0,
    });
    expect(await readForeign(options('theirs'))).toBeNull();
  });

  it('is accepted only as it was looked at, once, without anything that could act or answer', async () => {
    await planted();
    const sha256 = (await readForeign(options('ours')))?.sha256 ?? '';
    await expect(acceptForeign({ ...options('ours'), sha256: 'a'.repeat(64) })).rejects.toMatchObject({
      code: 'not_trusted',
    });
    await acceptForeign({ ...options('ours'), sha256 });
    await expect(acceptForeign({ ...options('ours'), sha256 })).rejects.toMatchObject({ code: 'not_found' });

    const store = await openStore({ ...options('ours'), mode: 'existing', warn: () => {} });
    const all = (sql: string) => store.sql.all<Record<string, unknown>>(sql);
    expect(hasPassword(store.sql)).toBe(false);
    for (const table of ['remembered', 'tool_pins', 'run_state', 'auth_sessions', 'mcp_auth']) {
      expect([table, all(`SELECT * FROM ${table}`)]).toEqual([table, []]);
    }
    const missing = `\${env:VALUE_WAS_REMOVED}`;
    expect(all('SELECT name, key_literal, headers, proxy FROM backends')).toEqual([
      { name: 'far', key_literal: null, headers: JSON.stringify({ 'X-A': missing }), proxy: 'http://proxy.invalid' },
    ]);
    expect(all('SELECT headers, inject FROM hooks')).toEqual([
      {
        headers: JSON.stringify({ A: missing, B: `Bearer \${env:MINE}` }),
        inject: JSON.stringify({ tenant: missing }),
      },
    ]);
    // It is not started before somebody here has accepted it.
    expect(all('SELECT name, auth_token, env, pin_command, command_pin FROM mcp_servers')).toEqual([
      {
        name: 'srv',
        auth_token: null,
        env: '{"MINE":null}',
        pin_command: 1,
        command_pin: '{"command":null,"script":null,"elsewhere":true}',
      },
    ]);
    expect(all('SELECT id, state FROM asks')).toEqual([{ id: 'ask_yes', state: 'approved' }]);
    expect(all('SELECT status FROM runs')).toEqual([{ status: 'cancelled' }]);
    expect(all('SELECT name FROM sessions')).toEqual([{ name: 'talk' }]);
    expect(all("SELECT body FROM audit WHERE type = 'database_accepted'")).toEqual([
      { body: JSON.stringify({ head: { hash: '0'.repeat(64), seq: 0 }, sha256 }) },
    ]);
    store.close();
    await expect(openStore({ ...options('theirs'), mode: 'existing', warn: () => {} })).rejects.toMatchObject({
      code: 'database_foreign',
    });
  });

  it('is what a database of ours becomes by a log that another program began, until it is accepted', async () => {
    await planted();
    const copy = join(place.dir, 'copy.db');
    copyFileSync(path(), copy);
    const author = new Database(copy);
    author.exec("UPDATE remembered SET call_hash = 'planted'; UPDATE sessions SET name = 'from the log'");
    copyFileSync(`${copy}-wal`, `${path()}-wal`);
    author.close();
    chmodSync(`${path()}-wal`, 0o600);
    const found = await readForeign(options('theirs'));
    await acceptForeign({ ...options('theirs'), sha256: found?.sha256 ?? '' });

    expect(await readForeign(options('theirs'))).toBeNull();
    const store = await openStore({ ...options('theirs'), mode: 'existing', warn: () => {} });
    expect(store.sql.all('SELECT * FROM remembered')).toEqual([]);
    expect(store.sql.all('SELECT name FROM sessions')).toEqual([{ name: 'from the log' }]);
    store.close();
  });
});
