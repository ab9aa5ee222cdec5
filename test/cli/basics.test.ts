import type { Command } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/table.ts';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type World } from './world.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

let world: World;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => world.remove());

describe('version and help', () => {
  test.each([['version'], ['--version'], ['-v'], ['--quiet', '--version']])('%s prints one line', async (...argv) => {
    expect(await world.run(argv)).toEqual({ code: 0, signal: null, stdout: `reins ${version}\n`, stderr: '' });
  });

  test.each<[string, readonly string[], Readonly<Record<string, string>>]>([
    ['version --json', ['version', '--json'], {}],
    ['--json --version', ['--json', '--version'], {}],
    ['-v with the format of the environment', ['-v'], { REINS_OUTPUT_FORMAT: 'json' }],
  ])('%s names the runtime and the database schema', async (_name, argv, environment) => {
    const { code, stdout } = await world.run(argv, { environment });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      version,
      node: process.versions.node,
      platform: process.platform,
      arch: process.arch,
      schema: expect.any(Number),
    });
  });

  test('help goes to stdout when it is asked for, and to stderr when nothing else can be done', async () => {
    const asked = await world.run(['--help']);
    expect([asked.code, asked.stderr]).toEqual([0, '']);
    expect((await world.run(['--quiet', '-h'])).stdout).toBe(asked.stdout);
    expect(await world.run([])).toEqual({ code: 2, signal: null, stdout: '', stderr: asked.stdout });
  });

  test('help of commands and topics', async () => {
    const flag = await world.run(['session', 'show', '--help']);
    expect(flag.stdout).toContain('Usage\n  reins session show [name] [flags]\n');
    expect((await world.run(['help', 'session', 'show'])).stdout).toBe(flag.stdout);
    expect((await world.run(['help', 'exit-codes'])).stdout).toContain('  130  SIGINT: the run was cancelled.\n');
    const unknown = await world.run(['help', 'nosuch']);
    expect([unknown.code, unknown.stdout, unknown.stderr]).toEqual([
      2,
      '',
      'reins: "nosuch" is neither a command nor a topic (flags, env, exit-codes, config)\n  reins --help\n',
    ]);
  });

  test('help for a script is one object, however it is asked for', async () => {
    const object = async (...argv: readonly string[]) => {
      const { code, stdout, stderr } = await world.run([...argv, '--json']);
      expect([argv, code, stderr]).toEqual([argv, 0, '']);
      return JSON.parse(stdout);
    };
    const show = {
      name: 'session show',
      purpose: 'Show the messages of a session.',
      usage: 'reins session show [name] [flags]',
      aliases: [],
      commands: [],
      arguments: [{ name: 'name', required: false, many: false, words: null, help: expect.any(String) }],
      flags: expect.any(Array),
      examples: expect.any(Array),
      exitCodes: [0, 1, 2].map((code) => ({ code, meaning: expect.any(String) })),
    };
    expect(await object('help', 'session', 'show')).toEqual(show);
    expect(await object('session', 'show', '-h')).toEqual(show);
    const root = await object('--help');
    expect(await object('help')).toEqual(root);
    expect(root.commands).toHaveLength(23);
    expect(root.flags).toContainEqual({
      flag: '--on-ask',
      short: null,
      kind: 'enum',
      value: 'mode',
      words: ['wait', 'suspend', 'deny'],
      default: null,
      env: 'REINS_ON_ASK',
      config: 'on-ask',
      help: expect.any(String),
    });
    expect((await object('help', 'flags')).flags).toEqual(root.flags);
    expect((await object('help', 'config')).keys).toContainEqual({
      name: 'on-ask',
      accepts: 'wait, suspend, deny',
      default: 'suspend',
      meaning: expect.any(String),
    });
    expect((await object('help', 'exit-codes')).exitCodes).toContainEqual({ code: 4, meaning: expect.any(String) });
    expect((await object('help', 'env')).variables).toContainEqual({
      names: ['REINS_TUI', 'REINS_THEME'],
      meaning: expect.any(String),
    });
  });

  test('none of them makes a directory or a database', async () => {
    for (const argv of [
      ['version', '--json'],
      ['help', 'run'],
      ['completion', 'bash'],
      ['--nosuch', 'hi'],
    ]) {
      await world.run(argv);
    }
    expect(existsSync(join(world.home, '.reins'))).toBe(false);
    expect(existsSync(join(world.workspace, '.reins'))).toBe(false);
  });
});

describe('completion', () => {
  test('the bash script is valid and asks the program', async () => {
    const { stdout } = await world.run(['completion', 'bash']);
    expect(spawnSync('bash', ['-n'], { input: stdout }).status).toBe(0);
    expect(stdout).toContain('reins __complete');
  });

  test('__complete prints one candidate per line and never fails', async () => {
    expect((await world.run(['__complete', 'session', 's'])).stdout).toBe('search\nshow\nswitch\n');
    expect(await world.run(['__complete', 'session', 'switch', ''])).toMatchObject({ code: 0, stderr: '' });
    expect(await world.run(['__complete', '--nosuch', 'x', ''])).toMatchObject({ code: 0, stderr: '' });
  });

  test('an unknown shell names the known ones', async () => {
    expect((await world.run(['completion', 'tcsh'])).stderr).toBe(
      'reins: unknown shell "tcsh" (bash, zsh, fish)\n  reins completion --help\n',
    );
  });
});

describe('refusals before anything is opened', () => {
  test('an unknown flag', async () => {
    expect(await world.run(['--modle', 'x', 'hi'])).toEqual({
      code: 2,
      signal: null,
      stdout: '',
      stderr:
        'reins: --modle is not a flag (did you mean --model?); text that begins with - goes after --\n  reins --help\n',
    });
  });

  test('a JSON reader gets an object for a bad command line too', async () => {
    const { code, stdout } = await world.run(['session', 'switch', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: { message: '"session switch" needs <name>', code: 'usage', hint: 'reins session switch --help' },
      exit_code: 2,
    });
  });

  test('every command does something', () => {
    const leaves = (list: readonly Command[], before: string): string[] =>
      list.flatMap((command) => {
        const name = `${before}${command.name}`;
        if (command.commands !== undefined) return leaves(command.commands, `${name} `);
        return command.module === undefined ? [name] : [];
      });
    expect(leaves(commands, '')).toEqual([]);
  });

  test('a command that a tool has started may not change the program', async () => {
    const inside = { environment: { REINS_RUN_ID: 'run_1' } };
    for (const argv of [
      ['config', 'set', 'default-model', 'x'],
      ['approvals', 'respond', 'ask_1', '--approve'],
      ['run', 'hi'],
      ['init'],
    ]) {
      expect(await world.run(argv, inside)).toMatchObject({ code: 5, stdout: '' });
    }
    const json = await world.run(['backend', 'add', 'x', '--json'], inside);
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: 'inside_tool' }, exit_code: 5 });
    expect(existsSync(join(world.home, '.reins'))).toBe(false);
  });

  test('a bad value names the flag and what is accepted', async () => {
    for (const [argv, text] of [
      [['run', '--timeout', '5', 'hi'], '--timeout: "5" is not a duration (500ms, 90s, 5m, 1h30m; 0 means none)'],
      [['run', '--on-ask', 'maybe', 'hi'], '--on-ask: "maybe" is not one of wait, suspend, deny'],
      [['chat', '--trim', '-1', 'hi'], '--trim: "-1" is not a whole number from 0'],
      [['session', 'show', '--tail', '1', '--head', '1'], '--tail and --head exclude each other'],
      [['run', '--raw', '--json', 'hi'], '--raw and a JSON output format exclude each other'],
      [['run', '--var', 'model=x', 'hi'], '--var: "model" is set by the runtime and cannot be given'],
    ] as const) {
      const { code, stderr } = await world.run(argv);
      expect([code, stderr.split('\n')[0]]).toEqual([2, `reins: ${text}`]);
    }
  });
});

test('a fault that nobody caught is one line, and says nothing of what the error holds', async () => {
  const fault = join(world.dir, 'fault.cjs');
  writeFileSync(
    fault,
    "setImmediate(() => { throw Object.assign(new Error('out of\\u001b[2J luck'), { key: 's3cret' }); });",
  );
  const run = (...more: readonly string[]) =>
    world.run(['config', 'list', ...more], { apart: true, environment: { NODE_OPTIONS: `--require ${fault}` } });
  const line = 'reins: a fault of this program: out of [2J luck (--trace shows where)\n';
  expect(await run()).toMatchObject({ code: 1, signal: null, stderr: line });
  const { stderr } = await run('--trace');
  expect(stderr.startsWith(`${line}Error: out of [2J luck\n    at `)).toBe(true);
  expect(stderr).not.toContain('s3cret');
});
