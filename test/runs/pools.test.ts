import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPools, type Pools } from '../../src/runs/pools.ts';
import type { SpawnRequest } from '../../src/schema/protocol.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

/** Spawn threads that die at a chosen moment stand where the real one would be. */

let place: TempHome;
let pools: Pools;
beforeEach(() => {
  place = tempHome();
  mkdirSync(join(place.dir, 'workers'));
  writeFileSync(join(place.dir, 'package.json'), '{"type":"module"}');
  pools = createPools({ root: pathToFileURL(`${place.dir}/`) });
});
afterEach(async () => {
  await pools.close();
  place.remove();
});

const thread = (body: string): void =>
  writeFileSync(
    join(place.dir, 'workers/spawn-tool.js'),
    `import { spawn } from 'node:child_process';
     export default async function ({ port }) { ${body} }`,
  );
const request: SpawnRequest = {
  file: '/bin/true',
  argv0: 'true',
  args: [],
  cwd: '/',
  env: {},
  timeout_ms: 1000,
  max_output_bytes: 1000,
  spool: { directory: '/nowhere', name: 'x' },
  identity: null,
  cwd_identity: null,
};
const spawn = () =>
  pools.spawn(
    request,
    new AbortController().signal,
    () => {},
    (pid) => pids.push(pid),
  );
/** The letter of the process table; empty when there is no such process. Its thread is gone, so nobody reaps it. */
const stateOf = (pid: number): string => {
  try {
    return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? '';
  } catch {
    return '';
  }
};
let pids: number[] = [];
beforeEach(() => {
  pids = [];
});

it('does not claim that nothing ran when the thread dies after the child was started, and ends the child', async () => {
  thread(`const child = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' });
    port.postMessage({ kind: 'started', pid: child.pid });
    setTimeout(() => process.exit(1), 20);
    await new Promise(() => {});`);
  expect(await spawn()).toMatchObject({ kind: 'lost' });
  expect(pids).toHaveLength(1);
  await expect.poll(() => stateOf(pids[0] ?? 0)).toMatch(/^[ZX]?$/);
});

it('hears of a child that was started in the very moment in which the thread dies', async () => {
  thread(`port.postMessage({ kind: 'started', pid: 2147483000 }); process.exit(1);`);
  expect(await spawn()).toMatchObject({ kind: 'lost' });
});

it('says that nothing was started when the thread dies before it', async () => {
  thread('process.exit(1);');
  expect(await spawn()).toMatchObject({ kind: 'not_started', error: 'spawn_failed' });
});
