import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { World } from '../cli/world.ts';
import { program, startCli } from '../support/run-cli.ts';
import { createCrashWorld, expectGoneOn, expectSound, madeCalls, rows, startLoop } from './support.ts';

/** Processes that go on with what another one has left, killed in their turn (03 §15). */

let world: World;
beforeEach(async () => {
  world = await createCrashWorld();
});
afterEach(() => world.remove());

const runId = (): string => String(rows(world, 'SELECT id FROM runs')[0]?.['id']);
const asks = () => rows(world, "SELECT state, json_extract(verdict, '$.by') AS by FROM asks ORDER BY created_at");
const at = (point: string) => ({ environment: { REINS_FAIL_POINT: point } });

describe('a process that goes on with a run, killed', () => {
  test.each([
    'before chain_resumed',
    'commit chain_resumed',
    'after chain_resumed',
    'after tool_call_started',
    'before tool_call',
    'after tool_call',
  ])('%s, leaves it to another one', async (point) => {
    await startLoop(world, 'run', 'allow', 'after message').ended;
    const killed = await world.run(['state', 'resume', runId()], at(point));
    expect(killed.signal).toBe('SIGKILL');
    await expectGoneOn(world, 'run');
  });

  test.each(['before chain_failed', 'commit chain_failed', 'after chain_failed'])(
    '%s, at the last of its attempts, leaves it as it was',
    async (point) => {
      await startLoop(world, 'run', 'allow', 'after message').ended;
      await world.run(['doctor']);
      const database = new Database(join(world.workspace, '.reins/local.db'));
      database.exec("UPDATE run_state SET payload_sha256 = 'other', attempts = 4, last_error = 'as before'");
      database.close();
      expect((await world.run(['state', 'resume', runId()], at(point))).signal).toBe('SIGKILL');
      expect(rows(world, 'SELECT attempts, last_error FROM run_state')).toEqual([
        { attempts: 4, last_error: 'as before' },
      ]);
      const stuck = `${runId()} could not go on (attempt 4 of 5): as before\n`;
      const shown = await world.run(['state', 'list']);
      expect(shown.stdout).toContain('interrupted');
      expect(shown.stderr).toBe(stuck);
      expect((await world.run(['doctor'])).stdout).toContain(stuck.trim());
      const again = await world.run(['state', 'resume', runId()]);
      expect(again.code).toBe(1);
      expect(again.stderr).toContain('the last of 5 attempts to go on, the run has failed: ');
      expectSound(world);
      expect((await world.run(['state', 'show', runId()])).stdout).toContain('failed, exit 1');
    },
  );

  test('beside another one: one goes on, the other names it', async () => {
    await startLoop(world, 'run', 'approve', 'after ask').ended;
    const resume = ['state', 'resume', runId(), '--on-ask', 'wait'];
    const both = [startCli(world, resume), startCli(world, resume)] as const;
    const first = await Promise.race(both.map(async (one) => ({ one, ended: await one.ended })));
    expect(first.ended.code).toBe(1);
    const [going] = both.filter((one) => one !== first.one);
    expect(first.ended.stderr).toContain(`is already running in process ${going?.child.pid}`);
    going?.child.kill('SIGKILL');
    await going?.ended;
    expect(madeCalls(world)).toEqual([]);
    await expectGoneOn(world, 'run');
  });
});

test('an answer is no failure where another process is quicker to go on with the run', async () => {
  await startLoop(world, 'run', 'approve', 'after ask').ended;
  // Between the verdict, which is said, and the lease.
  const quicker = [process.execPath, program, 'state', 'resume', runId(), '--on-ask', 'deny'];
  world.write(
    '../quicker.cjs',
    `const fs = require('fs'), write = fs.writeSync; let once = true;
     fs.writeSync = (fd, text, ...rest) => {
       if (once && String(text).startsWith('approved ')) {
         once = false;
         const [node, ...argv] = ${JSON.stringify(quicker)};
         const { NODE_OPTIONS, ...env } = process.env;
         // By nobody's child: what this program starts is told that it is inside.
         const line = '("$0" "$@"; : > "$DONE") > /dev/null 2>&1 &';
         const DONE = __dirname + '/done';
         require('child_process').spawnSync('/bin/sh', ['-c', line, node, ...argv], { env: { ...env, DONE }, stdio: 'ignore' });
         while (!fs.existsSync(DONE)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
       }
       return write(fd, text, ...rest);
     };`,
  );
  const id = String(rows(world, 'SELECT id FROM asks')[0]?.['id']);
  const answered = await world.run(['approvals', 'respond', id, '--approve'], {
    environment: { NODE_OPTIONS: `--require ${join(world.dir, 'quicker.cjs')}` },
    apart: true,
  });
  expect(answered.stderr).toMatch(/^approved ask_\w+\nrun_\w+ has ended: completed; only a run that rests goes on\n$/);
  expect([answered.code, answered.stdout]).toEqual([0, '']);
  expect(madeCalls(world)).toEqual(['1']);
});

test.each(['before tool_call_started', 'commit tool_call_started', 'after tool_call'])(
  'a bound that was reserved when the program was killed %s is counted from what has started',
  async (point) => {
    world.write('../allow.json', JSON.stringify({ default_action: 'allow', compute: { maxToolCalls: 3 } }));
    expect((await startLoop(world, 'run', 'allow', point).ended).signal).toBe('SIGKILL');
    // Exactly three calls are granted, and three are made.
    await expectGoneOn(world, 'run');
  },
);

test.each([
  ['before verdict', 'pending'],
  ['commit verdict', 'pending'],
  ['after verdict', 'expired'],
])('a sweep that is killed %s leaves an ask that everybody reads as expired', async (point, stored) => {
  const short = { default_action: 'allow', rules: [{ tools: 'local_shell', action: 'approve', timeout_s: 60 }] };
  world.write('../approve.json', JSON.stringify(short));
  world.write('../clock.cjs', 'const real = Date.now; Date.now = () => real() + 61_000;');
  await startLoop(world, 'run', 'approve', 'after ask').ended;
  const later = { NODE_OPTIONS: `--require ${join(world.dir, 'clock.cjs')}` };
  const killed = await world.run(['approvals', 'list'], { environment: { ...later, ...at(point).environment } });
  expect([killed.signal, asks()[0]?.['state']]).toEqual(['SIGKILL', stored]);
  const id = String(rows(world, 'SELECT id FROM asks')[0]?.['id']);
  const show = await world.run(['approvals', 'show', id, '--json'], { environment: later });
  expect(JSON.parse(show.stdout)).toMatchObject({ state: 'expired' });
  const late = await world.run(['approvals', 'respond', id, '--approve'], { environment: later });
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('that counted as a denial')]);
  expect([asks(), madeCalls(world)]).toEqual([[{ state: 'expired', by: 'system:timeout' }], []]);
  expect(rows(world, "SELECT count(*) AS n FROM audit WHERE type = 'verdict'")).toEqual([{ n: 1 }]);
  expectSound(world);
});

test.each([
  ['before verdict', { state: 'pending', by: null }],
  ['commit verdict', { state: 'pending', by: null }],
  ['after verdict', { state: 'approved', by: 'agent:judge' }],
])(
  'an agent whose process is killed %s has given its verdict once in the end, or not at all',
  async (point, stored) => {
    const judge = {
      id: 'judge',
      tasks: [
        {
          id: 'look',
          handler: 'chat_completion',
          system_instruction: 'You decide.',
          execute_config: { model: '{{var:model}}' },
          transition: { branches: [{ operator: 'default', goto: 'end' }] },
        },
      ],
    };
    // The scripted model fills in the id that it was given.
    const ask_id = ['$', '{match.1}'].join('');
    const models = [{ name: 'tester', context: 8192, capabilities: ['chat', 'tools'] }];
    const turns = [
      {
        match: { system: 'You decide.', last_user: { regex: '"ask_id":"(ask_[a-z0-9]+)"' } },
        reply: { text: JSON.stringify({ ask_id, outcome: 'approve' }) },
      },
      { match: { tool: { count: 1 } }, reply: { text: 'It is made.' } },
      { reply: { tool_calls: [{ name: 'local_shell.local_shell', arguments: { command: './add 1' } }] } },
    ];
    world.write('../script.json', JSON.stringify({ script: 1, models, turns }));
    const attention = { allowAgentApprovals: true, maxAgentApprovals: 1 };
    world.write('../approve.json', JSON.stringify({ default_action: 'approve', attention }));
    const chain = world.write('../judge.json', JSON.stringify(judge));
    expect((await world.run(['config', 'set', 'attention-chain', chain])).code).toBe(0);
    expect((await startLoop(world, 'run', 'approve', point).ended).signal).toBe('SIGKILL');
    expect([asks(), madeCalls(world)]).toEqual([[stored], []]);
    const [asking] = rows(world, "SELECT id FROM runs WHERE kind = 'run'");
    let next = await world.run(['state', 'resume', String(asking?.['id'])]);
    if (next.code === 4) {
      const [ask] = rows(world, 'SELECT id FROM asks');
      next = await world.run(['approvals', 'respond', String(ask?.['id']), '--approve']);
    }
    expect(next).toMatchObject({ code: 0, stdout: 'It is made.\n' });
    expect(asks()).toEqual([{ state: 'approved', by: stored.by ?? 'operator:cli' }]);
    expect(madeCalls(world)).toEqual(['1']);
    expectSound(world);
  },
);
