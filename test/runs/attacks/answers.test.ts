import { chmodSync, existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addScript, createProject, tester, type World, writingTurns } from '../../cli/world.ts';
import { rows } from '../../crash/support.ts';

/** Attacks of `attack-cases.json` on answers to asks, each through the built program. The canaries are files that only an executed call makes. */

let world: World;
beforeEach(async () => {
  world = await createProject();
  world.write('../approve.json', JSON.stringify({ default_action: 'approve' }));
  // Every clock of the program, set by the milliseconds of a file.
  world.write('../clock.cjs', "const real = Date.now; Date.now = () => real() + Number(process.env['AHEAD'] ?? 0);");
});
afterEach(() => world.remove());

const made = (): readonly string[] => readdirSync(world.workspace).filter((name) => /^(new\.txt|ran|gated)/.test(name));
const pending = () => rows(world, "SELECT id, binding FROM asks WHERE state = 'pending' ORDER BY id");
const states = () => rows(world, 'SELECT state FROM asks ORDER BY id').map(({ state }) => state);
const ask = (...flags: readonly string[]) => world.run([...tester, '--policy', '../approve.json', ...flags, 'go']);
const respond = (...words: readonly string[]) => world.run(['approvals', 'respond', ...words]);
const at = (ahead: number) => ({
  environment: { NODE_OPTIONS: `--require ${join(world.dir, 'clock.cjs')}`, AHEAD: String(ahead) },
});

describe('APR-004: what was asked about changes before the verdict is applied', () => {
  const change = (sql: string): void => {
    const database = new Database(join(world.workspace, '.reins/local.db'));
    expect(database.prepare(sql).run().changes).toBeGreaterThan(0);
    database.close();
  };
  const program = (name: string) => chmodSync(world.write(name, `#!/bin/sh\ntouch ran-${name}\n`), 0o755);

  it.each([
    [
      'the arguments of the stored call',
      () => change(`UPDATE run_messages SET payload = replace(payload, './tool', './evil')`),
    ],
    [
      'the program',
      () => {
        rmSync(join(world.workspace, 'tool'));
        symlinkSync('evil', join(world.workspace, 'tool'));
      },
    ],
  ])('%s', async (_what, before) => {
    await addScript(world, [
      { match: { role: 'tool' }, reply: { text: 'done' } },
      { reply: { tool_calls: [{ name: 'local_shell.local_shell', arguments: { command: './tool' } }] } },
    ]);
    program('good');
    program('evil');
    symlinkSync('good', join(world.workspace, 'tool'));
    expect((await ask('--shell')).code).toBe(4);
    before();
    expect((await respond(String(pending()[0]?.['id']), '--approve')).code).toBe(4);
    expect(made()).toEqual([]);
    expect(states()).toEqual(['approved', 'pending']);
    const [first, second] = rows(world, 'SELECT id, superseded_by, call_hash FROM asks ORDER BY id');
    expect([first?.['superseded_by'], first?.['call_hash'] === second?.['call_hash']]).toEqual([second?.['id'], false]);
  });
});

describe('APR-005: an answer that is given again', () => {
  it('is the stored one within a minute, refused after it, and never another', async () => {
    await addScript(world, writingTurns);
    await ask();
    const id = String(pending()[0]?.['id']);
    const approve = ['approvals', 'respond', id, '--approve', '--no-resume'];
    expect(await world.run(approve)).toMatchObject({ code: 0, stdout: `approved ${id}\n` });
    const [stored] = rows(world, 'SELECT verdict FROM asks');
    expect(await world.run(approve)).toMatchObject({ code: 0, stdout: `approved ${id}\n` });
    const late = await world.run([...approve, '--json'], at(61_000));
    expect([late.code, JSON.parse(late.stdout).error]).toMatchObject([1, { code: 'already_answered' }]);
    expect(late.stderr).toContain('approved by operator:cli at 2');
    expect((await respond(id, '--deny')).code).toBe(1);
    expect(rows(world, 'SELECT verdict FROM asks')).toEqual([stored]);
    expect(rows(world, "SELECT count(*) AS n FROM audit WHERE type = 'verdict'")).toEqual([{ n: 1 }]);
  });

  it('with the binding of another ask is refused', async () => {
    await addScript(world, writingTurns);
    await ask();
    await ask();
    const [one, two] = pending();
    // The same call has the same binding; under another policy it has another one.
    world.write('../approve.json', JSON.stringify({ default_action: 'approve', rules: [] }));
    await ask();
    const other = pending()[2]?.['binding'];
    expect([one?.['binding'] === two?.['binding'], one?.['binding'] === other]).toEqual([true, false]);
    world.write('../approve.json', JSON.stringify({ default_action: 'approve' }));
    const refused = await respond(String(one?.['id']), '--approve', '--binding', String(other));
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('binds to')]);
    expect(states()).toEqual(['pending', 'pending', 'pending']);
  });
});

it('APR-006: a deadline that has passed is a denial, and no jump of the clock revives it', async () => {
  await addScript(world, writingTurns);
  world.write('../short.json', JSON.stringify({ rules: [{ tools: 'local_fs', action: 'approve', timeout_s: 1 }] }));
  const run = [...tester, '--policy', '../short.json', 'go'];
  expect((await world.run(run)).code).toBe(4);
  const [{ id, run_id }] = rows(world, 'SELECT id, run_id FROM asks') as [{ id: string; run_id: string }];
  for (const ahead of [2_000, -3_600_000, 3_600_000, -86_400_000]) {
    const late = await world.run(['approvals', 'respond', id, '--approve'], at(ahead));
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('that counted as a denial')]);
    expect(rows(world, "SELECT state, json_extract(verdict, '$.by') AS by FROM asks")).toEqual([
      { state: 'expired', by: 'system:timeout' },
    ]);
  }
  const resumed = await world.run(['state', 'resume', '--fail-on-denial', run_id], at(-3_600_000));
  expect(resumed).toMatchObject({ code: 5, stdout: 'It was denied.\n' });
  expect(made()).toEqual([]);
});

describe('APR-017 and APR-018: many asks at once', () => {
  const gated = Array.from({ length: 8 }, (_, index) => `gated${index}`);
  beforeEach(async () => {
    const reads = Array.from({ length: 12 }, () => ({ name: 'local_fs.stat_file', arguments: { path: '.' } }));
    const writes = gated.map((path) => ({ name: 'local_fs.write_file', arguments: { path, content: 'x' } }));
    await addScript(world, [
      { match: { role: 'tool' }, reply: { text: 'done' } },
      { reply: { tool_calls: [...reads.slice(0, 6), ...writes, ...reads.slice(6)] } },
    ]);
    const rules = [{ tools: 'local_fs', tool: 'write_file', action: 'approve' }];
    world.write('../some.json', JSON.stringify({ default_action: 'allow', rules }));
    expect((await world.run([...tester, '--policy', '../some.json', 'go'])).code).toBe(4);
  });

  it('APR-017: each has its own ask, and an approval is for one', async () => {
    expect(pending()).toHaveLength(8);
    const ids = pending().map(({ id }) => String(id));
    const all = await respond(...ids, '--approve');
    expect([all.code, states()]).toEqual([2, Array(8).fill('pending')]);
    const idOf = (name: string) => String(rows(world, `SELECT id FROM asks WHERE summary LIKE '%${name}%'`)[0]?.['id']);
    // Calls are made in their order: this one waits for the verdicts on those before it.
    expect((await respond(idOf('gated5'), '--approve')).code).toBe(4);
    expect([made(), pending().length]).toEqual([[], 7]);
    expect((await respond(idOf('gated0'), '--approve')).code).toBe(4);
    expect([made(), pending().length]).toEqual([['gated0'], 6]);
  });

  it('APR-018: a beginning that several ids share is refused with all of them', async () => {
    const ids = pending().map(({ id }) => String(id));
    const [first = '', last = ''] = [ids[0], ids.at(-1)];
    let length = 'ask_'.length;
    while (first[length] === last[length]) length += 1;
    for (const flag of ['--approve', '--deny']) {
      const refused = await respond(first.slice(0, length), flag);
      expect([refused.code, ids.filter((id) => refused.stderr.includes(id))]).toEqual([2, ids]);
    }
    expect([made(), states()]).toEqual([[], Array(8).fill('pending')]);
    expect(existsSync(join(world.workspace, 'gated0'))).toBe(false);
  });
});
