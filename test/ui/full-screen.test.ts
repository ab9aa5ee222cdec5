import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addScript, createProject, tester, type World } from '../cli/world.ts';
import { type CliTerminal, openTerminal } from '../support/terminal.ts';

const hostile =
  'a\u001b[2Jb\u001b[1;1Hc\u001b]0;owned\u0007d\u001b]52;c;eA==\u0007e\u001b[?1049lf\u001bP1$r\u001b\\g\rh\u202ei\u200bj\u{e0041}k\u0000l\bm\u0090n\tz';
const many = Array.from({ length: 60 }, (_, index) => `line ${index}`).join('\n');

let world: World;
const opened: CliTerminal[] = [];
beforeAll(async () => {
  world = await createProject();
  world.write('hostile.txt', `${hostile}\n┏ ASK ask_fake · policy: allowed\n`);
  await addScript(world, [
    {
      name: 'attack',
      match: { role: 'user', last_user: { equals: 'attack' } },
      reply: {
        text: `${hostile}\n\n┏ ASK ask_fake · policy: allowed`,
        thinking: hostile,
        tool_calls: [{ name: 'local_fs.read_file', arguments: { path: 'hostile.txt' } }],
      },
    },
    {
      name: 'write',
      match: { role: 'user', last_user: { equals: 'write' } },
      reply: { tool_calls: [{ name: 'local_fs.write_file', arguments: { path: 'made.txt', content: 'x' } }] },
    },
    { name: 'read', match: { role: 'tool' }, reply: { text: 'It is read.' } },
    { name: 'long', match: { role: 'user', last_user: { equals: 'long' } }, reply: { text: many } },
    {
      name: 'markdown',
      match: { role: 'user', last_user: { equals: 'table' } },
      reply: { text: '# Title\n\n| a | 한글 |\n|---|---|\n| 1 | 👩‍👩‍👧 |\n\n```ts\nconst x = 1;\n```', chunk: 'char' },
    },
    {
      name: 'fails',
      match: { role: 'user', last_user: { equals: 'fail' } },
      reply: { error: { class: 'auth', message: 'no key' } },
    },
    { name: 'hangs', match: { role: 'user', last_user: { equals: 'hang' } }, reply: { hang: true } },
    { name: 'hello', reply: { text: 'Hello.' } },
  ]);
});
afterEach(async () => {
  for (const terminal of opened.splice(0)) {
    terminal.kill('SIGKILL');
    await terminal.ended;
  }
});
afterAll(() => world.remove());

let sessions = 0;
/** The program on a session of its own. */
async function open(columns = 80, rows = 24): Promise<CliTerminal> {
  sessions += 1;
  await world.run(['session', 'new', `s${sessions}`]);
  const terminal = openTerminal(world, ['tui', ...tester], { columns, rows });
  opened.push(terminal);
  await terminal.until((lines) => lines.some((line) => line.startsWith(' idle')), 'idle');
  return terminal;
}
const turn = async (terminal: CliTerminal, text: string, seen: string): Promise<void> => {
  terminal.type(`${text}\r`);
  await terminal.until(
    (rows) => rows.some((row) => row.includes(seen)) && rows.some((row) => /^ (?:idle|! failed)/.test(row)),
    seen,
  );
};
const clean = (terminal: CliTerminal): void => {
  expect(terminal.bytes()).not.toMatch(/\u001b\[[23]J/);
  expect(terminal.rows().at(-1)).toBe('');
};

describe('a turn', () => {
  test.each([
    [80, 24],
    [120, 40],
  ])('is drawn at %ix%i, with the regions in their places', async (columns, rows) => {
    const terminal = await open(columns, rows);
    await turn(terminal, 'hello there', 'Hello.');
    const shown = terminal.rows();
    expect(shown.slice(0, 4)).toEqual([expect.stringMatching(/^ reins .*\[1 Chat\]/), '› hello there', '', '  Hello.']);
    expect(shown[rows - 5]).toMatch(/^─ message ─+$/);
    expect(shown[rows - 4]).toBe('›');
    expect(shown[rows - 3]).toMatch(/^ Tab panes/);
    expect(shown[rows - 2]).toMatch(/^ idle · tester@script · policy default [0-9a-f]{4} +ctx /);
    expect(terminal.cursor()).toEqual({ column: 2, row: rows - 4 });
    clean(terminal);
  });

  test('streams markdown to the cells of the whole message', async () => {
    const terminal = await open();
    await turn(terminal, 'table', 'const x');
    expect(terminal.rows().slice(3, 10)).toEqual([
      '  # Title',
      '',
      expect.stringMatching(/^ {2}a {2}한/),
      expect.stringMatching(/^ {2}─+$/),
      expect.stringMatching(/^ {2}1 {2}/),
      '',
      '  │ ts',
    ]);
    clean(terminal);
  });

  test('that fails says so, in words that name the mend, and the message can be sent again', async () => {
    const terminal = await open();
    await turn(terminal, 'fail', 'failed (auth)');
    expect(terminal.screen()).toContain('reins backend update');
    expect(terminal.rows()[22]).toMatch(/^ ! failed: auth/);
  });
});

test('a session goes on under its new name and with turns of another process, one that was deleted is said, and the message stays', async () => {
  const terminal = await open();
  await world.run(['session', 'rename', `s${sessions}`, 'renamed']);
  await turn(terminal, 'hello', 'Hello.');
  await terminal.until((rows) => rows[0]?.endsWith('renamed') === true, 'the new name');
  // A turn of another process is shown as it goes on.
  await world.run(['chat', '--session', 'renamed', ...tester, 'asked elsewhere']);
  await terminal.saw('› asked elsewhere');
  await terminal.until((rows) => rows.filter((row) => row === '  Hello.').length === 2, 'its answer');
  await world.run(['session', 'delete', 'renamed']);
  await terminal.saw('the session renamed was deleted: this can still be read');
  terminal.type('hi\r');
  await terminal.saw('this session was deleted: /new starts another one');
  expect(terminal.rows()).toContain('› hi');
  expect(terminal.screen()).toContain('Hello.');
});

describe('a turn that goes on', () => {
  const working = (rows: readonly string[]) => rows.some((row) => row.startsWith(' * working'));

  test('is interrupted by Esc, keeps its message, and the next one is sent', async () => {
    const terminal = await open();
    terminal.type('hang\r');
    await terminal.until(working, 'working');
    terminal.type('\u001b');
    await terminal.saw('- cancelled');
    await turn(terminal, 'hello', 'Hello.');
    expect(terminal.rows()[1]).toBe('› hang');
    clean(terminal);
  });

  test('takes messages into a queue, and sends them one after another', async () => {
    const terminal = await open();
    terminal.type('hang\r');
    await terminal.until(working, 'working');
    terminal.type('hello one\r');
    await terminal.saw('1 queued');
    terminal.type('\u001b');
    await terminal.saw('queue held');
    terminal.type('\r');
    await terminal.saw('› hello one');
    await terminal.saw('Hello.');
    clean(terminal);
  });

  test.each([
    ['c', 'cancelled'],
    ['s', 'suspended'],
  ])('is asked about when the program is left: %s makes it %s', async (key, status) => {
    const terminal = await open();
    terminal.type('hang\r');
    await terminal.until(working, 'working');
    terminal.type('\u0018\u0003');
    await terminal.saw('A run is going on');
    terminal.type('\r');
    terminal.type(key);
    expect((await terminal.ended).code).toBe(0);
    expect(terminal.modes().alternate).toBe(false);
    const [run] = JSON.parse((await world.run(['state', 'list', '--json'])).stdout);
    expect(run.status).toBe(status);
    if (status !== 'suspended') return;
    // Whoever opens the program next is told of a run that can go on, and that it waits for no answer.
    const again = openTerminal(world, ['tui', ...tester], { columns: 80, rows: 24 });
    opened.push(again);
    await again.saw('= suspended');
    again.type('hello\r');
    await again.saw('was stopped before it ended');
    expect(again.screen()).toContain('! Ctrl+X r shows it, and R goes on with it; or /abandon gives the turn up');
    expect(again.screen()).not.toContain('approval');
    again.type('\u0015');
    await again.until((rows) => rows.every((row) => !row.startsWith('› hello')), 'an empty composer');
    // It is given up behind a question.
    again.type('/abandon\r');
    await again.saw('that rests is cancelled, with what it has asked');
    const stands = async () => JSON.parse((await world.run(['state', 'list', '--json'])).stdout)[0].status;
    expect(await stands()).toBe('suspended');
    await again.press('y', (screen) => !screen.includes('is cancelled, with what it has asked'));
    await expect.poll(() => again.bytes()).toContain('the resting run was cancelled');
    expect(await stands()).toBe('cancelled');
    clean(again);
  });
});

describe('hostile text', () => {
  test('of a model, of a file and in reasoning stands in its rows, as marks', async () => {
    const terminal = await open(120, 40);
    await turn(terminal, 'attack', 'It is read.');
    terminal.type('\u000f');
    await terminal.saw('reading');
    terminal.type('E');
    await terminal.saw('result');
    const rows = terminal.rows();
    expect(rows[0]).toMatch(/^ reins .*\[1 Chat\]/);
    expect(rows[38]).toMatch(/^ idle/);
    const shown = rows.join('\n');
    for (const mark of [
      '␛[2J',
      '␛]0;owned␇',
      '␛]52;c;eA==␇',
      '␛[?1049l',
      '␛P',
      '⟨U+202E⟩',
      '⟨U+200B⟩',
      '␀',
      '␈',
      '⟨U+0090⟩',
    ])
      expect([mark, shown.includes(mark)]).toEqual([mark, true]);
    for (const row of rows.filter((each) => each.includes('ask_fake'))) expect(row).toMatch(/^ {2}/);
    for (const sequence of ['\u001b]0;owned', '\u001b]52;', '\u001bP1', '\u202e'])
      expect([sequence, terminal.bytes().includes(sequence)]).toEqual([sequence, false]);
    expect(terminal.modes().alternate).toBe(true);
    clean(terminal);
  });
});

describe('the view', () => {
  test('is paused by scrolling, and follows again', async () => {
    const terminal = await open();
    await turn(terminal, 'long', 'line 59');
    terminal.type('\u001b[5~');
    await terminal.until((rows) => !rows.includes('  line 59'), 'an earlier page');
    terminal.type('\u001b[5~\u001b[5~\u001b[5~');
    await terminal.saw('› long');
    terminal.type('\u001b[1;5F');
    await terminal.until((rows) => rows.includes('  line 59'), 'the end');
    clean(terminal);
  });

  test('is the same after many sizes as in a fresh start at the last one', async () => {
    const terminal = await open();
    await turn(terminal, 'long', 'line 59');
    const sizes = Array.from(
      { length: 40 },
      (_, index) => [61 + ((index * 37) % 60), 17 + ((index * 13) % 24)] as const,
    );
    for (const [columns, rows] of [...sizes, [100, 30] as const]) terminal.resize(columns, rows);
    await terminal.until(
      (rows) => rows[28]?.startsWith(' idle') === true && rows[25]?.startsWith('─ message') === true,
      'the new size',
    );
    const fresh = openTerminal(world, ['tui', ...tester], { columns: 100, rows: 30 });
    opened.push(fresh);
    await fresh.until((rows) => rows.includes('  line 59') && rows[28]?.startsWith(' idle') === true, 'the same');
    expect(terminal.rows().slice(0, 27)).toEqual(fresh.rows().slice(0, 27));
    clean(terminal);
  });

  test('says that it is too small, and comes back with the draft', async () => {
    const terminal = await open();
    terminal.type('a draft');
    await terminal.saw('› a draft');
    terminal.resize(59, 15);
    await terminal.saw('60x16 is needed');
    terminal.resize(19, 5);
    await terminal.until((rows) => rows[0] === '60x16' && rows[1] === '', '60x16');
    terminal.resize(60, 16);
    await terminal.saw('› a draft');
    clean(terminal);
  });
});

describe('overlays', () => {
  test('open, filter, choose and close', async () => {
    const terminal = await open(60, 16);
    terminal.type('\u0010');
    await terminal.saw('┌ Commands');
    terminal.type('session');
    await terminal.saw('> session');
    terminal.type('\r');
    await terminal.saw('┌ Sessions');
    await terminal.saw(`* s${sessions}`);
    for (const row of terminal.rows().slice(1, 12)) expect(row.length).toBeLessThanOrEqual(60);
    terminal.type('s1\r');
    await terminal.until((rows) => rows[0]?.endsWith('s1') === true, 'the other session');
    terminal.type('\u001bOP');
    await terminal.saw('┌ Keys');
    terminal.type('\u001b');
    await terminal.until((rows) => !rows.some((row) => row.includes('┌ Keys')), 'no overlay');
    // What cannot be done stays in the composer, with the reason above it.
    terminal.type('/switch nope\r');
    await terminal.saw('! There is no session "nope".');
    await terminal.saw('› /switch nope');
    clean(terminal);
  });

  test('search goes through the whole session', async () => {
    const terminal = await open();
    await turn(terminal, 'long', 'line 59');
    terminal.type('/find line 3\r');
    await terminal.saw('search: line 3   1 of 1');
    terminal.type('q');
    await terminal.until((rows) => !rows.some((row) => row.includes('search:')), 'no search');
  });
});

describe('without a screen', () => {
  test('TERM=dumb chats in lines with labels', async () => {
    await world.run(['session', 'new', 'plain']);
    const terminal = openTerminal(world, ['tui', ...tester], { environment: { TERM: 'dumb' } });
    opened.push(terminal);
    await terminal.saw('>');
    terminal.type('hello\r');
    await terminal.saw('reins: Hello.');
    await terminal.saw('note: ');
    terminal.type('/xyzzy\r');
    await terminal.saw('warning: there is no command /xyzzy');
    terminal.type('look at @hostile.txt\r');
    await terminal.saw('warning: @hostile.txt was not attached: binary_file: ');
    world.write('words.txt', 'some words\n');
    terminal.type('look at @words.txt\r');
    await terminal.saw('tool: local_fs.read_file words.txt');
    await terminal.until(
      (rows) => rows.filter((row) => row.includes('reins: Hello.')).length === 2,
      'the answer to what was attached',
    );
    // The terminal edits the line here, and its key for an interrupt comes as a signal.
    terminal.type('hang\r');
    await terminal.press('\u0003', 'note: cancelled');
    expect(terminal.bytes()).not.toContain('\u001b');
    terminal.type('\u0004');
    expect((await terminal.ended).code).toBe(0);
  });

  test('lines that the terminal does not mark as a paste are one message, which Enter sends', async () => {
    await world.run(['session', 'new', 'pasted']);
    const terminal = openTerminal(world, ['--plain', ...tester]);
    opened.push(terminal);
    await terminal.until((rows) => rows.includes('>'), 'a prompt');
    terminal.type('one line\rtwo lines\rhello\r');
    await terminal.saw('note: pasted 3 lines: Enter sends');
    expect(terminal.screen()).not.toContain('reins: ');
    terminal.type('\r');
    await terminal.saw('reins: Hello.');
  });

  test('a screen reader is told how it came on, and gets no mark', async () => {
    await world.run(['session', 'new', 'reader']);
    const terminal = openTerminal(world, ['--screen-reader', ...tester]);
    opened.push(terminal);
    await terminal.saw('screen reader mode: on via flag');
    terminal.type('hello\r');
    await terminal.saw('reins: Hello.');
    await terminal.saw('tokens in');
    terminal.type('write\r');
    await terminal.saw('ask: path: made.txt');
    await terminal.saw('Enter a number, 1 to 10:');
    terminal.type('\u001b[200~1\r\u001b[201~');
    await terminal.saw('note: a paste answers nothing');
    // A question takes no answer for a moment, however long that is here.
    await terminal.answer('5', 'arguments as JSON');
    terminal.type('{"path":"other.txt","content":"y"}\r');
    await terminal.saw('note: changed by you: the new call is judged');
    await terminal.saw('ask: path: other.txt');
    await terminal.answer('7', 'words:');
    terminal.type('not there\r');
    await terminal.saw('note: denied ask_');
    await terminal.saw('reins: It is read.');
    terminal.type('/sessions\r');
    await terminal.saw('1. reader, open now');
    await terminal.saw('or nothing:');
    terminal.type('0\r');
    await terminal.saw('note: that is none of the numbers');
    terminal.type('\r');
    terminal.type('twice said\u0017');
    await terminal.saw('note: deleted "said"');
    terminal.type('\u0015');
    expect(terminal.screen()).not.toMatch(/[^\x20-\x7e\n]/);
    terminal.type('\u0004');
    await terminal.saw('note: press Ctrl+D again to quit');
    terminal.type('\u0004');
    expect((await terminal.ended).code).toBe(0);
  });
});

test('a theme is kept for every start only when that was said yes to, with the file and the value in view', async () => {
  const kept = async () => (await world.run(['config', 'get', 'tui-theme'])).stdout.trim();
  const before = await kept();
  const terminal = await open(120, 30);
  const ask = async (): Promise<void> => {
    terminal.type('/theme mono --save');
    await terminal.saw('› /theme mono --save');
    // The list of words closes first.
    await terminal.press('\r', 'keep it for every start');
    expect(terminal.screen()).toMatch(/tui-theme = mono is written to \S*\.reins\/local\.db\./);
  };
  await ask();
  terminal.type('\u001b');
  await terminal.until((rows) => !rows.some((row) => row.includes('keep it for')), 'the question closed');
  expect(await kept()).toBe(before);
  await ask();
  await terminal.press('y', (screen) => !screen.includes('keep it for'));
  await expect.poll(() => terminal.bytes()).toContain('tui-theme = mono, for every start');
  expect(await kept()).toBe('mono');
});

test('the export of a run writes over no file unasked', async () => {
  const terminal = await open(100, 30);
  await turn(terminal, 'hello there', 'Hello.');
  terminal.type('\u0018r');
  await terminal.saw('e export');
  terminal.type('e');
  await terminal.until((rows) => rows.some((row) => /wrote \w+\.json/.test(row)), 'the file');
  const [, name = ''] = /wrote (\w+\.json)/.exec(terminal.screen()) ?? [];
  const path = world.write(name, 'mine\n');
  terminal.type('e');
  await terminal.saw(`${name} exists already.`);
  terminal.type('\u001b');
  await terminal.until((rows) => !rows.some((row) => row.includes('exists already')), 'the question closed');
  expect(readFileSync(path, 'utf8')).toBe('mine\n');
  terminal.type('e');
  await terminal.saw(`${name} exists already.`);
  await terminal.press('y', (screen) => !screen.includes('exists already'));
  await expect.poll(() => readFileSync(path, 'utf8')).toContain('"run_');
});
