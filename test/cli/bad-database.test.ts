import { createRequire } from 'node:module';
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { markLog } from '../../src/store/log-mark.ts';
import { createProject, createWorld, type World } from './world.ts';

const require = createRequire(import.meta.url);
let world: World;
let database: string;
beforeEach(async () => {
  world = await createProject();
  database = join(world.workspace, '.reins/local.db');
});
afterEach(() => world.remove());

const issueCodes = async (argv: readonly string[] = []): Promise<readonly string[]> => {
  const { stdout } = await world.run([...argv, 'doctor', '--skip-probe', '--json']);
  return (JSON.parse(stdout) as { issues: { code: string }[] }).issues.map(({ code }) => code);
};

/** What a failed command left: one line for the person, the same in JSON, and not a byte of the file changed. */
async function refused(code: number, wireCode: string, line: string): Promise<void> {
  const before = readFileSync(database);
  for (const argv of [['hi'], ['session', 'list'], ['config', 'set', 'default-model', 'x']]) {
    const text = await world.run(argv);
    expect([text.code, text.stdout, text.stderr]).toEqual([code, '', line]);
    const { stdout } = await world.run([...argv, '--json']);
    const object = JSON.parse(stdout) as { error: { class?: string; code?: string }; exit_code: number };
    expect([object.exit_code, object.error.class ?? object.error.code]).toEqual([code, wireCode]);
  }
  expect(readFileSync(database).equals(before)).toBe(true);
}

describe('DUR-002 and DUR-005: a database that cannot be used', () => {
  test('cut to half: exit 3, the file stays as it is, and doctor reports it', async () => {
    truncateSync(database, Math.floor(readFileSync(database).length / 8192) * 4096);
    await refused(
      3,
      'database_damaged',
      `reins: The database ${database} is not used: database disk image is malformed; there is no backup.\n  reins doctor\n`,
    );
    expect(await issueCodes()).toContain('database_corrupt');
  });

  test('a text file is no database', async () => {
    writeFileSync(database, 'this is not a database, it is text, and there is quite some of it\n'.repeat(20));
    await refused(
      3,
      'database_damaged',
      `reins: The database ${database} is not used: file is not a database; there is no backup.\n  reins doctor\n`,
    );
    expect(await issueCodes()).toContain('database_corrupt');
  });

  test('a text file that others may read keeps its mode, and so does a database of another program', async () => {
    const text = world.write('notes.txt', 'notes of mine, for everybody to read\n'.repeat(20));
    const other = world.write('other.db', '');
    const handle = new Database(other);
    handle.pragma('journal_mode = WAL');
    handle.exec('CREATE TABLE mine (a)');
    handle.close();
    for (const path of [text, other]) {
      chmodSync(path, 0o644);
      const bytes = readFileSync(path);
      for (const argv of [
        ['session', 'list'],
        ['session', 'new', 'a'],
        ['doctor', '--skip-probe'],
      ]) {
        const { code, stderr } = await world.run(['--db', path, ...argv]);
        expect([argv, code === 0, stderr.includes('0600')]).toEqual([argv, false, false]);
      }
      expect([statSync(path).mode & 0o777, readFileSync(path).equals(bytes)]).toEqual([0o644, true]);
    }
  });

  test('a damaged page in the middle is found by doctor, which changes nothing', async () => {
    const bytes = readFileSync(database);
    bytes.fill(0x5a, 5 * 4096, 6 * 4096);
    writeFileSync(database, bytes);
    const { code } = await world.run(['doctor', '--skip-probe']);
    expect(code).toBe(1);
    expect(await issueCodes()).toContain('database_corrupt');
    expect(readFileSync(database).equals(bytes)).toBe(true);
  });

  test('a damaged page that only a run reads is told once', async () => {
    const db = new Database(database);
    const page = Number(db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'mcp_servers_name'").pluck().get());
    db.close();
    const bytes = readFileSync(database);
    bytes.fill(0x5a, (page - 1) * 4096, page * 4096);
    writeFileSync(database, bytes);
    expect(await world.run(['hi'])).toMatchObject({
      code: 3,
      stdout: '',
      stderr: `reins: The database ${database} is not used: database disk image is malformed; there is no backup.\n  reins doctor\n`,
    });
    expect(readFileSync(database).equals(bytes)).toBe(true);
  });

  test('doctor says of a damaged one what puts it right, and nothing about what stands in it', async () => {
    const text = 'this is not a database, it is text, and there is quite some of it\n'.repeat(20);
    const backup = `${database}.backup-v1-20260101T000000000Z`;
    copyFileSync(database, backup);
    writeFileSync(database, text);
    writeFileSync(`${database}-wal`, 'a log of the damaged one', { mode: 0o600 });
    markLog(database, join(world.home, '.reins'));
    writeFileSync(`${database}.damaged`, 'set aside before');
    const { stdout } = await world.run(['doctor', '--skip-probe', '--json']);
    const report = JSON.parse(stdout) as { ready: boolean; issues: { code: string; cliCommand: string | null }[] };
    expect([report.ready, report.issues.map(({ code }) => code)]).toEqual([false, ['database_corrupt']]);
    const command = report.issues[0]?.cliCommand ?? '';
    expect(command).toBe(
      [
        `mv ${database} ${database}.damaged-2`,
        `mv ${database}-wal ${database}.damaged-2-wal`,
        `cp -p ${backup} ${database}`,
      ].join(' && '),
    );
    execFileSync('sh', ['-c', command]);
    expect(await issueCodes()).not.toContain('database_corrupt');
    expect(readFileSync(`${database}.damaged-2`, 'utf8')).toBe(text);
    expect(await world.run(['session', 'list'])).toMatchObject({ code: 0 });
  });

  test('without a backup the damaged one is set aside, and the next command begins a new one', async () => {
    writeFileSync(database, 'no database, only text\n'.repeat(20));
    const { stdout } = await world.run(['doctor', '--skip-probe']);
    const command = /Try: (mv .*)$/m.exec(stdout)?.[1] ?? '';
    execFileSync('sh', ['-c', command]);
    expect(await world.run(['session', 'new', 'a'])).toMatchObject({ code: 0 });
    expect(readFileSync(`${database}.damaged`, 'utf8')).toMatch(/^no database/);
  });

  test('a trigger that somebody added is refused and never fires', async () => {
    const handle = new Database(database);
    handle.pragma('journal_mode = DELETE');
    handle.exec('CREATE TRIGGER planted AFTER INSERT ON kv BEGIN DELETE FROM backends; END');
    handle.close();
    await refused(
      3,
      'database_damaged',
      `reins: The database ${database} is not used: its tables, indexes or triggers are not those of schema 3; there is no backup.\n  reins doctor\n`,
    );
  });

  test('one schema ahead is refused, with the word about a newer program', async () => {
    const handle = new Database(database);
    handle.pragma('journal_mode = DELETE');
    handle.pragma('user_version = 4');
    handle.close();
    await refused(
      3,
      'database_newer',
      `reins: The database ${database} has schema 4, this program knows 3: use the newer program for it.\n`,
    );
    expect(await issueCodes()).toContain('database_newer');
  });

  test('a directory, a path below a file, and a missing directory', async () => {
    mkdirSync(join(world.workspace, 'folder'));
    const said = async (path: string) => (await world.run(['--db', path, 'session', 'new', 'a'])).stderr.split('\n')[0];
    const at = (path: string) => join(world.workspace, path);
    expect(await said('folder')).toBe(`reins: The database ${at('folder')} is not used: it is a directory.`);
    expect(await said('.reins/local.db/x')).toBe(
      `reins: The database ${at('.reins/local.db/x')} cannot be opened: ${database} is not a directory.`,
    );
    expect(await said('none/x.db')).toBe(
      `reins: The database ${at('none/x.db')} cannot be created: there is no directory ${at('none')}.`,
    );
    expect(existsSync(at('none'))).toBe(false);
  });

  test('what the system does not give away is told by doctor, which does not fail with it', async () => {
    const file = join(world.workspace, 'file');
    writeFileSync(file, '');
    expect(await issueCodes(['--db', '.'])).toContain('database_unusable');
    const { code, stdout } = await world.run(['doctor', '--skip-probe'], { environment: { REINS_HOME: file } });
    expect(code).toBe(1);
    expect(stdout).toContain(
      `home_unwritable: The user-level directory ${file} cannot be used: it is not a directory.`,
    );
    expect(stdout).not.toContain('database_foreign');
    // Without a project the database itself would lie below it.
    const outside = { cwd: world.dir, environment: { REINS_HOME: file } };
    expect((await world.run(['doctor', '--skip-probe'], outside)).stdout).toContain('home_unwritable: ');
    expect(await world.run(['config', 'set', 'default-model', 'x'], outside)).toMatchObject({ code: 3 });
  });

  const homes: readonly (readonly [string, (place: string) => readonly [home: string, why: string]])[] = [
    [
      'a file in its place',
      (place) => {
        writeFileSync(join(place, 'f'), '');
        return [join(place, 'f'), 'it is not a directory'];
      },
    ],
    [
      'a path below a file',
      (place) => {
        writeFileSync(join(place, 'f'), '');
        return [join(place, 'f/a/b'), `${join(place, 'f')} is not a directory`];
      },
    ],
    [
      'a link to nothing',
      (place) => {
        symlinkSync(join(place, 'nowhere'), join(place, 'l'));
        return [join(place, 'l'), 'it is a link to nothing'];
      },
    ],
    [
      'a place where the system takes no directory',
      () => {
        // Root has every permission there.
        const isRoot = process.getuid?.() === 0;
        return ['/proc/x', `it cannot be made in /proc: ${isRoot ? 'no such file or directory' : 'permission denied'}`];
      },
    ],
  ];
  test.each(homes)('with %s for a home, the home is the reason', async (_what, make) => {
    const place = join(world.workspace, 'homes');
    mkdirSync(place);
    const [home, why] = make(place);
    const environment = { REINS_HOME: home };
    const line = `reins: The user-level directory ${home} cannot be used: ${why}.`;
    for (const argv of [['hi'], ['chat', 'hi'], ['session', 'list'], ['beam', '--port', '0']]) {
      const { code, stderr } = await world.run(argv, { environment });
      expect([argv, code, stderr.split('\n')[0]]).toEqual([argv, 3, line]);
      expect(stderr).toContain('  export REINS_HOME=<directory>\n');
    }
    const doctor = await world.run(['doctor', '--skip-probe'], { environment });
    expect([doctor.code, doctor.stdout.includes(`home_unwritable: ${line.slice(7)}`)]).toEqual([1, true]);
    expect(doctor.stdout).not.toContain('database_foreign');
  });

  test('locked by another process for longer than the wait: exit 1, which names the file', async () => {
    const holder = spawn(
      process.execPath,
      [
        '-e',
        `const d = new (require(${JSON.stringify(require.resolve('better-sqlite3'))}))(${JSON.stringify(database)});
         d.exec('BEGIN IMMEDIATE'); console.log('held'); process.stdin.resume();`,
      ],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    try {
      await new Promise((resolve) => holder.stdout.once('data', resolve));
      const line = `reins: The database ${database} is locked by another process; try again when it has ended.\n`;
      const [text, json] = await Promise.all([world.run(['hi']), world.run(['--json', 'hi'])]);
      expect([text.code, text.stdout, text.stderr]).toEqual([1, '', line]);
      expect(JSON.parse(json.stdout)).toMatchObject({ error: { class: 'database_busy' }, exit_code: 1 });
      // Reading needs no lock.
      expect((await world.run(['session', 'list'])).code).toBe(0);
    } finally {
      holder.kill();
    }
    expect((await world.run(['hi'])).code).toBe(0);
  });
});

describe('a database of another installation', () => {
  test('is not used: no request reaches the backend in it, and doctor reports it', async () => {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(request.url ?? '');
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const stranger = createWorld();
    try {
      const port = (server.address() as AddressInfo).port;
      await stranger.run(['init', 'scripted']);
      const url = `http://127.0.0.1:${port}`;
      const planted = await stranger.run(['backend', 'add', 'far', '--type', 'ollama', '--url', url]);
      expect(planted.code).toBe(0);
      await stranger.run(['config', 'set', 'default-provider', 'ollama']);
      requests.length = 0;
      for (const companion of ['-wal', '-shm']) rmSync(`${database}${companion}`, { force: true });
      copyFileSync(join(stranger.workspace, '.reins/local.db'), database);

      await refused(
        3,
        'database_foreign',
        `reins: The database ${database} was not made by this installation, so nothing in it is used.\n` +
          '  reins trust\n  reins --db <path of your own>\n',
      );
      const doctor = await world.run(['doctor', '--json', '--ollama', 'http://127.0.0.1:1']);
      expect(doctor.code).toBe(1);
      expect(doctor.stdout).toContain('"database_foreign"');
      expect(doctor.stdout).not.toContain(url);
      await world.run(['model', 'list']);
      await world.run(['backend', 'list']);
      expect(requests).toEqual([]);

      // Nobody is asked without a terminal: what it holds is listed, and its hash must be named.
      const listed = await world.run(['trust', '--json']);
      expect([listed.code, JSON.parse(listed.stdout)]).toMatchObject([3, [{ kind: 'database', path: database }]]);
      const { sha256 } = JSON.parse(listed.stdout)[0];
      expect((await world.run(['trust', 'show', database])).stdout).toContain('backends: 2');
      expect((await world.run(['trust', 'add', database])).code).toBe(3);
      expect((await world.run(['trust', 'add', database, '--sha256', 'a'.repeat(64)])).code).toBe(3);
      expect(await world.run(['trust', 'add', database, '--sha256', sha256])).toMatchObject({ code: 0 });
      const backends = await world.run(['backend', 'list', '--json', '--ollama', 'http://127.0.0.1:1']);
      expect([backends.code, backends.stdout]).toEqual([0, expect.stringContaining(url)]);
      expect((await world.run(['audit', 'verify'])).code).toBe(0);
      const rows = JSON.parse((await world.run(['audit', 'list', '--json', '--type', 'database_accepted'])).stdout);
      expect(JSON.stringify(rows)).toContain(sha256);
      expect((await stranger.run(['--db', database, 'session', 'list'])).code).toBe(3);
    } finally {
      stranger.remove();
      server.close();
    }
  });
});
