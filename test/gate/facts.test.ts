import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { identityFact } from '../../src/gate/binaries.ts';
import { createPolicyHosts, foldsCase } from '../../src/gate/facts.ts';
import type { Machine } from '../../src/gate/machine.ts';
import { evaluate } from '../../src/policy/evaluate.ts';
import { resolveExec } from '../../src/policy/exec.ts';
import type { PolicyHost } from '../../src/schema/policy.ts';
import { readCall } from '../../src/shell/read-line.ts';
import { load, loadPreset } from '../policy/virtual-host.ts';
import { realBinaries } from '../support/binaries.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let home: TempHome;
beforeEach(() => {
  home = tempHome();
});
afterEach(() => home.remove());

const at = (...parts: readonly string[]): string => join(home.dir, ...parts);
const put = (path: string, content = '', mode = 0o644): string => {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
};
const machine = (more: Partial<Machine> = {}): Machine => ({
  platform: process.platform,
  shell: 'sh',
  workspace: home.workspace,
  home: home.home,
  caseInsensitivePaths: false,
  path: at('bin'),
  confined: false,
  database: join(home.workspace, '.reins', 'local.db'),
  reinsHome: join(home.home, '.reins'),
  dataDir: join(home.workspace, '.reins'),
  secretFiles: [],
  namedFiles: [],
  installation: at('opt', 'reins'),
  pid: process.pid,
  ...more,
});
const host = (more: Partial<Machine & { cwd: string }> = {}): PolicyHost =>
  createPolicyHosts(machine(more), realBinaries())(more.cwd ?? home.workspace);

describe('a program under another name', () => {
  it('is known by the file behind it, wherever the line has gone before', async () => {
    for (const name of ['sh', 'env', 'rm', 'ls']) put(at('bin', name), '#!/bin/sh\n', 0o755);
    mkdirSync(join(home.workspace, 'tools'));
    for (const name of ['sh', 'env', 'rm', 'ls'])
      symlinkSync(at('bin', name), join(home.workspace, 'tools', `x${name}`));
    const when = [{ op: 'command_blacklist', value: 'rm' }];
    const policy = await load({ default_action: 'allow', rules: [{ action: 'deny', when }] });
    const verdict = async (command: string) => {
      const call = { tools: 'local_shell', tool: 'local_shell', args: { command } };
      return evaluate(policy, call, host(), { reading: await readCall(call.args) }).action;
    };
    for (const start of [
      'tools/xsh -c "rm x"',
      'cd tools && ./xsh -c "rm x"',
      'tools/xenv rm x',
      'cd tools && ./xrm x',
    ]) {
      expect([start, await verdict(start)]).toEqual([start, 'deny']);
    }
    expect(await verdict('tools/xsh x')).toBe('approve');
    expect(await verdict('tools/xls && cd tools && ./xls')).toBe('allow');
  });
});

describe('this program in a line', () => {
  it('is known by the file that starts it, and refused what no tool child may give', async () => {
    const main = put(at('opt', 'reins', 'src', 'cli', 'main.js'), '#!/usr/bin/env node\n', 0o755);
    put(at('bin', 'node'), '', 0o755);
    put(at('bin', 'env'), '', 0o755);
    symlinkSync(main, at('bin', 'reins'));
    linkSync(main, join(home.workspace, 'innocent.js'));
    const verdict = async (command: string) => {
      const call = { tools: 'local_shell', tool: 'local_shell', args: { command } };
      const policy = await load({ default_action: 'allow', rules: [] });
      return evaluate(policy, call, host(), { reading: await readCall(call.args) }).action;
    };
    for (const line of [
      'reins approvals respond x --approve',
      'env -u REINS_RUN_ID reins --db x trust add y',
      `node ${main} config set approval-ceiling never`,
      'node --no-warnings innocent.js run x',
      './innocent.js beam',
    ]) {
      expect([line, await verdict(line)]).toEqual([line, 'deny']);
    }
    expect(await verdict('reins approvals list')).toBe('approve');
    expect(await verdict('node innocent.js doctor')).toBe('approve');
    expect(await verdict('node other.js run x')).toBe('allow');
  });
});

describe('a search that an allowlist grants', () => {
  it.each([
    'grep -rn KEY .',
    "grep -r --include=.env --include='*' KEY . -h",
    'grep -rh KEY -- .',
    'grep -rhz KEY . | sort',
    'grep -h KEY docs/a.md',
  ])('tells nothing of what no operand may be: %s', async (command) => {
    for (const name of ['.env', 'sub/.env.local', 'sub/tls.pem', '.npmrc', '.ssh/config', '.reins/local.db', 'id_rsa'])
      put(join(home.workspace, ...name.split('/')), 'KEY=hidden\n');
    for (const name of ['docs/a.md', 'envy', 'docs/key.ts'])
      put(join(home.workspace, ...name.split('/')), 'KEY=shown\n');
    const call = { tools: 'local_shell', tool: 'local_shell', args: { command } };
    const on = host({ path: '/usr/bin:/bin' });
    const { action, exec } = evaluate(loadPreset('default'), call, on, { reading: await readCall(call.args) });
    expect(action).toBe('allow');
    const said = execFileSync(exec?.file ?? '', exec?.argv.slice(1) ?? [], { cwd: home.workspace }).toString();
    expect([said.includes('shown'), said.includes('hidden')]).toEqual([true, false]);
  });
});

describe('a pattern in a line', () => {
  it('is judged by the files that it stands for', async () => {
    put(join(home.workspace, '.reins', 'local.db'));
    put(join(home.home, '.ssh', 'config'));
    put(join(home.workspace, 'docs', 'a.md'));
    const verdict = async (command: string) => {
      const call = { tools: 'local_shell', tool: 'local_shell', args: { command, shell: true } };
      return evaluate(loadPreset('open'), call, host(), { reading: await readCall(call.args) }).action;
    };
    for (const line of [
      'cat .rein?/local.db',
      'cat < .r*s/l*',
      'cat .[[:lower:]]ein[!a]/local.db',
      'cat "$PWD"/.reins/local.db',
      'cat ~+/.reins/local.db',
      'cat ~/.s*/*',
      'cp --target=x ~/.s?h/c*',
      'cd docs && cat ../.rein?/local.db',
      "X='.rein?'; cat $X/local.db",
    ]) {
      expect([line, await verdict(line)]).toEqual([line, 'deny']);
    }
    for (const line of ['cat *', 'wc -l */*.md', 'cat ~/*', "cat '.rein?/local.db'", 'ls "$PWD"/docs ~+/docs']) {
      expect([line, await verdict(line)]).toEqual([line, 'allow']);
    }
  });
});

describe('the real path', () => {
  it('follows links and applies .. to the real directory', () => {
    mkdirSync(at('far', 'deep'), { recursive: true });
    symlinkSync(at('far', 'deep'), join(home.workspace, 'link'));
    expect(host().realPath(join(home.workspace, 'link'))).toBe(at('far', 'deep'));
    expect(host().realPath(`${home.workspace}/link/../x`)).toBe(at('far', 'x'));
    expect(host().realPath(`${home.workspace}/link/new/file`)).toBe(at('far', 'deep', 'new', 'file'));
  });

  it('follows a link whose target does not exist', () => {
    symlinkSync('../outside/new', join(home.workspace, 'dangling'));
    expect(host().realPath(join(home.workspace, 'dangling'))).toBe(at('outside', 'new'));
  });

  it('comes to an end in a loop of links and for a path of 5,000 segments', () => {
    symlinkSync('loop', join(home.workspace, 'loop'));
    expect(host().realPath(join(home.workspace, 'loop', 'x'))).toBe(join(home.workspace, 'loop', 'x'));
    const long = `${home.workspace}/${'a/'.repeat(5000)}b`;
    expect(host().realPath(long)).toBe(long);
  });
});

describe('programs', () => {
  it('are found in the absolute elements of PATH, with their identity', () => {
    const tool = put(at('bin', 'tool'), '#!/bin/sh\n', 0o755);
    const found = statSync(tool, { bigint: true });
    expect(host({ path: `${at('none')}:${at('bin')}` }).resolveProgram('tool', home.workspace)).toEqual({
      word: 'tool',
      real: tool,
      ...identityFact(found),
      ungrantable: null,
    });
  });

  it('are what a link leads to', () => {
    put(at('lib', 'real-tool'), '', 0o755);
    mkdirSync(at('bin'));
    symlinkSync(at('lib', 'real-tool'), at('bin', 'tool'));
    expect(host().resolveProgram('tool', home.workspace)?.real).toBe(at('lib', 'real-tool'));
  });

  it('are regular files with the run bit', () => {
    put(at('bin', 'text'), '', 0o644);
    mkdirSync(at('bin', 'directory'));
    expect(host().resolveProgram('text', home.workspace)).toBeNull();
    expect(host().resolveProgram('directory', home.workspace)).toBeNull();
    expect(host().resolveProgram('missing', home.workspace)).toBeNull();
    expect(host().resolveProgram('', home.workspace)).toBeNull();
  });

  it('in the workspace, or where others may write, are never granted', () => {
    put(join(home.workspace, 'bin', 'tool'), '', 0o755);
    put(at('open', 'tool'), '', 0o755);
    chmodSync(at('open'), 0o777);
    put(at('loose', 'tool'), '', 0o757);
    const reason = (path: string): string | null | undefined =>
      host({ path }).resolveProgram('tool', home.workspace)?.ungrantable;
    expect(reason(join(home.workspace, 'bin'))).toBe('program_in_workspace');
    expect(reason(at('open'))).toBe('unsafe_permissions');
    expect(reason(at('loose'))).toBe('unsafe_permissions');
    // A link in such a place decides what its name means.
    for (const directory of [join(home.workspace, 'links'), at('far', 'links')]) {
      mkdirSync(directory, { recursive: true });
      symlinkSync(put(at('safe', 'tool'), '', 0o755), join(directory, 'tool'));
    }
    chmodSync(at('far', 'links'), 0o777);
    expect(reason(join(home.workspace, 'links'))).toBe('program_in_workspace');
    expect(reason(at('far', 'links'))).toBe('unsafe_permissions');
    expect(reason(at('safe'))).toBeNull();
  });

  it('that a relative or empty element of PATH would find first are never granted, and never run', () => {
    put(join(home.workspace, 'tool'), '', 0o755);
    put(at('bin', 'tool'), '', 0o755);
    for (const path of [`:${at('bin')}`, `.:${at('bin')}`]) {
      expect(host({ path }).resolveProgram('tool', home.workspace)).toMatchObject({
        real: at('bin', 'tool'),
        ungrantable: 'relative',
      });
    }
    expect(host({ path: '.' }).resolveProgram('tool', home.workspace)).toBeNull();
  });

  it('with a slash are resolved against the directory of the call', () => {
    const tool = put(join(home.workspace, 'sub', 'tool'), '', 0o755);
    expect(host().resolveProgram('./tool', join(home.workspace, 'sub'))).toMatchObject({
      real: tool,
      ungrantable: 'relative',
    });
    expect(host().resolveProgram(tool, home.workspace)).toMatchObject({ ungrantable: 'program_in_workspace' });
  });

  it('fill in what an argument vector executes', async () => {
    const tool = put(at('bin', 'tool'), '', 0o755);
    expect(resolveExec(await readCall({ command: 'tool', args: ['-x'] }), host())).toMatchObject({
      form: 'argv',
      file: tool,
      argv: ['tool', '-x'],
      cwd: home.workspace,
    });
  });
});

describe('guarded files', () => {
  const verdict = async (tool: string, path: string, more: Partial<Machine> = {}) => {
    const policy = await load({ default_action: 'allow' });
    const record = evaluate(policy, { tools: 'local_fs', tool, args: { path } }, host(more));
    return `${record.action} ${record.detail}`;
  };

  it('are met under every name: directly, through links, as hard links', async () => {
    put(machine().database, 'secret');
    symlinkSync('.reins', join(home.workspace, 'plain'));
    linkSync(machine().database, join(home.workspace, 'twin'));
    expect(await verdict('read_file', '.reins/local.db')).toBe('deny own secret: .reins/local.db');
    expect(await verdict('read_file', 'plain/local.db')).toBe('deny own secret: plain/local.db');
    expect(await verdict('read_file', 'twin')).toBe('deny own secret: twin');
    expect(await verdict('write_file', 'plain/new')).toBe('deny control plane: plain/new');
    // Documents and backups, too; a link in the place does not make what it leads to a part of it.
    for (const name of ['hitl-policy.json', 'local.db.backup-v1-now']) {
      linkSync(put(join(home.workspace, '.reins', name)), join(home.workspace, `twin of ${name}`));
    }
    linkSync(put(join(home.workspace, 'notes')), join(home.workspace, 'notes again'));
    symlinkSync('../notes', join(home.workspace, '.reins', 'away'));
    expect(await verdict('write_file', 'twin of hitl-policy.json')).toBe(
      'deny control plane: twin of hitl-policy.json',
    );
    expect(await verdict('read_file', 'twin of local.db.backup-v1-now')).toMatch(/^deny own secret/);
    expect(await verdict('write_file', 'notes again')).toMatch(/^approve /);
  });

  it('are met below a home directory that is itself a link', async () => {
    symlinkSync(home.home, at('alias'));
    const aliased = { home: at('alias'), reinsHome: join(at('alias'), '.reins') };
    for (const name of ['alias', 'home']) {
      const path = at(name, '.reins', 'machine.key');
      expect(await verdict('read_file', path, aliased)).toBe(`deny own secret: ${path}`);
    }
  });

  it('are those of a database that lies elsewhere, the files named by flags and the installation', async () => {
    const named = {
      database: at('data', 'x.db'),
      namedFiles: [at('my-policy.json')],
      secretFiles: [at('jwt')],
    };
    expect(await verdict('read_file', at('data', 'x.db'), named)).toMatch(/^deny own secret/);
    expect(await verdict('read_file', at('data', 'x.db.backup-v1-now'), named)).toMatch(/^deny own secret/);
    expect(await verdict('read_file', at('jwt'), named)).toMatch(/^deny own secret/);
    // The databases of the other places hold what another run has stored.
    for (const name of ['local.db', 'local.db-wal', 'local.db.backup-v1-now']) {
      expect(await verdict('read_file', join(home.workspace, '.reins', name), named)).toMatch(/^deny own secret/);
      expect(await verdict('read_file', join(machine().reinsHome, name), named)).toMatch(/^deny own secret/);
    }
    expect(await verdict('write_file', at('my-policy.json'), named)).toMatch(/^deny control plane/);
    expect(await verdict('write_file', at('opt', 'reins', 'dist', 'x.js'), named)).toMatch(/^deny control plane/);
  });

  it.runIf(process.platform === 'linux')('include what the system shows of this process', async () => {
    expect(await verdict('read_file', '/proc/self/environ')).toBe('deny own secret: /proc/self/environ');
    expect(await verdict('read_file', `/proc/${process.pid}/environ`)).toMatch(/^deny own secret/);
  });

  it('with several hard links ask before they are written, and so do directories on PATH', async () => {
    put(join(home.workspace, 'one'));
    linkSync(join(home.workspace, 'one'), join(home.workspace, 'two'));
    expect(await verdict('write_file', 'two')).toBe('approve file with several hard links: two');
    const onPath = { path: join(home.workspace, 'tools') };
    expect(await verdict('write_file', 'tools/x', onPath)).toBe('approve protected path: tools/x');
  });

  it('outside the workspace ask, unless the operator named the root', async () => {
    expect(await verdict('read_file', at('elsewhere'))).toBe(`approve outside the workspace: ${at('elsewhere')}`);
    expect(await verdict('read_file', at('elsewhere'), { confined: true })).toBe('allow null');
    mkdirSync(at('far', 'deep'), { recursive: true });
    symlinkSync(at('far', 'deep'), join(home.workspace, 'link'));
    expect(await verdict('read_file', 'link/../x')).toBe('approve outside the workspace: link/../x');
  });
});

describe('a host', () => {
  it('keeps the answers of one call, and looks again for the next', () => {
    const hosts = createPolicyHosts(machine(), realBinaries());
    const first = hosts(home.workspace);
    expect(first.resolveProgram('tool', home.workspace)).toBeNull();
    expect(first.realPath(join(home.workspace, 'x'))).toBe(join(home.workspace, 'x'));
    put(at('bin', 'tool'), '', 0o755);
    symlinkSync(at('bin'), join(home.workspace, 'x'));
    expect(first.realPath(join(home.workspace, 'x'))).toBe(join(home.workspace, 'x'));
    expect(hosts(home.workspace).resolveProgram('tool', home.workspace)?.real).toBe(at('bin', 'tool'));
    expect(hosts(home.workspace).realPath(join(home.workspace, 'x'))).toBe(at('bin'));
  });

  it('serves the default policy: reading in the workspace is allowed, a credential behind a link is denied', () => {
    const policy = loadPreset('default');
    put(join(home.workspace, 'src', 'a.ts'));
    put(join(home.home, '.ssh', 'id_ed25519'));
    symlinkSync(join(home.home, '.ssh'), join(home.workspace, 'notes'));
    const read = (path: string) =>
      evaluate(policy, { tools: 'local_fs', tool: 'read_file', args: { path } }, host()).action;
    expect(read('src/a.ts')).toBe('allow');
    expect(read('notes/id_ed25519')).toBe('deny');
    expect(read(`../${'home'}/.ssh/id_ed25519`)).toBe('deny');
  });

  it('knows whether the file system folds case', () => {
    put(at('Probe'));
    const folds = (() => {
      try {
        return statSync(at('pROBE')).ino === statSync(at('Probe')).ino;
      } catch {
        return false;
      }
    })();
    expect(foldsCase(realpathSync(home.dir))).toBe(folds);
  });
});
