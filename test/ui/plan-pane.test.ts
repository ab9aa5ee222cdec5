import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addScript, createProject, tester, type World } from '../cli/world.ts';
import { asks, done, executor, planner, plans, reply } from '../plans/support.ts';
import { type CliTerminal, openTerminal } from '../support/terminal.ts';

let world: World;
let terminal: CliTerminal | null = null;
beforeEach(async () => {
  world = await createProject();
});
afterEach(async () => {
  terminal?.kill('SIGKILL');
  await terminal?.ended;
  world.remove();
});

const toPlan = '\u0014';
const open = async (columns: number, rows: number): Promise<CliTerminal> => {
  terminal = openTerminal(world, ['tui', ...tester], { columns, rows });
  await terminal.until((shown) => shown.some((row) => row.startsWith(' idle')), 'idle');
  await terminal.press(toPlan, '[2 Plan');
  return terminal;
};
const row = (pane: CliTerminal, text: string): string => pane.rows().find((each) => each.includes(text)) ?? '';

test('a plan is made, its steps go one after the other, and auto goes on after an answer given elsewhere', async () => {
  await addScript(world, [
    plans(['read the notes', 'write the file', 'check it']),
    reply('Written.', { ...executor, role: 'tool' }),
    asks(
      'local_fs.write_file',
      { path: 'made.txt', content: 'x' },
      { ...executor, last_user: { contains: '(2 of 3)' } },
    ),
    ...done,
  ]);
  const pane = await open(120, 40);
  await pane.saw('There is no plan. N makes one.');
  pane.type('N');
  await pane.saw('explore off (Tab)');
  pane.type('Add retries\t');
  await pane.saw('explore on (Tab)');
  pane.type('\t\r');
  await pane.saw('with 3 steps');
  expect(pane.rows()[0]).toMatch(/^ reins {2}1 Chat {2}\[2 Plan 0\/3\] {2}3 Approvals .*add-retries-\w{8}$/);
  pane.type('n');
  await pane.saw('step 1 completed: It was done.');
  expect(row(pane, '1. read the notes')).toMatch(/^ {3,}\[x\]|^ > \[x\]/);
  pane.type('a');
  await pane.saw('Run 2 steps? They stop at every ask and at the first failure.');
  // Enter is no yes.
  pane.type('\r');
  pane.type('y');
  await pane.saw('┏ ASK');
  await pane.saw('[?] 2.');
  expect(row(pane, '┏ ASK').indexOf('┏')).toBe(59);
  const [ask] = (JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout) as { asks: { id: string }[] })
    .asks;
  await world.run(['approvals', 'respond', ask?.id ?? '', '--approve']);
  await pane.saw('step 3 completed');
  await pane.saw('[2 Plan 3/3]');
  // The model that was named at the start, whichever one is configured and whichever one the chat goes on with.
  await pane.saw('Planner tester   Executor tester');
  await pane.saw('Auto off');
  await world.run(['config', 'set', 'default-model', 'configured']);
  const models = [{ name: 'chatted', context: 8192, capabilities: ['chat'] }];
  const script = world.write('../chatted.json', JSON.stringify({ script: 1, models, turns: [] }));
  await world.run(['backend', 'add', 'other', '--type', 'scripted', '--url', script]);
  // A letter is taken for an answer until shortly after the card that was answered elsewhere has gone.
  await pause(500);
  pane.type('1');
  await pane.saw('[1 Chat]');
  pane.type('/model chatted');
  await pane.saw('› /model chatted');
  // The list of names closes first.
  await pane.press('\r', 'chatted@');
  await pane.press(toPlan, '[2 Plan');
  await pane.saw('Planner tester   Executor tester');
});

/** A plan of two steps, of which the first has begun and goes on until it is stopped. @param turns tried before its own */
async function begunFirst(...turns: readonly unknown[]): Promise<CliTerminal> {
  await addScript(world, [
    ...turns,
    plans(['first', 'second']),
    { match: { ...executor, last_user: { contains: '(1 of 2)' } }, reply: { hang: true } },
    ...done,
  ]);
  await world.run(['plan', 'new', 'ship', ...tester]);
  const pane = await open(80, 24);
  await pane.saw('[ ] 1. first');
  pane.type('n');
  await pane.saw('[>] 1. first');
  return pane;
}

test('a step is interrupted and skipped, a plan is replanned, and a step of another process is only looked at', async () => {
  const pane = await begunFirst(reply('["polish"]', { ...planner, last_user: { contains: 'end it' } }), {
    match: { ...executor, last_user: { contains: 'polish' } },
    reply: { hang: true },
  });
  pane.type('\u0003');
  await pane.saw('step 1 was interrupted; it is pending again');
  pane.type('s');
  await pane.saw('[-] 1. first');
  pane.type('R');
  await pane.saw('Enter replans');
  pane.type('end it\r');
  await pane.saw('- second');
  await pane.saw('+ 2. polish');
  pane.type('\u001b');
  await pane.until((rows) => !rows.some((each) => each.includes('+ 2. polish')), 'no overlay');
  const other = openTerminal(world, ['plan', 'next', ...tester]);
  await pane.saw('(cli)');
  pane.type('n');
  await pane.saw('is running in process');
  other.kill('SIGKILL');
  await other.ended;
  await pane.saw('[!] 2. polish');
});

test('whoever leaves while a step works is told how it goes on', async () => {
  const pane = await begunFirst();
  pane.type('\u0018\u0003');
  await pane.saw('A run is going on');
  pane.type('s');
  expect((await pane.ended).code).toBe(0);
  const [run] = JSON.parse((await world.run(['state', 'list', '--json'])).stdout);
  expect(run).toMatchObject({ kind: 'plan_step', status: 'suspended' });
  const told = /reins: (run_\w+) can go on: reins state resume (run_\w+)/.exec(pane.bytes());
  expect(run.id).toContain(told?.[1]?.slice('run_'.length));
  expect(told?.[1]).toBe(told?.[2]);
});

test('among lines a step that failed is told with commands, and no line is left to the terminal to break', async () => {
  await addScript(world, [
    plans(['first']),
    { match: executor, reply: { error: { class: 'permanent', message: 'boom' } } },
  ]);
  const lines = openTerminal(world, ['tui', '--plain', ...tester], { columns: 60, rows: 24 });
  terminal = lines;
  await lines.until((rows) => rows.some((each) => each.trimEnd() === '>'), 'the prompt');
  lines.type('/plan new\r');
  await lines.saw('warning: /plan new takes the goal');
  lines.type('/plan new ship\r');
  await lines.saw('with 1 step');
  lines.type('/plan next\r');
  await lines.saw('/plan retry 1, /plan skip 1 or');
  lines.type('/trust\r');
  await lines.saw('reins mcp accept');
  await lines.until((rows) => rows.some((each) => /^ {5}\| .*have changed$/.test(each)), 'a marked rest of the line');
});
