import { chmodSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, type CallOptions, createBench } from './support.ts';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.remove());

type Shell = Readonly<Record<string, unknown>>;
const shell = async (args: object, more?: CallOptions) =>
  (await bench.value('local_shell.local_shell', args, more)) as Shell;
const error = (args: object, more?: CallOptions) => bench.error('local_shell.local_shell', args, more);
const script = (path: string, text: string) => {
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
};

describe('the result', () => {
  it('has the members of 05 §3.7 in their order', async () => {
    const result = await shell({ command: 'echo', args: ['a b', "it's"] });
    expect(result).toEqual({
      exit_code: 0,
      signal: null,
      success: true,
      timed_out: false,
      stdout: "a b it's\n",
      stderr: '',
      stdout_bytes: 9,
      stderr_bytes: 0,
      truncated: false,
      duration_seconds: expect.any(Number),
      cwd: bench.workspace,
      program: '/usr/bin/echo',
      command: "echo 'a b' 'it'\\''s'",
      shell: false,
    });
    expect(Object.keys(result)).toEqual([
      'exit_code',
      'signal',
      'success',
      'timed_out',
      'stdout',
      'stderr',
      'stdout_bytes',
      'stderr_bytes',
      'truncated',
      'duration_seconds',
      'cwd',
      'program',
      'command',
      'shell',
    ]);
  });

  it('takes a non-zero exit for a result', async () => {
    expect(await shell({ command: 'exit 3', shell: true })).toMatchObject({
      exit_code: 3,
      success: false,
      program: '/bin/sh',
      shell: true,
    });
  });

  it('gives 128 and the number for a signal, and names it', async () => {
    expect(await shell({ command: 'kill -KILL $$', shell: true })).toMatchObject({
      exit_code: 137,
      signal: 'SIGKILL',
      success: false,
      error: 'ended by SIGKILL',
    });
  });

  it('says which words reached the program unexpanded', async () => {
    expect(await shell({ command: 'echo *' })).toMatchObject({
      stdout: '*\n',
      shell: false,
      not_expanded: '* reached the program as written; shell: true expands * ? and [',
    });
  });

  it.runIf(process.platform === 'linux')(
    'says how to write to a stream that cannot be opened by its name',
    async () => {
      const note = '/dev/stdout and /dev/stderr cannot be opened by name here; write to them with >&1 and >&2';
      for (const command of ['echo hi > /dev/stderr', 'echo hi | tee /dev/stderr', 'echo hi > /dev/fd/1']) {
        expect(await shell({ command })).toMatchObject({ not_opened: note });
      }
      expect(await shell({ command: 'echo hi >&2' })).not.toHaveProperty('not_opened');
    },
  );

  it('keeps the program word as the name by which the program is called', async () => {
    expect(await shell({ command: 'sh', args: ['-c', 'echo $0'] })).toMatchObject({ stdout: 'sh\n' });
  });
});

describe('reading the call', () => {
  it.each(['ls; id', 'ls $(id)', 'A=1 ls', 'ls\nid', 'ls > x'])('runs %j as a line', async (command) => {
    expect(await shell({ command })).toMatchObject({ shell: true, program: '/bin/sh' });
    expect(await error({ command, shell: false })).toBe('needs_shell');
  });

  it.each([
    { command: 'ls -la', args: ['x'] },
    { command: 'ls', args: ['x'], shell: true },
    { command: 'ls', shell: 'yes' },
    { command: 'ls', frobnicate: 1 },
    { command: 'ls\u00a0-la' },
    { command: 'ls \u202e' },
    { command: 'ls', args: ['a\0'] },
    { command: 'ls', timeout_s: 5, timeout: '5s' },
    { command: 'ls', timeout: '0s' },
    { command: 'ls', timeout_s: 0.5 },
  ])('refuses %j', async (args) => {
    expect(await error(args)).toBe('invalid_arguments');
  });

  it('takes a duration for the time limit', async () => {
    expect(await shell({ command: 'true', timeout: '2m' })).toMatchObject({ success: true });
  });
});

describe('the program', () => {
  it('that does not exist is named; a word of the shell gets a better advice', async () => {
    expect(await bench.call('local_shell.local_shell', { command: 'no-such-program' })).toEqual({
      ok: false,
      error: 'program_not_found',
      message: 'There is no program "no-such-program" on the PATH of tools, or it is not executable.',
    });
    expect(await bench.call('local_shell.local_shell', { command: './no-such-program' })).toMatchObject({
      message:
        '"./no-such-program" is no executable file; a relative path begins in the working directory of the call.',
    });
    expect(await bench.call('local_shell.local_shell', { command: 'cd', args: ['/tmp'] })).toMatchObject({
      error: 'program_not_found',
      message:
        '"cd" is a word of the shell, not a program, and nothing persists between calls. Pass `cwd`, or write one line with `shell: true`.',
    });
  });

  it('is not started when it was replaced after it was judged', async () => {
    const path = script(join(bench.workspace, 'tool'), 'echo judged');
    const meanwhile = () => {
      script(join(bench.workspace, 'other'), 'echo other');
      renameSync(join(bench.workspace, 'other'), path);
    };
    expect(await shell({ command: './tool' })).toMatchObject({ stdout: 'judged\n' });
    expect(await error({ command: './tool' }, { meanwhile })).toBe('path_changed');
  });

  it('gets a fresh environment without secrets and loaders', async () => {
    const parent = {
      PATH: '/usr/bin:/bin',
      OPENAI_API_KEY: 'sk-x',
      REINS_BEAM_TOKEN: 't',
      LD_PRELOAD: '/x.so',
      BASH_ENV: '/x',
      SHOWN: 'yes',
    };
    const { stdout } = await shell({ command: 'env' }, { parent });
    expect(String(stdout).trim().split('\n').sort()).toEqual([
      'PATH=/usr/bin:/bin',
      'REINS_RUN_ID=run_1',
      'SHOWN=yes',
      'TERM=dumb',
    ]);
    await shell({ command: 'export KEPT=1; true', shell: true });
    expect(String((await shell({ command: 'env' })).stdout)).not.toContain('KEPT');
  });

  it('has an empty standard input', async () => {
    expect(await shell({ command: 'cat' })).toMatchObject({ stdout: '', exit_code: 0 });
  });
});

describe('time', () => {
  it('is up after the limit: 124, and what was written so far', async () => {
    expect(await shell({ command: 'echo begun; sleep 300', shell: true, timeout_s: 1 })).toMatchObject({
      exit_code: 124,
      timed_out: true,
      success: false,
      signal: null,
      stdout: 'begun\n',
      error: 'stopped at the time limit of 1 s',
    });
  });

  it('is lowered by the chain, and the result says so', async () => {
    const more = { limits: { _max_timeout_s: '5' } };
    expect(await shell({ command: 'true', timeout_s: 60 }, more)).toMatchObject({ timeout_lowered_to_s: 5 });
    expect((await shell({ command: 'true', timeout_s: 3 }, more))['timeout_lowered_to_s']).toBeUndefined();
  });

  it('ends with a cancellation, and the partial output is in the error', async () => {
    const controller = new AbortController();
    const running = bench.call(
      'local_shell.local_shell',
      { command: 'echo begun; sleep 300', shell: true },
      { signal: controller.signal },
    );
    await until(() => bench.output.join('').includes('begun'));
    controller.abort();
    expect(await running).toMatchObject({ ok: false, error: 'cancelled', extra: { stdout: 'begun\n' } });
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

describe('output', () => {
  it('longer than the budget keeps head, tail and a middle line; the whole can be read by its name', async () => {
    const result = await shell({ command: 'seq 1 200000' }, { call: 'c7' });
    const text = String(result['stdout']);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(65_536);
    expect(text.startsWith('1\n2\n')).toBe(true);
    expect(text.endsWith('199999\n200000\n')).toBe(true);
    const middle = /\n\[… (\d+) bytes, (\d+) lines left out; full output: @output\/c7\.stdout\]\n/.exec(text);
    const kept = text.replace(middle?.[0] ?? '', '\n');
    expect(Number(middle?.[1]) + Buffer.byteLength(kept)).toBe(1_288_895);
    expect(Number(middle?.[2]) + kept.split('\n').length - 1).toBe(200_000);
    expect(result).toMatchObject({ truncated: true, stdout_bytes: 1_288_895, output: { stdout: '@output/c7.stdout' } });
    expect(
      await bench.value('local_fs.read_file_range', {
        path: '@output/c7.stdout',
        start_line: 100_000,
        end_line: 100_000,
      }),
    ).toBe('100000\n');
  });

  it('that cannot be kept is told with the place, the reason and the command that shows more', async () => {
    writeFileSync(join(bench.home, 'tool_output'), '');
    await shell({ command: 'seq 1 200000' });
    expect(bench.events).toEqual([
      {
        kind: 'notice',
        level: 'warn',
        code: 'spool_full',
        message: `The full output of a command could not be kept in ${bench.home}/tool_output: not a directory (see: ls -ld ${bench.home} ${bench.home}/tool_output)`,
      },
    ]);
  });

  it('without end stops the command', async () => {
    expect(await bench.call('local_shell.local_shell', { command: 'yes' })).toMatchObject({
      ok: false,
      error: 'output_limit',
      extra: { truncated: true, spool_truncated: true },
    });
  });

  it('of a failing command leaves room for its errors', async () => {
    const result = await shell({ command: 'seq 1 200000; seq 1 200000 >&2', shell: true });
    expect(String(result['stdout']).length).toBeGreaterThan(2 * String(result['stderr']).length);
    expect(String(result['stderr']).length).toBeGreaterThan(8000);
    expect(result['output']).toEqual({ stdout: '@output/call_1.stdout', stderr: '@output/call_1.stderr' });
  });
});

describe('background', () => {
  it('programs do not survive the call', async () => {
    const result = await shell({ command: 'sleep 300 & echo hi', shell: true });
    expect(result).toMatchObject({ stdout: 'hi\n', background_killed: true, exit_code: 0 });
  });
});

describe('a root that confines', () => {
  const confined = { confined: true };
  beforeEach(() => {
    mkdirSync(`${bench.workspace}-secrets`);
    writeFileSync(join(bench.workspace, 'README.md'), 'hello\n');
    symlinkSync('/etc/hostname', join(bench.workspace, 'host'));
  });

  it.each([
    { command: 'ls', cwd: '/' },
    { command: 'ls', cwd: '../ws-secrets' },
    { command: 'cat /etc/hostname' },
    { command: 'cat ../x' },
    { command: 'cat ~/x', shell: true },
    { command: 'cat host' },
    { command: 'cp a --target-directory=/tmp' },
    { command: 'dd', args: ['of=/tmp/x'] },
    { command: 'cat', args: ['file:///etc/hostname'] },
    { command: 'cat /etc/hostname | head', shell: true },
    { command: 'echo x >/tmp/out', shell: true },
    { command: 'echo x > "/tmp/out"', shell: true },
    { command: '/etc/x' },
    { command: '../x' },
  ])('refuses %j', async (args) => {
    expect(await error(args, confined)).toBe('outside_root');
  });

  it.each([
    { command: 'cat README.md > /dev/null', shell: true },
    { command: 'cat README.md 2>&1 | /usr/bin/head -n 1', shell: true },
    { command: '/bin/cat README.md' },
    { command: 'grep -c hello README.md' },
  ])('lets %j pass', async (args) => {
    expect(await shell(args, confined)).toMatchObject({ exit_code: 0 });
  });

  it('leaves the same calls to the gate when it does not confine', async () => {
    expect(await shell({ command: 'cat /etc/hostname' })).toMatchObject({ exit_code: 0 });
  });
});

describe('command lists of a chain', () => {
  const limits = { _allowed_commands: 'ls,cat', _denied_commands: 'rm' };

  it.each([
    'PATH=/tmp ls',
    'PATH=/tmp; ls',
    'PATH+=:/tmp ls',
    'PA\\\nTH=/tmp ls',
    'for PATH in /tmp; do ls; done',
    'for PATH do ls; done',
  ])('are not compared with what another PATH would find: %j', async (command) => {
    expect(await bench.call('local_shell.local_shell', { command }, { limits })).toMatchObject({
      error: 'not_permitted',
      message: expect.stringContaining('The line sets PATH'),
    });
  });

  it('are compared in a line that only reads PATH', async () => {
    expect(await error({ command: 'MYPATH=x; ls "$PATH="' }, { limits })).toBe('ok');
  });

  it('pass a listed program by its name and its place', async () => {
    expect(await shell({ command: 'ls' }, { limits })).toMatchObject({ exit_code: 0 });
    script(join(bench.workspace, 'ls'), 'echo fake');
    expect(await error({ command: './ls' }, { limits })).toBe('not_permitted');
  });

  it('refuse everything else, also in a line, before anybody is asked', async () => {
    expect(await bench.call('local_shell.local_shell', { command: 'rm x' }, { limits })).toEqual({
      ok: false,
      error: 'not_permitted',
      message: '"rm" is refused by the chain\'s list _denied_commands. No approval widens it; use another program.',
      extra: { limit: '_denied_commands' },
    });
    expect(await error({ command: 'id' }, { limits })).toBe('not_permitted');
    expect(await error({ command: 'ls && rm x', shell: true }, { limits })).toBe('not_permitted');
    for (const command of ['ls; echo "$(id)"', 'ls | sh', '$X', 'ls "open', `ls() { id; }; ls`]) {
      expect(await error({ command }, { limits }), command).toBe('not_permitted');
    }
  });

  it('pass a line whose every command is listed', async () => {
    expect(await shell({ command: 'ls && cat /dev/null | cat' }, { limits })).toMatchObject({ exit_code: 0 });
    expect(await error({ command: `sh -c 'ls; rm x'` }, { limits: { _denied_commands: 'rm' } })).toBe('not_permitted');
    expect(await error({ command: `sh -c 'ls'` }, { limits: { _denied_commands: 'rm' } })).toBe('ok');
  });

  it('refuse a program that starts another one, and a link to a refused one', async () => {
    const denied = { limits: { _denied_commands: 'rm' } };
    expect(await error({ command: 'env rm x' }, denied)).toBe('not_permitted');
    expect(await error({ command: 'find . -exec rm x' }, denied)).toBe('not_permitted');
    symlinkSync('/usr/bin/rm', join(bench.workspace, 'innocent'));
    expect(await error({ command: './innocent x' }, denied)).toBe('not_permitted');
    expect(await error({ command: 'find .' }, denied)).toBe('ok');
  });
});

it('starts nothing in a directory that was replaced after it was judged', async () => {
  mkdirSync(join(bench.workspace, 'dir'));
  const meanwhile = () => {
    renameSync(join(bench.workspace, 'dir'), join(bench.workspace, 'moved'));
    mkdirSync(join(bench.workspace, 'dir'));
  };
  expect(await error({ command: 'pwd', cwd: 'dir' }, { meanwhile })).toBe('path_changed');
});

it('runs in the directory that is named, relative to the root', async () => {
  mkdirSync(join(bench.workspace, 'dir'));
  expect(await shell({ command: 'pwd', cwd: 'dir' })).toMatchObject({
    stdout: `${bench.workspace}/dir\n`,
    cwd: `${bench.workspace}/dir`,
  });
  expect(await error({ command: 'pwd', cwd: 'none' })).toBe('not_found');
});
