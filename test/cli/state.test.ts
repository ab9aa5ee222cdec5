import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCrashWorld, expectSound, rows, startLoop } from '../crash/support.ts';
import { openTerminal } from '../support/terminal.ts';
import { addScript, createProject, tester, type World, writingTurns } from './world.ts';

let world: World;
afterEach(() => world.remove());

const waiting = 'reins: answer with: reins approvals respond';
const dbPath = (): string => join(world.workspace, '.reins/local.db');
const change = (statement: string): void => {
  const database = new Database(dbPath());
  database.exec(statement);
  database.close();
};
const list = async (...flags: readonly string[]) =>
  JSON.parse((await world.run(['state', 'list', '--json', ...flags])).stdout);
const statuses = () => rows(world, 'SELECT status FROM runs ORDER BY created_at').map((row) => row['status']);

describe('runs that have ended', () => {
  beforeEach(async () => {
    world = await createProject();
  });

  test('are listed newest first, by status, and an empty list is empty', async () => {
    expect(await world.run(['state', 'list'])).toMatchObject({ code: 0, stdout: '', stderr: 'no runs yet\n' });
    expect((await world.run(['state', 'list', '--json'])).stdout).toBe('[]\n');
    await addScript(world, writingTurns);
    await world.run([...tester, '--policy', 'open', 'write it\nnow']);
    await world.run(['chat', ...tester, '--on-ask', 'deny', 'and this']);
    const runs = await list();
    expect(runs).toMatchObject([
      { kind: 'chat', status: 'completed', session: 'default', input: 'and this', num_turns: 2, num_tool_calls: 0 },
      {
        kind: 'run',
        status: 'completed',
        session: null,
        chain: { id: 'chain-run', name: 'default-run-chain' },
        policy: { name: 'open', source: 'builtin', state: 'ok' },
        model: 'tester',
        backend: 'script',
        input: 'write it\nnow',
        output_type: 'chat_history',
        is_error: false,
        error: null,
        exit_code: 0,
        num_turns: 2,
        num_tool_calls: 1,
        waiting_on: null,
      },
    ]);
    expect(await list('--limit', '1')).toEqual([runs[0]]);
    expect(await list('--status', 'failed')).toEqual([]);
    const table = await world.run(['state', 'list']);
    expect(table.stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['RUN', 'STATUS', 'CHAIN', 'STARTED', 'DURATION', 'TURNS', 'TOOLS', 'INPUT'],
      [runs[0].id, 'completed', 'chain-chat', runs[0].started_at, expect.stringMatching(/s$/), '2', '0', 'and this'],
      [runs[1].id, 'completed', 'chain-run', runs[1].started_at, expect.stringMatching(/s$/), '2', '1', 'write it…'],
      [''],
    ]);
    expect((await world.run(['state', 'list', '--limit', '1'])).stderr).toBe('1 more; --limit shows them\n');
    expect((await world.run(['state', 'list', '--status', 'over'])).code).toBe(2);
  });

  test('are shown with steps, calls, decisions and outcome, by any end of their id', async () => {
    await addScript(world, writingTurns);
    await world.run([...tester, '--policy', 'open', '--max-turns', '5', 'write it']);
    const [{ id }] = await list();
    const { stdout } = await world.run(['state', 'show', id.slice(-6)]);
    const lines = stdout.split('\n');
    expect(lines[0]).toBe(`${id}  completed, exit 0`);
    expect(lines).toContainEqual(
      expect.stringMatching(/^ {2}used {6}2 turns of 5, 1 tool call of 1000, \d+ tokens of /),
    );
    expect(lines.slice(lines.indexOf('Steps'))).toEqual([
      'Steps',
      expect.stringMatching(/^ {2}1\. work \(chat_completion\) \S+ tool_call$/),
      expect.stringMatching(/^ {2}2\. run_tools \(execute_tool_calls\) \S+ tools_executed$/),
      expect.stringMatching(
        /^ {5}→ local_fs\.write_file new\.txt · allowed \(default action\) · done, \d+ bytes, \d+ms$/,
      ),
      expect.stringMatching(/^ {2}3\. work \(chat_completion\) \S+ executed$/),
      '',
      'Result',
      '  It is written.',
      '',
    ]);
    for (const part of [id.slice(0, 12), id.slice(4, 12), id.slice(-4), `run_${id.slice(-5)}`]) {
      expect((await world.run(['state', 'show', part])).stdout).toBe(stdout);
    }
    const whole = JSON.parse((await world.run(['state', 'show', id, '--json'])).stdout);
    expect(whole).toMatchObject({
      id,
      result: 'It is written.',
      bounds: { turns: { used: 2, max: 5 }, tool_calls: { used: 1, max: 1000 } },
      permission_denials: [],
      steps: [{ index: 1, next: 'run_tools', input: 'write it' }, { index: 2 }, { index: 3, next: 'end' }],
      calls: [{ tools: 'local_fs', tool: 'write_file', args: { path: 'new.txt' }, state: 'done', error: null }],
      waits: [],
    });
    expect(whole.calls[0].decision).toEqual({
      action: 'allow',
      matched_rule: null,
      reason: 'default_action',
      detail: null,
      policy: { name: 'open', sha256: whole.policy.sha256 },
    });
    expect(whole.messages.map(({ message }: { message: { role: string } }) => message.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
  });

  test('show one step with what it was given and made', async () => {
    await addScript(world, writingTurns);
    await world.run([...tester, '--policy', 'open', 'write it']);
    const [{ id }] = await list();
    const step = await world.run(['state', 'show', id, '--step', '1']);
    expect(step.stdout).toContain('\nInput (string)\n  write it\n\nOutput (chat_history)\n  user:       write it\n');
    expect(step.stdout).toContain('→ local_fs.write_file {"path":"new.txt","content":"hello\\n"}');
    const third = JSON.parse((await world.run(['state', 'show', id, '--step', '3', '--json'])).stdout);
    expect(third.output.messages.map(({ role }: { role: string }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
    expect(await world.run(['state', 'show', id, '--step', '4'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `reins: ${id} has no step 4: it has steps 1 to 3\n`,
    });
  });

  test('are named by ids: an unknown one is not found, an ambiguous one is refused with the candidates', async () => {
    await world.run(['hello']);
    await world.run(['hello']);
    const ids = (await list()).map(({ id }: { id: string }) => id).sort();
    for (const command of ['show', 'cancel', 'delete', 'resume']) {
      expect(await world.run(['state', command, 'zzzz'])).toMatchObject({
        code: 1,
        stdout: '',
        stderr: 'reins: no such run: zzzz\n  reins state list\n',
      });
      expect(await world.run(['state', command, ids[0].slice(0, 9)])).toMatchObject({
        code: 2,
        stderr: `reins: "${ids[0].slice(0, 9)}" names several runs: ${ids.join(', ')}\n`,
      });
      // Three characters are no name.
      expect((await world.run(['state', command, ids[0].slice(-3)])).code).toBe(1);
    }
    const over = await world.run(['state', 'cancel', ids[0], '--json']);
    expect([over.code, JSON.parse(over.stdout).error.code]).toEqual([1, 'run_not_active']);
    expect(over.stderr).toContain(`run ${ids[0]} has already ended: completed`);
    expect(await list()).toHaveLength(2);
  });

  test('have short ids on a terminal, which other commands take', async () => {
    await world.run(['hello']);
    const [{ id }] = await list();
    const terminal = openTerminal(world, ['state', 'list']);
    await terminal.ended;
    const short = `run_${id.slice(-6)}`;
    expect(terminal.screen().split('\n')[1]).toMatch(
      new RegExp(`^${short} {2}completed {2}chain-run {2}(just now|\\d+s ago) `),
    );
    expect((await world.run(['state', 'delete', short])).stdout).toBe(`Deleted ${id}.\n`);
    expect(await list()).toEqual([]);
  });

  test('are deleted with everything that is theirs; the audit log stays', async () => {
    await addScript(world, writingTurns);
    const policy = world.write('../own-policy.json', '{"default_action":"approve","rules":[]}');
    chmodSync(policy, 0o600);
    await world.run([...tester, '--policy', policy, '--on-ask', 'deny', 'write it']);
    await world.run(['chat', ...tester, '--policy', policy, '--on-ask', 'deny', 'write it']);
    expect(rows(world, 'SELECT name FROM policy_snapshots')).toEqual([{ name: 'own-policy' }]);
    const [chat, run] = await list();
    const spooled = join(world.home, '.reins/tool_output', run.id);
    mkdirSync(spooled, { recursive: true });
    writeFileSync(join(spooled, 'call_1'), 'x');
    const audit = rows(world, 'SELECT count(*) AS n FROM audit');
    expect((await world.run(['state', 'rm', run.id, '--json'])).stdout).toBe(`{"run_id":"${run.id}"}\n`);
    for (const table of ['run_steps', 'run_messages', 'tool_calls', 'asks', 'events']) {
      // Events of the host are of no run.
      const left = rows(world, `SELECT DISTINCT run_id FROM ${table} WHERE run_id IS NOT NULL`);
      expect([table, left]).toEqual([table, [{ run_id: chat.id }]]);
    }
    expect(existsSync(spooled)).toBe(false);
    expect(rows(world, 'SELECT count(*) AS n FROM audit')).toEqual(audit);
    await world.run(['state', 'delete', chat.id]);
    expect((await world.run(['session', 'show'])).stdout).toContain('write it');
    expect(rows(world, 'SELECT id FROM chain_snapshots')).toEqual([]);
    expect(rows(world, 'SELECT name FROM policy_snapshots')).toEqual([]);
    expectSound(world);
  });

  test('are undone: what they wrote is looked at, put back, and kept where somebody has changed it since', async () => {
    await addScript(world, writingTurns);
    await world.run([...tester, '--policy', 'open', 'write it']);
    const [{ id }] = await list();
    const short = id.slice(-6);
    const undo = (...flags: readonly string[]) => world.run(['state', 'undo', short, ...flags]);
    const path = join(world.workspace, 'new.txt');
    const looked = await undo('--dry-run');
    expect(looked.stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['FILE', 'CALLS', 'UNDO'],
      ['new.txt', '1', 'is taken away'],
      [''],
    ]);
    expect(await undo()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('without a terminal it needs --yes'),
    });
    expect(existsSync(path)).toBe(true);
    expect(await undo('--yes')).toMatchObject({ code: 0, stdout: 'Took away new.txt.\n', stderr: '' });
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, 'mine');
    // The newest run, unless another is named.
    const after = await world.run(['state', 'undo', '--yes', '--json']);
    expect([after.code, JSON.parse(after.stdout)]).toEqual([
      1,
      {
        run_id: id,
        files: [{ path: 'new.txt', state: 'changed_since', created: true, calls: 1, error: null }],
        forgotten: false,
        commands: 0,
      },
    ]);
    expect(readFileSync(path, 'utf8')).toBe('mine');
    // A summary of a step is a run, too, the newest after each step, and changes nothing.
    await world.run(['nothing to do']);
    change(`UPDATE runs SET kind = 'step_summary' WHERE id <> '${id}'`);
    const newest = await world.run(['state', 'undo', '--dry-run']);
    expect(newest.stdout).toMatch(/^new\.txt +1 +stays: changed since$/m);
    expect(newest.stderr).toBe(`the newest run, ${id}: write it\n`);
    // After a week.
    rmSync(join(world.home, '.reins/tool_output', id), { recursive: true });
    expect(await undo('--yes')).toMatchObject({
      code: 1,
      stderr: 'What the file tools of this run have changed is not known any more: it is kept for a week.\n',
    });
  });

  test('are in the order in which they were begun, also when the clock was set back in between', async () => {
    await addScript(world, writingTurns);
    await world.run(['the older one']);
    await world.run([...tester, '--policy', 'open', 'write it']);
    change(`UPDATE runs SET created_at = created_at + 86400000 WHERE json_extract(input, '$.value') = 'the older one'`);
    expect((await list()).map(({ input }: { input: string }) => input)).toEqual(['write it', 'the older one']);
    const undone = await world.run(['state', 'undo', '--yes']);
    expect([undone.code, undone.stdout]).toEqual([0, 'Took away new.txt.\n']);
    expect(undone.stderr).toMatch(/^the newest run, run_\w+: write it\n$/);
  });

  test('are pruned by age: steps first, then all; what is not old stays, and the file shrinks', async () => {
    for (const text of ['one', 'two', 'three']) await world.run([text]);
    const [three, two, one] = (await list()).map(({ id }: { id: string }) => id);
    const day = 86_400_000;
    const now = Date.now();
    change(`UPDATE runs SET ended_at = ${now - 400 * day} WHERE id = '${one}'`);
    change(`UPDATE runs SET ended_at = ${now - 31 * day} WHERE id = '${two}'`);
    change(`UPDATE run_steps SET data = json_set(data, '$.output', hex(randomblob(500000))) WHERE run_id = '${one}'`);
    const size = statSync(dbPath()).size;
    expect((await world.run(['state', 'prune'])).stdout).toBe('Removed 1 run. Removed the steps of 1 more.\n');
    expect((await list()).map(({ id }: { id: string }) => id)).toEqual([three, two]);
    expect(rows(world, 'SELECT DISTINCT run_id FROM run_steps')).toEqual([{ run_id: three }]);
    // The feed keeps its own 30 days.
    expect(rows(world, `SELECT kind FROM events WHERE run_id = '${two}' ORDER BY seq`)).toEqual([
      { kind: 'chain_started' },
      { kind: 'chain_completed' },
    ]);
    expect((await world.run(['state', 'show', two])).stdout).toContain(
      'Steps\n  (nothing is kept of them)\n\nResult\n',
    );
    expect(statSync(dbPath()).size).toBeLessThan(size - 900_000);
    expect((await world.run(['state', 'prune', '--json'])).stdout).toBe('{"removed":0,"cleared":0}\n');
    await world.run(['config', 'set', 'record-retention', 'never']);
    await world.run(['config', 'set', 'state-retention', '1s']);
    change(`UPDATE runs SET ended_at = ${now - 400 * day}`);
    expect((await world.run(['state', 'prune', '--json'])).stdout).toBe('{"removed":0,"cleared":1}\n');
    expect((await world.run(['state', 'prune', '--older-than', '500d', '--json'])).stdout).toBe(
      '{"removed":0,"cleared":0}\n',
    );
    expect((await world.run(['state', 'prune', '--older-than', '30d'])).stdout).toBe('Removed 2 runs.\n');
    expect(await list()).toEqual([]);
  });

  test('keep an answer once, as a message, and still tell it when their messages are gone', async () => {
    const answer = (await world.run(['chat', 'one'])).stdout.trimEnd();
    const [{ id }] = await list();
    expect(answer).not.toBe('');
    expect(rows(world, "SELECT output -> '$.text' AS text, output ->> '$.type' AS type FROM runs")).toEqual([
      { text: null, type: 'chat_history' },
    ]);
    const result = async () => JSON.parse((await world.run(['state', 'show', id, '--json'])).stdout).result;
    expect(await result()).toBe(answer);
    change(`UPDATE runs SET ended_at = ${Date.now() - 31 * 86_400_000}`);
    expect((await world.run(['state', 'prune'])).stdout).toBe('Removed 0 runs. Removed the steps of 1 more.\n');
    expect(rows(world, 'SELECT count(*) AS n FROM run_messages')).toEqual([{ n: 0 }]);
    expect(await result()).toBe(answer);
  });

  test('go by themselves once a day, after a run', async () => {
    await world.run(['one']);
    change(`UPDATE runs SET ended_at = 1; DELETE FROM kv WHERE key = 'prune.last'`);
    await world.run(['two']);
    expect((await list()).map(({ input }: { input: string }) => input)).toEqual(['two']);
    change('UPDATE runs SET ended_at = 1');
    await world.run(['three']);
    expect((await list()).map(({ input }: { input: string }) => input)).toEqual(['three', 'two']);
  });

  test('a tool child may look, but not cancel, delete or prune', async () => {
    const inside = { environment: { REINS_RUN_ID: 'run_1' } };
    for (const argv of [['cancel', 'abcd'], ['delete', 'abcd'], ['prune']]) {
      expect(await world.run(['state', ...argv], inside)).toMatchObject({ code: 5, stdout: '' });
    }
    expect((await world.run(['state', 'list'], inside)).code).toBe(0);
  });
});

describe('runs that have not ended', () => {
  beforeEach(async () => {
    world = await createCrashWorld();
  });

  test('of another process end when they are cancelled while they wait for a person', async () => {
    const owner = startLoop(world, 'run', 'approve');
    await owner.saw(waiting);
    const [{ id, asks }] = await list('--status', 'waiting');
    expect((await world.run(['state', 'show', id])).stdout).toContain(`${id}  waiting, waits for ${asks[0]}\n`);
    expect(await world.run(['state', 'delete', id])).toMatchObject({
      code: 1,
      stderr: `reins: run ${id} has not ended: it is waiting\n  reins state cancel ${id}\n`,
    });
    expect((await world.run(['state', 'prune', '--older-than', '0s'])).stdout).toBe('Removed 0 runs.\n');
    expect(await world.run(['state', 'cancel', id.slice(-6)])).toMatchObject({ code: 0, stdout: `Cancelled ${id}.\n` });
    expect((await owner.ended).code).toBe(130);
    expect(statuses()).toEqual(['cancelled']);
    expect(rows(world, 'SELECT state FROM asks')).toEqual([{ state: 'cancelled' }]);
    expect(rows(world, "SELECT data ->> 'by' AS by FROM events WHERE kind = 'chain_cancelled'")).toEqual([
      { by: 'operator:cli' },
    ]);
    expect(rows(world, "SELECT key FROM kv WHERE key LIKE 'cancel.%'")).toEqual([]);
    expectSound(world);
  });

  test('of another process end when they are cancelled while a tool runs, and take its children along', async () => {
    await addLong(world);
    const owner = world.run(['run', ...tester, '--shell', '--policy', 'open', 'long']);
    await expect
      .poll(() => rows(world, 'SELECT pid FROM tool_calls WHERE pid IS NOT NULL'), { timeout: 20_000 })
      .toHaveLength(1);
    const [{ id }] = await list('--status', 'running');
    const [call] = rows(world, 'SELECT pid FROM tool_calls');
    expect((await world.run(['state', 'cancel', id])).stdout).toBe(`Cancelled ${id}.\n`);
    expect((await owner).code).toBe(130);
    expect(rows(world, 'SELECT state FROM tool_calls')).toEqual([{ state: 'failed' }]);
    expect(() => process.kill(Number(call?.['pid']), 0)).toThrow('ESRCH');
    const shown = JSON.parse((await world.run(['state', 'show', id, '--json'])).stdout);
    expect([shown.status, shown.exit_code, shown.calls[0].error]).toEqual(['cancelled', 130, 'cancelled']);
  });

  test('two that cancel: one run, one end', async () => {
    const owner = startLoop(world, 'run', 'approve');
    await owner.saw(waiting);
    const [{ id }] = await list();
    const both = await Promise.all([1, 2].map(() => world.run(['state', 'cancel', id])));
    await owner.ended;
    for (const { code, stderr } of both) {
      if (code !== 0) expect([code, stderr]).toEqual([1, expect.stringContaining('has already ended: cancelled')]);
    }
    expect(both.map(({ code }) => code)).toContain(0);
    expect(rows(world, "SELECT count(*) AS n FROM events WHERE kind = 'chain_cancelled'")).toEqual([{ n: 1 }]);
  });

  test('rest when their process was killed: listed as interrupted, never pruned, and cancelled at once', async () => {
    const owner = startLoop(world, 'chat', 'approve');
    await owner.saw(waiting);
    owner.child.kill('SIGKILL');
    await owner.ended;
    const [run] = await list('--status', 'interrupted');
    expect(run).toMatchObject({ status: 'interrupted', ended_at: null, waiting_on: run.asks[0] });
    expect(await list('--status', 'waiting')).toEqual([]);
    expect((await world.run(['state', 'prune', '--older-than', '0s'])).stdout).toBe('Removed 0 runs.\n');
    expect((await world.run(['state', 'delete', run.id])).code).toBe(1);
    expect((await world.run(['state', 'cancel', run.id])).stdout).toBe(`Cancelled ${run.id}.\n`);
    expect(rows(world, 'SELECT state FROM asks')).toEqual([{ state: 'cancelled' }]);
    expect((await world.run(['session', 'show'])).stdout).toMatch(/note: #\d+\n {2}interrupted\n/);
    expect((await world.run(['state', 'cancel', run.id])).code).toBe(1);
    expect((await world.run(['chat', ...tester, 'here', 'again'])).stdout).toBe('Here again.\n');
    expectSound(world);
  });

  test('rest when they were stopped in order, and are cancelled at once', async () => {
    const owner = startLoop(world, 'run', 'approve');
    await owner.saw(waiting);
    owner.child.kill('SIGTERM');
    expect((await owner.ended).code).toBe(143);
    const [{ id }] = await list('--status', 'interrupted');
    expect((await world.run(['state', 'cancel', id, '--json'])).stdout).toContain('"status":"cancelled"');
    expect([statuses(), rows(world, 'SELECT state FROM asks')]).toEqual([['cancelled'], [{ state: 'cancelled' }]]);
  });

  test('are ended without their owner when it is killed after it was told', async () => {
    const owner = startLoop(world, 'run', 'approve');
    await owner.saw(waiting);
    owner.child.kill('SIGSTOP');
    const [{ id }] = await list();
    const cancel = world.run(['state', 'cancel', id]);
    await expect
      .poll(() => rows(world, "SELECT key FROM kv WHERE key LIKE 'cancel.%'"), { timeout: 20_000 })
      .toHaveLength(1);
    owner.child.kill('SIGKILL');
    expect(await cancel).toMatchObject({ code: 0, stdout: `Cancelled ${id}.\n` });
    expect(statuses()).toEqual(['cancelled']);
    expect(rows(world, "SELECT key FROM kv WHERE key LIKE 'cancel.%'")).toEqual([]);
  });
});

/** A model that starts a command which does not end by itself. */
async function addLong(place: World): Promise<void> {
  const file = place.write(
    '../long.json',
    JSON.stringify({
      script: 1,
      models: [{ name: 'tester', context: 8192, capabilities: ['chat', 'tools'] }],
      turns: [
        {
          name: 'long',
          match: { role: 'user' },
          reply: { text: '', tool_calls: [{ name: 'local_shell.local_shell', arguments: { command: 'sleep 600' } }] },
        },
      ],
    }),
  );
  await place.run(['backend', 'remove', 'script']);
  const { code, stderr } = await place.run(['backend', 'add', 'script', '--type', 'scripted', '--url', file]);
  if (code !== 0) throw new Error(stderr);
}
