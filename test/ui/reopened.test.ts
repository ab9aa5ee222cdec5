import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { addScript, createProject, tester, type World } from '../cli/world.ts';
import { type CliTerminal, openTerminal } from '../support/terminal.ts';

let world: World;
const opened: CliTerminal[] = [];
beforeAll(async () => {
  world = await createProject();
  world.write('notes.txt', 'one\ntwo\n');
  const call = (name: string, args: object) => ({ name: `local_fs.${name}`, arguments: args });
  await addScript(world, [
    {
      name: 'first',
      match: { role: 'user', last_user: 'write first' },
      reply: {
        tool_calls: [
          call('write_file', { path: 'first.txt', content: '1' }),
          call('read_file', { path: 'notes.txt' }),
          call('read_file', { path: '.ssh/id_rsa' }),
        ],
      },
    },
    {
      name: 'calls',
      match: { role: 'user' },
      reply: {
        tool_calls: [
          call('read_file', { path: 'notes.txt' }),
          call('read_file', { path: '.ssh/id_rsa' }),
          call('read_file', { path: 'refused.txt', lines: 'x' }),
          { name: 'nowhere.look', arguments: { path: 'unknown.txt' } },
          // Models leave out what stands before the point.
          { name: 'write_file', arguments: { path: 'made.txt', content: 'x\n' } },
        ],
      },
    },
    { name: 'done', match: { role: 'tool' }, reply: { text: 'All is done.' } },
  ]);
});
afterEach(async () => {
  for (const terminal of opened.splice(0)) {
    terminal.kill('SIGKILL');
    await terminal.ended;
  }
});
afterAll(() => world.remove());

async function open(): Promise<CliTerminal> {
  const terminal = openTerminal(world, ['tui', ...tester], { columns: 140, rows: 40 });
  opened.push(terminal);
  await terminal.until((rows) => rows.some((row) => row.startsWith(' idle')), 'idle');
  return terminal;
}

/** The head of each call, without how long it took: of a refused one nothing is kept of that. */
const heads = (terminal: CliTerminal): readonly string[] =>
  terminal
    .rows()
    .filter((row) => /^[•!] /.test(row))
    .map((row) => row.replace(/ · [\d.]+ ?m?s(?= )/, '').replaceAll(/ {2,}/g, '  '));

test('calls say what was decided about them, and what they were about, and say the same when their session is opened again', async () => {
  const terminal = await open();
  terminal.type('do it\r');
  await terminal.saw('waiting for an answer');
  await terminal.press('\u000e', 'y once');
  await world.run(['approvals', 'respond', await askId(), '--approve']);
  await terminal.saw('All is done.');
  await terminal.until((rows) => rows.some((row) => row.startsWith(' idle')), 'idle');
  const live = heads(terminal);
  expect(live).toEqual([
    expect.stringMatching(/^• local_fs\.read_file {2}notes\.txt {2}allowed rule \d+ · ok/),
    expect.stringMatching(/^! local_fs\.read_file {2}\.ssh\/id_rsa {2}denied /),
    expect.stringMatching(/^! local_fs\.read_file {2}refused\.txt {2}error invalid_arguments {2}\+$/),
    expect.stringMatching(/^! nowhere\.look {2}unknown\.txt {2}error not_found {2}\+$/),
    expect.stringMatching(
      /^• local_fs\.write_file {2}made\.txt {2}asked, approved by operator:cli \d\d:\d\d · ok {2}\+$/,
    ),
  ]);
  terminal.type('\u0018\u0003');
  await terminal.ended;

  const again = await open();
  await again.saw('All is done.');
  expect(heads(again)).toEqual(live);
});

test('calls of a turn whose program was killed at its question are shown once when it goes on', async () => {
  await world.run(['session', 'new', 'killed']);
  const terminal = await open();
  terminal.type('write first\r');
  await terminal.saw('waiting for an answer');
  terminal.kill('SIGKILL');
  await terminal.ended;
  const again = openTerminal(world, ['tui', ...tester], { columns: 140, rows: 40 });
  opened.push(again);
  await again.until((rows) => rows.some((row) => row.startsWith(' ! interrupted')), 'interrupted');
  again.type('\u0018r');
  await again.saw('R resume');
  again.type('R');
  await again.saw('the run goes on');
  await world.run(['approvals', 'respond', await askId(), '--approve']);
  await again.saw('All is done.');
  await again.until((rows) => rows.some((row) => row.startsWith(' idle')), 'idle');
  expect(heads(again)).toEqual([
    expect.stringMatching(/^• local_fs\.write_file {2}first\.txt {2}asked, approved by operator:cli \d\d:\d\d · ok/),
    expect.stringMatching(/^• local_fs\.read_file {2}notes\.txt {2}allowed rule \d+ · ok/),
    expect.stringMatching(/^! local_fs\.read_file {2}\.ssh\/id_rsa {2}denied /),
  ]);
});

async function askId(): Promise<string> {
  const { stdout } = await world.run(['approvals', 'list', '--json']);
  const [ask] = (JSON.parse(stdout) as { readonly asks: readonly { readonly id: string }[] }).asks;
  return ask!.id;
}
