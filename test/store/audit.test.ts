import { afterEach, beforeEach, expect, it } from 'vitest';
import { createAudit } from '../../src/store/audit.ts';
import { createAuditLog } from '../../src/store/audit-log.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { openIn, tenant } from './open.ts';

let temp: TempHome;
beforeEach(() => {
  temp = tempHome();
});
afterEach(() => temp.remove());

const columns = ['at', 'type', 'tenant_id', 'run_id', 'session_id', 'body', 'prev_hash', 'hash'] as const;

it('shows one changed character anywhere in the log', async () => {
  const { sql, close } = await openIn(temp);
  const audit = createAudit(sql);
  sql.write('full', () => {
    for (const [index, session_id] of [null, 's', null].entries()) {
      const body = { tool: 'write_file', args: { path: 'ä.txt', n: index, none: null } };
      audit.append({ type: 'decision', tenant_id: tenant, run_id: 'run_1', session_id, body }, 1_000 + index);
    }
  });
  const log = createAuditLog(sql, tenant);
  expect(log.verify().break).toBeNull();
  for (const { name } of sql.all<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit'",
  )) {
    sql.run(`DROP TRIGGER ${name}`);
  }
  let tried = 0;
  const missed: string[] = [];
  // In one transaction, since a commit for each of them would be most of the time.
  sql.write('full', () => {
    for (const seq of [1, 2, 3]) {
      for (const column of columns) {
        const value = sql.get<{ v: string | number | null }>(`SELECT ${column} AS v FROM audit WHERE seq = ?`, seq)?.v;
        if (value === null || value === undefined) continue;
        const set = (v: string | number): number => sql.run(`UPDATE audit SET ${column} = ? WHERE seq = ?`, v, seq);
        const others =
          typeof value === 'number'
            ? [value + 1]
            : [...value].map((character, at) => value.slice(0, at) + flipped(character) + value.slice(at + 1));
        for (const other of others) {
          try {
            set(other);
          } catch {
            // The column itself refuses what is no JSON.
            continue;
          }
          tried += 1;
          if (log.verify().break === null) missed.push(`${seq} ${column} ${other}`);
          set(value);
        }
      }
    }
  });
  expect(missed).toEqual([]);
  expect(tried).toBeGreaterThan(500);
  expect(log.verify().break).toBeNull();
  close();
});

it('shows a row that was put before the first one', async () => {
  const { sql, close } = await openIn(temp);
  const audit = createAudit(sql);
  const entry = { type: 'decision', tenant_id: tenant, run_id: null, session_id: null, body: {} } as const;
  sql.write('full', () => audit.append(entry, 1));
  const log = createAuditLog(sql, tenant);
  for (const seq of ['0', '-7', '-9223372036854775808']) {
    sql.run(
      `INSERT INTO audit SELECT ${seq}, at, type, tenant_id, run_id, session_id, body, prev_hash, hash FROM audit WHERE seq = 1`,
    );
    expect([seq, log.verify().break?.reason]).toEqual([seq, 'a number below 1']);
  }
  close();
});

const flipped = (character: string): string => String.fromCharCode(character.charCodeAt(0) ^ 1);
