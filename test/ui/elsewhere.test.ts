import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addScript, createProject, tester, type World } from '../cli/world.ts';
import { type CliTerminal, openTerminal } from '../support/terminal.ts';

let world: World;
const opened: CliTerminal[] = [];
beforeEach(async () => {
  world = await createProject();
  await addScript(world, turns);
  await world.run(['session', 'new', 'second']);
  await world.run(['session', 'new', 'first']);
});
afterEach(async () => {
  for (const terminal of opened.splice(0)) {
    terminal.kill('SIGKILL');
    await terminal.ended;
  }
  world.remove();
});

const write = (path: string) => ({ name: 'local_fs.write_file', arguments: { path, content: 'x\n' } });
const last = (text: string, count: number) => ({ last_user: text, tool: { count } });
const turns = [
  { name: 'one', match: { role: 'user' }, reply: { text: 'One.', tool_calls: [write('one.txt')] } },
  { name: 'two', match: { tool: { count: 1 } }, reply: { text: 'Two.', tool_calls: [write('two.txt')] } },
  {
    name: 'failed',
    match: last('fail', 2),
    reply: { error: { class: 'auth', message: 'the key is refused' } },
  },
  { name: 'over', match: { tool: { count: 2 } }, reply: { text: 'Both are written.' } },
];

/** Answers the one open ask from another process. */
async function approve(): Promise<void> {
  const { stdout } = await world.run(['approvals', 'list', '--json']);
  const { asks } = JSON.parse(stdout) as { asks: readonly { id: string }[] };
  expect(asks).toHaveLength(1);
  await world.run(['approvals', 'respond', asks[0]!.id, '--approve']);
}

function open(argv: readonly string[]): CliTerminal {
  const terminal = openTerminal(world, ['tui', ...tester, ...argv], { columns: 100, rows: 30 });
  opened.push(terminal);
  return terminal;
}

describe('a turn whose session is not in view', () => {
  test.each([
    ['all is well', '- first: done after', 'Both are written.'],
    ['fail now', '! first: failed (auth): ', 'the key is refused'],
  ])('is told of in the session that is, when "%s"', async (message, ended, seen) => {
    await world.run(['config', 'set', 'tui-notify', 'osc']);
    const terminal = open([]);
    await terminal.until((rows) => rows.some((row) => row.startsWith(' idle')), 'idle');
    terminal.type(`${message}\r`);
    // The card takes letters as its own keys once it has them: it is left first.
    await terminal.saw('card has the keys');
    terminal.type('\u001b');
    await terminal.until((rows) => !rows.some((row) => row.includes('card has the keys')), 'the card left');
    terminal.type('/switch second');
    await terminal.saw('› /switch second');
    terminal.type('\r');
    await terminal.until((rows) => (rows[0] ?? '').endsWith('second'), 'the other session');
    // Somebody looks elsewhere.
    terminal.type('\u001b[O');
    await approve();
    await terminal.saw('- first: needs an answer (local_fs.write_file) · /switch first');
    expect(terminal.bytes()).toContain('777;notify;reins;reins: first needs an answer (local_fs.write_file)');
    await approve();
    await terminal.saw(ended);
    expect(terminal.screen()).not.toContain('Both are written.');
    terminal.type('/switch first');
    await terminal.saw('› /switch first');
    terminal.type('\r');
    await terminal.saw(seen);
  });

  test('is told of among lines', async () => {
    const terminal = open(['--plain']);
    await terminal.saw('>');
    terminal.type('begin\r');
    await terminal.saw('y s w r e n f x v l>');
    await terminal.answer('l', 'it stays open');
    terminal.type('/switch second\r');
    await terminal.saw('note: session second');
    await approve();
    await terminal.saw('warning: first: needs an answer (local_fs.write_file) · /switch first');
    await approve();
    await terminal.saw('note: first: done after');
  });
});
