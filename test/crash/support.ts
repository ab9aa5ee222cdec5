import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'vitest';
import { addScript, createProject, tester, type World } from '../cli/world.ts';
import { startCli } from '../support/run-cli.ts';

/** Calls of the scripted loop; each adds its own line to `count.txt`. */
export const callCount = 3;

const callOf = (number: number) => ({
  match: { tool: { count: number - 1 } },
  reply: {
    text: `Call ${number}.`,
    tool_calls: [{ name: 'local_shell.local_shell', arguments: { command: `./add ${number}` } }],
  },
});

/** A project with a scripted model that makes three calls, and policies that allow them or ask about them. */
export async function createCrashWorld(): Promise<World> {
  const world = await createProject();
  await addScript(world, [
    { name: 'again', match: { last_user: { contains: 'again' } }, reply: { text: 'Here again.' } },
    { name: 'over', match: { tool: { count: callCount } }, reply: { text: 'All three are made.' } },
    { name: 'third', ...callOf(3) },
    { name: 'second', ...callOf(2) },
    { name: 'first', match: { role: 'user' }, reply: callOf(1).reply },
  ]);
  chmodSync(world.write('add', '#!/bin/sh\necho "$1" >> count.txt\n'), 0o755);
  world.write('../allow.json', JSON.stringify({ default_action: 'allow', rules: [] }));
  world.write('../approve.json', JSON.stringify({ default_action: 'approve', rules: [] }));
  return world;
}

export type Face = 'run' | 'chat';

/** Starts the loop; with `approve` every call asks and waits. */
export function startLoop(world: World, face: Face, policy: 'allow' | 'approve', failPoint = '') {
  const path = join(world.dir, `${policy}.json`);
  const onAsk = policy === 'allow' ? 'deny' : 'wait';
  return startCli(world, [face, ...tester, '--shell', '--policy', path, '--on-ask', onAsk, '--input', 'go'], {
    environment: { REINS_FAIL_POINT: failPoint },
  });
}

export const madeCalls = (world: World): string[] => {
  const path = join(world.workspace, 'count.txt');
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
};

type Row = Readonly<Record<string, unknown>>;

export function rows(world: World, sql: string): Row[] {
  const database = new Database(join(world.workspace, '.reins/local.db'), { readonly: true });
  try {
    // A statement without pluck gives objects.
    return database.prepare(sql).all() as Row[];
  } finally {
    database.close();
  }
}

/** RFC 8785 for what audit rows hold: objects by key, everything else as JSON has it. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`;
};

/** Every row's hash is that of its content and of the row before (03 §14). */
export function brokenAudit(entries: readonly Row[]): unknown[] {
  let previous = '0'.repeat(64);
  const broken: unknown[] = [];
  for (const [index, { hash, ...entry }] of entries.entries()) {
    const content = canonical({ ...entry, body: JSON.parse(String(entry['body'])) });
    const own = createHash('sha256').update(content).digest('hex');
    if (entry['seq'] !== index + 1 || entry['prev_hash'] !== previous || hash !== own) broken.push(entry['seq']);
    previous = String(hash);
  }
  return broken;
}

/** What must hold of the files at any moment. */
export function expectSound(world: World): void {
  expect(rows(world, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(rows(world, 'PRAGMA foreign_key_check')).toEqual([]);
  expect(brokenAudit(rows(world, 'SELECT * FROM audit ORDER BY seq'))).toEqual([]);
  expect(
    rows(world, 'SELECT run_id, count(*) AS n, max(seq) AS last FROM events GROUP BY run_id HAVING n <> last'),
  ).toEqual([]);
  const made = madeCalls(world);
  expect(new Set(made).size).toBe(made.length);
  // What ran had been written down before.
  expect(made.length).toBeLessThanOrEqual(rows(world, 'SELECT 1 FROM tool_calls WHERE started_at IS NOT NULL').length);
}

/** What `doctor` says of the runs that rest, and that every listing works. */
async function expectReported(world: World): Promise<void> {
  const ended = rows(world, 'SELECT ended_at FROM runs').every((row) => row['ended_at'] !== null);
  const report = JSON.parse((await world.run(['doctor', '--json'])).stdout);
  const codes = report.issues.map((issue: { code: string }) => issue.code);
  expect(codes.includes('runs_interrupted')).toBe(!ended);
  expect((await world.run(['approvals', 'list', '--json'])).code).toBe(0);
}

/** No call runs twice, nothing is left open, and the record holds. */
function expectNothingOpen(world: World): void {
  expect(rows(world, 'SELECT id, status FROM runs WHERE ended_at IS NULL')).toEqual([]);
  expect(rows(world, "SELECT id FROM asks WHERE state = 'pending'")).toEqual([]);
  expect(rows(world, "SELECT seq, state FROM tool_calls WHERE state IN ('planned', 'started')")).toEqual([]);
  expectSound(world);
}

/**
 * A new turn of the session takes the place of what was left: nothing of it runs any more. A call that may have run is
 * told to the model as such (07 §2.7).
 */
export async function expectGivenUp(world: World): Promise<void> {
  expectSound(world);
  await expectReported(world);
  const ended = rows(world, 'SELECT ended_at FROM runs').every((row) => row['ended_at'] !== null);
  const made = madeCalls(world);
  const asked = rows(world, "SELECT 1 FROM tool_calls WHERE state = 'started'").length > 0;
  const next = await world.run(['chat', ...tester, '--on-ask', 'deny', 'here', 'again']);
  expect(next).toMatchObject({ code: 0, stdout: 'Here again.\n' });
  expect(madeCalls(world)).toEqual(made);
  const statuses = rows(world, 'SELECT status FROM runs ORDER BY created_at').map((row) => row['status']);
  if (!ended && statuses.length > 1) expect(statuses[0]).toBe(asked ? 'cancelled' : 'interrupted');
  expectNothingOpen(world);
}

/** A person who looks before he answers: what has its line was done, what has none may run again. */
const verdictOn = (world: World, ask: { readonly kind: string; readonly args: { readonly command: string } }) => {
  if (ask.kind !== 'unknown_outcome') return ['--approve'];
  const number = ask.args.command.split(' ')[1] ?? '';
  return madeCalls(world).includes(number) ? ['--treat-as', 'done', '--text', 'added'] : ['--treat-as', 'run-again'];
};

/**
 * The run is taken up again, its questions are answered in other processes, and it comes to its end: each call made
 * exactly once, in order, and the conversation told once.
 */
export async function expectGoneOn(world: World, face: Face): Promise<void> {
  expectSound(world);
  await expectReported(world);
  const [run] = rows(world, 'SELECT id, ended_at, output FROM runs');
  // Killed before anything was written: nothing had been accepted either.
  if (run === undefined) return;
  if (run['ended_at'] === null) {
    let last = await world.run(['state', 'resume', String(run['id'])]);
    for (let answers = 0; last.code === 4; answers += 1) {
      expect(answers).toBeLessThan(2 * callCount + 2);
      const { asks } = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout);
      last = await world.run(['approvals', 'respond', asks[0].id, ...verdictOn(world, asks[0])]);
    }
    expect(last).toMatchObject({ code: 0, stdout: 'All three are made.\n' });
  }
  expect(madeCalls(world)).toEqual(['1', '2', '3']);
  expectNothingOpen(world);
  if (face === 'run') return;
  const shown = JSON.parse((await world.run(['session', 'show', '--tools', '--json'])).stdout);
  const told = shown.messages.map(({ role, text }: { role: string; text: string }) => (role === 'tool' ? role : text));
  expect(told).toEqual(['go', 'Call 1.', 'tool', 'Call 2.', 'tool', 'Call 3.', 'tool', 'All three are made.']);
}
