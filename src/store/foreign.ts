import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { ForeignDatabase } from '../schema/overlay.ts';
import { RuntimeError } from '../schema/errors.ts';
import { quote } from '../text/quote.ts';
import { connectForReading } from './access.ts';
import { createAudit, genesis } from './audit.ts';
import { createSql } from './connection.ts';
import { storeError } from './failure.ts';
import { contentsOf, withoutUser } from './foreign-contents.ts';
import type { Handle } from './handle.ts';
import { checkWhole, inspect, isOurs, sizeOf } from './inspect.ts';
import { isKnownLog, markLog } from './log-mark.ts';
import { macOf } from './mac.ts';
import { latest, migrations } from './migrate.ts';
import { checkDatabaseFile, machineKey } from './private-file.ts';
import type { Sql } from './sql.ts';
import { connector, type OpenOptions, writerSettings } from './store.ts';
import { ensureWal, migrate, wholeFileTenant } from './upgrade.ts';

export type ForeignOptions = Pick<OpenOptions, 'path' | 'reinsHome' | 'installation' | 'version' | 'now'>;

const counted = ['backends', 'hooks', 'mcp_servers', 'sessions', 'plans', 'runs'] as const;

/**
 * What is in a database that another installation made (11 §4.7), read without using anything of it.
 * @returns null when there is none, or it is ours. @throws RuntimeError database_newer, database_damaged, config_invalid
 */
export async function readForeign(options: ForeignOptions): Promise<ForeignDatabase | null> {
  const { path, reinsHome } = options;
  if (!existsSync(path) || sizeOf(path) === 0) return null;
  checkDatabaseFile(path);
  const sha256 = hashOf(path);
  const handle = connectForReading(path, connector(options));
  try {
    const found = inspect(handle, { path, reinsHome, migrations, foreign: 'pass' });
    if (found === 'new' || (isOurs(handle, reinsHome) && isKnownLog(path, reinsHome))) return null;
    const count = (table: string): number =>
      // The one column of a count.
      handle.pluck(`SELECT count(*) FROM ${table}`).get() as number;
    const counts = counted.map((table) => [table, count(table)] as const);
    return { path, sha256, bytes: sizeOf(path), counts: Object.fromEntries(counts), ...contentsOf(handle) };
  } catch (error) {
    throw storeError(error, path);
  } finally {
    handle.close();
  }
}

/**
 * Makes a foreign database ours (11 §4.7), if it still has the content that was looked at: what could act or answer in the
 * name of its operator is taken out, in one transaction. What it registered and what was said stay.
 * @throws RuntimeError not_trusted (another content), not_found (no foreign database), database_newer, database_damaged
 */
export async function acceptForeign(options: ForeignOptions & { readonly sha256: string }): Promise<void> {
  const { path, reinsHome, now, version } = options;
  const found = await readForeign(options);
  if (found === null) {
    throw new RuntimeError('not_found', `The database ${path} waits for no decision.`, { hints: ['reins doctor'] });
  }
  if (found.sha256 !== options.sha256.toLowerCase()) {
    throw new RuntimeError('not_trusted', `The database ${path} has another content now (sha256 ${found.sha256}).`, {
      data: { path, sha256: found.sha256 },
      hints: [`reins trust show ${quote(path)}`],
    });
  }
  const connect = connector(options);
  const handle = connect(path, 'write');
  try {
    checkWhole(handle, path);
    const upgraded = { path, reinsHome, migrations, version, now };
    if (inspect(handle, { ...upgraded, foreign: 'pass' }) !== latest(migrations)) {
      migrate(handle, upgraded, (source) => connect(source, 'read'));
    }
    ensureWal(handle, path);
    handle.exec(writerSettings);
    const sql = createSql(handle, { path, schema: latest(migrations), busyTimeoutMs: 5000, onFirstWrite: () => {} });
    sql.write('full', () => adopt(sql, handle, options));
    markLog(path, reinsHome);
  } catch (error) {
    throw storeError(error, path);
  } finally {
    handle.close();
  }
}

/** Everything that was decided, logged in, claimed or kept secret elsewhere. */
const removed = [
  ...['auth_credential', 'auth_sessions', 'auth_codes', 'auth_attempts', 'mcp_auth'].map(
    (table) => `DELETE FROM ${table}`,
  ),
  ...['remembered', 'tool_pins', 'read_marks', 'path_locks', 'idempotency'].map((table) => `DELETE FROM ${table}`),
  "DELETE FROM asks WHERE state = 'pending'",
  // What stands there itself belongs to whoever wrote it down; names of variables stay. A value that is missing is refused
  // where it is used: without an injected argument the model would choose one.
  `UPDATE backends SET key_literal = NULL, headers = ${withoutValues('headers')}`,
  `UPDATE hooks SET headers = ${withoutValues('headers')}, inject = ${withoutValues('inject')}`,
  `UPDATE mcp_servers SET auth_token = NULL, headers = ${withoutValues('headers')}, inject = ${withoutValues('inject')},
     env = (SELECT json_group_object(key, NULL) FROM json_each(env) WHERE type = 'null')`,
  // Nobody here has seen what they start (`registry/mcp-command-pin.ts`).
  `UPDATE mcp_servers SET pin_command = 1, command_pin = '{"command":null,"script":null,"elsewhere":true}'
     WHERE transport = 'stdio'`,
  "UPDATE mcp_servers SET command_pin = NULL WHERE transport <> 'stdio'",
  // No call of a run that somebody else began, or had approved, is ever made: such a run cannot go on.
  'DELETE FROM run_state',
  // Which texts of instructions count is told by what happens here.
  "DELETE FROM kv WHERE key LIKE 'instructions.%'",
  "UPDATE tool_calls SET state = 'skipped' WHERE state IN ('planned', 'started')",
  "UPDATE plan_steps SET status = 'pending', run_id = NULL WHERE status IN ('running', 'waiting')",
];

/** SQL: a column of names and values in which values that are no reference to a variable are taken out. */
function withoutValues(column: string): string {
  return `(SELECT json_group_object(key, CASE WHEN instr(value, '\${env:') > 0 THEN value ELSE '\${env:VALUE_WAS_REMOVED}' END)
     FROM json_each(${column}))`;
}

function adopt(
  sql: Sql,
  handle: Handle,
  { path, reinsHome, now, sha256 }: ForeignOptions & { readonly sha256: string },
): void {
  const key = machineKey(reinsHome, true);
  if (key === null) throw new RuntimeError('internal', 'The machine key was made and is missing.');
  // Two that accept it at once make it ours once.
  if (isOurs(handle, reinsHome) && isKnownLog(path, reinsHome)) return;
  const at = now();
  const head = sql.get<{ seq: number; hash: string }>('SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1');
  for (const statement of removed) sql.run(statement);
  const backends = sql.all<{ id: string; proxy: string }>("SELECT id, proxy FROM backends WHERE proxy <> ''");
  for (const { id, proxy } of backends) sql.run('UPDATE backends SET proxy = ? WHERE id = ?', withoutUser(proxy), id);
  const proxies = sql.column<string>("SELECT value FROM kv WHERE key = 'config.web-proxy'");
  for (const proxy of proxies) sql.run('UPDATE kv SET value = ? WHERE value = ?', withoutUser(proxy), proxy);
  sql.run("UPDATE runs SET status = 'cancelled', ended_at = ? WHERE ended_at IS NULL", at);
  sql.run('UPDATE auth_secret SET secret = ?, created_at = ?, rotated_at = NULL', randomBytes(32), at);
  const id = randomUUID();
  const set = (name: string, value: string): unknown => sql.run('UPDATE meta SET value = ? WHERE key = ?', value, name);
  set('instance_id', id);
  set('origin_mac', macOf(key, id));
  set('clean_shutdown', '1');
  const body = { sha256, head: { seq: head?.seq ?? 0, hash: head?.hash ?? genesis } };
  const entry = {
    type: 'database_accepted',
    tenant_id: wholeFileTenant,
    run_id: null,
    session_id: null,
    body,
  } as const;
  createAudit(sql).append(entry, at);
}

/** Of the file and of what its log holds beside it. */
function hashOf(path: string): string {
  const hash = createHash('sha256').update(readFileSync(path));
  const log = `${path}-wal`;
  if (sizeOf(log) > 0) hash.update(readFileSync(log));
  return hash.digest('hex');
}
