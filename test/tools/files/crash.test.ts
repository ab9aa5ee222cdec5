import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type TempHome, tempHome } from '../../support/temp-home.ts';

let temp: TempHome;
beforeEach(() => {
  temp = tempHome();
});
afterEach(() => temp.remove());

const host = `
  import { createWriteTools } from './write.mjs';
  const marks = new Map();
  const store = { get: (scope, path) => marks.get(path) ?? null, put: (scope, path, mark) => void marks.set(path, mark) };
  const [tool] = createWriteTools({ marks: store });
  const site = { run_id: 'r', call_id: 'c', scope: 's', root: process.argv[2], confined: true, home: '/', limits: {}, direct: false, command: null };
  for (let round = 0; ; round += 1) {
    const args = { path: 'a.txt', content: (round % 2 === 0 ? 'A' : 'B').repeat(200_000) };
    const prepared = await tool.prepare(args, site, {});
    const ports = { marks: store, journal: { note() {} }, lockPath: async () => () => {} };
    const result = await tool.execute(args, { ...site, facts: prepared.facts, exec: null, signal: new AbortController().signal, ports });
    process.stdout.write(JSON.stringify(result.ok) + '\\n');
  }
`;

/** Kills the writer as soon as it has written this many times: the next write is under way. */
async function killAfter(writes: number): Promise<string> {
  const child = spawn(process.execPath, [join(temp.dir, 'host.mjs'), temp.workspace], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {},
  });
  const closed = new Promise((done) => child.once('close', done));
  let seen = '';
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk;
    if (seen.split('\n').length > writes) child.kill('SIGKILL');
  });
  await closed;
  return seen.split('\n').slice(0, writes).join();
}

it('leaves the whole old or the whole new file when the process is killed while it writes', async () => {
  await build({
    absWorkingDir: resolve(import.meta.dirname, '../../..'),
    entryPoints: ['src/tools/files/write.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: join(temp.dir, 'write.mjs'),
    logLevel: 'error',
  });
  writeFileSync(join(temp.dir, 'host.mjs'), host);
  for (let writes = 1; writes <= 10; writes += 1) {
    writeFileSync(join(temp.workspace, 'a.txt'), '');
    expect(await killAfter(writes)).toBe(Array(writes).fill('true').join());
    const content = readFileSync(join(temp.workspace, 'a.txt'), 'utf8');
    expect(['A'.repeat(200_000), 'B'.repeat(200_000)].includes(content)).toBe(true);
  }
});
