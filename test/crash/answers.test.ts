import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { builtAt } from '../support/built-at.ts';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

/**
 * APR-001 of `attack-cases.json`: processes that answer the same ask in the same moment, one for each surface.
 * `npm run crash` makes a thousand rounds, CI few.
 */

const rounds = 10 * Number(process.env['REINS_CRASH_ROUNDS'] ?? '4');
/** Calls of one run, each of which asks. */
const batch = 20;

const directory = join(import.meta.dirname, '../../node_modules/.cache', `reins-answerer-${process.pid}`);
const answerer = join(directory, 'answerer.mjs');
let app: ScriptedApp;
const children: ChildProcess[] = [];

beforeAll(async () => {
  mkdirSync(directory, { recursive: true });
  await build({
    entryPoints: [join(import.meta.dirname, 'answerer.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    define: { FAIL_POINTS: 'false' },
    outfile: answerer,
    logLevel: 'error',
  });
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await app.close();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

type Told = { readonly state?: string; readonly by?: string; readonly code?: string } & Readonly<
  Record<string, unknown>
>;

/** A process that answers as one surface. */
async function surface(name: string) {
  const { home, workspace } = app.place;
  const child = spawn(process.execPath, [answerer, name, builtAt, home, workspace], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe('ready');
  return {
    name,
    child,
    answer: async (id: string, outcome: string): Promise<Told> => {
      child.stdin.write(`${JSON.stringify({ id, outcome })}\n`);
      return JSON.parse(String((await lines.next()).value)) as Told;
    },
  };
}

const outcomes = { cli: 'approve', tui: 'deny', web: 'approve' } as const;
const states = { approve: 'approved', deny: 'denied' } as const;

test(`APR-001: ${rounds} asks, answered by three processes at once: one verdict each, and the others are told of it`, async () => {
  const all = Array.from({ length: batch }, (_, index) =>
    call('local_shell.local_shell', { command: `./add ${index}` }),
  );
  app = await scriptedApp({
    turns: [says('done', { tool: { count: batch } }), calls(all)],
    policy: { default_action: 'approve', rules: [] },
  });
  const counted = join(app.place.workspace, 'count');
  writeFileSync(join(app.place.workspace, 'add'), '#!/bin/sh\necho "$REINS_RUN_ID $1" >> count\n');
  chmodSync(join(app.place.workspace, 'add'), 0o755);
  const surfaces = await Promise.all(Object.keys(outcomes).map(surface));
  const approved: string[] = [];
  for (let round = 0; round < rounds; round += batch) {
    const { run_id } = await app.run({ on_ask: 'suspend' });
    const asks = app.rows('SELECT id, args FROM asks WHERE run_id = ? ORDER BY id', run_id);
    expect(asks).toHaveLength(batch);
    for (const { id, args } of asks) {
      const told = await Promise.all(
        surfaces.map(({ name, answer }) => answer(String(id), outcomes[name as keyof typeof outcomes])),
      );
      const winner = told.findIndex(({ state }) => state !== undefined);
      const [name = '', outcome = 'deny'] = Object.entries(outcomes)[winner] ?? [];
      const state = states[outcome];
      const by = `operator:${name}`;
      const [row] = app.rows('SELECT state, verdict, resolved_at FROM asks WHERE id = ?', id);
      const at = new Date(Number(row?.['resolved_at'])).toISOString();
      // Everybody else hears who was first, with what, and when.
      const late = {
        code: 'already_answered',
        message: `${id} was already ${state} by ${by} at ${at}`,
        data: { state, by, at, param: state },
      };
      expect(told).toEqual(told.map((_, index) => (index === winner ? { state, by } : late)));
      expect([row?.['state'], JSON.parse(String(row?.['verdict'])).by]).toEqual([state, by]);
      if (state === 'approved') approved.push(`${run_id} ${JSON.parse(String(args)).command.split(' ')[1]}`);
    }
    const request = { run_id, accept_changed_chain: false, on_ask: 'suspend', timeout_ms: 0 } as const;
    await app.client.resumeRun(request);
    expect(await app.client.awaitRun({ run_id })).toMatchObject({ status: 'completed' });
  }
  // Each approved call was made exactly once, and no other.
  const made = existsSync(counted) ? readFileSync(counted, 'utf8').split('\n').filter(Boolean) : [];
  expect(made.toSorted()).toEqual(approved.toSorted());
  expect(app.rows("SELECT count(*) AS n FROM audit WHERE type = 'verdict'")).toEqual([{ n: rounds }]);
  expect(app.rows("SELECT count(*) AS n FROM events WHERE kind = 'verdict'")).toEqual([{ n: rounds }]);
  const ended = surfaces.map(({ child }) => once(child, 'exit'));
  for (const { child } of surfaces) child.stdin.end();
  expect(await Promise.all(ended)).toEqual(surfaces.map(() => [0, null]));
}, 600_000);
