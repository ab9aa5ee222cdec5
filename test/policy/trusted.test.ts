import { describe, expect, it } from 'vitest';
import { interpreterOf } from '../../src/policy/interpreter.ts';
import { judgeTrust, programFiles } from '../../src/policy/trusted.ts';
import { createScope } from '../../src/policy/scope.ts';
import type { BinaryFact, PolicyHost, ProgramFact, TrustedBinaries } from '../../src/schema/policy.ts';
import { plainHost, virtualHost } from './virtual-host.ts';

const identity = { dev: '1', ino: '1', size: '1', mtime_ns: '1', ctime_ns: '1' };
const elf = '\x7fELF';
const digest = (letter: string): string => letter.repeat(64);

type File = { readonly head?: string; readonly sha256?: string; readonly loose?: true; readonly ungrantable?: string };

/** A machine with these files; a bare name is the file of that name in /bin. */
function host(files: Readonly<Record<string, File>>, more: Partial<PolicyHost> = {}): PolicyHost {
  const found = (word: string): string => (word.startsWith('/') ? word : `/bin/${word}`);
  return virtualHost(plainHost, {
    resolveProgram: (word): ProgramFact | null => {
      const file = files[found(word)];
      return file === undefined
        ? null
        : { word, real: found(word), ...identity, ungrantable: file.ungrantable ?? null };
    },
    binary: (real, hashed): BinaryFact => {
      const file = files[real];
      if (file === undefined) return { state: 'unreadable', message: 'ENOENT' };
      const sha256 = hashed ? (file.sha256 ?? digest('a')) : null;
      const { head = elf, loose = false } = file;
      return { state: 'read', identity, others_write: loose, head, sha256, young: false };
    },
    ...more,
  });
}

/** What the block says of one command: a finding, or what is started. */
function judge(machine: PolicyHost, block: Partial<TrustedBinaries>, words: readonly string[] = ['tool']) {
  const call = { tools: 'local_shell', tool: 'local_shell', args: {} };
  const scope = createScope(call, machine, { dirs: [], hashes: {}, ...block }, () => {
    throw new Error('not asked for');
  });
  const trust = judgeTrust([['tool']], [words], scope);
  const [start] = trust?.starts ?? [];
  if (trust?.finding != null) return trust.finding.detail;
  return start === undefined
    ? null
    : [start.binary.real, start.argv0, start.before, start.scripts.map(({ real }) => real)];
}
const anywhere = { dirs: ['/'] };

describe('a program under trusted_binaries', () => {
  it('starts as itself when it is a binary', () => {
    expect(judge(host({ '/bin/tool': {} }), anywhere)).toEqual(['/bin/tool', null, [], []]);
  });

  it('is not looked at where an entry does not name it', () => {
    expect(judge(host({ '/bin/other': {} }), anywhere, ['other'])).toBeNull();
  });

  it('has to be below a directory, by whole segments, and closed to others', () => {
    const machine = host({ '/bin/tool': {} });
    expect(judge(machine, { dirs: ['/bin'] })).toEqual(['/bin/tool', null, [], []]);
    expect(judge(machine, { dirs: ['/bi', '/bin/tool', '/bin-x'] })).toMatch(/^outside_dirs: \/bin\/tool /);
    const loose = host({ '/bin/tool': { loose: true } });
    expect(judge(loose, { dirs: ['/bin'] })).toMatch(/^unsafe_permissions: /);
    expect(judge(loose, { hashes: { '/bin/tool': digest('a') } })).toEqual(['/bin/tool', null, [], []]);
    const open = host({ '/bin/tool': { ungrantable: 'unsafe_permissions' } });
    expect(judge(open, { hashes: { '/bin/tool': digest('a') } })).toMatch(/^unsafe_permissions: /);
  });

  it('on Windows lies below a directory of another case', () => {
    const machine = host({ 'C:/Tools/tool': {} }, { platform: 'win32' });
    const there = {
      ...machine,
      resolveProgram: () => ({ word: 'tool', real: 'C:/Tools/tool', ...identity, ungrantable: null }),
    };
    expect(judge({ ...there, realPath: () => 'c:\\tools' }, { dirs: ['c:\\tools'] })).toEqual([
      'C:/Tools/tool',
      null,
      [],
      [],
    ]);
  });

  it('has to have its digest once any is declared, and both lists have to hold', () => {
    const machine = host({ '/bin/tool': {} });
    expect(judge(machine, { hashes: { '/bin/tool': digest('A') } })).toEqual(['/bin/tool', null, [], []]);
    expect(judge(machine, { hashes: { '/bin/tool': digest('b') } })).toBe(
      `mismatch: /bin/tool has the digest ${digest('a')}`,
    );
    expect(judge(machine, { hashes: { '/bin/x': digest('a') } })).toMatch(/^undeclared: \/bin\/tool /);
    expect(judge(machine, { dirs: ['/opt'], hashes: { '/bin/tool': digest('a') } })).toMatch(/^outside_dirs: /);
  });

  it('is refused while its digest is not there, or cannot be read', () => {
    const block = { hashes: { '/bin/tool': digest('a') } };
    const unhashed = host({ '/bin/tool': {} }, { binary: () => ({ state: 'unhashed' }) });
    expect(judge(unhashed, block)).toMatch(/^unreadable: /);
    const closed = host({ '/bin/tool': {} }, { binary: () => ({ state: 'unreadable', message: 'EACCES' }) });
    expect(judge(closed, block)).toBe('unreadable: /bin/tool cannot be read: EACCES');
  });

  it('is told apart when it does not resolve, or only through a relative element or word', () => {
    expect(judge(host({}), anywhere)).toBe('unresolved: there is no program tool');
    expect(judge(host({}, { foundRelative: () => true }), anywhere)).toMatch(/^relative: /);
    expect(judge(host({ '/bin/tool': { ungrantable: 'relative' } }), anywhere)).toMatch(/^relative: /);
    expect(judge(host({ '/bin/tool': {} }), anywhere, ['./tool'])).toBe('relative: ./tool is a relative path');
  });
});

describe('a script under trusted_binaries', () => {
  const sh = { '/bin/sh': {} };

  it('starts by the binary at the end of its interpreters, as the system would', () => {
    const files = {
      ...sh,
      '/bin/tool': { head: '#!/opt/runner -x y\n' },
      '/opt/runner': { head: '#! /bin/sh\n' },
    };
    expect(judge(host(files), anywhere)).toEqual([
      '/bin/sh',
      '/bin/sh',
      ['/opt/runner', '-x y', '/bin/tool'],
      ['/bin/tool', '/opt/runner'],
    ]);
  });

  it('behind env starts what the name is, and env is judged too', () => {
    const files = { '/bin/tool': { head: '#!/usr/bin/env node\n' }, '/usr/bin/env': {}, '/bin/node': {} };
    expect(judge(host(files), anywhere)).toEqual(['/bin/node', 'node', ['/bin/tool'], ['/bin/tool', '/usr/bin/env']]);
    const pinned = (names: readonly string[]) => ({
      hashes: Object.fromEntries(names.map((name) => [name, digest('a')])),
    });
    expect(judge(host(files), pinned(['/bin/tool', '/bin/node']))).toBe(
      'interpreter: of /bin/tool: undeclared: /usr/bin/env has no declared digest',
    );
    expect(judge(host(files), pinned(['/bin/tool', '/usr/bin/env']))).toBe(
      'interpreter: of /bin/tool: /usr/bin/env node: undeclared: /bin/node has no declared digest',
    );
  });

  it('behind env under another name is refused, since nobody judges what that looks up', () => {
    const machine = host({ '/bin/tool': { head: '#!/opt/start node\n' }, '/usr/bin/env': {}, '/bin/node': {} });
    const linked = {
      ...machine,
      resolveProgram: (word: string, cwd: string) =>
        machine.resolveProgram(word === '/opt/start' ? '/usr/bin/env' : word, cwd),
    };
    expect(judge(linked, anywhere)).toBe('interpreter: of /bin/tool: /opt/start is env under another name');
  });

  it.each([
    ['#!/bin/busybox sh', '/bin/busybox'],
    ['#!/usr/bin/coreutils --coreutils-prog-shebang=env', '/usr/bin/coreutils'],
    ['#!/usr/bin/sudo sh', '/usr/bin/sudo'],
    ['#!/usr/bin/xargs sh', '/usr/bin/xargs'],
  ])('behind a program that starts others is refused: %s', (line, path) => {
    const files = { '/bin/tool': { head: `${line}\n` }, [path]: {} };
    expect(judge(host(files), anywhere)).toBe(`interpreter: of /bin/tool: ${path} starts another program`);
  });

  it('is refused for an interpreter that is not there, may be written by tools, or stands too deep', () => {
    const of = (more: Readonly<Record<string, File>>) =>
      judge(host({ '/bin/tool': { head: '#!/opt/a\n' }, ...more }), anywhere);
    expect(of({})).toBe('interpreter: of /bin/tool: there is no program /opt/a');
    expect(of({ '/opt/a': { ungrantable: 'program_in_workspace' } })).toBe(
      'interpreter: of /bin/tool: /opt/a: program_in_workspace',
    );
    const chain = (names: string) =>
      Object.fromEntries(
        [...names].map((name, index) => [`/opt/${name}`, { head: `#!/opt/${names[index + 1] ?? 'end'}\n` }]),
      );
    expect(of({ ...chain('abc'), '/opt/end': {} })).toEqual([
      '/opt/end',
      '/opt/end',
      ['/opt/c', '/opt/b', '/opt/a', '/bin/tool'],
      ['/bin/tool', '/opt/a', '/opt/b', '/opt/c'],
    ]);
    expect(of({ ...chain('abcd'), '/opt/end': {} })).toMatch(/^interpreter: .*more than 4/);
    expect(of(chain('aa'))).toMatch(/^interpreter: /);
  });

  it('has every one of its files declared by `policy trust`', () => {
    const files = { '/bin/tool': { head: '#!/usr/bin/env node\n' }, '/usr/bin/env': {}, '/bin/node': {} };
    expect(programFiles('tool', host(files))).toEqual(['/bin/tool', '/usr/bin/env', '/bin/node']);
    expect(programFiles('nosuch', host(files))).toMatchObject({ reason: 'unresolved' });
    expect(programFiles('tool', host({ '/bin/tool': { ungrantable: 'program_in_workspace' } }))).toMatchObject({
      reason: 'unsafe_permissions',
    });
  });
});

describe('the interpreter of a file', () => {
  it.each([
    [elf, { kind: 'none' }],
    ['#!/bin/sh\nx', { kind: 'file', path: '/bin/sh', argument: null }],
    ['#!/bin/sh', { kind: 'file', path: '/bin/sh', argument: null }],
    ['#! \t/bin/awk -f  \nx', { kind: 'file', path: '/bin/awk', argument: '-f' }],
    ['#!/bin/sh\0\nx', { kind: 'file', path: '/bin/sh', argument: null }],
    ['#!/usr/bin/env node\n', { kind: 'env', path: '/usr/bin/env', name: 'node' }],
    ['echo x\n', { kind: 'file', path: '/bin/sh', argument: null }],
    ['', { kind: 'file', path: '/bin/sh', argument: null }],
  ])('of %j is read as the system reads it', (head, expected) => {
    expect(interpreterOf(head, 'linux')).toEqual(expected);
  });

  it.each([
    '#!/usr/bin/env -S node -x\n',
    '#!/usr/bin/env -i node\n',
    '#!/usr/bin/env A=b\n',
    '#!/usr/bin/env node -x\n',
    '#!/usr/bin/env ./node\n',
    '#!/usr/bin/env\n',
    '#!bin/sh\n',
    '#!\n',
    `#!/${'x'.repeat(254)}`,
  ])('of %j is not clear', (head) => {
    expect(interpreterOf(head, 'linux')).toMatchObject({ kind: 'unclear' });
  });

  it('is asked of no file on Windows, and by other signs on a Mac', () => {
    expect(interpreterOf('#!/bin/sh\n', 'win32')).toEqual({ kind: 'none' });
    expect(interpreterOf('\xcf\xfa\xed\xfe', 'darwin')).toEqual({ kind: 'none' });
    expect(interpreterOf(elf, 'darwin')).toMatchObject({ kind: 'file', path: '/bin/sh' });
  });
});
