import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { operations } from '../../src/client/operations.ts';
import { auditHash } from '../../src/store/audit.ts';
import { canonicalJson } from '../../src/text/canonical-json.ts';
import { addScript, createProject, tester, type World, writingTurns } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await createProject();
});
afterEach(() => world.remove());

const dbPath = (): string => join(world.workspace, '.reins/local.db');
const anchors = (): string => join(world.home, '.reins/audit-anchors');
const verify = async (...flags: readonly string[]) => {
  const { code, stdout } = await world.run(['audit', 'verify', ...flags]);
  return [code, stdout.trim()];
};
/** Changes the log as somebody would who owns the file; its triggers are in the way and come back. */
function tamper(...statements: readonly string[]): void {
  const db = new Database(dbPath());
  const triggers = db
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'audit'")
    .all();
  for (const { name } of triggers as { name: string }[]) db.exec(`DROP TRIGGER ${name}`);
  for (const statement of statements) db.exec(statement);
  for (const { sql } of triggers as { sql: string }[]) db.exec(sql);
  db.close();
}
/** A whole copy, as `VACUUM INTO` and the backups before upgrades are. */
function copyDatabase(from: string, to: string): void {
  const db = new Database(from);
  db.prepare('VACUUM INTO ?').run(to);
  db.close();
}
function putBack(backup: string, path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
  copyFileSync(backup, path);
  chmodSync(path, 0o600);
}
const write = ['--policy', 'open', 'write it'];

describe('the audit log', () => {
  beforeEach(async () => {
    await addScript(world, writingTurns);
    expect((await world.run([...tester, ...write])).code).toBe(0);
  });

  test('is listed newest first, by run, type and tools', async () => {
    const { stdout } = await world.run(['audit', 'list', '--json']);
    const { rows, total } = JSON.parse(stdout);
    // As every time in JSON (03); an export has it as it is hashed.
    expect(rows[0].at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(rows).toHaveLength(total);
    expect(rows.map(({ seq }: { seq: number }) => seq)).toEqual(rows.map((_: unknown, index: number) => total - index));
    const [last] = rows;
    const some = async (...flags: readonly string[]) =>
      JSON.parse((await world.run(['audit', 'list', '--json', ...flags])).stdout).rows.map(
        ({ type }: { type: string }) => type,
      );
    expect(await some('--run', last.run_id.slice(-6), '--limit', '2')).toEqual(['effect', 'effect']);
    expect(await some('--type', 'decision')).toEqual(['decision']);
    expect(await some('--tools', 'local_fs')).toEqual(['effect', 'effect', 'decision']);
    expect(await some('--since', '2026-01-01', '--tools', 'nosuch')).toEqual([]);
    const table = await world.run(['audit', 'list', '--tools', 'local_fs']);
    expect(table.stdout.split('\n').map((line) => line.split(/ {2,}/).slice(1))).toEqual([
      ['TYPE', 'TOOL', 'SUMMARY', 'ACTOR', 'RULE'],
      ['effect', 'local_fs.write_file', expect.stringMatching(/^done, \d+ bytes$/), '-', '-'],
      ['effect', 'local_fs.write_file', 'started', '-', '-'],
      ['decision', 'local_fs.write_file', 'allow: new.txt', 'policy open', 'default action'],
      [],
    ]);
  });

  test('is listed by a run as its id is shown, also one that was deleted; a slip is not "no entries"', async () => {
    const { rows } = JSON.parse((await world.run(['audit', 'list', '--json'])).stdout);
    const id: string = rows[0].run_id;
    const lines = async (run: string) => (await world.run(['audit', 'list', '--run', run, '--json'])).stdout;
    const whole = await lines(id);
    expect(JSON.parse(whole).rows.length).toBeGreaterThan(0);
    for (const part of [`run_${id.slice(-6)}`, id.slice(-6), id.slice(0, 28)]) expect(await lines(part)).toBe(whole);
    expect(await world.run(['audit', 'list', '--run', 'nosuch'])).toMatchObject({
      code: 1,
      stderr: 'reins: no such run: nosuch\n  reins state list\n',
    });
    expect(await world.run(['audit', 'list', '--type', 'decisions'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^reins: --type: "decisions" is not one of decision, ask, /),
    });
    expect((await world.run(['state', 'delete', id])).code).toBe(0);
    expect(await lines(id.slice(-6))).toBe(whole);
  });

  test('verifies, and against a head that was noted', async () => {
    const [code, text] = await verify();
    expect([code, text]).toEqual([0, expect.stringMatching(/^ok: \d+ entries, head [0-9a-f]{64}$/)]);
    const head = String(text).slice(-64);
    expect((await verify('--head', head))[0]).toBe(0);
    const wrong = await verify('--head', 'f'.repeat(64));
    expect(wrong).toEqual([1, expect.stringContaining('the known hash ffffffffffff… is not in the chain')]);
    // Cut as it is often shown: nobody is accused of having written the log anew.
    expect(await world.run(['audit', 'verify', '--head', head.slice(0, 12)])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `reins: --head: "${head.slice(0, 12)}" is not the hash of an entry: it has 64 digits from 0 to f\n  reins audit verify\n`,
    });
    expect(JSON.parse((await world.run(['audit', 'verify', '--json'])).stdout)).toMatchObject({
      ok: true,
      head,
      break: null,
    });
  });

  test.each([
    ['an edited body', `UPDATE audit SET body = '{"x":1}' WHERE seq = 2`, 'seq 2: hash mismatch'],
    ['one more blank in a body', `UPDATE audit SET body = body || ' ' WHERE seq = 2`, 'seq 2: hash mismatch'],
    ['an edited hash', `UPDATE audit SET hash = '${'0'.repeat(64)}' WHERE seq = 2`, 'seq 2: hash mismatch'],
    ['a row that is gone', 'DELETE FROM audit WHERE seq = 3', 'seq 4: gap after 2'],
    ['a first row that is gone', 'DELETE FROM audit WHERE seq = 1', 'seq 2: gap after 0'],
    [
      'rows that were exchanged',
      'UPDATE audit SET seq = 900 WHERE seq = 2; UPDATE audit SET seq = 2 WHERE seq = 3; UPDATE audit SET seq = 3 WHERE seq = 900',
      'seq 2: prev_hash mismatch',
    ],
  ])('shows %s', async (_what, statement, expected) => {
    tamper(statement);
    expect(await verify()).toEqual([1, expected]);
    const { stdout } = await world.run(['doctor', '--json']);
    expect(stdout).toContain('"audit_broken"');
  });

  test('shows a tail that was cut off and a log that was emptied, by what was noted beside it', async () => {
    const { rows } = JSON.parse((await world.run(['audit', 'list', '--json'])).stdout);
    const last = rows[0].seq;
    tamper(`DELETE FROM audit WHERE seq > ${last - 2}`);
    expect(await verify()).toEqual([1, `seq ${last}: cut after ${last - 2}`]);
    expect((await world.run(['audit', 'verify'])).stderr).toContain('so it is after a backup was put back');
    tamper('DELETE FROM audit');
    expect((await verify())[0]).toBe(1);
    // A line that is not ours says nothing.
    const forged = readFileSync(anchors(), 'utf8').replace(/"mac":"[0-9a-f]{4}/g, '"mac":"0000');
    writeFileSync(anchors(), forged);
    expect(await verify()).toEqual([0, expect.stringContaining('ok: 0 entries')]);
    rmSync(anchors());
    expect((await verify())[0]).toBe(0);
  });

  test('holds a backup that was put back against nobody, once its operator has said so, and goes on telling it', async () => {
    const backup = join(world.home, 'backup.db');
    copyDatabase(dbPath(), backup);
    for (let turn = 0; turn < 2; turn += 1) expect((await world.run(['config', 'set', 'think', 'high'])).code).toBe(0);
    const old = JSON.parse((await world.run(['audit', 'verify', '--json'])).stdout);
    putBack(backup, dbPath());
    // Entries go on before anybody notices.
    expect((await world.run(['config', 'set', 'think', 'low'])).code).toBe(0);
    expect((await verify())[0]).toBe(1);

    expect(await world.run(['audit', 'restored'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('without a terminal it needs --yes'),
    });
    expect((await verify())[0]).toBe(1);
    // A full disk has cut the last line that was noted.
    appendFileSync(anchors(), '{"instance_id":"');
    const missing = `heads that were noted from ${old.last_seq - 1} to ${old.last_seq} are not in this log, the last one ${old.head}`;
    expect(await world.run(['audit', 'restored', '--yes'])).toMatchObject({
      code: 0,
      stdout: `Recorded that a backup was put back: ${missing}.\n`,
    });
    const [code, text] = await verify();
    expect([code, String(text).split('\n')]).toEqual([
      0,
      [
        expect.stringMatching(/^ok: \d+ entries, head [0-9a-f]{64}$/),
        expect.stringMatching(new RegExp(`^seq ${old.last_seq}: a backup was put back by [0-9TZ:.-]+: ${missing}$`)),
      ],
    ]);
    expect((await world.run(['doctor', '--json'])).stdout).not.toContain('audit_broken');
    expect(await verify('--head', old.head)).toEqual([1, expect.stringContaining('is not in the chain')]);
    expect((await world.run(['audit', 'restored', '--yes'])).stdout).toContain('Nothing to record');
    const [row] = JSON.parse((await world.run(['audit', 'list', '--type', 'restored', '--json'])).stdout).rows;
    expect(row.body).toMatchObject({ by: 'operator:cli', heads: 2, old_head: old.head });

    // It is told after its entry has gone, too; and what is cut off later is found.
    expect((await world.run(['config', 'set', 'think', 'high'])).code).toBe(0);
    expect((await world.run(['audit', 'prune', '--before', '0s', '--yes'])).code).toBe(0);
    expect(await verify()).toEqual([0, expect.stringContaining(missing)]);
    for (let turn = 0; turn < 3; turn += 1) expect((await world.run(['config', 'set', 'think', 'low'])).code).toBe(0);
    const { last_seq } = JSON.parse((await world.run(['audit', 'verify', '--json'])).stdout);
    tamper(`DELETE FROM audit WHERE seq = ${last_seq}`);
    expect(await verify()).toEqual([1, `seq ${last_seq}: cut after ${last_seq - 1}`]);
  });

  test('goes on by itself in a copy of the database, and follows one that is moved', async () => {
    const copy = join(world.home, 'copy.db');
    copyDatabase(dbPath(), copy);
    chmodSync(copy, 0o600);
    const set = async (value: string, ...flags: readonly string[]) =>
      expect((await world.run([...flags, 'config', 'set', 'think', value])).code).toBe(0);
    for (const value of ['high', 'low']) {
      await set(value);
      await set(value, '--db', copy);
      await set(value, '--db', copy);
    }
    const [own, other] = [await world.run(['audit', 'verify']), await world.run(['--db', copy, 'audit', 'verify'])];
    expect([own.code, own.stderr]).toEqual([0, `what was noted of its copy ${copy} is not held against it\n`]);
    expect([other.code, other.stderr]).toEqual([0, `what was noted of its copy ${dbPath()} is not held against it\n`]);
    expect((await world.run(['doctor', '--json'])).stdout).not.toContain('audit_broken');

    renameSync(copy, `${copy}.gone`);
    expect((await verify())[0]).toBe(0);
    renameSync(`${copy}.gone`, copy);
    // Of one that was moved everything counts that was noted where it lay.
    const moved = join(world.home, 'moved.db');
    const { last_seq } = JSON.parse((await world.run(['audit', 'verify', '--json'])).stdout);
    tamper(`DELETE FROM audit WHERE seq = ${last_seq}`);
    renameSync(dbPath(), moved);
    for (const end of ['-wal', '-shm']) rmSync(dbPath() + end, { force: true });
    const cut = { code: 1, stdout: `seq ${last_seq}: cut after ${last_seq - 1}\n` };
    expect(await world.run(['--db', moved, 'audit', 'verify'])).toMatchObject(cut);
  });

  test('takes nobody else at his word who says that it is a backup, and no broken log for one', async () => {
    const { rows } = JSON.parse((await world.run(['audit', 'list', '--json'])).stdout);
    const [{ seq, hash, at: listed }, , before] = rows;
    const at = Date.parse(listed);
    tamper(`DELETE FROM audit WHERE seq > ${before.seq}`);
    const db = new Database(dbPath());
    const body = canonicalJson({
      heads: 1,
      from_seq: seq,
      to_seq: seq,
      old_head: hash,
      noted_until: at + 60_000,
      by: 'operator:cli',
    });
    const { tenant_id } = before;
    const forged = { seq: before.seq + 1, at, type: 'restored', tenant_id, run_id: null, session_id: null };
    const chained = { ...forged, prev_hash: before.hash };
    db.prepare(
      `INSERT INTO audit (seq, at, type, tenant_id, run_id, session_id, prev_hash, body, hash)
       VALUES (@seq, @at, @type, @tenant_id, @run_id, @session_id, @prev_hash, @body, @hash)`,
    ).run({ ...chained, body, hash: auditHash(chained, body) });
    db.close();
    expect((await verify())[0]).toBe(1);
    tamper('DELETE FROM audit WHERE seq = 2');
    expect(await world.run(['audit', 'restored', '--yes'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('The audit log itself is broken (seq 3: gap after 1)'),
    });
  });

  test('notes heads in a file that its owner alone can read, whatever mode it was made with', async () => {
    chmodSync(anchors(), 0o644);
    expect((await world.run(['config', 'set', 'think', 'high'])).code).toBe(0);
    expect(statSync(anchors()).mode & 0o777).toBe(0o600);
  });

  test('says when what was noted beside it is gone or cannot be read, and waits for nothing', async () => {
    rmSync(anchors());
    const gone = await world.run(['audit', 'verify']);
    expect([gone.code, gone.stdout, gone.stderr]).toEqual([
      0,
      expect.stringMatching(/^ok: \d+ entries/),
      expect.stringContaining('no head of this log was noted outside the database'),
    ]);
    const unread = `The heads of the audit log that were noted in ${anchors()} cannot be read: `;
    symlinkSync('/dev/null', anchors());
    expect(await world.run(['audit', 'verify'])).toMatchObject({
      code: 3,
      stdout: '',
      stderr: `reins: ${unread}it is a symbolic link.\n  ls -ld ${anchors()}\n`,
    });
    rmSync(anchors());
    // A FIFO that nobody writes to, or reads from.
    execFileSync('mkfifo', [anchors()]);
    expect(await world.run([...tester, ...write])).toMatchObject({ code: 0 });
    expect((await world.run(['audit', 'verify'])).stderr).toContain(`${unread}it is not a regular file.`);
    const { issues } = JSON.parse((await world.run(['doctor', '--json'])).stdout);
    expect(issues.find(({ code }: { code: string }) => code === 'audit_broken').message).toBe(
      `The audit log does not verify: ${unread}it is not a regular file.`,
    );
  });

  test('names who changed the set-up, and who trusted a file and took that back', async () => {
    const chain = join(world.workspace, '.reins/mine.json');
    writeFileSync(chain, readFileSync(join(world.workspace, '.reins/default-chain.json')));
    const sha256 = createHash('sha256').update(readFileSync(chain)).digest('hex');
    for (const argv of [
      ['config', 'set', 'think', 'high'],
      ['backend', 'add', 'other', '--type', 'ollama'],
      ['trust', 'add', chain, '--sha256', sha256],
      ['trust', 'remove', chain],
    ]) {
      expect([argv[0], (await world.run(argv)).code]).toEqual([argv[0], 0]);
    }
    const { rows } = JSON.parse((await world.run(['audit', 'list', '--limit', '4', '--json'])).stdout);
    const by = 'operator:cli';
    const trusted = { kind: 'chain', root: world.workspace, path: '.reins/mine.json', sha256 };
    expect(rows.map(({ type, body }: { type: string; body: object }) => [type, body])).toEqual([
      ['trust', { ...trusted, removed: true, by }],
      ['trust', { ...trusted, way: 'command', by }],
      ['registry_changed', { registry: 'backend', name: 'other', change: 'added', by }],
      ['config_changed', { key: 'think', change: 'set', by }],
    ]);
  });

  test('is pruned behind an anchor, again and again, and still verifies', async () => {
    const prune = (...flags: readonly string[]) => world.run(['audit', 'prune', ...flags]);
    expect(await prune('--before', '1d')).toMatchObject({ code: 2, stderr: expect.stringContaining('needs --yes') });
    expect((await prune('--yes')).stderr).toContain('--before is missing');
    expect((await prune('--before', '1d', '--yes')).stdout).toMatch(/^Removed 0 entries before /);
    const rows = async () => JSON.parse((await world.run(['audit', 'list', '--json'])).stdout).rows;
    const before = await rows();
    const cutAt = before.at(-3).at;
    const gone = before.filter(({ at }: { at: number }) => at < cutAt).length;
    const until = new Date(cutAt).toISOString();
    expect((await prune('--before', until, '--yes')).stdout).toBe(`Removed ${gone} entries before ${until}.\n`);
    const left = await rows();
    expect([left[0].type, left.at(-1).seq, left.length]).toEqual(['anchor', gone + 1, before.length - gone + 1]);
    expect(await verify()).toEqual([0, expect.stringContaining(`ok: ${left.length} entries`)]);
    expect((await prune('--before', '0s', '--yes')).code).toBe(0);
    expect(await verify()).toEqual([0, expect.stringContaining('ok: 1 entry')]);
    expect((await world.run([...tester, ...write])).code).toBe(0);
    expect((await verify())[0]).toBe(0);
    // Without its anchor a shortened log is a broken one; and nothing else may be deleted.
    const db = new Database(dbPath());
    expect(() => db.exec('DELETE FROM audit')).toThrow('append-only');
    db.close();
    tamper("DELETE FROM audit WHERE type = 'anchor'");
    expect((await verify())[0]).toBe(1);
  });

  test('is exported whole where nothing can be written', () => {
    expect([operations.exportAudit.reads, operations.pruneAudit.reads]).toEqual([true, false]);
  });

  test('is exported whole, without what went into files, to a file that is new', async () => {
    const { stdout } = await world.run(['audit', 'export']);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.slice(0, -1).map(({ seq }) => seq)).toEqual(lines.slice(0, -1).map((_, index) => index + 1));
    expect(lines.at(-1)).toMatchObject({ type: 'head', seq: lines.length - 1, hash: lines.at(-2).hash });
    const decision = lines.find(({ type }) => type === 'decision');
    expect(decision.body.args).toEqual({
      path: 'new.txt',
      content: { sha256: '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03', bytes: 6 },
    });
    const path = join(world.workspace, 'log.jsonl');
    const written = await world.run(['audit', 'export', '--out', 'log.jsonl']);
    expect([written.code, written.stdout]).toEqual([0, `Wrote ${path}\n`]);
    const file = readFileSync(path, 'utf8');
    expect(file.split('\n').slice(0, -2)).toEqual(stdout.split('\n').slice(0, -2));
    const shown = await world.run(['audit', 'export', '--out', '-']);
    expect(shown.stdout.split('\n').slice(0, -2)).toEqual(stdout.split('\n').slice(0, -2));
    expect(existsSync(join(world.workspace, '-'))).toBe(false);
    const again = await world.run(['audit', 'export', '--out', 'log.jsonl']);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('log.jsonl cannot be written')]);
    const nowhere = await world.run(['audit', 'export', '--out', 'none/log.jsonl']);
    expect(nowhere.stderr.split('\n')[0]).toBe(
      `reins: --out: ${join(world.workspace, 'none/log.jsonl')} cannot be written: no such file or directory`,
    );
  });
});

test('words of a verdict are exported when they are asked for', async () => {
  await addScript(world, writingTurns);
  const run = world.run([...tester, '--on-ask', 'wait', 'write it']);
  const pending = async (): Promise<string> => {
    for (;;) {
      const { asks } = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout);
      if (asks.length > 0) return asks[0].id;
    }
  };
  await world.run(['approvals', 'respond', await pending(), '--deny', '--feedback', 'use another name']);
  await run;
  const words = async (...flags: readonly string[]) => (await world.run(['audit', 'export', ...flags])).stdout;
  expect(await words()).not.toContain('use another name');
  expect(await words('--with-text')).toContain('"feedback":"use another name"');
});
