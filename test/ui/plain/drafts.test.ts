import { afterEach, beforeEach, expect, test } from 'vitest';
import { addScript, createProject, tester, type World } from '../../cli/world.ts';
import { rows } from '../../crash/support.ts';
import { type CliTerminal, openTerminal } from '../../support/terminal.ts';

let world: World;
const opened: CliTerminal[] = [];
beforeEach(async () => {
  world = await createProject();
  await addScript(world, [
    { name: 'hangs', match: { role: 'user', last_user: { equals: 'hang' } }, reply: { hang: true } },
    { name: 'hello', reply: { text: 'Hello.' } },
  ]);
  await world.run(['session', 'new', 'work']);
});
afterEach(async () => {
  for (const terminal of opened.splice(0)) {
    terminal.kill('SIGKILL');
    await terminal.ended;
  }
  world.remove();
});

async function open(argv: readonly string[], ready: (row: string) => boolean): Promise<CliTerminal> {
  const terminal = openTerminal(world, ['tui', ...argv, ...tester]);
  opened.push(terminal);
  await terminal.until((shown) => shown.some(ready), 'the program ready');
  return terminal;
}
const plain = () => open(['--plain'], (row) => row === '>');
const stored = (): readonly unknown[] =>
  rows(world, "SELECT value FROM kv WHERE key LIKE 'tui.draft.%'").map(({ value }) => JSON.parse(String(value)));

test('lines leave the draft alone that a screen has stored, and a refused one is none', async () => {
  const screen = await open([], (row) => row.startsWith(' idle'));
  screen.type('half written');
  await screen.saw('› half written');
  await expect.poll(stored).toMatchObject([{ draft: { text: 'half written' }, queue: [] }]);
  screen.kill('SIGKILL');
  await screen.ended;

  const lines = await plain();
  lines.type('hello\r');
  await lines.saw('reins: Hello.');
  lines.type('/xyzzy\r');
  await lines.saw('warning: there is no command /xyzzy');
  // The program writes what is not written yet when it is left.
  lines.type('\u0004\u0004');
  expect((await lines.ended).code).toBe(0);
  expect(stored()).toMatchObject([{ draft: { text: 'half written' }, queue: [] }]);
});

test('what was queued behind a turn that did not complete is held, outlives the program, and is sent by an empty line', async () => {
  const lines = await plain();
  lines.type('hang\r');
  await lines.until((shown) => shown.every((row) => row !== '>'), 'a turn');
  lines.type('hello\r');
  await expect.poll(stored).toMatchObject([{ queue: [{ text: 'hello' }] }]);
  await lines.press('\u0003', 'note: 1 queued message held: Enter sends the next');
  lines.kill('SIGKILL');
  await lines.ended;

  const again = await plain();
  await again.saw('note: 1 queued message held: Enter sends the next');
  expect(again.screen()).not.toContain('reins: Hello.');
  again.type('\r');
  await again.saw('reins: Hello.');
  await expect.poll(stored).toEqual([]);
});
