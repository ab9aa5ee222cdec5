import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { identityFact } from '../../src/gate/binaries.ts';
import type { SpawnMessage, SpawnRequest } from '../../src/schema/protocol.ts';
import { spawnTool } from '../../workers/spawn-tool.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let temp: TempHome;
beforeEach(() => {
  temp = tempHome();
});
afterEach(() => temp.remove());

const requestOf = (line: string, more: Partial<SpawnRequest> = {}): SpawnRequest => ({
  file: '/bin/sh',
  argv0: 'sh',
  args: ['-c', line],
  cwd: temp.workspace,
  env: { PATH: '/usr/bin:/bin' },
  timeout_ms: 60_000,
  max_output_bytes: 65_536,
  spool: { directory: join(temp.home, 'tool_output/run_1'), name: 'call_1' },
  identity: null,
  cwd_identity: null,
  ...more,
});

/** Runs a job; `during` sees its messages and may answer. */
async function run(request: SpawnRequest, during?: (message: SpawnMessage, cancel: () => void) => void) {
  const messages: SpawnMessage[] = [];
  const cancel = new AbortController();
  const result = await spawnTool(request, {
    signal: cancel.signal,
    report(message) {
      messages.push(message);
      during?.(message, () => cancel.abort());
    },
  });
  if (result.kind !== 'ended') throw new Error(result.message);
  return { ...result, messages };
}
const nobody = { report: () => {}, signal: new AbortController().signal };
const failed = async (request: SpawnRequest) => spawnTool(request, nobody);
const isAlive = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/\) [ZX] /.test(stat);
  } catch {
    return false;
  }
};

/** A killed process needs a moment to be gone; one that lives on fails the test by its time limit. */
async function ended(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((next) => setImmediate(next));
}

describe('a child', () => {
  it('reports its pid before anything else, and leads its own session and group', async () => {
    const { messages, stdout } = await run(requestOf('cut -d" " -f1,5,6 /proc/$$/stat'));
    const [first] = messages;
    expect(first?.kind).toBe('started');
    const pid = first?.kind === 'started' ? first.pid : 0;
    expect(stdout).toBe(`${pid} ${pid} ${pid}\n`);
  });

  it('has no descriptor but 0, 1 and 2, and an empty standard input; what our parent left open is /dev/null', async () => {
    const { stdout } = await run(requestOf('cat; ls -l /proc/$$/fd'));
    const open = new Map([...stdout.matchAll(/(\d+) -> (.+)$/gm)].map(([, fd, target]) => [Number(fd), target]));
    expect([...open.keys()]).toEqual(expect.arrayContaining([0, 1, 2]));
    expect([...open].filter(([fd, target]) => fd > 2 && target !== '/dev/null')).toEqual([]);
  });

  it('gives both streams, their sizes and the exit code', async () => {
    expect(await run(requestOf('echo out; echo problem >&2; exit 3'))).toMatchObject({
      exit_code: 3,
      signal: null,
      timed_out: false,
      cancelled: false,
      output_limit: false,
      background_killed: false,
      stdout: 'out\n',
      stderr: 'problem\n',
      stdout_bytes: 4,
      stderr_bytes: 8,
      truncated: false,
      spooled: {},
      spool_truncated: false,
      spool_fault: null,
    });
  });

  it('that cannot be started is a result with the reason of the system', async () => {
    writeFileSync(join(temp.workspace, 'plain'), 'x');
    expect(await failed(requestOf('', { file: join(temp.workspace, 'plain') }))).toEqual({
      kind: 'not_started',
      error: 'spawn_failed',
      message: 'The system did not start it: EACCES.',
    });
    expect(await failed(requestOf('', { file: '/no/such/file' }))).toMatchObject({ error: 'spawn_failed' });
    expect(await failed(requestOf('true', { env: { BIG: 'x'.repeat(200_000) } }))).toMatchObject({
      error: 'spawn_failed',
    });
  });

  it('is not started when program or directory is another one than was judged', async () => {
    const path = join(temp.workspace, 'program');
    writeFileSync(path, '#!/bin/sh\necho yes\n');
    chmodSync(path, 0o755);
    const identity = identityFact(statSync(path, { bigint: true }));
    expect(await run(requestOf('', { file: path, identity }))).toMatchObject({ stdout: 'yes\n' });
    chmodSync(path, 0o700);
    expect(await failed(requestOf('', { file: path, identity }))).toMatchObject({ error: 'path_changed' });
    const place = statSync(temp.workspace, { bigint: true });
    const cwd_identity = { dev: String(place.dev), ino: String(place.ino + 1n) };
    expect(await failed(requestOf('true', { cwd_identity }))).toMatchObject({ error: 'path_changed' });
    rmSync(path);
    // A path that cannot even be looked at.
    symlinkSync('program', path);
    expect(await failed(requestOf('', { file: path, identity }))).toMatchObject({ error: 'path_changed' });
  });
});

describe('the end of a child', () => {
  it('comes with the time limit, also when it ignores SIGTERM', async () => {
    const request = requestOf('trap "" TERM; echo begun; sleep 300 & wait', { timeout_ms: 300 });
    let pid = 0;
    const result = await run(request, (message) => {
      if (message.kind === 'started') pid = message.pid;
    });
    expect(result).toMatchObject({
      timed_out: true,
      exit_code: 124,
      signal: null,
      stdout: 'begun\n',
      cancelled: false,
    });
    await ended(pid);
  });

  it('comes with the cancel message', async () => {
    const result = await run(requestOf('echo begun; sleep 300'), (message, cancel) => {
      if (message.kind === 'output') cancel();
    });
    expect(result).toMatchObject({ cancelled: true, timed_out: false, stdout: 'begun\n', signal: 'SIGTERM' });
  });

  it('is that of no child when the call was cancelled before', async () => {
    const request = requestOf('sleep 300');
    expect(await spawnTool(request, { ...nobody, signal: AbortSignal.abort() })).toMatchObject({
      kind: 'not_started',
      error: 'cancelled',
    });
  });

  it('takes background programs along, whether or not they hold the pipes', async () => {
    const holding = await run(requestOf('sleep 300 & echo $!'));
    expect(holding.background_killed).toBe(true);
    await ended(Number(holding.stdout));
    const detached = await run(requestOf('sleep 300 >/dev/null 2>&1 & echo $!'));
    expect(detached.background_killed).toBe(true);
    await ended(Number(detached.stdout));
  });

  it('gives a late writer of the group a moment', async () => {
    expect(await run(requestOf('(sleep 0.05; echo late) & echo early'))).toMatchObject({
      stdout: 'early\nlate\n',
      background_killed: false,
    });
  });

  it('does not wait for a process that left the group with the pipe', async () => {
    const result = await run(requestOf('setsid sleep 3 & echo hi'));
    expect(result).toMatchObject({ stdout: 'hi\n', background_killed: true, exit_code: 0 });
  });

  it.runIf(process.platform === 'linux')('takes along who left the group with the pipe', async () => {
    const line = "mkfifo left; setsid sh -c 'echo $$; echo > left; exec sleep 300' & read -r word < left";
    const env = { PATH: '/usr/bin:/bin', REINS_RUN_ID: 'run_of_this_test' };
    const result = await run(requestOf(line, { env }));
    expect(result.background_killed).toBe(true);
    await ended(Number(result.stdout));
  });

  it.runIf(process.platform === 'linux')(
    'takes along who left it, also where the main process is gone at once',
    async () => {
      const env = { PATH: '/usr/bin:/bin', REINS_RUN_ID: 'run_of_this_test' };
      const calls = Array.from({ length: 8 }, () => run(requestOf('setsid sleep 300 & echo $!', { env })));
      for (const { stdout } of await Promise.all(calls)) await ended(Number(stdout));
    },
  );

  it.runIf(process.platform === 'linux')(
    'takes along who left it and is always about to be another program',
    async () => {
      const left = Array.from(
        { length: 8 },
        () => 'setsid sh -c \'echo $$; echo > left; eval "$AGAIN"\' & read -r word < left;',
      );
      const env = { PATH: '/usr/bin:/bin', REINS_RUN_ID: 'run_of_this_test', AGAIN: 'exec sh -c "$AGAIN"' };
      const result = await run(requestOf(`mkfifo left; ${left.join(' ')}`, { env }));
      expect(result.background_killed).toBe(true);
      const pids = result.stdout.trim().split('\n').map(Number);
      expect(pids).toHaveLength(8);
      for (const pid of pids) await ended(pid);
    },
  );

  it('comes with more than 64 MiB of output', async () => {
    const result = await run(requestOf('yes'));
    expect(result).toMatchObject({ output_limit: true, truncated: true, spool_truncated: true });
    expect(result.stdout_bytes).toBeLessThan(65 * 1024 * 1024);
  });
});

describe('output', () => {
  it('goes out live, a character that two chunks share in one piece', async () => {
    const texts: string[] = [];
    await run(requestOf("printf 'a\\303'; sleep 0.2; printf '\\251b'; sleep 0.2; echo"), (message) => {
      if (message.kind === 'output') texts.push(message.text);
    });
    expect(texts.join('')).toBe('aéb');
  });

  it('keeps bytes that are no UTF-8 as U+FFFD', async () => {
    expect((await run(requestOf("printf 'a\\377b'"))).stdout).toBe('a\ufffdb');
  });

  it('has its first fifth and its last four fifths inline, cut at line ends, and the whole in a private file', async () => {
    const result = await run(requestOf('seq 1 10000', { max_output_bytes: 1024 }));
    expect(result.spooled).toEqual({ stdout: '@output/call_1.stdout' });
    expect(Buffer.byteLength(JSON.stringify(result.stdout)) - 2).toBeLessThanOrEqual(1024);
    expect(result.stdout).toMatch(
      /^1\n2\n(?:\d+\n)+\[… \d+ bytes, \d+ lines left out; full output: @output\/call_1\.stdout\]\n(?:\d+\n)+10000\n$/,
    );
    const directory = join(temp.home, 'tool_output/run_1');
    expect(readFileSync(join(directory, 'call_1.stdout'), 'utf8').split('\n').length).toBe(10_001);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, 'call_1.stdout')).mode & 0o777).toBe(0o600);
  });

  it('that one stream does not need goes to the other', async () => {
    const result = await run(requestOf('seq 1 10000 >&2', { max_output_bytes: 4096 }));
    expect(result.stderr.length).toBeGreaterThan(2500);
    const both = await run(requestOf('seq 1 10000; seq 1 10000 >&2', { max_output_bytes: 4096 }));
    expect(both.stderr.length).toBeLessThan(1024);
  });

  it('of a long line without line ends is cut between characters', async () => {
    const line = `printf '%0.sé' $(seq 1 3000)`;
    const { stdout } = await run(requestOf(line, { max_output_bytes: 1024 }));
    expect(stdout).toMatch(/^é+\n\[… \d+ bytes, 0 lines left out; full output: @output\/call_1\.stdout\]\né+$/);
  });

  it('is not written through a link, nor over another result', async () => {
    const directory = join(temp.home, 'tool_output/run_1');
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(temp.workspace, 'victim'), 'whole');
    symlinkSync(join(temp.workspace, 'victim'), join(directory, 'call_1.stdout'));
    const result = await run(requestOf('seq 1 10000', { max_output_bytes: 1024 }));
    expect(result.spooled).toEqual({ stdout: '@output/call_1-2.stdout' });
    expect(readFileSync(join(temp.workspace, 'victim'), 'utf8')).toBe('whole');
    expect(readdirSync(directory)).toEqual(['call_1-2.stdout', 'call_1.stdout']);
  });

  it('that cannot be kept does not fail the call', async () => {
    writeFileSync(join(temp.home, 'file'), '');
    const spool = { directory: join(temp.home, 'file/run_1'), name: 'call_1' };
    const result = await run(requestOf('seq 1 10000', { max_output_bytes: 1024, spool }));
    expect(result).toMatchObject({ exit_code: 0, truncated: true, spooled: {} });
    expect(result.spool_fault).toBe(
      `in ${temp.home}/file: not a directory (see: ls -ld ${temp.home} ${temp.home}/file)`,
    );
    expect(result.stdout).toMatch(/\n\[… \d+ bytes, \d+ lines left out\]\n/);
  });
});

it('runs 20 children at the same time', async () => {
  const gate = join(temp.workspace, 'gate');
  let started = 0;
  const one = () =>
    run(requestOf(`while [ ! -e ${gate} ]; do sleep 0.02; done; echo done`), (message) => {
      // The last one to start opens the gate for all: one after the other they would wait for ever.
      if (message.kind === 'started') started += 1;
      if (started === 20) writeFileSync(gate, '');
    });
  const results = await Promise.all(Array.from({ length: 20 }, one));
  expect(results.map((result) => result.stdout)).toEqual(Array.from({ length: 20 }, () => 'done\n'));
});
