import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decide } from '../../src/gate/decide.ts';
import { createPolicyHosts } from '../../src/gate/facts.ts';
import type { Evaluation, PolicyCall, TrustedStart } from '../../src/schema/policy.ts';
import type { SpawnRequest } from '../../src/schema/protocol.ts';
import { readCall } from '../../src/shell/read-line.ts';
import { rebuiltWith } from '../../workers/rebuilt-line.ts';
import { spawnTool } from '../../workers/spawn-tool.ts';
import { openTrusted } from '../../workers/trusted-start.ts';
import { load } from '../policy/virtual-host.ts';
import { realBinaries } from '../support/binaries.ts';
import { machineBelow } from '../support/machine.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let temp: TempHome;
let canary: string;
beforeEach(() => {
  temp = tempHome();
  canary = join(temp.workspace, 'canary');
});
afterEach(() => temp.remove());

const at = (name: string): string => join(temp.dir, name);

/** A copy of a program of this system, made as long as any of them, so that one can stand in for another. */
function program(name: string, source: string): string {
  mkdirSync(dirname(at(name)), { recursive: true });
  copyFileSync(realpathSync(source), at(name));
  truncateSync(at(name), 8 * 1024 * 1024);
  chmodSync(at(name), 0o755);
  // A whole second can be put back exactly.
  utimesSync(at(name), 1_700_000_000, 1_700_000_000);
  return at(name);
}
function script(name: string, text: string): string {
  mkdirSync(dirname(at(name)), { recursive: true });
  writeFileSync(at(name), text);
  chmodSync(at(name), 0o755);
  return at(name);
}

/** Puts another content into a file, with the size and the mtime that it had. */
function swap(path: string, by: string): void {
  const { mtimeNs, size } = statSync(path, { bigint: true });
  writeFileSync(path, readFileSync(by));
  truncateSync(path, Number(size));
  utimesSync(path, 1_700_000_000, 1_700_000_000);
  expect(statSync(path, { bigint: true })).toMatchObject({ size, mtimeNs });
}

const sha256 = async (path: string): Promise<string> => {
  const fact = await realBinaries().read(path);
  if (fact.state !== 'read' || fact.sha256 === null) throw new Error(path);
  return fact.sha256;
};

/** Judges a call under a document that pins these files. */
async function judging(pinned: readonly string[], path = at('bin')) {
  const files = pinned.map((file) => realpathSync(file));
  const hashes = Object.fromEntries(await Promise.all(files.map(async (file) => [file, await sha256(file)])));
  const rule = {
    tools: 'local_shell',
    action: 'allow',
    when: [{ key: 'command', op: 'command_prefix_allowlist', value: 'tool, tool x, tool canary, plain x' }],
  };
  const policy = await load({ default_action: 'approve', rules: [rule], trusted_binaries: { hashes } });
  const hosts = createPolicyHosts(machineBelow(temp.dir, path), realBinaries());
  return async (command: string, args: Readonly<Record<string, unknown>> = {}): Promise<Evaluation> => {
    const call: PolicyCall = { tools: 'local_shell', tool: 'local_shell', args: { command, ...args } };
    return decide(policy, call, hosts(at('ws')), { reading: await readCall(call.args) });
  };
}

/** What the tool would send for a granted call. */
function requestOf({ exec, action }: Evaluation): SpawnRequest {
  if (exec === null || exec.file === null || action !== 'allow') throw new Error('not granted');
  return {
    file: exec.file,
    argv0: exec.argv[0] ?? '',
    args: exec.argv.slice(1),
    cwd: at('ws'),
    env: { PATH: '/usr/bin:/bin' },
    timeout_ms: 60_000,
    max_output_bytes: 65_536,
    spool: null,
    identity: exec.program,
    cwd_identity: null,
    ...(exec.trusted === undefined ? {} : { trusted: exec.trusted }),
  };
}
const start = (request: SpawnRequest) => spawnTool(request, { report: () => {}, signal: new AbortController().signal });

describe.runIf(process.platform === 'linux')('a pinned binary', () => {
  it('runs under the word as written, and has no descriptor of ours', async () => {
    const judge = await judging([program('bin/tool', '/bin/ls')]);
    const listed = await judge('tool', { args: [] });
    expect(await start(requestOf(listed))).toMatchObject({ kind: 'ended', exit_code: 0, stdout: '' });
    const request = { ...requestOf(listed), args: ['-l', '/proc/self/fd', '/proc/self/exe'] };
    const open = await start(request);
    // Only the link of the process itself leads to the program.
    expect(open.kind === 'ended' && open.stdout.split('\n').filter((line) => line.includes(at('bin/tool')))).toEqual([
      expect.stringContaining('/proc/self/exe'),
    ]);
    expect(await start({ ...request, args: ['/no/such'] })).toMatchObject({ stderr: expect.stringMatching(/^tool:/) });
  });

  it('that was replaced by one of the same size and mtime is not granted, and what was granted does not start', async () => {
    const tool = program('bin/tool', '/bin/echo');
    const evil = program('evil', '/usr/bin/touch');
    const judge = await judging([tool]);
    const granted = requestOf(await judge('tool canary'));
    expect(await start(granted)).toMatchObject({ stdout: 'canary\n' });
    swap(tool, evil);
    expect(await start(granted)).toMatchObject({ kind: 'not_started', error: 'path_changed' });
    expect(await judge('tool canary')).toMatchObject({
      action: 'approve',
      trust: [{ reason: 'mismatch', path: tool }],
    });
    expect(existsSync(canary)).toBe(false);
  });

  it('that was replaced by another file is not started', async () => {
    const tool = program('bin/tool', '/bin/echo');
    const granted = requestOf(await (await judging([tool]))('tool canary'));
    renameSync(program('evil', '/usr/bin/touch'), tool);
    expect(await start(granted)).toMatchObject({ kind: 'not_started', error: 'path_changed' });
    expect(existsSync(canary)).toBe(false);
  });

  it('is what was hashed even when its path leads elsewhere in the moment of the start', async () => {
    const tool = program('bin/tool', '/bin/echo');
    const evil = program('evil', '/usr/bin/touch');
    const granted = requestOf(await (await judging([tool]))('tool canary'));
    const opened = await openTrusted(granted, new AbortController().signal);
    if (!opened.ok) throw new Error(opened.message);
    renameSync(evil, tool);
    const { trusted: _, ...request } = opened.request;
    expect(await start({ ...request, identity: null })).toMatchObject({ stdout: 'canary\n' });
    opened.close();
    expect(existsSync(canary)).toBe(false);
  });

  it('found through a link is the file that the link led to when it was judged', async () => {
    const tool = program('real/tool', '/bin/echo');
    mkdirSync(at('bin'));
    symlinkSync(tool, at('bin/tool'));
    const granted = requestOf(await (await judging([tool]))('tool canary'));
    rmSync(at('bin/tool'));
    symlinkSync(program('evil', '/usr/bin/touch'), at('bin/tool'));
    expect(await start(granted)).toMatchObject({ stdout: 'canary\n' });
    expect(existsSync(canary)).toBe(false);
  });

  it('whose times cannot tell is hashed again before it starts', async () => {
    const tool = program('bin/tool', '/bin/echo');
    const evaluation = await (await judging([tool]))('tool canary');
    const [trusted] = evaluation.exec?.trusted ?? [];
    if (trusted === undefined) throw new Error('not judged');
    expect(trusted.binary.young).toBe(true);
    const request = requestOf(evaluation);
    const other = { ...trusted, binary: { ...trusted.binary, sha256: 'f'.repeat(64) } };
    expect(await start({ ...request, trusted: [other] })).toMatchObject({ error: 'path_changed' });
    const old = { ...other, binary: { ...other.binary, young: false } };
    expect(await start({ ...request, trusted: [old] })).toMatchObject({ stdout: 'canary\n' });
  });

  it('is not started when the call was cancelled meanwhile', async () => {
    const request = requestOf(await (await judging([program('bin/tool', '/usr/bin/touch')]))('tool canary'));
    expect(await spawnTool(request, { report: () => {}, signal: AbortSignal.abort() })).toMatchObject({
      kind: 'not_started',
    });
    expect(existsSync(canary)).toBe(false);
  });

  it('leaves no descriptor open, whether it started or not', async () => {
    const tool = program('bin/tool', '/bin/echo');
    const granted = requestOf(await (await judging([tool]))('tool x'));
    await start(granted);
    const before = readdirSync('/proc/self/fd').length;
    await start(granted);
    renameSync(program('evil', '/usr/bin/touch'), tool);
    await start(granted);
    expect(readdirSync('/proc/self/fd').length).toBe(before);
  });
});

describe.runIf(process.platform === 'linux')('a pinned script', () => {
  const shell = (): string => realpathSync('/bin/sh');

  it('is given by its real path to its interpreter, which starts by descriptor', async () => {
    const tool = script('bin/tool', '#!/bin/sh -f\necho "$0 $- $*"; readlink /proc/$$/exe\n');
    const result = await start(requestOf(await (await judging([tool, shell()]))('tool x')));
    expect(result).toMatchObject({
      kind: 'ended',
      stdout: expect.stringMatching(`^${tool} \\w*f\\w* x\n${shell()}\n$`),
    });
  });

  it('behind env starts what env would have looked up', async () => {
    const tool = script('bin/tool', '#!/usr/bin/env inner\necho "$0 $*"\n');
    script('bin/inner', '#!/bin/sh\nexec /bin/sh "$@"\n');
    const judge = await judging([tool, at('bin/inner'), '/usr/bin/env', shell()]);
    expect(await start(requestOf(await judge('tool x')))).toMatchObject({ stdout: `${tool} x\n` });
  });

  it('that changed, or whose interpreter changed, does not start', async () => {
    const inner = program('bin/inner', shell());
    const tool = script('bin/tool', `#!${inner}\necho real\n`);
    const granted = requestOf(await (await judging([tool, inner]))('tool'));
    expect(await start(granted)).toMatchObject({ stdout: 'real\n' });
    script('bin/tool', `#!${inner}\n: > canary\n`);
    expect(await start(granted)).toMatchObject({ kind: 'not_started', error: 'path_changed' });
    rmSync(tool);
    expect(await start(granted)).toMatchObject({ kind: 'not_started', error: 'path_changed' });
    expect(existsSync(canary)).toBe(false);
  });

  it('without a #! line is one of the shell, which has to be trusted too', async () => {
    const tool = script('bin/tool', 'echo real\n');
    expect(await (await judging([tool]))('tool')).toMatchObject({
      action: 'approve',
      trust: [{ reason: 'interpreter', path: shell() }],
    });
    expect(await start(requestOf(await (await judging([tool, shell()]))('tool')))).toMatchObject({ stdout: 'real\n' });
  });
});

describe.runIf(process.platform === 'linux')('a line of pinned programs', () => {
  const startOf = async (file: string): Promise<TrustedStart> => {
    const fact = await realBinaries().read(file);
    if (fact.state !== 'read') throw new Error(file);
    const binary = { real: file, identity: fact.identity, sha256: fact.sha256, young: fact.young };
    return { program: file, binary, argv0: null, before: [], scripts: [] };
  };
  const lineOf = async (line: string, trusted: readonly TrustedStart[]): Promise<SpawnRequest> => ({
    ...requestOf(await (await judging([program('bin/plain', '/bin/echo')]))('plain x')),
    file: '/bin/sh',
    argv0: '/bin/sh',
    args: ['-c', line],
    identity: null,
    trusted,
  });

  it('starts what was judged, also when a program of the line replaces a later one', async () => {
    const tool = program('bin/tool', '/bin/echo');
    const mover = program('mover', '/bin/mv');
    const trusted = [await startOf(mover), await startOf(tool)];
    const evil = program('evil', '/usr/bin/touch');
    const line = `'${mover}' '${evil}' '${tool}' 2>/dev/null && '${tool}' 'canary'`;
    const request = await lineOf(line, trusted);
    expect(await start(request)).toMatchObject({ kind: 'ended', exit_code: 0, stdout: 'canary\n' });
    expect(existsSync(canary)).toBe(false);
    expect(statSync(tool).size).toBe(8 * 1024 * 1024);
    expect(await start(request)).toMatchObject({ kind: 'not_started', error: 'path_changed' });
  });

  it('starts a program under the name that it goes by, and cleans up behind it', async () => {
    const real = program('real/interp', '/bin/sh');
    mkdirSync(at('bin'));
    symlinkSync(real, at('bin/tool'));
    symlinkSync(program('evil', '/usr/bin/touch'), at('bin/other'));
    const named = await start(await lineOf(`'${at('bin/tool')}' '-c' 'echo $0'`, [await startOf(real)]));
    const called = named.kind === 'ended' ? named.stdout.trim() : '';
    expect(called).toMatch(/\/reins-\w+\/0\/tool$/);
    expect(existsSync(join(called, '../..'))).toBe(false);
    const plain = await start(await lineOf(`'${real}' '-c' 'echo $0'`, [await startOf(real)]));
    expect(plain).toMatchObject({ stdout: expect.stringMatching(/^\/proc\/\d+\/fd\/\d+\n$/) });
    const script = { ...(await startOf(real)), program: at('bin/tool'), argv0: '/bin/sh', before: ['-c', 'echo $0'] };
    const through = await start(await lineOf(`'${at('bin/tool')}'`, [script]));
    expect(through).toMatchObject({ stdout: expect.stringMatching(/\/sh\n$/) });
    const other = await start(await lineOf(`'${at('bin/other')}' 'canary'`, [await startOf(real)]));
    expect(other).toMatchObject({ kind: 'not_started', error: 'spawn_failed' });
    expect(existsSync(canary)).toBe(false);
  });

  it('as the gate grants it keeps its words, redirects and pipes, its scripts and its names', async () => {
    const tool = program('bin/tool', '/bin/echo');
    const plain = script('bin/plain', '#!/bin/sh\necho "$0 $*"\n');
    const judge = await judging([tool, plain, realpathSync('/bin/sh')]);
    const granted = await judge(`tool 'canary' | plain x 2>/dev/null && tool x || tool`);
    expect(granted).toMatchObject({ action: 'allow', exec: { form: 'sh' } });
    expect(granted.exec?.trusted?.map((start) => start.program)).toEqual([tool, plain, tool, tool]);
    expect(await start(requestOf(granted))).toMatchObject({ stdout: `${plain} x\nx\n`, exit_code: 0 });
    renameSync(program('evil', '/usr/bin/touch'), tool);
    expect(await start(requestOf(granted))).toMatchObject({ kind: 'not_started', error: 'path_changed' });
    expect(await judge(`plain x && tool 'canary'`)).toMatchObject({
      action: 'approve',
      trust: [{ reason: 'mismatch' }],
    });
  });

  it('of one command is rebuilt from what was judged', async () => {
    const tool = program('bin/tool', '/bin/echo');
    const evaluation = await (await judging([tool]))('tool x', { shell: true });
    expect(evaluation).toMatchObject({ action: 'allow', exec: { form: 'sh', trusted: [{ program: tool }] } });
    expect(await start(requestOf(evaluation))).toMatchObject({ stdout: 'x\n' });
  });

  it('that does not start exactly what was judged is not started at all', () => {
    const file = { real: '/t/a b', identity: { dev: '', ino: '', size: '', mtime_ns: '', ctime_ns: '' } } as const;
    const of = (program: string, before: readonly string[] = []) => ({
      program,
      binary: { ...file, sha256: null, young: false },
      argv0: null,
      before,
      scripts: [],
    });
    const place = ({ program }: TrustedStart, written: string) => (written === program ? '/fd/1' : null);
    const rebuilt = (line: string, ...programs: readonly string[]) =>
      rebuiltWith(
        line,
        programs.map((program) => of(program)),
        place,
      );
    expect(rebuilt(`'/t/a' 'x|y' 2>&1 | '/t/b' >/dev/null || '/t/a'`, '/t/a', '/t/b', '/t/a')).toBe(
      `'/fd/1' 'x|y' 2>&1 | '/fd/1' >/dev/null || '/fd/1'`,
    );
    expect(rebuilt(`'/t/it'\\''s' 'x'`, `/t/it's`)).toBe(`'/fd/1' 'x'`);
    expect(rebuiltWith(`'/t/a' 'x'`, [of('/t/a', ['-u', `/t/it's`])], place)).toBe(`'/fd/1' '-u' '/t/it'\\''s' 'x'`);
    expect(rebuilt(`</dev/null '/t/a' 2>'/dev/null'`, '/t/a')).toBe(`</dev/null '/fd/1' 2>'/dev/null'`);
    for (const [line, ...programs] of [
      [`'/t/a' && '/t/b'`, '/t/a'],
      [`'/t/a'`, '/t/a', '/t/b'],
      [`'/t/b'`, '/t/a'],
      [`'/t/a' ; '/t/a'`, '/t/a', '/t/a'],
      [`'/t/a' & '/t/a'`, '/t/a', '/t/a'],
      [`'/t/a' > 'out'`, '/t/a'],
      [`'/t/a' '`, '/t/a'],
    ] as const) {
      expect(rebuilt(line, ...programs), line).toBeNull();
    }
  });
});
