import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { builtAt } from '../support/built-at.ts';
import { startCli } from '../support/run-cli.ts';
import { badServer } from '../tools/mcp/support.ts';
import { addScript, createProject, tester, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await createProject();
});
afterEach(() => world.remove());

const command = ['--command', process.execPath] as const;
const add = (name: string, mode: string, ...more: readonly string[]) =>
  world.run(['mcp', 'add', name, ...command, '--arg', badServer, '--arg', mode, ...more]);

describe('reins mcp', () => {
  it('registers, lists, shows, tests, changes and removes a server', async () => {
    expect(await add('one', 'tools', '--inject', 'tenant=acme-tenant', '--env', 'MODE=quiet')).toMatchObject({
      code: 0,
      stdout: `MCP server "one" added (stdio: ${process.execPath}), 12 tools.\n`,
    });
    expect((await world.run(['mcp', 'list'])).stdout).toMatch(
      /^NAME +TRANSPORT +COMMAND\/URL +AUTH +STATE\none +stdio/,
    );
    const shown = await world.run(['mcp', 'show', 'one']);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      name: 'one',
      transport: 'stdio',
      env: { MODE: '***' },
      inject: { tenant: '***' },
      instructions: 'use with care',
      connect_timeout_ms: 30000,
      call_timeout_ms: 120000,
    });
    expect(shown.stdout).not.toContain('acme-tenant');
    expect((await world.run(['mcp', 'test', 'one'])).stdout).toMatch(
      /^one: protocol 2025-06-18, 12 tools; connected in \d+ ms, listed in \d+ ms\n$/,
    );
    expect((await world.run(['mcp', 'update', 'one', '--timeout', '5s', '--inject', ''])).code).toBe(0);
    expect(JSON.parse((await world.run(['mcp', 'show', 'one'])).stdout)).toMatchObject({
      inject: {},
      env: { MODE: '***' },
      call_timeout_ms: 5000,
    });
    expect((await world.run(['mcp', 'rm', 'one'])).stdout).toBe('Removed MCP server "one".\n');
    expect((await world.run(['mcp', 'show', 'one'])).code).toBe(1);
  });

  it('registers a server that cannot be reached, says why, and fails to test it', async () => {
    expect(await world.run(['mcp', 'add', 'gone', '--command', 'no-such-program'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        'MCP server "gone" added (stdio: no-such-program), not reachable now: the program "no-such-program" was not found',
      ),
    });
    await add('ends', 'exit', '--no-probe');
    expect(await world.run(['mcp', 'test', 'ends'])).toMatchObject({
      code: 7,
      stdout: '',
      stderr:
        'reins: MCP server "ends": the server ended with exit code 3: no configuration found\n  no configuration found\n',
    });
    expect(JSON.parse((await world.run(['mcp', 'show', 'ends'])).stdout)).toMatchObject({
      state: 'failed',
      last_error: 'the server ended with exit code 3: no configuration found',
      stderr: ['no configuration found'],
    });
  });

  it('says that a server is registered whose tools were not waited for', async () => {
    const mark = join(world.dir, 'marks');
    const server = `require('node:fs').writeFileSync(process.env.MARK, ''); setInterval(() => {}, 1000)`;
    const adding = startCli(world, [
      'mcp',
      'add',
      'slow',
      ...command,
      '--arg=-e',
      '--arg',
      server,
      '--env',
      `MARK=${mark}`,
    ]);
    await vi.waitFor(() => expect(existsSync(mark)).toBe(true), 20_000);
    adding.child.kill('SIGINT');
    expect(await adding.ended).toMatchObject({
      code: 130,
      stdout: '',
      stderr: 'reins: "slow" is registered; reins mcp test slow asks it for its tools\n',
    });
    expect((await world.run(['mcp', 'list'])).stdout).toMatch(/^slow +/m);
  });

  it('shows no value that a server was given, also where the server says it of its tools', async () => {
    const inputSchema = { type: 'object', properties: {} };
    const listed = (description: string) =>
      world.write('tools.json', JSON.stringify([{ name: 'query', description, inputSchema }]));
    const file = listed('Asks with word-of-pass.');
    await add('db', 'file', '--arg', file, '--env', 'DB_PASSWORD=word-of-pass');
    listed('Asks again with word-of-pass.');
    for (const argv of [
      ['test', 'db'],
      ['show', 'db'],
      ['list', '--json'],
      ['diff', 'db'],
      ['diff', 'db', '--json'],
    ]) {
      const { stdout, stderr } = await world.run(['mcp', ...argv]);
      expect([argv, stdout + stderr]).toEqual([argv, expect.not.stringContaining('word-of-pass')]);
    }
    expect((await world.run(['mcp', 'diff', 'db'])).stdout).toContain('Asks again with •••(db.DB_PASSWORD).');
  });

  it('starts nothing with --no-probe, nor from files of the project (MCP-003)', async () => {
    const mark = join(world.dir, 'marks');
    world.write('.mcp.json', JSON.stringify({ mcpServers: { planted: { command: 'touch', args: [mark] } } }));
    const added = await add('quiet', 'tools', '--no-probe', '--env', `MARK=${mark}`);
    expect(added.stdout).toBe(`MCP server "quiet" added (stdio: ${process.execPath}).\n`);
    expect(JSON.parse((await world.run(['mcp', 'list', '--json'])).stdout)).toHaveLength(1);
    expect(existsSync(mark)).toBe(false);
  });

  it('starts in the project that has registered it, and one of the home database in no project at all', async () => {
    const mark = join(world.dir, 'marks');
    const start = ['--command', 'sh', '--arg', '-c', '--arg', `pwd >> ${mark}; exec "$0" ${badServer} tools`];
    await world.run(['mcp', 'add', 'one', ...start, '--arg', process.execPath]);
    expect(readFileSync(mark, 'utf8')).toBe(`${world.workspace}\n`);

    const clone = join(world.dir, 'clone');
    mkdirSync(join(clone, 'sub'), { recursive: true });
    writeFileSync(join(clone, 'server.py'), '');
    const home = { cwd: clone, environment: { REINS_HOME: join(world.dir, 'own/.reins') } };
    await world.run(['mcp', 'add', 'two', ...start, '--arg', process.execPath], home);
    await world.run(['doctor'], home);
    expect(new Set(readFileSync(mark, 'utf8').trim().split('\n').slice(1))).toEqual(new Set([join(world.dir, 'own')]));
    expect(await world.run(['mcp', 'add', 'three', '--command', 'python3', '--arg', 'server.py'], home)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`server.py is not in ${join(world.dir, 'own')}, where the server starts`),
    });
  });

  it('passes arguments as they are, split at commas (MCP-012)', async () => {
    await world.run(['mcp', 'add', 'one', ...command, '--args', `${badServer},tools,a,b c,$(x),d\\,e`, '--no-probe']);
    const { args } = JSON.parse((await world.run(['mcp', 'show', 'one'])).stdout);
    expect(args).toEqual([badServer, 'tools', 'a', 'b c', '$(x)', 'd,e']);
    expect((await world.run(['mcp', 'list'])).stdout).toContain("tools a 'b c' '$(x)' d,e");
  });

  it('refuses what cannot be, in one sentence, and registers nothing', async () => {
    for (const [argv, message] of [
      [['x'], 'say how to reach the server'],
      [['x', '--transport', 'stdio'], 'a stdio server needs --command'],
      [['x', '--transport', 'ftp'], '--transport'],
      [['x', 'https://a.example/mcp', '--command', 'y'], 'exclude each other'],
      [['x', 'https://a.example/mcp', '--auth-env', 'A', '--auth-token', 'b'], 'exclude each other'],
      [['x', 'https://a.example/mcp', '--auth-type', 'bearer'], 'bearer needs a token'],
      [
        ['x', 'https://a.example/mcp', '--auth-env', 'tok-123'],
        'reins: --auth-env takes the name of a variable (letters, digits and "_"), not the token\n',
      ],
      [['x', 'https://me:secret@a.example/mcp'], 'must not hold a user name'],
      [['x', 'http://169.254.169.254/mcp'], 'address of the link'],
      [['x', 'http://[::ffff:169.254.169.254]/mcp'], 'address of the link'],
      [['x', 'https://a.example/mcp', '--header', 'Host: b'], 'cannot be set'],
      [['Local_FS', 'https://a.example/mcp'], 'built-in'],
    ] as const) {
      expect(await world.run(['mcp', 'add', ...argv])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(message),
      });
    }
    expect((await world.run(['mcp', 'list', '--json'])).stdout).toBe('[]\n');
  });

  it('warns of what may be another program tomorrow, and of secrets in the database', async () => {
    const { stderr } = await world.run([
      'mcp',
      'add',
      'fs',
      ...['--command', 'npx', '--args=-y,@scope/server,/tmp', '--env', 'API_TOKEN=abc', '--no-probe'],
    ]);
    expect(stderr).toBe(
      'reins: warning: @scope/server has no version, so another program may be started tomorrow; write @scope/server@<version>\n' +
        'reins: warning: the value of API_TOKEN is stored in the database; --env API_TOKEN alone passes your own variable\n',
    );
  });

  it('says what makes room where as many are registered as there may be', async () => {
    await world.run(['mcp', 'add', 'docs', 'https://a.example/mcp', '--no-probe']);
    const database = new Database(join(world.workspace, '.reins/local.db'));
    const names = (database.pragma('table_info(mcp_servers)') as { name: string }[]).map(({ name }) => name);
    const values = names.map((name) => (name === 'id' || name === 'name' ? `${name} || n` : name));
    database.exec(
      `WITH RECURSIVE more(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM more WHERE n < 99)
       INSERT INTO mcp_servers (${names.join()}) SELECT ${values.join()} FROM mcp_servers, more`,
    );
    database.close();
    expect(await world.run(['mcp', 'add', 'other', 'https://b.example/mcp', '--no-probe'])).toMatchObject({
      code: 2,
      stderr: 'reins: At most 100 MCP servers can be registered.\n  reins mcp list\n  reins mcp remove <name>\n',
    });
  });

  it('makes a URL the transport http, and keeps what a server is', async () => {
    await world.run(['mcp', 'add', 'docs', 'https://a.example/mcp', '--no-probe', '--header', 'B: 1']);
    expect(JSON.parse((await world.run(['mcp', 'show', 'docs'])).stdout)).toMatchObject({
      transport: 'http',
      headers: { B: '***' },
    });
    await world.run(['mcp', 'update', 'docs', '--header', 'A: 2']);
    expect(JSON.parse((await world.run(['mcp', 'show', 'docs'])).stdout).headers).toEqual({ A: '***' });
    expect(await world.run(['mcp', 'update', 'docs', '--url', 'https://b.example/mcp'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('remove it and add another'),
    });
  });

  it('shows what changed, and accepts it only when somebody has looked', async () => {
    const list = world.write('tools.json', JSON.stringify([{ name: 'echo', inputSchema: { type: 'object' } }]));
    await add('one', 'file', '--arg', list);
    world.write(
      'tools.json',
      JSON.stringify([{ name: 'echo', description: 'now\u202eevil', inputSchema: { type: 'object' } }]),
    );
    const { stdout } = await world.run(['mcp', 'diff', 'one']);
    expect(stdout).toContain('one.echo (changed)');
    expect(stdout).not.toContain('\u202e');
    expect((await world.run(['mcp', 'accept', 'one'])).code).toBe(2);
    expect((await world.run(['mcp', 'accept', 'one', '--yes'])).stdout).toBe('Accepted 1 tool of "one".\n');
    expect((await world.run(['mcp', 'diff', 'one'])).stdout).toBe('"one": nothing has changed.\n');
  });

  it('is looked at by doctor', async () => {
    await add('one', 'tools');
    await add('ends', 'exit');
    const { stdout } = await world.run(['doctor']);
    expect(stdout).toMatch(/● one {2}mcp .*\n {4}reachable, 12 tools, \d+ ms/);
    expect(stdout).toContain('mcp_unreachable: The MCP server ends cannot be used: the server ended with exit code 3');
  });
});

describe('the end of the program by SIGKILL', () => {
  it('is the end of its servers, also of one that listens to nothing', async () => {
    const mark = join(world.dir, 'marks');
    await addScript(world, [
      { name: 'a', match: { role: 'user' }, reply: { tool_calls: [{ name: 'one.wait', arguments: {} }] } },
      { name: 'z', match: { role: 'tool' }, reply: { text: 'end' } },
    ]);
    const policy = world.write('open.json', '{"default_action":"allow","rules":[]}');
    const list = world.write('tools.json', JSON.stringify([{ name: 'wait', inputSchema: { type: 'object' } }]));
    await add('one', 'file', '--arg', list, '--no-probe', '--env', `MARK=${mark}`);
    await add('two', 'stubborn', '--no-probe', '--env', `MARK=${mark}`);
    const child = spawn(
      process.execPath,
      [join(builtAt, 'src/cli/main.js'), 'run', 'go', ...tester, '--policy', policy],
      {
        cwd: world.workspace,
        env: { PATH: process.env['PATH'] ?? '', HOME: world.home, REINS_HOME: join(world.home, '.reins') },
        stdio: 'ignore',
      },
    );
    const marks = (): readonly string[] => (existsSync(mark) ? readFileSync(mark, 'utf8').trim().split('\n') : []);
    await vi.waitFor(() => expect(marks()).toContain('call wait'), 20_000);
    child.kill('SIGKILL');
    const pids = marks().flatMap((line) => (line.startsWith('start ') ? [Number(line.slice(6))] : []));
    expect(pids).toHaveLength(2);
    await vi.waitFor(() => {
      for (const pid of pids) expect(isAlive(pid)).toBe(false);
    }, 20_000);
  });
});

/** A dead child that nobody has waited for is not alive. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
