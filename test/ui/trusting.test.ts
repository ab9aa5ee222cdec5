import { afterEach, beforeEach, expect, test } from 'vitest';
import { addScript, createProject, tester, type World } from '../cli/world.ts';
import { type CliTerminal, openTerminal } from '../support/terminal.ts';

let world: World;
let terminal: CliTerminal | null = null;
beforeEach(async () => {
  world = await createProject();
  await addScript(world, [{ name: 'hello', reply: { text: 'Hello.' } }]);
  const rules = Array.from({ length: 20 }, (_, index) => ({ tools: `tools${index}`, action: 'deny' }));
  world.write('.reins/hitl-policy.json', JSON.stringify({ default_action: 'approve', rules }, null, 1));
});
afterEach(async () => {
  terminal?.kill('SIGKILL');
  await terminal?.ended;
  world.remove();
});
const open = async (): Promise<CliTerminal> => {
  terminal = openTerminal(world, ['tui', ...tester], { columns: 80, rows: 24 });
  await terminal.saw('Trust this policy?');
  return terminal;
};
const trusted = async (): Promise<string> => (await world.run(['trust', 'list', '--json'])).stdout;

test('content of the project is trusted when all of it was on the screen', async () => {
  const screen = await open();
  await screen.press('y', 'lines not seen: PgDn');
  // The end alone does not make the middle seen.
  screen.type('\u001b[F');
  await screen.saw('tools19');
  await screen.press('y', 'lines not seen: PgDn');
  screen.type('\u001b[H');
  await screen.saw('tools0');
  for (let page = 0; page < 12; page += 1) screen.type('\u001b[6~');
  await screen.saw('tools19');
  expect(await trusted()).not.toContain('hitl-policy.json');
  screen.type('y');
  await screen.until((rows) => !rows.some((row) => row.includes('Trust this policy?')), 'no question');
  screen.type('hello\r');
  await screen.saw('Hello.');
  expect(await trusted()).toContain('hitl-policy.json');
});

test('content that is refused is named in the banner, sending says why, and /trust asks again', async () => {
  const screen = await open();
  // The guard lets no key in that comes too early; one that comes again would be text.
  const pressing = setInterval(() => {
    if (screen.screen().includes('Trust this policy?')) screen.type('n');
  }, 600);
  // In the banner as far as it has room beside the command, and whole among what is missing.
  await screen.saw('project is not trusted: no run starts until').finally(() => clearInterval(pressing));
  expect(screen.rows()[1]).toMatch(/^! The polic.* · reins trust add .*hitl-policy\.json/);
  screen.type('hello\r');
  await screen.saw('--sha256');
  // The message is back where it was written.
  expect(screen.rows()).toContain('› hello');
  screen.type('\u0015/trust\r');
  await screen.saw('Trust this policy?');
  expect(await trusted()).not.toContain('hitl-policy.json');
});
