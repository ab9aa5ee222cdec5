import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rows } from '../crash/support.ts';
import { cliEnvironment, program, startCli } from '../support/run-cli.ts';
import { addScript, createProject, scripted, type World } from './world.ts';

let world: World;
let database: string;
beforeEach(async () => {
  world = await createProject();
  database = join(world.workspace, '.reins/local.db');
});
afterEach(() => world.remove());

/** The fail point of the test build: the file may grow by so many pages of 4 KiB. */
const fill = (pages: number): void => writeFileSync(`${database}.fail-full`, String(pages));

describe('DUR-002: a disk that fills while a run goes on', () => {
  const open = ['--policy', 'open', '--provider', 'scripted', '--model', 'tester'];

  test('ends the run with class storage, runs no tool without its row, and keeps everything earlier', async () => {
    const call = { name: 'local_fs.write_file', arguments: { path: 'new.txt', content: 'hello\n' } };
    await addScript(world, [
      { name: 'small', match: { last_user: { equals: 'small' } }, reply: { text: 'fine' } },
      { name: 'again', match: { role: 'user', last_user: { equals: 'again' } }, reply: { tool_calls: [call] } },
      { name: 'large', match: { role: 'user' }, reply: { text: 'x'.repeat(1_000_000), tool_calls: [call] } },
      { name: 'after', match: { role: 'tool' }, reply: { text: 'done' } },
    ]);
    expect((await world.run(['chat', ...open, 'small'])).code).toBe(0);
    fill(40);

    const json = await world.run([...open, '--json', 'go']);
    const text = await world.run([...open, 'go']);
    const object = JSON.parse(json.stdout) as { error: { class: string; message: string }; num_tool_calls: number };
    expect([json.code, text.code, object.error.class, object.num_tool_calls]).toEqual([1, 1, 'storage', 0]);
    expect(object.error.message).toMatch(
      /local\.db cannot be written: the disk or the file is full \(\d+ bytes free\)/,
    );
    expect([text.stdout, text.stderr.split('\n')[0]]).toEqual(['', expect.stringContaining('the file is full')]);
    expect(existsSync(join(world.workspace, 'new.txt'))).toBe(false);

    rmSync(`${database}.fail-full`);
    expect(rows(world, "SELECT count(*) AS n FROM runs WHERE status = 'running'")).toEqual([{ n: 0 }]);
    expect((await world.run(['session', 'show'])).stdout).toContain('fine');
    expect((await world.run([...open, 'again'])).stdout).toBe('done\n');
    expect(readFileSync(join(world.workspace, 'new.txt'), 'utf8')).toBe('hello\n');
  });
});

describe('a question that cannot be written down', () => {
  const write = (path: string, size: number) => ({
    tool_calls: [{ name: 'local_fs.write_file', arguments: { path, content: 'line of text\n'.repeat(size) } }],
  });
  /** 300 KB: there is room for the reply that holds the call, and none for the question, which holds it four times. */
  const large = (path: string) => write(path, 23_000);
  const asking = ['--provider', 'scripted', '--model', 'tester', '--policy', 'strict', '--on-ask', 'deny', '--json'];
  const script = async (turns: readonly unknown[]): Promise<void> => {
    await addScript(world, turns);
    expect((await world.run(['model', 'set-context', 'tester', '--context', '1000000'])).code).toBe(0);
  };
  type Result = { readonly error: { readonly class: string; readonly message: string } | null };

  test('denies the call with internal_error, once, and the run goes on', async () => {
    await script([
      { match: { tool: { content: 'internal_error' } }, reply: { text: 'It could not be asked.' } },
      { match: { role: 'user' }, reply: large('new.txt') },
    ]);
    fill(200);
    const { code, stdout } = await world.run([...asking, 'go']);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { error: null, result: 'It could not be asked.' }]);
    expect(existsSync(join(world.workspace, 'new.txt'))).toBe(false);
    expect(rows(world, 'SELECT id FROM asks')).toEqual([]);
    const [call, ...more] = rows(world, 'SELECT state, result FROM tool_calls');
    expect(more).toEqual([]);
    expect(call?.['state']).toBe('skipped');
    expect(JSON.parse(String(call?.['result']))).toMatchObject({ ok: false, error: 'internal_error' });
  });

  test('fails the run the second time, and the file is sound afterwards', async () => {
    await script([
      { match: { tool: { content: 'internal_error', count: 1 } }, reply: large('other.txt') },
      { match: { role: 'user' }, reply: large('new.txt') },
    ]);
    fill(350);
    const { code, stdout } = await world.run([...asking, 'go']);
    const { error } = JSON.parse(stdout) as Result;
    expect([code, error?.class]).toEqual([1, 'storage']);
    expect(error?.message).toMatch(/local\.db cannot be written: the disk or the file is full \(\d+ bytes free\)/);
    expect(existsSync(join(world.workspace, 'new.txt'))).toBe(false);
    expect(rows(world, "SELECT count(*) AS n FROM tool_calls WHERE result LIKE '%internal_error%'")).toEqual([
      { n: 1 },
    ]);
    expect(rows(world, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });
});

describe('a disk that is full when somebody answers', () => {
  const call = { name: 'local_fs.write_file', arguments: { path: 'new.txt', content: 'hello\n' } };
  const open = ['--policy', 'strict', '--provider', 'scripted', '--model', 'tester'];
  const written = (): boolean => existsSync(join(world.workspace, 'new.txt'));
  const asks = () => rows(world, 'SELECT state FROM asks');
  const ids = () => rows(world, 'SELECT id, run_id FROM asks')[0] as { id: string; run_id: string };
  const full = /local\.db cannot be written: the disk or the file is full/;

  beforeEach(async () => {
    await addScript(world, [
      { match: { role: 'tool' }, reply: { text: 'x'.repeat(400_000) } },
      { match: { role: 'user' }, reply: { tool_calls: [call] } },
    ]);
    expect((await world.run([...open, 'go'])).code).toBe(4);
  });

  /** Everything that is free in the file, taken by somebody else. */
  const fillWholly = (): void => {
    const handle = new Database(database);
    handle.exec('VACUUM');
    handle.close();
    fill(0);
  };

  test('says so; rows tell whether the answer stands and the call was started, and it is made at most once', async () => {
    fillWholly();
    const { code, stdout, stderr } = await world.run(['approvals', 'respond', ids().id, '--approve']);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(full)]);
    expect(asks()).toEqual([{ state: stderr.startsWith('approved ') ? 'approved' : 'pending' }]);
    expect(rows(world, 'SELECT 1 FROM tool_calls WHERE started_at IS NOT NULL').length > 0).toBe(written());
    expect((await world.run(['approvals', 'list', '--state', 'all'])).stdout).toContain('new.txt');
    expect(rows(world, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    rmSync(`${database}.fail-full`);
    const before = written();
    rmSync(join(world.workspace, 'new.txt'), { force: true });
    await world.run(['approvals', 'respond', ids().id, '--approve']);
    expect([asks(), written()]).toEqual([[{ state: 'approved' }], !before]);
  });

  test('and fills while the run goes on, ends that run with class storage, and its call is not made again', async () => {
    expect((await world.run(['approvals', 'respond', ids().id, '--approve', '--no-resume'])).code).toBe(0);
    fill(40);
    const { code, stdout } = await world.run(['state', 'resume', ids().run_id, '--json']);
    const { error } = JSON.parse(stdout) as { error: { class: string; message: string } };
    expect([code, error.class, error.message]).toEqual([1, 'storage', expect.stringMatching(full)]);
    expect(written()).toBe(true);
    rmSync(`${database}.fail-full`);
    expect(rows(world, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    rmSync(join(world.workspace, 'new.txt'));
    await world.run(['state', 'resume', ids().run_id]);
    expect([written(), rows(world, 'SELECT state FROM tool_calls')]).toEqual([false, [{ state: 'done' }]]);
  });
});

describe('DUR-002: a disk without any room', () => {
  /** No file may become longer, which is what a full disk looks like to a program that opens its database. */
  const runWithoutRoom = (...argv: readonly string[]) => runWithin(0, ...argv);
  /** The same for a file that would become longer than so many blocks of 512 bytes. */
  const runWithin = (blocks: number, ...argv: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(
      'sh',
      ['-c', `ulimit -f ${blocks}; exec "$0" "$@"`, process.execPath, program, ...argv],
      { cwd: world.workspace, env: { ...cliEnvironment(world) }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    );
    return { code: status, stdout, stderr };
  };

  test.each([['closed in order'], ['left by a process that was killed']])('is read, %s', async (state) => {
    expect((await world.run(['session', 'new', 'kept'])).code).toBe(0);
    if (state !== 'closed in order') {
      await startCli(world, [...scripted, 'hi'], { environment: { REINS_FAIL_POINT: 'after chain_started' } }).ended;
      rmSync(`${database}-shm`);
    }
    expect(existsSync(`${database}-wal`)).toBe(state !== 'closed in order');
    const before = rows(world, 'SELECT id FROM runs');
    expect(runWithoutRoom('session', 'list', '--json').stdout).toContain('"kept"');
    for (const command of ['session show', 'config list', 'approvals list', 'backend list', 'chain list']) {
      expect([command, runWithoutRoom(...command.split(' '))]).toMatchObject([command, { code: 0 }]);
    }
    expect(runWithoutRoom('doctor', '--skip-probe').stdout).toContain('Database: ');
    expect(runWithoutRoom('session', 'new', 'more')).toMatchObject({ code: 1, stdout: '' });
    expect(rows(world, 'SELECT id FROM runs')).toEqual(before);
    expect(before).toHaveLength(state === 'closed in order' ? 0 : 1);
    expect((await world.run(['session', 'new', 'more'])).code).toBe(0);
  });

  describe('where the first file of init finds room and the second does not', () => {
    // 2,354 bytes and 2,757.
    const blocks = 5;
    const place = (name: string): string => join(world.workspace, name);

    test('leaves no file, no directory and nothing half-written', async () => {
      rmSync(place('.reins'), { recursive: true });
      const { code, stdout, stderr } = runWithin(blocks, 'init');
      const path = place('.reins/default-run-chain.json');
      expect([code, stdout, stderr.split('\n')[0]]).toEqual([
        1,
        '',
        `reins: The file ${path} cannot be written: file too large.`,
      ]);
      expect(runWithin(blocks, '--data-dir', 'deep/data', 'init').code).toBe(1);
      expect(readdirSync(world.workspace)).toEqual([]);
      expect((await world.run(['init'])).stdout).toContain('Done: 3 created, 0 kept.');
    });

    test('leaves what was there as it was, also with --force', () => {
      for (const name of ['default-chain.json', 'default-run-chain.json']) world.write(`.reins/${name}`, '{}');
      // Whether a tool call has started it is looked up in the database, beside which SQLite keeps files of its own.
      const names = () => readdirSync(place('.reins')).filter((name) => !/^local\.db-(shm|wal)$/.test(name));
      const before = names();
      expect(runWithin(blocks, 'init', '--force').code).toBe(1);
      expect(names()).toEqual(before);
      expect(readFileSync(place('.reins/default-chain.json'), 'utf8')).toBe('{}');
    });
  });

  test('is a disk that is full, and no set-up that is wrong, to the first files of a user', () => {
    const home = join(world.home, '.reins');
    for (const [command, name, what] of [
      ['init', 'trust.json.lock', 'made'],
      ['session new a', 'machine.key', 'created'],
    ] as const) {
      for (const directory of [home, join(world.workspace, '.reins')])
        rmSync(directory, { recursive: true, force: true });
      const { code, stdout, stderr } = runWithoutRoom(...command.split(' '));
      expect([code, stdout, stderr.split('\n')[0]]).toEqual([
        1,
        '',
        `reins: The file ${join(home, name)} cannot be ${what}: file too large.`,
      ]);
      expect(readdirSync(home)).toEqual([]);
    }
  });

  test('keeps no empty file of a database that could not be made', () => {
    const { code, stderr } = runWithoutRoom('--db', 'new.db', 'session', 'new', 'a');
    expect([code, stderr]).toEqual([1, expect.stringContaining('new.db cannot be written')]);
    expect(readdirSync(world.workspace).filter((name) => name.startsWith('new.db'))).toEqual([]);
  });

  test('says so of an export, which leaves nothing, and does not blame the name of its file', async () => {
    expect((await world.run(['session', 'new', 'kept'])).code).toBe(0);
    const out = join(world.workspace, 'kept.md');
    const before = readdirSync(world.workspace);
    expect(runWithoutRoom('session', 'export', 'kept', '--out', out)).toEqual({
      code: 1,
      stdout: '',
      stderr: `reins: The file ${out} cannot be written: file too large.\n  df -h ${world.workspace}\n`,
    });
    expect(readdirSync(world.workspace)).toEqual(before);
  });
});

test('a result that is cut and cannot be kept is told with the place, the reason and the command that shows more', async () => {
  world.write('long.txt', 'line of text\n'.repeat(10_000));
  const call = { name: 'local_fs.read_file', arguments: { path: 'long.txt' } };
  await addScript(world, [
    { name: 'read', match: { role: 'user' }, reply: { tool_calls: [call] } },
    {
      name: 'after',
      match: { role: 'tool', tool: { content: 'the full result could not be kept]' } },
      reply: { text: 'cut' },
    },
  ]);
  const home = join(world.home, '.reins');
  writeFileSync(join(home, 'tool_output'), '');
  expect(await world.run([...scripted, '--model', 'tester', 'go'])).toMatchObject({
    code: 0,
    stdout: 'cut\n',
    stderr: `reins: warning: The full result of a tool call could not be kept in ${home}/tool_output: not a directory (see: ls -ld ${home} ${home}/tool_output)\n`,
  });
});
