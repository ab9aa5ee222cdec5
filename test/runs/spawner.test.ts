import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSpawner, type Spawner } from '../../src/runs/spawner.ts';
import type { SpawnRequest } from '../../src/schema/protocol.ts';
import { builtAt } from '../support/built-at.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

const root = pathToFileURL(`${builtAt}/`);
let place: TempHome;
let spawner: Spawner;
beforeEach(() => {
  place = tempHome();
});
afterEach(async () => {
  await spawner.close();
  place.remove();
});

const requestOf = (line: string): SpawnRequest => ({
  file: '/bin/sh',
  argv0: 'sh',
  args: ['-c', line],
  cwd: place.workspace,
  env: { PATH: '/usr/bin:/bin' },
  timeout_ms: 60_000,
  max_output_bytes: 65_536,
  spool: null,
  identity: null,
  cwd_identity: null,
});
type Seen = { readonly pids: number[]; text: string };
/** Starts a child; `during` is called with all of its output so far. */
function start(line: string, during?: (text: string) => void, signal = new AbortController().signal) {
  const seen: Seen = { pids: [], text: '' };
  const result = spawner.spawn(
    requestOf(line),
    signal,
    (_stream, text) => {
      seen.text += text;
      during?.(seen.text);
    },
    (pid) => seen.pids.push(pid),
  );
  return { result, seen };
}
/** The letter of the process table; empty when there is no such process. A dead one may wait for its parent. */
const stateOf = (pid: number): string => {
  try {
    return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? '';
  } catch {
    return '';
  }
};
const gone = (pid: number | undefined) => expect.poll(() => stateOf(pid ?? 0)).toMatch(/^[ZX]?$/);

describe('the process that starts children', () => {
  beforeEach(() => {
    spawner = createSpawner(root);
  });

  it('runs a child and reports its pid, its output and its end', async () => {
    const { result, seen } = start('echo $$; sleep 0.2; exit 3');
    expect(await result).toMatchObject({ kind: 'ended', exit_code: 3, stdout: `${seen.pids[0]}\n` });
    expect(seen.text).toBe(`${seen.pids[0]}\n`);
  });

  it('hears nothing of the terminal: it leads a session of its own, with nothing but the marker in its environment', async () => {
    const { result } = start('cut -d" " -f6 /proc/$PPID/stat; echo $PPID; tr "\\0" "\\n" < /proc/$PPID/environ');
    const { stdout } = (await result) as { readonly stdout: string };
    const [session, pid, ...environment] = stdout.trim().split('\n');
    expect(session).toBe(pid);
    expect(environment.filter((line) => !line.startsWith('NODE_CHANNEL_'))).toEqual(['REINS_RUN_ID=spawner']);
  });

  it('ends the group of a cancelled call, and the call tells what there was', async () => {
    const cancel = new AbortController();
    const { result } = start('echo begun; sleep 300', () => cancel.abort(), cancel.signal);
    expect(await result).toMatchObject({ kind: 'ended', cancelled: true, stdout: 'begun\n' });
    const late = start('echo begun', undefined, AbortSignal.abort());
    expect([await late.result, late.seen.pids]).toMatchObject([{ kind: 'not_started', error: 'cancelled' }, []]);
  });

  it('claims nothing of a child whose process was killed, ends it, and starts the next one from a new process', async () => {
    const { result, seen } = start('echo $PPID; sleep 300', (text) => process.kill(Number(text), 'SIGKILL'));
    expect(await result).toMatchObject({ kind: 'lost' });
    await gone(seen.pids[0]);
    const next = start('echo $PPID');
    expect(await next.result).toMatchObject({ kind: 'ended', exit_code: 0 });
    expect(next.seen.pids).toHaveLength(1);
  });

  it('ends with its children when the program closes', async () => {
    const { result, seen } = start('trap "echo told; exit" TERM; echo $PPID; while :; do sleep 0.02; done', (text) => {
      if (text.split('\n').length === 2) void spawner.close();
    });
    expect(await result).toMatchObject({ kind: 'ended', stdout: expect.stringContaining('told') });
    await gone(seen.pids[0]);
    await gone(Number(seen.text.split('\n')[0]));
  });

  it('leaves nothing alive when the program is killed, however many calls there were before', async () => {
    // One of the children has left the group, as a daemon does.
    const daemon = "mkfifo left; setsid sh -c 'echo > left; exec sleep 300' & daemon=$!; read -r word < left;";
    const request = requestOf(`${daemon} sleep 300 & echo $$ $! $daemon $PPID; wait`);
    const child = await program(
      `
      const request = JSON.parse(process.argv[2]);
      const run = (line, onOutput) =>
        spawner.spawn({ ...request, args: ['-c', line] }, new AbortController().signal, onOutput, () => {});
      for (let round = 0; round < 40; round += 1)
        await Promise.all(Array.from({ length: 10 }, () => run(':', () => {})));
      await run(request.args[1], (_stream, text) => process.stdout.write(text));
    `,
      { ...request, env: { ...request.env, REINS_RUN_ID: 'run_1' } },
    );
    const pids = await pidsFrom(child);
    expect(pids.map(stateOf)).not.toContain('');
    child.kill('SIGKILL');
    for (const pid of pids) await gone(pid);
  });

  it('is there before the first child when it was asked for early, and keeps no program alive', async () => {
    const child = await program(`
      import { readFileSync } from 'node:fs';
      spawner.warm();
      process.stdout.write(readFileSync('/proc/self/task/' + process.pid + '/children'));
    `);
    const ended = new Promise((done) => child.once('exit', done));
    const pids = await pidsFrom(child);
    expect(pids).toHaveLength(1);
    expect(await ended).toBe(0);
    for (const pid of pids) await gone(pid);
  });
});

/** A program of its own that has a `spawner`. */
async function program(body: string, request?: SpawnRequest) {
  await build({
    absWorkingDir: resolve(import.meta.dirname, '../..'),
    entryPoints: ['src/runs/spawner.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: join(place.dir, 'spawner.mjs'),
    logLevel: 'error',
  });
  const host = `
    import { createSpawner } from './spawner.mjs';
    const spawner = createSpawner(new URL(process.argv[3]));
    ${body}`;
  writeFileSync(join(place.dir, 'host.mjs'), host);
  return spawn(process.execPath, [join(place.dir, 'host.mjs'), JSON.stringify(request ?? null), root.href], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: '/usr/bin:/bin' },
  });
}

const pidsFrom = (child: { readonly stdout: Readable }): Promise<number[]> =>
  new Promise((done) =>
    child.stdout.once('data', (chunk: Buffer) => done(String(chunk).trim().split(' ').map(Number))),
  );

/** Processes that die at a chosen moment stand where the real one would be. */
describe('a process that dies', () => {
  const dying = (body: string): void => {
    mkdirSync(join(place.dir, 'workers'));
    writeFileSync(join(place.dir, 'package.json'), '{"type":"module"}');
    writeFileSync(join(place.dir, 'workers/spawner.js'), body);
    spawner = createSpawner(pathToFileURL(`${place.dir}/`));
  };

  it('has started nothing when it was not ready yet', async () => {
    dying('process.exit(1);');
    expect(await start('true').result).toMatchObject({ kind: 'not_started', error: 'spawn_failed' });
  });

  it('may have started what it was asked for once it was ready', async () => {
    dying(`process.send({ kind: 'ready' }); process.on('message', () => process.exit(1));`);
    expect(await start('true').result).toMatchObject({ kind: 'lost' });
  });

  it('is heard to its last word', async () => {
    dying(`process.send({ kind: 'ready' });
      process.on('message', ({ id }) => process.send({ kind: 'started', id, pid: 2147483000 }, () => process.exit(1)));`);
    const { result, seen } = start('true');
    expect(await result).toMatchObject({ kind: 'lost' });
    expect(seen.pids).toEqual([2147483000]);
  });
});
