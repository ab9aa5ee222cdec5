import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Action, PolicyCall } from '../../src/schema/policy.ts';
import { load, readFixture } from '../policy/virtual-host.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { createRange, type Range } from './attempt.ts';

type Check = {
  readonly policy: unknown;
  readonly call: PolicyCall;
  readonly expect: { readonly action?: Action; readonly action_in?: readonly Action[] };
};
type Case = { readonly id: string; readonly category: string; readonly checks?: readonly Check[] };

// Formats fixed by the case files themselves; what does not fit fails the checks below.
const { cases } = readFixture('attack-cases.json') as { readonly cases: readonly Case[] };
const { host } = readFixture('shell-cases.json') as { readonly host: { readonly programs: readonly string[] } };

/** Programs that the attacks want to have started, beside those of the case file. */
const wanted = 'touch tee chmod whoami id env printf true hash cp install ln xxd dd mkfs tar awk'.split(' ');

let home: TempHome;
let range: Range;
beforeEach(() => {
  home = tempHome();
  range = createRange(home, [...host.programs, ...wanted]);
});
afterEach(() => home.remove());

const allowing = (entries: string) =>
  load({
    default_action: 'approve',
    rules: [{ tools: 'local_shell', action: 'allow', when: [{ op: 'command_prefix_allowlist', value: entries }] }],
  });

describe('attacks by command lines, carried out', () => {
  const lines = cases.flatMap(({ id, category, checks = [] }) =>
    checks.flatMap((check, index) =>
      check.call.tools === 'local_shell' ? [[`${id} ${index + 1}`, category, check] as const] : [],
    ),
  );

  it('are those of every category', () => {
    const categories = new Set(lines.map(([, category]) => category));
    expect([...categories]).toEqual(
      expect.arrayContaining([
        ...['shell-structure', 'shell-substitution', 'shell-encoding', 'shell-wrapper', 'safe-binary-flags'],
        ...['git-config-exec', 'environment'],
      ]),
    );
  });

  it.each(lines)('%s (%s) starts nothing that was not granted, and leaves no mark', async (_id, _category, check) => {
    const before = readdirSync(home.workspace);
    const record = await range.judge(await load(check.policy), check.call.args);
    expect(check.expect.action_in ?? [check.expect.action], record.detail ?? '').toContain(record.action);
    if (record.action === 'allow') await range.start(record.exec);
    const granted = record.action === 'allow' ? [record.exec?.argv[0]] : [];
    expect(range.started().map(([name]) => name)).toEqual(granted);
    expect(readdirSync(home.workspace)).toEqual(before);
  });
});

describe('programs', () => {
  it('are run by the file that was judged: a fake one placed first on PATH meanwhile is not', async () => {
    const record = await range.judge(await allowing('ls,head'), { command: 'ls | head -3' });
    expect(record).toMatchObject({ action: 'allow' });
    const programs = join(home.dir, 'programs');
    expect(record.exec?.argv).toEqual(['/bin/sh', '-c', `'${programs}/ls' | '${programs}/head' '-3'`]);
    const early = join(home.dir, 'early');
    mkdirSync(early);
    for (const name of ['ls', 'head']) {
      writeFileSync(join(early, name), `#!/bin/sh\n: > '${home.dir}/canary'\n`, { mode: 0o755 });
    }
    await range.start(record.exec, `${early}:${programs}`);
    const started = range.started().map((words) => words.join(' '));
    expect(started.sort()).toEqual(['head -3', 'ls']);

    expect(readdirSync(home.dir)).not.toContain('canary');
  });

  it('in the workspace, in open directories and under their own paths are not granted', async () => {
    const policy = await allowing('ls');
    const inside = join(home.workspace, 'bin');
    range.plant('ls', inside);
    expect(await range.judge(policy, { command: 'ls' }, `${inside}:/usr/bin`)).toMatchObject({
      action: 'approve',
      detail: `program_in_workspace: ${inside}/ls`,
    });
    expect(await range.judge(policy, { command: './bin/ls' })).toMatchObject({ action: 'approve' });
    expect(await range.judge(policy, { command: `${inside}/ls` })).toMatchObject({ action: 'approve' });
    const open = join(home.dir, 'open');
    range.plant('ls', open);
    chmodSync(open, 0o777);
    expect(await range.judge(policy, { command: 'ls' }, `${open}:/usr/bin`)).toMatchObject({
      action: 'approve',
      detail: `unsafe_permissions: ${open}/ls`,
    });
  });

  it('behind another name are what they are: a link to a launcher or a shell is not granted', async () => {
    symlinkSync(range.plant('xargs'), join(home.dir, 'programs', 'tidy'));
    symlinkSync(range.plant('dash'), join(home.dir, 'programs', 'quick'));
    for (const command of ['tidy rm', 'quick -c id']) {
      expect(await range.judge(await allowing('tidy,quick'), { command })).toMatchObject({ action: 'approve' });
    }
  });

  it('with many names are started by the name that was judged', async () => {
    symlinkSync(range.plant('busybox'), join(home.dir, 'programs', 'tidy'));
    for (const command of ['tidy rm x', 'tidy rm x && tidy']) {
      const record = await range.judge(await allowing('tidy'), { command });
      expect(record).toMatchObject({ action: 'allow' });
      await range.start(record.exec);
    }
    // The kernel hands a script its path and not its name, so the vector shows by the first word of the call.
    expect(
      range
        .started()
        .map(([name]) => name)
        .sort(),
    ).toEqual(['busybox', 'tidy', 'tidy']);
  });

  it('read no file through a link that leads out of the workspace', async () => {
    writeFileSync(join(home.dir, 'outside'), 'x');
    symlinkSync('../outside', join(home.workspace, 'notes'));
    writeFileSync(join(home.workspace, 'own'), 'x');
    expect(await range.judge(await allowing('cat'), { command: 'cat notes' })).toMatchObject({
      action: 'approve',
      detail: 'cat: operand outside the workspace: notes',
    });
    expect(await range.judge(await allowing('cat'), { command: 'cat own' })).toMatchObject({ action: 'allow' });
  });
});

describe('a path through the directory of a process', () => {
  it('is another file in the child than here: it is asked about, also behind a link of the repository', async () => {
    symlinkSync('/proc/self/cwd', join(home.workspace, 'here'));
    const open = await load({ default_action: 'allow' });
    const asks = { action: 'approve', reason: 'floor' };
    for (const path of [
      'here/../notes',
      'here/notes',
      './here/../../etc/passwd',
      '/proc/self/cwd/../notes',
      '/proc/thread-self/root/etc/passwd',
      '/dev/fd/../cwd/../notes',
    ]) {
      expect(await range.judge(open, { command: `cat ${path}` }), path).toMatchObject(asks);
      expect(await range.judge(open, { command: `cat < ${path}` }), path).toMatchObject(asks);
    }
    // Its own directory is inside for the one who judges, and outside for the one who reads.
    const before = process.cwd();
    mkdirSync(join(home.workspace, 'a', 'b'), { recursive: true });
    try {
      process.chdir(join(home.workspace, 'a', 'b'));
      const record = await range.judge(await allowing('cat'), { command: 'cat here/../notes' });
      expect(record).toMatchObject({ action: 'approve', detail: 'another file in each process: here/../notes' });
    } finally {
      process.chdir(before);
    }
  });

  it('is no question where it is what the child has opened', async () => {
    const open = await load({ default_action: 'allow' });
    for (const command of ['cat 3< notes /dev/fd/3', 'cat /dev/stdin', 'ls > /dev/null']) {
      expect(await range.judge(open, { command }), command).toMatchObject({ action: 'allow' });
    }
  });
});

describe('the control plane', () => {
  it('is not written by a redirection after a literal cd; after one that cannot be read the call asks', async () => {
    mkdirSync(join(home.workspace, '.reins'));
    const open = await load({ default_action: 'allow' });
    for (const command of [
      'cd .reins && echo x > hitl-policy.json',
      'cd src; cd ../.reins; echo x >> hitl-policy.json',
      `sh -c 'cd .reins && echo x > hitl-policy.json'`,
      'X=.reins; echo x > $X/hitl-policy.json',
      'echo x > "./.re"ins/hitl-policy.json',
      '{ echo x; } > .reins/hitl-policy.json',
    ]) {
      expect(await range.judge(open, { command }), command).toMatchObject({ action: 'deny', reason: 'control_plane' });
    }
    for (const command of ['cd "$D" && echo x > hitl-policy.json', 'cd `pwd` && echo x > y']) {
      expect(await range.judge(open, { command }), command).toMatchObject({ action: 'approve', reason: 'floor' });
    }
    expect(readdirSync(join(home.workspace, '.reins'))).toEqual([]);
  });
});

describe('granted git', () => {
  const git = (...words: readonly string[]): void => {
    const env = { PATH: '/usr/bin:/bin', HOME: home.home, GIT_CONFIG_NOSYSTEM: '1' };
    const identity = ['-c', 'user.name=u', '-c', 'user.email=u@x.test', '-c', 'core.hooksPath=/dev/null'];
    execFileSync('git', [...identity, ...words], { cwd: home.workspace, env, stdio: 'pipe' });
  };
  /** Puts a signature, which is none, on the last commit. */
  const sign = (): void => {
    const at = { cwd: home.workspace, encoding: 'utf8' } as const;
    const commit = execFileSync('git', ['cat-file', 'commit', 'HEAD'], at);
    const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n eA==\n -----END PGP SIGNATURE-----\n';
    const input = commit.replace('\n\n', `\n${signature}\n`);
    const id = execFileSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], { ...at, input }).trim();
    git('update-ref', 'HEAD', id);
  };
  /** Every command that is granted, on the real `git`. */
  const commands = ['git status', 'git status --short', 'git log -p', 'git diff', 'git show', 'git blame notes'];
  const canary = (): string => join(home.dir, 'canary');
  const run = async (command: string) => {
    const record = await range.judge(await allowing('git'), { command }, '/usr/bin:/bin');
    if (record.action !== 'allow') return record.detail;
    const result = await range.start(record.exec);
    return result.kind === 'ended' ? result.exit_code : result.kind;
  };

  beforeEach(() => {
    git('init', '-q');
    writeFileSync(join(home.workspace, 'notes'), 'one\n');
    writeFileSync(join(home.workspace, '.gitattributes'), 'notes diff=evil filter=evil\n');
    git('add', '.');
    git('commit', '-qm', 'first');
    writeFileSync(join(home.workspace, 'notes'), 'two\n');
  });

  it('runs hardened, with nothing but its own variables', async () => {
    const record = await range.judge(await allowing('git log'), { command: 'git log --oneline' }, '/usr/bin:/bin');
    expect(record).toMatchObject({
      action: 'allow',
      exec: {
        env_set: { GIT_TERMINAL_PROMPT: '0', GIT_PAGER: 'cat' },
        env_clear: ['GIT_'],
        argv: expect.arrayContaining(['git', '--no-pager', 'core.fsmonitor=false', '--no-textconv', '--oneline']),
      },
    });
    for (const command of commands) expect(await run(command), command).toBe(0);
  });

  it('starts nothing that the configuration of the user names', async () => {
    const evil = `: > ${canary()}`;
    sign();
    writeFileSync(join(home.dir, 'gpg'), `#!/bin/sh\n${evil}\n`, { mode: 0o755 });
    writeFileSync(
      join(home.home, '.gitconfig'),
      `[core]\n\tfsmonitor = "${evil}; false"\n\tpager = "${evil}"\n\tsshCommand = ${evil}\n` +
        `[diff]\n\texternal = "${evil}"\n[diff "evil"]\n\ttextconv = "${evil};cat"\n\tcommand = "${evil}"\n` +
        `[gpg]\n\tprogram = ${join(home.dir, 'gpg')}\n[log]\n\tshowSignature = true\n`,
    );
    for (const command of [...commands, 'git log --format=%G?']) expect(await run(command), command).toBe(0);
    expect(readdirSync(home.dir)).not.toContain('canary');
  });

  it.each([
    ['core.fsmonitor', 'touch M'],
    ['core.pager', 'x'],
    ['core.sshCommand', 'x'],
    ['core.worktree', '/tmp'],
    ['core.hooksPath', 'x'],
    ['core.editor', 'x'],
    ['core.askPass', 'x'],
    ['core.gitProxy', 'x'],
    ['alias.st', '!touch M'],
    ['filter.evil.clean', 'x'],
    ['filter.evil.process', 'x'],
    ['diff.evil.textconv', 'x'],
    ['diff.evil.command', 'x'],
    ['merge.evil.driver', 'x'],
    ['include.path', '/tmp/x'],
    ['includeIf.gitdir:/.path', '/tmp/x'],
    ['gpg.program', 'x'],
    ['gpg.ssh.program', 'x'],
    ['credential.helper', 'x'],
    ['uploadpack.packObjectsHook', 'x'],
    ['remote.o.uploadpack', 'x'],
    ['remote.o.vcs', 'x'],
    ['url.x.insteadOf', 'y'],
    ['submodule.s.update', '!x'],
  ])('is withdrawn where the repository sets %s', async (key, value) => {
    git('config', key, value);
    expect(await run('git status')).toMatch(/^git_config: /);
    expect(`${await run('git status')}`.toLowerCase()).toBe(`git_config: ${key.toLowerCase()}`);
    expect(readdirSync(home.workspace)).not.toContain('M');
  });

  it('is granted where the repository sets what starts nothing', async () => {
    for (const [key, value] of [
      ['core.fsmonitor', 'false'],
      ['user.name', 'x'],
      ['branch.main.remote', 'origin'],
      ['remote.origin.url', 'https://x.test/y'],
      ['submodule.s.update', 'checkout'],
    ] as const) {
      git('config', key, value);
    }
    expect(await run('git status')).toBe(0);
  });

  it('is withdrawn for a configuration that cannot be read, and by one in a worktree of it', async () => {
    const config = join(home.workspace, '.git', 'config');
    const text = readFileSync(config, 'utf8');
    writeFileSync(config, `${text}[core\nfsmonitor = x`);
    expect(await run('git status')).toBe(`git_config: ${config} cannot be read`);
    writeFileSync(config, text);
    writeFileSync(`${config}.worktree`, '[core]\n\tfsmonitor = touch M\n');
    expect(await run('git status')).toBe('git_config: core.fsmonitor');
  });

  it('is withdrawn where its directory lies outside the workspace, or is one that was planted', async () => {
    cpSync(join(home.workspace, '.git'), join(home.dir, 'elsewhere.git'), { recursive: true });
    mkdirSync(join(home.workspace, 'sub'));
    writeFileSync(join(home.workspace, 'sub', '.git'), `gitdir: ${home.dir}/elsewhere.git\n`);
    const outside = 'git_config: the git directory, or a part of it, lies elsewhere';
    const at = async (cwd: string) => {
      const policy = await allowing('git');
      return (await range.judge(policy, { command: 'git status', cwd }, '/usr/bin:/bin', cwd)).detail;
    };
    expect(await at('sub')).toBe(outside);
    cpSync(join(home.workspace, '.git'), join(home.workspace, 'bare'), { recursive: true });
    writeFileSync(join(home.workspace, 'bare', 'config'), '[core]\n\tbare = true\n\tfsmonitor = touch M\n');
    expect(await at('bare')).toBe('git_config: core.fsmonitor');
  });
});
