import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { addScript, createProject, tester, type World, writingTurns } from '../cli/world.ts';
import { type CliTerminal, openTerminal } from '../support/terminal.ts';

/** What the terminal interface makes of its flags and of what a terminal says of itself. */
let world: World;
beforeAll(async () => {
  world = await createProject();
  await addScript(world, writingTurns);
});
afterAll(() => world.remove());

let terminal: CliTerminal | null = null;
afterEach(async () => {
  terminal?.kill('SIGTERM');
  await terminal?.ended;
  terminal = null;
});

let sessions = 0;
/** The program on a session of its own. */
async function open(
  argv: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  ready = ' idle',
): Promise<CliTerminal> {
  sessions += 1;
  await world.run(['session', 'new', `s${sessions}`]);
  terminal = openTerminal(world, ['tui', ...tester, ...argv], { columns: 80, rows: 24, environment });
  await terminal.until((rows) => rows.some((row) => row.startsWith(ready)), ready);
  return terminal;
}
/** The border over the line that is written, and the mark before it. */
const signs = ({ rows }: CliTerminal): readonly (string | undefined)[] => [rows()[19]?.slice(0, 11), rows()[20]];
const unicode = ['─ message ─', '›'];
const ascii = ['- message -', '>'];

test.each([
  ['UTF-8 in LC_CTYPE', [], { LANG: 'C', LC_CTYPE: 'en_US.UTF-8' }, unicode],
  ['none in LC_CTYPE, whatever LANG says', [], { LC_CTYPE: 'C' }, ascii],
  ['none in LC_ALL, whatever LC_CTYPE says', [], { LC_ALL: 'POSIX', LC_CTYPE: 'C.UTF-8' }, ascii],
  ['--glyphs ascii', ['--glyphs', 'ascii'], {}, ascii],
  ['--glyphs unicode where the locale has none', ['--glyphs', 'unicode'], { LC_ALL: 'C' }, unicode],
] as const)('draws its signs by the locale or the flag: %s', async (_, argv, environment, wanted) => {
  expect(signs(await open(argv, environment))).toEqual(wanted);
});

test('shows the colours of a theme where COLORTERM says that there are many', async () => {
  const dark = ['--theme', 'dark'];
  const many = /\u001b\[[34]8;[25];/;
  expect((await open(dark, { TERM: 'xterm', COLORTERM: 'truecolor' })).bytes()).toMatch(many);
  terminal?.kill('SIGTERM');
  await terminal?.ended;
  expect((await open(dark, { TERM: 'xterm' })).bytes()).not.toMatch(many);
});

test.each([
  ['WezTerm', '\u001b]9;reins: '],
  ['foot', '\u001b]777;notify;reins;reins: '],
])(
  'tells who looks elsewhere of a question in the way of the program that TERM_PROGRAM names: %s',
  async (name, begins) => {
    const shown = await open([], { TERM_PROGRAM: name });
    // The window is not the one that keys go to.
    shown.type('\u001b[O');
    shown.type('write it\r');
    await shown.saw('new.txt');
    await expect.poll(shown.bytes, { timeout: 10_000 }).toContain(begins);
    expect(shown.bytes()).toContain('needs an answer (local_fs.write_file)');
  },
);

test('--tui-mode has the word over the configured form', async () => {
  expect((await world.run(['config', 'set', 'tui-mode', 'plain'])).code).toBe(0);
  try {
    expect((await open(['--tui-mode', 'full'])).modes().alternate).toBe(true);
    terminal?.kill('SIGTERM');
    await terminal?.ended;
    // The prompt of lines.
    expect((await open([], {}, '>')).modes().alternate).toBe(false);
  } finally {
    await world.run(['config', 'unset', 'tui-mode']);
  }
  const wrong = await world.run(['tui', '--tui-mode', 'wide']);
  expect([wrong.code, wrong.stderr.split('\n')[0]]).toEqual([
    2,
    'reins: --tui-mode: "wide" is not one of auto, full, plain, screen-reader',
  ]);
});
