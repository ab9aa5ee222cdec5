import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Sqlite from 'better-sqlite3';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backUp, newestBackup } from '../../src/store/backup.ts';
import { type Connection, createHandle } from '../../src/store/handle.ts';
import { applyMigrations, definitionsOf, digestOf as sha256Of, migrations } from '../../src/store/migrate.ts';
import type { Migration } from '../../src/store/migrations/migration.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { bundle, databaseIn, openIn, removeBundles, startOfTime } from './open.ts';

let temp: TempHome;
beforeEach(() => {
  temp = tempHome();
});
afterEach(() => temp.remove());
afterAll(removeBundles);

/** The schema after these steps, made in memory. */
function digestOf(steps: readonly Migration[]): string {
  const database = createHandle(new Sqlite(':memory:') as unknown as Connection);
  applyMigrations(database, steps, 0);
  return sha256Of(definitionsOf(database));
}

const addNotes = {
  version: migrations.length + 1,
  statements: [
    'CREATE TABLE notes (id TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL) STRICT',
    'ALTER TABLE kv ADD COLUMN note TEXT',
  ],
  digest: '',
};
const upgraded: readonly Migration[] = [...migrations, { ...addNotes, digest: digestOf([...migrations, addNotes]) }];

const more = { version: upgraded.length + 1, statements: ['CREATE INDEX notes_text ON notes (text)'], digest: '' };

/** The schema number of the program. */
const current = migrations.length;

const backups = (): string[] => readdirSync(temp.home).filter((name) => name.includes('.backup-'));

describe('the schema', () => {
  it.each(migrations.map((step, index) => [step.version, index] as const))(
    'of version %i is the one that its migration declares',
    (_version, index) => {
      const step = migrations[index];
      expect(digestOf(migrations.slice(0, index + 1))).toBe(step?.digest);
    },
  );

  it('has versions that count from 1 without gaps', () => {
    expect(migrations.map((step) => step.version)).toEqual(migrations.map((_, index) => index + 1));
  });
});

describe('an upgrade', () => {
  it.each(migrations.map((step) => step.version))(
    'from version %i keeps the rows and makes one backup',
    async (version) => {
      const old = await openIn(temp, { migrations: migrations.slice(0, version) });
      old.sql.write('full', () => old.sql.run("INSERT INTO kv (key, value, updated_at) VALUES ('a', '1', 1)"));
      old.close();

      const store = await openIn(temp, { migrations: upgraded });
      expect(store.schema).toBe(upgraded.length);
      expect(store.sql.all('SELECT key, note FROM kv')).toEqual([{ key: 'a', note: null }]);
      expect(store.sql.get('PRAGMA user_version')).toEqual({ user_version: upgraded.length });
      const [noted, ...rest] = store.sql.all<{ type: string; body: string }>('SELECT type, body FROM audit');
      expect([noted?.type, JSON.parse(noted?.body ?? ''), rest]).toEqual([
        'migrated',
        {
          backup: `local.db.backup-v${version}-20260102T030405000Z`,
          by: '0.0.0-test',
          from: version,
          to: upgraded.length,
        },
        [],
      ]);
      store.close();

      expect(backups()).toEqual([`local.db.backup-v${version}-20260102T030405000Z`]);
      const copy = join(temp.home, backups()[0] ?? '');
      expect((statSync(copy).mode & 0o777).toString(8)).toBe('600');
      const database = new Sqlite(copy, { readonly: true });
      expect(database.prepare('SELECT key FROM kv').all()).toEqual([{ key: 'a' }]);
      expect(database.pragma('user_version', { simple: true })).toBe(version);
      database.close();
    },
  );

  it('happens also when the database is only to be read', async () => {
    (await openIn(temp)).close();
    const store = await openIn(temp, { mode: 'read', migrations: upgraded });
    expect(store.sql.all('SELECT * FROM notes')).toEqual([]);
    store.close();
    expect(backups()).toHaveLength(1);
  });

  it('does not happen when the backup cannot be made', async () => {
    (await openIn(temp)).close();
    const path = databaseIn(temp);
    writeFileSync(`${path}.backup-v${current}-20260102T030405000Z`, 'in the way');
    // Nothing is wrong with the database: `doctor` must not advise to put an older one in its place.
    await expect(openIn(temp, { migrations: upgraded })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(' is as it was and waits for its upgrade; its backup could not be made: '),
    });
    const store = await openIn(temp);
    expect(store.sql.get('PRAGMA user_version')).toEqual({ user_version: current });
    store.close();
    expect(readFileSync(`${path}.backup-v${current}-20260102T030405000Z`, 'utf8')).toBe('in the way');
  });

  it('happens to a backup that was put in the place of its database', async () => {
    const [first, second] = [upgraded, [...upgraded, { ...more, digest: digestOf([...upgraded, more]) }]];
    (await openIn(temp)).close();
    (await openIn(temp, { migrations: first })).close();
    const path = databaseIn(temp);
    const backup = join(temp.home, backups()[0] ?? '');
    rmSync(path);
    renameSync(backup, path);
    const store = await openIn(temp, { migrations: second });
    expect(store.sql.get('PRAGMA user_version')).toEqual({ user_version: second.length });
    store.close();
    expect(backups()).toHaveLength(1);
  });

  it('is undone as a whole when a step fails', async () => {
    (await openIn(temp)).close();
    const broken = [...upgraded, { version: upgraded.length + 1, statements: ['CREATE TABLE'], digest: '' }];
    await expect(openIn(temp, { migrations: broken })).rejects.toThrow(/incomplete input/);
    const store = await openIn(temp);
    expect(store.sql.get('PRAGMA user_version')).toEqual({ user_version: current });
    store.close();
  });

  it('keeps the three newest backups', async () => {
    (await openIn(temp)).close();
    for (const day of ['01', '02', '03']) writeFileSync(`${databaseIn(temp)}.backup-v1-202501${day}T000000000Z`, '');
    (await openIn(temp, { migrations: upgraded })).close();
    expect(backups().sort()).toEqual([
      'local.db.backup-v1-20250102T000000000Z',
      'local.db.backup-v1-20250103T000000000Z',
      `local.db.backup-v${current}-20260102T030405000Z`,
    ]);
  });

  it('gives a backup its name when it is whole, and removes the halves that killed processes have left', async () => {
    (await openIn(temp)).close();
    const path = databaseIn(temp);
    writeFileSync(`${path}.backup-v1-20250101T000000000Z.tmp-0123456789ab`, 'half of one');
    // SQLite's own file beside it.
    writeFileSync(`${path}.backup-v1-20250101T000000000Z.tmp-0123456789ab-journal`, 'its journal');
    writeFileSync(`${path}.backup-v1-20250101T000000000Z.tmp-other`, 'no file of ours');
    let within: readonly (string | null)[] = [];
    const made = backUp(path, 1, startOfTime, {
      copyInto(target) {
        within = [newestBackup(path), ...backups()];
        writeFileSync(target, 'all of it');
      },
      check: () => 'ok',
    });
    const name = 'local.db.backup-v1-20260102T030405000Z';
    expect(within).toEqual([
      null,
      'local.db.backup-v1-20250101T000000000Z.tmp-other',
      expect.stringMatching(`^${name}.tmp-[0-9a-f]{12}$`),
    ]);
    expect([made, newestBackup(path), readFileSync(made, 'utf8')]).toEqual([
      join(temp.home, name),
      join(temp.home, name),
      'all of it',
    ]);
    expect(backups().sort()).toEqual(['local.db.backup-v1-20250101T000000000Z.tmp-other', name]);
  });

  it('is made once by two processes that open at the same time', async () => {
    (await openIn(temp)).close();
    const code = `
      import { openStore } from ${JSON.stringify(await bundle('src/store/store.ts'))};
      import { migrations } from ${JSON.stringify(await bundle('src/store/migrate.ts'))};
      const step = ${JSON.stringify(upgraded.at(-1))};
      const store = await openStore({ path: ${JSON.stringify(databaseIn(temp))}, mode: 'create',
        reinsHome: ${JSON.stringify(temp.home)}, version: 't', now: Date.now, warn() {}, migrations: [...migrations, step] });
      store.sql.write('full', () => store.sql.run("INSERT INTO notes (id, text) VALUES (?, 'x')", String(process.pid)));
      store.close();`;
    const run = promisify(execFile);
    await Promise.all([0, 1].map(() => run(process.execPath, ['--input-type=module', '-e', code], { env: {} })));
    expect(backups()).toHaveLength(1);
    const store = await openIn(temp, { migrations: upgraded });
    expect(store.sql.get('SELECT count(*) AS n FROM notes')).toEqual({ n: 2 });
    store.close();
    expect(existsSync(`${databaseIn(temp)}-wal`)).toBe(false);
  });
});
