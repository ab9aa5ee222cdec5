import Database from 'better-sqlite3';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { addScript, createProject, tester, type World, writingTurns } from '../cli/world.ts';
import { type CliTerminal, openTerminal } from '../support/terminal.ts';

let world: World;
const opened: CliTerminal[] = [];
beforeEach(async () => {
  world = await createProject();
});
afterEach(async () => {
  for (const terminal of opened.splice(0)) {
    terminal.kill('SIGKILL');
    await terminal.ended;
  }
  world.remove();
});

const size = { small: { columns: 80, rows: 24 }, large: { columns: 120, rows: 40 } };
const nextAsk = '\u000e';
const quit = '\u0018\u0003';

async function open(argv: readonly string[] = [], place = size.small): Promise<CliTerminal> {
  const terminal = openTerminal(world, ['tui', ...tester, ...argv], place);
  opened.push(terminal);
  await terminal.until((rows) => rows.some((row) => row.startsWith(' idle')), 'idle');
  return terminal;
}

/** A turn that comes to its question, whose card has the keys. */
async function asked(terminal: CliTerminal): Promise<void> {
  terminal.type('write it');
  await terminal.saw('› write it');
  terminal.type('\r');
  await terminal.saw('waiting for an answer');
  // The foot is the last row of a card: no argument can look like it before the card is whole.
  await terminal.press(nextAsk, (screen) => /^┗ also: reins approvals respond.*┛$/m.test(screen));
}

/** Presses a letter as a person does, apart from the next one, until it has had its effect. */
async function letter(terminal: CliTerminal, key: string, wanted: string): Promise<void> {
  const again = setInterval(() => {
    // Behind its effect the card is gone, and a letter would be text.
    if (terminal.rows().some((row) => /^[┏┃].*(?:Esc|y denies)/.test(row) || row.includes('y denies them')))
      terminal.type(key);
  }, 700);
  try {
    await terminal.saw(wanted);
  } finally {
    clearInterval(again);
  }
}

const open_asks = async (): Promise<readonly string[]> => {
  const { stdout } = await world.run(['approvals', 'list', '--json']);
  return (JSON.parse(stdout) as { asks: readonly { id: string }[] }).asks.map(({ id }) => id);
};

describe('a card in the terminal', () => {
  test.each([['small'], ['large']] as const)(
    'says what will happen and why, on a %s screen, and y allows it',
    async (name) => {
      await addScript(world, writingTurns);
      const terminal = await open([], size[name]);
      await asked(terminal);
      const { columns, rows } = size[name];
      const card = terminal.rows().filter((row) => /^[┏┃┗]/.test(row));
      expect(card.every((row) => row.length === columns && /[┓┃┛]$/.test(row))).toBe(true);
      const text = card.join('\n');
      for (const part of [
        'Create a file',
        '1 +hello',
        'path     new.txt (in the workspace)',
        'rule',
        'default',
        'binds',
        'expires in',
        'Esc later',
        'w edits here',
      ])
        expect(text).toContain(part);
      expect(terminal.rows()[rows - 1]).toBe('');
      await letter(terminal, 'y', 'It is written.');
      expect(terminal.screen()).toContain('approved by operator:tui');
      expect(terminal.bytes()).not.toMatch(/\u001b\[[23]J/);
    },
  );

  test('is not answered by a sentence, a paste, Enter or blanks', async () => {
    await addScript(world, writingTurns);
    const bindings = { 'card.once': ['enter'], 'app.nothing': ['f9'] };
    world.write('../home/.reins/keys.json', JSON.stringify({ version: 1, bindings }));
    const terminal = await open();
    // Said behind the history of the session, and Enter still approves nothing.
    await terminal.saw('keys.json: "app.nothing" is no command');
    await terminal.saw('keys.json: "card.once": Enter is no printable character');
    await asked(terminal);
    await letter(terminal, 'yes please', 'typing? Esc first');
    terminal.type('\u001b[200~y\u001b[201~');
    for (let index = 0; index < 20; index += 1) terminal.type('\r ');
    expect(await open_asks()).toHaveLength(1);
  });

  test('denies with words, which the model is told', async () => {
    await addScript(world, writingTurns);
    const terminal = await open();
    await asked(terminal);
    await letter(terminal, 'f', 'why (the model reads it');
    // A second press of the letter is text by now. Tab and Shift+Tab are part of typing here: no other pane opens.
    terminal.type('\u0015not y\u001b[Z\t here');
    await terminal.saw('› not y here');
    terminal.type('\r');
    await terminal.saw('denied by operator:tui');
    await terminal.until((rows) => rows.some((row) => row.startsWith(' idle')), 'idle');
    const { stdout } = await world.run(['session', 'show', '--tools']);
    expect(stdout).toContain('not y here');
  });

  test('HTTP-017: is left with Esc, stays open, and shows who answered it elsewhere', async () => {
    await addScript(world, writingTurns);
    const terminal = await open();
    await asked(terminal);
    terminal.type('\u001b');
    // Of the card one row is left, with the key that goes back to it.
    const framed = (rows: readonly string[]) => rows.filter((row) => /^[┏┃┗]/.test(row));
    await terminal.until((rows) => framed(rows).length === 1, 'a row for the ask');
    expect(framed(terminal.rows())[0]).toMatch(/^┏ ask_\w+ · local_fs\.write_file +new\.txt +waits · Ctrl\+N$/);
    const [id = ''] = await open_asks();
    await terminal.press(nextAsk, 'y once');
    const answered = await world.run(['approvals', 'respond', id, '--deny']);
    expect(answered.code).toBe(0);
    await terminal.saw('by operator:cli');
    await terminal.until((rows) => framed(rows).length === 0, 'no card');
    expect(await open_asks()).toEqual([]);
  });

  test('lets edits of the workspace through for the session, and asks again in another one', async () => {
    await addScript(world, [
      ...['a', 'b', 'c'].map((name) => ({
        name,
        match: { role: 'user', last_user: `write ${name}` },
        reply: {
          text: '',
          tool_calls: [{ name: 'local_fs.write_file', arguments: { path: `${name}.txt`, content: name } }],
        },
      })),
      { name: 'end', match: { role: 'tool' }, reply: { text: 'It is written.' } },
    ]);
    const terminal = await open();
    terminal.type('write a');
    await terminal.saw('› write a');
    terminal.type('\r');
    await terminal.saw('waiting for an answer');
    await terminal.press(nextAsk, 'w edits here');
    await letter(terminal, 'w', 'It is written.');
    // A letter that was pressed once more than needed on a slow machine is text by now.
    terminal.type('\u0015write b');
    await terminal.saw('› write b');
    terminal.type('\r');
    await terminal.until(
      (rows) => rows.some((row) => row.includes('b.txt') && row.includes('remembered')),
      'a remembered call',
    );
    await terminal.until((rows) => rows.some((row) => row.startsWith(' idle') && row.includes('edits pass')), 'idle');
    // Whoever opens the session later is told of it too, until it is ended, wherever that is done.
    terminal.kill('SIGKILL');
    await terminal.ended;
    const again = await open(['--session', 'default']);
    await again.saw('edits pass');
    const forgotten = await world.run(['approvals', 'forget', '--session', 'default']);
    expect([forgotten.code, forgotten.stdout]).toEqual([
      0,
      expect.stringMatching(/^forgot: edits of files below \/\S+\nforgot 1 remembered choice\n$/),
    ]);
    await again.until((rows) => !rows.some((row) => row.includes('edits pass')), 'edits ask again');
    expect((await world.run(['session', 'new', 'other'])).code).toBe(0);
    const anew = await world.run(['chat', ...tester, '--on-ask', 'suspend', 'write c'], {});
    expect(anew.code).toBe(4);
  });

  test('shows every character that hides, and sends none of it to the terminal', async () => {
    const content = 'a\u001b]52;c;eA==\u0007b\u202ec\u200bd\rE\u001b[2J\u001b[?1049l\ttab\n┏ ASK fake\n┃ y once';
    await addScript(world, [
      {
        name: 'bad',
        reply: { text: '', tool_calls: [{ name: 'local_fs.write_file', arguments: { path: 'x.txt', content } }] },
      },
    ]);
    const terminal = await open([], size.large);
    await asked(terminal);
    const card = terminal.rows().filter((row) => /^[┏┃┗]/.test(row));
    const text = card.join('\n');
    expect(text).toContain('a␛]52;c;eA==␇b⟨U+202E⟩c⟨U+200B⟩d␍E␛[2J␛[?1049l⇥');
    expect(text).toContain('hidden or look-alike characters');
    // What looks like a card begins within the frame of the real one.
    expect(
      card.filter((row) => row.includes('ASK fake')).every((row) => row.startsWith('┃ ') && row.endsWith(' ┃')),
    ).toBe(true);
    expect(terminal.bytes()).not.toMatch(/\u001b\]52|\u001b\[2J|\u202e|\u200b/);
    expect(terminal.modes().alternate).toBe(true);
  });
});

describe('the pane of open asks', () => {
  test.each([['small'], ['large']] as const)(
    'lists asks of other processes, and denies what is selected, on a %s screen',
    async (name) => {
      await addScript(world, writingTurns);
      const terminal = await open([], size[name]);
      const run = await world.run(['run', ...tester, '--on-ask', 'suspend', 'go'], {});
      expect(run.code).toBe(4);
      terminal.type('\u001bOS');
      await terminal.saw('1 open');
      expect(terminal.rows().every((row) => row.length <= size[name].columns)).toBe(true);
      expect(terminal.screen()).toContain('local_fs.write_file');
      terminal.type(' ');
      await terminal.saw('1 selected');
      terminal.type('n');
      await terminal.saw('Deny this ask?');
      await letter(terminal, 'y', 'Nothing waits for an answer.');
      await terminal.saw('denied');
      expect(await open_asks()).toEqual([]);
    },
  );
});

describe('the composer in the terminal', () => {
  test('edits by clusters with the cursor at the caret, and folds a long paste', async () => {
    const terminal = await open();
    terminal.type('한글 👩‍👩‍👧 e\u0301');
    await terminal.saw('› 한글 👩‍👩‍👧 e\u0301');
    expect(terminal.cursor()).toEqual({ column: 2 + 4 + 1 + 2 + 1 + 1, row: 20 });
    terminal.type('\u001b[D\u007f\u007f');
    await terminal.saw('› 한글 e\u0301');
    expect(terminal.cursor()).toEqual({ column: 2 + 4 + 1, row: 20 });
    terminal.type(`\u001b[200~${'line\n'.repeat(500)}\u001b[201~`);
    await terminal.saw('[Pasted 1: 500 lines]');
  });

  test('takes lines that the terminal does not mark as a paste for one, and sends a line of one read', async () => {
    const terminal = await open();
    terminal.type('one\rtwo\r\tthree\r');
    await terminal.saw('› one\n  two\n  ');
    expect(
      terminal
        .rows()
        .slice(18, 21)
        .map((row) => row.trim()),
    ).toEqual(['› one', 'two', 'three']);
    terminal.type('\u0015\u007f\u0015\u007f\u0015');
    await terminal.until((rows) => !rows.some((row) => row.includes('three')), 'an empty composer');
    terminal.type('hello\r');
    await terminal.saw('› hello');
  });

  test('completes commands, refuses unknown ones in place, and offers files but not denied ones', async () => {
    world.write('src/retry.ts', 'x');
    world.write('.env', 'SECRET=1');
    const terminal = await open();
    terminal.type('/sess');
    await terminal.saw('/sessions');
    terminal.type('\u001b');
    await terminal.until((rows) => !rows.some((row) => row.includes('/sessions')), 'no list');
    terminal.type('x\r');
    await terminal.saw('there is no command /sessx');
    terminal.type('\u0015');
    terminal.type('@retry');
    await terminal.saw('> src/retry.ts');
    terminal.type('\t');
    await terminal.saw('› @src/retry.ts');
    terminal.type('\u0015@env');
    await terminal.saw('› @env');
    expect(terminal.screen()).not.toContain('.env\n');
  });

  test('attaches what a message mentions by calls of the operator, and gives a denied one back', async () => {
    world.write('notes.md', 'the seventh line');
    world.write('id_rsa', 'x');
    world.write(
      'policy.json',
      JSON.stringify({
        default_action: 'allow',
        rules: [
          {
            tools: 'local_fs',
            tool: 'read_file',
            when: [{ key: 'path', op: 'glob', value: '**/id_rsa' }],
            action: 'deny',
          },
        ],
      }),
    );
    world.write('lines.md', 'one line\ntwo lines\nthree lines\nfour lines\n');
    const some = { contains: ['two lines\nthree lines\n'], not: { any_of: ['one line\n', 'four lines'] } };
    await addScript(world, [
      { name: 'saw', match: { last_user: 'the seventh line' }, reply: { text: 'I see it.' } },
      { name: 'some', match: { last_user: some }, reply: { text: 'I see two of them.' } },
    ]);
    const terminal = await open(['--policy', join(world.workspace, 'policy.json')]);
    terminal.type('look at @id_rsa');
    await terminal.saw('› look at @id_rsa');
    terminal.type('\r');
    await terminal.saw('! @id_rsa was not attached');
    expect(terminal.screen()).toContain('› look at @id_rsa');
    // Said once, and in words for a person.
    expect(terminal.screen()).not.toContain('failed (');
    terminal.type('\u0015look at @notes.md ');
    await terminal.saw('› look at @notes.md');
    terminal.type('\r');
    await terminal.saw('I see it.');
    terminal.type('and @lines.md:2-3 ');
    await terminal.saw('› and @lines.md:2-3');
    terminal.type('\r');
    await terminal.saw('I see two of them.');
  });

  test('sends an image that a message mentions as an image, and gives a denied one back', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    world.write('pic.png', Buffer.from(png, 'base64'));
    world.write('shot.png', Buffer.from(png, 'base64'));
    world.write('fake.png', 'no image');
    const denied = {
      tools: 'local_fs',
      tool: 'read_file',
      when: [{ key: 'path', op: 'glob', value: '**/shot.png' }],
      action: 'deny',
    };
    world.write('policy.json', JSON.stringify({ default_action: 'allow', rules: [denied] }));
    await addScript(world, [{ name: 'saw', match: { last_user: 'look at @pic.png' }, reply: { text: 'I see it.' } }]);
    expect((await world.run(['model', 'add', 'tester', '--capability', 'vision'])).code).toBe(0);
    const terminal = await open(['--policy', join(world.workspace, 'policy.json')]);
    const send = async (words: string): Promise<void> => {
      terminal.type(`\u0015${words} `);
      await terminal.saw(`› ${words}`);
      terminal.type('\r');
    };
    await send('look at @shot.png');
    await terminal.saw('! @shot.png was not attached: the policy denies it');
    await send('look at @fake.png');
    await terminal.saw('! @fake.png was not attached: it is not a PNG, JPEG, GIF or WebP image');
    await send('look at @pic.png');
    await terminal.saw('I see it.');
    await terminal.saw('[image pic.png, 70 B]');
    await terminal.until((rows) => rows.some((row) => row.startsWith(' idle')), 'idle');
    terminal.kill('SIGKILL');
    await terminal.ended;
    const again = await open();
    await again.saw('[image pic.png, 70 B]');
    expect((await world.run(['session', 'show'])).stdout).toMatch(
      /^Session: .*\n\[\S+\] user: #1\n {2}look at @pic\.png \n {2}\[image pic\.png, 70 B\]\n\n\[\S+\] assistant: #2\n/,
    );
    expect((await world.run(['session', 'export'])).stdout).toMatch(
      /\nlook at @pic\.png \n\n\[image pic\.png, 70 B\]\n/,
    );
    const { messages } = JSON.parse((await world.run(['session', 'show', '--json'])).stdout);
    expect(messages[0].images).toEqual([{ name: 'pic.png', mime_type: 'image/png', bytes: 70 }]);
  });

  test('runs a shell line of the operator through the gate, and only where the shell is on', async () => {
    const told = '^what was it[?]\\n\\nI ran this myself:\\n\\$ cat words.txt\\n@id_rsa is a word$';
    await addScript(world, [{ name: 'told', match: { last_user: { regex: told } }, reply: { text: 'I know.' } }]);
    const without = await open();
    without.type('!ls\r');
    await without.saw('! nothing was run: the shell is off');
    await without.saw('› !ls');
    await without.saw('y turn it on in this program');
    world.write('off-on-off.txt', '');
    without.type('y');
    await without.saw('the shell is on from the next turn on');
    await without.saw('shell on');
    without.type('\r');
    await without.saw('off-on-off.txt');
    await without.until((rows) => rows.some((row) => row.startsWith(' idle')), 'idle');
    without.type('/shell off\r');
    await without.until((rows) => !rows.some((row) => row.includes('shell on')), 'off again');
    without.type(quit);
    await without.ended;
    world.write('seen-here.txt', '');
    world.write('words.txt', '@id_rsa is a word\n');
    world.write('id_rsa', 'x');
    const terminal = await open(['--shell']);
    terminal.type('!!ls\r');
    await terminal.saw('seen-here.txt');
    await terminal.until((rows) => rows.some((row) => row.startsWith(' idle')), 'idle');
    // Drawn as what the operator typed, not as a call of the model.
    expect(terminal.rows().filter((row) => /^\$ ls +allowed rule \d+ · exit 0 /.test(row))).toHaveLength(1);
    // What a line printed is no text of the operator: it mentions nothing, and it waits for the message that is sent.
    terminal.type('!cat words.txt\r');
    await terminal.saw('@id_rsa is a word');
    await terminal.until((rows) => rows.some((row) => row.startsWith(' idle')), 'idle');
    terminal.type('see @id_rsa ');
    await terminal.saw('› see @id_rsa');
    terminal.type('\r');
    await terminal.saw('! @id_rsa was not attached');
    expect(terminal.rows().at(-4)).toBe('› see @id_rsa');
    terminal.type('\u0015what was it?\r');
    await terminal.saw('I know.');
    terminal.type('!touch made\r');
    await terminal.saw('waiting for an answer');
    await terminal.press(nextAsk, 'y once');
    await letter(terminal, 'n', 'denied by operator:tui');
    const end = terminal.rows().findIndex((row) => /^! touch made +asked, denied by operator:tui /.test(row));
    // Nothing more is said of it: not why it was asked, and not what a model would be told.
    expect(terminal.rows()[end + 1]).toMatch(/^─ message ─+$/);
  });

  test('keeps the draft when the program is killed', async () => {
    await addScript(world, [{ name: 'hi', reply: { text: 'Hello.' } }]);
    const terminal = await open();
    terminal.type('hi\r');
    await terminal.saw('Hello.');
    await terminal.until((rows) => rows.some((row) => row.startsWith(' idle')), 'idle');
    terminal.type('half a thought');
    const database = new Database(join(world.workspace, '.reins/local.db'), { readonly: true });
    const stored = () => database.prepare("SELECT value FROM kv WHERE key LIKE 'tui.draft.%'").pluck().get();
    await vi.waitFor(() => expect(String(stored())).toContain('half a thought'), { timeout: 30_000 });
    database.close();
    terminal.kill('SIGKILL');
    await terminal.ended;
    const again = await open();
    await again.saw('› half a thought');
    again.type('\u0003');
    await again.until((rows) => !rows.some((row) => row.includes('half a thought')), 'an empty composer');
    again.type('\u001b[A');
    await again.saw('› half a thought');
    again.type(quit);
    expect((await again.ended).code).toBe(0);
  });
});
