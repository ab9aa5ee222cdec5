import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Connect, connectForReading } from '../../src/store/access.ts';
import { processOwner } from '../../src/store/owner.ts';
import { stillThere } from '../../src/store/still-there.ts';
import { connector } from '../../src/store/store.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { databaseIn, openIn, startOfTime } from './open.ts';

let temp: TempHome;
beforeEach(() => {
  temp = tempHome();
});
afterEach(() => temp.remove());

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** Makes a database of ours and closes it. */
async function made(): Promise<string> {
  (await openIn(temp)).close();
  return databaseIn(temp);
}

/** Changes the file as another program would. */
function tamper(sql: string): void {
  const database = new Sqlite(databaseIn(temp));
  database.unsafeMode(true);
  database.exec(sql);
  database.close();
}

describe('a new database', () => {
  it('is private to the user with its companions and the machine key, also under umask 0', async () => {
    const umask = process.umask(0);
    const store = await openIn(temp);
    process.umask(umask);
    const names = ['local.db', 'local.db-mark', 'local.db-shm', 'local.db-wal', 'machine.key'];
    expect(readdirSync(temp.home).sort()).toEqual(names);
    expect(names.filter((name) => modeOf(join(temp.home, name)) !== '600')).toEqual([]);
    expect(store.created).toBe(true);
    store.close();
  });

  it('makes the user-level directory with mode 0700 when it is missing', async () => {
    const home = join(temp.dir, 'fresh', 'home');
    const store = await openIn(temp, { reinsHome: home, path: join(home, 'local.db') });
    expect(modeOf(home)).toBe('700');
    store.close();
  });

  it('is refused where its directory is missing or no directory', async () => {
    const path = join(temp.dir, 'none', 'local.db');
    await expect(openIn(temp, { path })).rejects.toMatchObject({
      code: 'config_invalid',
      message: `The database ${path} cannot be created: there is no directory ${dirname(path)}.`,
    });
  });

  it('has the settings of the chapter and only STRICT tables', async () => {
    const { sql, close, schema } = await openIn(temp);
    const settings = [
      'journal_mode',
      'foreign_keys',
      'application_id',
      'user_version',
      'auto_vacuum',
      'trusted_schema',
      'cell_size_check',
      'secure_delete',
      'wal_autocheckpoint',
      'journal_size_limit',
      'temp_store',
      'mmap_size',
    ];
    const found = settings.map((name) => [name, Object.values(sql.get<object>(`PRAGMA ${name}`) ?? {})[0]]);
    expect(Object.fromEntries(found)).toEqual({
      journal_mode: 'wal',
      foreign_keys: 1,
      application_id: 0x5245494e,
      user_version: 3,
      auto_vacuum: 2,
      trusted_schema: 0,
      cell_size_check: 1,
      secure_delete: 1,
      wal_autocheckpoint: 1000,
      journal_size_limit: 67108864,
      temp_store: 2,
      mmap_size: 0,
    });
    expect(schema).toBe(3);
    const loose = sql.all(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0 ORDER BY name",
    );
    expect(loose).toEqual([{ name: 'sqlite_schema' }, { name: 'sqlite_sequence' }]);
    const [{ n }] = sql.all<{ n: number }>('SELECT count(*) AS n FROM pragma_table_list WHERE strict = 1') as [
      { n: number },
    ];
    expect(n).toBe(35);
    close();
  });

  it('knows when and by what it was made, and proves that it is ours', async () => {
    const { sql, close } = await openIn(temp);
    const rows = sql.all<{ key: string; value: string }>('SELECT key, value FROM meta ORDER BY key');
    const values = Object.fromEntries(rows.map((row) => [row.key, row.value]));
    expect(Object.keys(values)).toEqual([
      'clean_shutdown',
      'created_at',
      'created_by',
      'credential_epoch',
      'instance_id',
      'origin_mac',
    ]);
    expect(values['created_at']).toBe(String(startOfTime));
    expect(values['created_by']).toBe('0.0.0-test');
    expect(values['instance_id']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(values['origin_mac']).toMatch(/^[0-9a-f]{64}$/);
    close();
  });

  it('refuses invalid JSON, wrong types and changes of audit rows', async () => {
    const { sql, close } = await openIn(temp);
    expect(() => sql.run("INSERT INTO kv (key, value, updated_at) VALUES ('a', '{', 1)")).toThrow(/CHECK constraint/);
    expect(() => sql.run("INSERT INTO kv (key, value, updated_at) VALUES ('a', '1', 'soon')")).toThrow(
      /cannot store TEXT/,
    );
    sql.run("INSERT INTO audit (seq, at, type, body, prev_hash, hash) VALUES (1, 1, 'decision', '{}', '0', 'a')");
    expect(() => sql.run("UPDATE audit SET hash = 'b'")).toThrow('audit rows are append-only');
    expect(() => sql.run('DELETE FROM audit')).toThrow('audit rows are append-only');
    for (const replace of ['REPLACE', 'INSERT OR REPLACE']) {
      expect(() => sql.run(`${replace} INTO audit SELECT * FROM audit`)).toThrow('audit rows are append-only');
    }
    close();
  });

  it('lets at most one step of a plan be running or waiting', async () => {
    const { sql, close } = await openIn(temp);
    sql.run(
      "INSERT INTO plans (id, name, goal, status, workspace, created_at, updated_at) VALUES ('p', 'p', 'g', 'active', '/', 1, 1)",
    );
    const add = (id: string, ordinal: number, status: string) =>
      sql.run(
        "INSERT INTO plan_steps (id, plan_id, ordinal, description, status, attempts) VALUES (?, 'p', ?, 'd', ?, 0)",
        id,
        ordinal,
        status,
      );
    add('s1', 1, 'running');
    add('s2', 2, 'pending');
    expect(() => add('s3', 3, 'waiting')).toThrow(/UNIQUE constraint failed/);
    close();
  });
});

it('says how to build what is not built, or built for another Node', () => {
  const broken = join(temp.dir, 'dist/node_modules/better-sqlite3/build/Release');
  const failure = (place: string): unknown => {
    try {
      connector({ installation: pathToFileURL(`${place}/`) })(':memory:', 'write');
    } catch (error) {
      return error;
    }
    return null;
  };
  const said = {
    code: 'config_invalid',
    message: `The package better-sqlite3 is not built for Node ${process.versions.node}.`,
    hints: [`cd ${temp.dir}/ && npm rebuild better-sqlite3 bcrypt`],
  };
  expect(failure(join(temp.dir, 'dist'))).toMatchObject(said);
  mkdirSync(broken, { recursive: true });
  writeFileSync(join(broken, 'better_sqlite3.node'), 'of another Node');
  expect(failure(join(temp.dir, 'dist'))).toMatchObject(said);
});

describe('opening an existing database', () => {
  it('keeps what was written and says that it was not made now', async () => {
    const first = await openIn(temp);
    first.sql.write('full', () => first.sql.run("INSERT INTO kv (key, value, updated_at) VALUES ('a', '1', 1)"));
    first.close();
    const again = await openIn(temp, { mode: 'existing' });
    expect(again.created).toBe(false);
    expect(again.sql.all('SELECT key, value FROM kv')).toEqual([{ key: 'a', value: '1' }]);
    again.close();
  });

  it('refuses a missing one in mode existing, and creates nothing', async () => {
    await expect(openIn(temp, { mode: 'existing' })).rejects.toMatchObject({ code: 'not_found' });
    expect(readdirSync(temp.home)).toEqual([]);
  });

  it('narrows a database that others could read, with one warning', async () => {
    const path = await made();
    chmodSync(path, 0o644);
    const warned: string[] = [];
    const store = await openIn(temp, {}, warned);
    expect(['', '-wal', '-shm'].map((end) => modeOf(`${path}${end}`))).toEqual(['600', '600', '600']);
    store.close();
    (await openIn(temp, {}, warned)).close();
    expect(warned).toEqual([`The database ${path} had mode 0644; it was set to 0600.`]);
    expect(modeOf(path)).toBe('600');
  });

  it('refuses a symbolic link and a directory', async () => {
    const path = await made();
    renameSync(path, `${path}.real`);
    symlinkSync(`${path}.real`, path);
    await expect(openIn(temp)).rejects.toMatchObject({
      code: 'config_invalid',
      message: `The database ${path} is not used: it is a symbolic link.`,
    });
    const directory = join(temp.home, 'other.db');
    mkdirSync(directory);
    await expect(openIn(temp, { path: directory })).rejects.toMatchObject({
      code: 'config_invalid',
      message: `The database ${directory} is not used: it is a directory.`,
    });
  });

  /** A journal that is to be rolled back and names another one, which SQLite removes when no journal refers to it. */
  function journalThatRemoves(victim: string): Buffer {
    const magic = Buffer.from('d9d505f920a163d7', 'hex');
    const numbers = (...values: readonly number[]): Buffer =>
      Buffer.concat(values.map((value) => Buffer.from(Uint32Array.of(value).buffer).swap32()));
    const name = Buffer.from(victim);
    const pages = statSync(databaseIn(temp)).size / 4096;
    const header = Buffer.concat([magic, numbers(0, 1, pages, 512, 4096)], 512);
    const sum = name.reduce((all, byte) => all + byte, 0);
    return Buffer.concat([header, numbers(0x40000000 / 4096 + 1), name, numbers(name.length, sum), magic]);
  }

  it.each(['ours', 'of another installation'])(
    'plays no journal that lies beside it, which could remove any file: %s',
    async (whose) => {
      const path = await made();
      const victim = join(temp.dir, 'precious');
      writeFileSync(victim, 'precious');
      writeFileSync(`${path}-journal`, journalThatRemoves(victim), { mode: 0o600 });
      const reinsHome = whose === 'ours' ? temp.home : join(temp.dir, 'other');
      for (const mode of ['create', 'read'] as const) {
        await expect(openIn(temp, { mode, reinsHome })).rejects.toMatchObject({
          code: 'config_invalid',
          message: `The database ${path} is not used: ${path}-journal was not made by Reins, and would be played into it.`,
          hints: [`mv ${path}-journal ${path}-journal.bak`, `ls -l ${path} ${path}-journal`],
        });
      }
      expect(readFileSync(victim, 'utf8')).toBe('precious');
    },
  );

  it('begins no new database beside a log of the one that was there', async () => {
    const path = await made();
    writeFileSync(path, '');
    writeFileSync(`${path}-wal`, 'what was written last', { mode: 0o600 });
    for (const mode of ['create', 'read'] as const) {
      await expect(openIn(temp, { mode })).rejects.toMatchObject({
        code: 'config_invalid',
        message: `The database ${path} is not used: ${path}-wal holds changes of a database that is empty now.`,
      });
    }
    expect([statSync(path).size, readFileSync(`${path}-wal`, 'utf8')]).toEqual([0, 'what was written last']);
  });

  it('plays no such journal into a file that is to become a database', async () => {
    await made();
    const victim = join(temp.dir, 'precious');
    writeFileSync(victim, 'precious');
    const journal = journalThatRemoves(victim);
    const empty = new Sqlite(join(temp.home, 'empty.db'));
    empty.exec('VACUUM');
    empty.close();
    writeFileSync(join(temp.home, 'empty.db-journal'), journal, { mode: 0o600 });
    await expect(openIn(temp, { path: join(temp.home, 'empty.db') })).rejects.toMatchObject({ code: 'config_invalid' });
    expect(readFileSync(victim, 'utf8')).toBe('precious');
  });

  it('plays no log that others can read into one that only the user can', async () => {
    const path = await made();
    // As a checkout of a repository leaves it: SQLite gives it the mode of the database.
    writeFileSync(`${path}-wal`, 'not ours', { mode: 0o644 });
    await expect(openIn(temp)).rejects.toMatchObject({
      code: 'config_invalid',
      message: `The database ${path} is not used: ${path}-wal was not made with it: other users can read or write it.`,
    });
    rmSync(`${path}-wal`);
    const user = await openIn(temp);
    user.sql.write('normal', () => user.sql.run("INSERT INTO kv (key, value, updated_at) VALUES ('a', '1', 1)"));
    for (const each of [`${path}-wal`, path]) chmodSync(each, 0o644);
    const warned: string[] = [];
    (await openIn(temp, {}, warned)).close();
    user.close();
    expect(warned).toEqual([`The database ${path} had mode 0644; it was set to 0600.`]);
  });

  it('plays no log that another program began, whatever its mode', async () => {
    const path = await made();
    const [before, key] = [readFileSync(path), 'planted'];
    // As a pull writes it over a database that is closed: pages of a copy that its author changed.
    const other = join(temp.dir, 'other.db');
    copyFileSync(path, other);
    const author = new Sqlite(other);
    author.prepare("INSERT INTO kv (key, value, updated_at) VALUES (?, '1', 1)").run(key);
    copyFileSync(`${other}-wal`, `${path}-wal`);
    author.close();
    chmodSync(`${path}-wal`, 0o600);
    for (const mode of ['create', 'read'] as const) {
      await expect(openIn(temp, { mode })).rejects.toMatchObject({
        code: 'database_foreign',
        hints: ['reins trust', `mv ${path}-wal ${path}-wal.bak`],
      });
    }
    expect(readFileSync(path).equals(before)).toBe(true);
    renameSync(`${path}-wal`, `${path}-wal.bak`);
    const store = await openIn(temp);
    expect(store.sql.get('SELECT 1 FROM kv WHERE key = ?', key)).toBeUndefined();
    store.close();
  });

  it.each(['-wal', '-journal'])('names a companion that is a link or no file: %s', async (ending) => {
    const path = await made();
    mkdirSync(path + ending);
    await expect(openIn(temp)).rejects.toMatchObject({
      code: 'config_invalid',
      message: `The database ${path} is not used: ${path}${ending} is not a regular file.`,
    });
    renameSync(path + ending, join(temp.dir, 'directory'));
    symlinkSync(join(temp.dir, 'nothing'), path + ending);
    await expect(openIn(temp)).rejects.toMatchObject({
      code: 'config_invalid',
      message: `The database ${path} is not used: ${path}${ending} is a symbolic link.`,
    });
  });

  it('writes no mark through a link', async () => {
    const path = await made();
    rmSync(`${path}-mark`);
    symlinkSync(join(temp.dir, 'nothing'), `${path}-mark`);
    await expect(openIn(temp)).rejects.toMatchObject({
      code: 'config_invalid',
      message: `The file ${path}-mark cannot be written: it is a symbolic link.`,
    });
    expect(existsSync(join(temp.dir, 'nothing'))).toBe(false);
  });

  it('refuses a machine key that others can read, with the chmod line', async () => {
    const path = await made();
    const key = join(temp.home, 'machine.key');
    chmodSync(key, 0o640);
    const before = readFileSync(path);
    await expect(openIn(temp)).rejects.toMatchObject({ code: 'config_invalid', hints: [`chmod 600 ${key}`] });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it.each([
    ['trigger', 'CREATE TRIGGER evil AFTER INSERT ON kv BEGIN DELETE FROM meta; END'],
    ['view', 'CREATE VIEW evil AS SELECT 1'],
    ['index', 'CREATE INDEX evil ON kv (value)'],
    ['table', 'CREATE TABLE evil (a)'],
    ['changed definition', 'ALTER TABLE kv ADD COLUMN evil TEXT'],
    ['missing index', 'DROP INDEX events_at'],
  ])('refuses a database with a foreign schema (%s), and leaves it as it is', async (_what, sql) => {
    const path = await made();
    tamper(sql);
    const before = readFileSync(path);
    for (const mode of ['create', 'existing', 'read'] as const) {
      await expect(openIn(temp, { mode })).rejects.toMatchObject({
        code: 'database_damaged',
        message: `The database ${path} is not used: its tables, indexes or triggers are not those of schema 3; there is no backup.`,
        hints: ['reins doctor'],
      });
    }
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('refuses a database made with another key, and leaves it as it is', async () => {
    const path = await made();
    const other = join(temp.dir, 'other-home');
    mkdirSync(other, { mode: 0o700 });
    writeFileSync(join(other, 'machine.key'), randomBytes(32), { mode: 0o600 });
    const before = readFileSync(path);
    await expect(openIn(temp, { reinsHome: other })).rejects.toMatchObject({ code: 'database_foreign' });
    await expect(openIn(temp, { reinsHome: join(temp.dir, 'no-key') })).rejects.toMatchObject({
      code: 'database_foreign',
    });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(existsSync(join(temp.dir, 'no-key'))).toBe(false);
  });

  it('refuses one of a newer program and leaves it byte for byte', async () => {
    const path = await made();
    tamper('PRAGMA user_version = 4');
    const before = readFileSync(path);
    await expect(openIn(temp)).rejects.toMatchObject({
      code: 'database_newer',
      data: { path, schema: 4, known: 3 },
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('refuses what is not a Reins database', async () => {
    const path = databaseIn(temp);
    writeFileSync(path, 'these are notes, not tables\n'.repeat(400), { mode: 0o600 });
    await expect(openIn(temp)).rejects.toMatchObject({ code: 'database_damaged' });
    expect(readFileSync(path, 'utf8').startsWith('these are notes')).toBe(true);
    const other = join(temp.home, 'other.db');
    const database = new Sqlite(other);
    database.exec('CREATE TABLE notes (text); PRAGMA application_id = 7');
    database.close();
    chmodSync(other, 0o600);
    await expect(openIn(temp, { path: other })).rejects.toMatchObject({
      code: 'database_damaged',
      message: `The database ${other} is not used: it is not a Reins database; there is no backup.`,
    });
  });

  it('refuses one cut to half, names the newest backup, and leaves it as it is', async () => {
    const path = await made();
    for (const time of ['20260101T000000000Z', '20260103T000000000Z', '20260102T000000000Z']) {
      writeFileSync(`${path}.backup-v1-${time}`, '');
    }
    truncateSync(path, Math.floor(statSync(path).size / 2));
    const before = readFileSync(path);
    const error = await openIn(temp).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'database_damaged',
      data: { path, backup: `${path}.backup-v1-20260103T000000000Z` },
      hints: ['reins doctor'],
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('says damaged when a page in use is not readable', async () => {
    const first = await openIn(temp);
    first.sql.run("INSERT INTO kv (key, value, updated_at) VALUES ('a', ?, 1)", JSON.stringify('x'.repeat(20_000)));
    const root = first.sql.get<{ page: number }>("SELECT rootpage AS page FROM sqlite_schema WHERE name = 'kv'");
    first.close();
    const bytes = readFileSync(databaseIn(temp));
    bytes.fill(0xff, ((root?.page ?? 0) - 1) * 4096, (root?.page ?? 0) * 4096);
    writeFileSync(databaseIn(temp), bytes);
    const again = await openIn(temp);
    let code: unknown;
    try {
      again.sql.all('SELECT * FROM kv');
    } catch (error) {
      code = (error as { code: string }).code;
    }
    expect(code).toBe('database_damaged');
    again.close();
  });

  it('checks the whole file after a process died while it had written', async () => {
    const path = await made();
    const gone = processOwner('store').split(' ').with(2, '999999999').join(' ');
    const database = new Sqlite(path);
    database.prepare("UPDATE meta SET value = ? WHERE key = 'clean_shutdown'").run(gone);
    const index = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'runs_mission'").pluck().get();
    database.close();
    const healthy = await openIn(temp);
    expect(healthy.sql.get("SELECT value FROM meta WHERE key = 'clean_shutdown'")).toEqual({ value: '1' });
    healthy.close();

    const again = new Sqlite(path);
    again.prepare("UPDATE meta SET value = ? WHERE key = 'clean_shutdown'").run(gone);
    again.close();
    const bytes = readFileSync(path);
    bytes.fill(0xff, (Number(index) - 1) * 4096, Number(index) * 4096);
    writeFileSync(path, bytes);
    await expect(openIn(temp)).rejects.toMatchObject({ code: 'database_damaged' });
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it('notes who writes, and that it closed cleanly', async () => {
    const store = await openIn(temp);
    const word = () => store.sql.get<{ value: string }>("SELECT value FROM meta WHERE key = 'clean_shutdown'")?.value;
    expect(word()).toBe('1');
    store.sql.write('normal', () => undefined);
    expect(word()).toBe(processOwner('store'));
    store.close();
    store.close();
    const again = await openIn(temp, { mode: 'read' });
    expect(again.sql.get("SELECT value FROM meta WHERE key = 'clean_shutdown'")).toEqual({ value: '1' });
    again.close();
  });
});

describe('reading', () => {
  it('shows an empty database where there is none, and creates nothing', async () => {
    const { sql, close } = await openIn(temp, { mode: 'read' });
    expect(sql.all('SELECT * FROM sessions')).toEqual([]);
    expect(() => sql.run("INSERT INTO kv (key, value, updated_at) VALUES ('a', '1', 1)")).toThrow(
      /cannot be opened for writing/,
    );
    close();
    expect(readdirSync(temp.home)).toEqual([]);
  });

  it('reads without being able to write', async () => {
    await made();
    const { sql, close } = await openIn(temp, { mode: 'read' });
    expect(sql.all('SELECT * FROM sessions')).toEqual([]);
    let code: unknown;
    try {
      sql.write('full', () => undefined);
    } catch (error) {
      code = (error as { code: string }).code;
    }
    expect(code).toBe('config_invalid');
    close();
  });

  it('reads a copy in memory where no companion file can be made', async () => {
    const first = await openIn(temp);
    first.sql.run("INSERT INTO kv (key, value, updated_at) VALUES ('a', '1', 1)");
    first.close();
    mkdirSync(`${databaseIn(temp)}-shm`);
    const { sql, close } = await openIn(temp, { mode: 'read' });
    expect(sql.all('SELECT key FROM kv')).toEqual([{ key: 'a' }]);
    close();
  });

  /** As a directory answers that others own; it does not to root, who may run this test. */
  const inForeignDirectory: Connect = (source, access) => {
    if (access === 'read') throw Object.assign(new Error('no'), { code: 'SQLITE_READONLY_DIRECTORY' });
    return connector({})(source, access);
  };

  it('reads a copy where the directory may not be written, too', async () => {
    await made();
    const handle = connectForReading(databaseIn(temp), inForeignDirectory);
    expect(handle.prepare('SELECT count(*) AS count FROM sessions').get()).toEqual({ count: 0 });
    handle.close();
  });

  it('says of a file that cannot be read which one it is, and what to look at', () => {
    const path = join(temp.dir, 'gone.db');
    const hints = [`ls -ld ${temp.dir} ${path}`, 'reins doctor'];
    expect(() => connectForReading(path, inForeignDirectory)).toThrow(
      expect.objectContaining({ code: 'config_invalid', hints }),
    );
  });
});

describe('write', () => {
  const put = (key: string) => `INSERT INTO kv (key, value, updated_at) VALUES ('${key}', '1', 1)`;

  it('switches durability for the transactions that need it', async () => {
    const { sql, close } = await openIn(temp);
    const level = () => Object.values(sql.get<object>('PRAGMA synchronous') ?? {})[0];
    expect(sql.write('normal', level)).toBe(1);
    expect(sql.write('full', level)).toBe(2);
    expect(sql.write('full', () => sql.write('normal', level))).toBe(2);
    expect(sql.write('normal', level)).toBe(1);
    close();
  });

  it('undoes everything when its body throws, and can be used again', async () => {
    const { sql, close } = await openIn(temp);
    const fail = () =>
      sql.write('full', () => {
        sql.run(put('a'));
        sql.write('normal', () => sql.run(put('b')));
        throw new Error('no');
      });
    expect(fail).toThrow('no');
    expect(sql.all('SELECT key FROM kv')).toEqual([]);
    sql.write('normal', () => sql.run(put('c')));
    expect(sql.all('SELECT key FROM kv')).toEqual([{ key: 'c' }]);
    close();
  });

  it('does not let a full transaction join a normal one', async () => {
    const { sql, close } = await openIn(temp);
    expect(() => sql.write('normal', () => sql.write('full', () => undefined))).toThrow(TypeError);
    close();
  });

  it('says busy while another connection writes, and writes when it has ended', async () => {
    const one = await openIn(temp);
    const two = await openIn(temp);
    let error: unknown;
    one.sql.write('normal', () => {
      try {
        two.sql.write('full', () => two.sql.run(put('a')));
      } catch (thrown) {
        error = thrown;
      }
    });
    expect(error).toMatchObject({ code: 'database_busy', data: { path: databaseIn(temp) } });
    two.sql.write('full', () => two.sql.run(put('b')));
    expect(one.sql.all('SELECT key FROM kv')).toEqual([{ key: 'b' }]);
    one.close();
    two.close();
  });

  it('loses what may be lost where the file takes no writes, and says so of everything else', async () => {
    (await openIn(temp)).close();
    const only = await openIn(temp, { mode: 'read' });
    expect(only.sql.writeNow(() => only.sql.run(put('lost')))).toBe(false);
    expect(() => only.sql.write('normal', () => only.sql.run(put('a')))).toThrow('cannot be opened for writing');
    only.close();
    const full = await openIn(temp);
    full.sql.get('PRAGMA max_page_count = 1');
    const much = 'x'.repeat(100_000);
    expect(full.sql.writeNow(() => full.sql.run(put(much)))).toBe(false);
    expect(full.sql.get('SELECT count(*) AS n FROM kv')).toEqual({ n: 0 });
    full.close();
  });

  it('writes what may be lost at once or not at all', async () => {
    const one = await openIn(temp, { busyTimeoutMs: 60_000 });
    const two = await openIn(temp);
    two.sql.write('normal', () => {
      expect(one.sql.writeNow(() => one.sql.run(put('lost')))).toBe(false);
    });
    expect(one.sql.writeNow(() => one.sql.run(put('kept')))).toBe(true);
    expect(one.sql.get('PRAGMA busy_timeout')).toEqual({ timeout: 60_000 });
    expect(two.sql.all('SELECT key FROM kv')).toEqual([{ key: 'kept' }]);
    one.close();
    two.close();
  });

  it('rolls back on a full disk, says how much is free, and keeps everything earlier', async () => {
    const { sql, close } = await openIn(temp);
    sql.write('normal', () => sql.run(put('before')));
    const pages = Object.values(sql.get<object>('PRAGMA page_count') ?? {})[0];
    sql.get(`PRAGMA max_page_count = ${String(pages)}`);
    let error: unknown;
    try {
      sql.write('full', () => {
        sql.run(put('during'));
        sql.run("INSERT INTO blobs (sha256, bytes, created_at) VALUES ('x', zeroblob(1000000), 1)");
      });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'storage', data: { path: databaseIn(temp), free_bytes: expect.any(Number) } });
    expect(sql.all('SELECT key FROM kv')).toEqual([{ key: 'before' }]);
    sql.get('PRAGMA max_page_count = 100000');
    sql.write('full', () => sql.run(put('after')));
    expect(sql.all('SELECT key FROM kv ORDER BY key')).toEqual([{ key: 'after' }, { key: 'before' }]);
    close();
  });

  it('writes nothing more once another process has upgraded the file', async () => {
    const { sql, close } = await openIn(temp);
    sql.write('normal', () => sql.run(put('a')));
    tamper('PRAGMA user_version = 4');
    expect(() => sql.write('normal', () => sql.run(put('b')))).toThrow(/has schema 4, this program knows 3/);
    expect(sql.all('SELECT key FROM kv')).toEqual([{ key: 'a' }]);
    close();
  });

  it.each([
    ['was removed or moved', () => rmSync(databaseIn(temp))],
    [
      'was replaced by another one',
      () => {
        copyFileSync(databaseIn(temp), join(temp.home, 'copy'));
        renameSync(join(temp.home, 'copy'), databaseIn(temp));
      },
    ],
  ])('writes nothing more where the file %s, which would keep none of it', async (what, change) => {
    const { sql, close } = await openIn(temp);
    sql.write('normal', () => sql.run(put('a')));
    change();
    expect(() => sql.write('normal', () => sql.run(put('b')))).toThrow(
      `The database ${databaseIn(temp)} ${what} while this process had it open, so nothing more is written: start it again.`,
    );
    close();
  });

  it('looks once a second whether what it reads is still there', () => {
    const file = join(temp.dir, 'file');
    const other = join(temp.dir, 'other');
    for (const path of [file, other]) writeFileSync(path, '');
    let time = 0;
    const there = stillThere(file, () => time);
    rmSync(file);
    time = 999;
    there.beforeRead();
    time = 1000;
    expect(() => there.beforeRead()).toThrow('was removed or moved while this process had it open');
    expect(() => there.beforeWrite()).toThrow('was removed');
    renameSync(other, file);
    expect(() => there.beforeWrite()).toThrow('was replaced by another one');
  });

  it('sees by the data version that another connection has committed', async () => {
    const one = await openIn(temp);
    const two = await openIn(temp);
    const before = one.sql.dataVersion();
    one.sql.write('normal', () => one.sql.run(put('a')));
    expect(one.sql.dataVersion()).toBe(before);
    two.sql.write('normal', () => two.sql.run(put('b')));
    expect(one.sql.dataVersion()).not.toBe(before);
    one.close();
    two.close();
  });
});
