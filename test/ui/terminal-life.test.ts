import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addScript, createProject, tester, type World, writingTurns } from '../cli/world.ts';
import { program } from '../support/run-cli.ts';
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

const open = (argv: readonly string[], options: Parameters<typeof openTerminal>[2] = {}): CliTerminal => {
  const terminal = openTerminal(world, argv, { columns: 80, rows: 24, ...options });
  opened.push(terminal);
  return terminal;
};
const ready = (terminal: CliTerminal) => terminal.until((rows) => rows.some((row) => row.startsWith(' idle')), 'idle');
const asBefore = { alternate: false, paste: false, focus: false, mouse: false };

describe('opening', () => {
  test.each([
    [['tui'], {}],
    [[], { CI: '' }],
    [['chat'], { CI: 'false' }],
  ])('reins %j opens the screen, and leaves it with 0', async (argv, environment) => {
    const terminal = open(argv, { environment });
    await ready(terminal);
    expect(terminal.modes()).toEqual({ ...asBefore, alternate: true, paste: true, focus: true });
    expect(terminal.rows()[0]).toMatch(/^ reins \[1 Chat\] 2 Plan 3 Approvals +\S/);
    expect(terminal.rows()[23]).toBe('');
    // The caret is where the text goes.
    expect(terminal.cursor()).toEqual({ column: 2, row: 20 });
    terminal.type('\u0018\u0003');
    expect((await terminal.ended).code).toBe(0);
    expect(terminal.modes()).toEqual(asBefore);
    expect(terminal.bytes()).not.toMatch(/\u001b\[[23]J/);
  });

  test.each([
    ['tui', 'the terminal UI does not open where CI is set'],
    ['', 'Usage'],
  ])('does not happen where CI is set: reins %s', async (word, said) => {
    const terminal = open(word === '' ? [] : [word], { environment: { CI: '1' } });
    expect((await terminal.ended).code).toBe(2);
    expect(terminal.screen()).toContain(said);
    expect(terminal.bytes()).not.toContain('\u001b[?1049h');
  });

  test('does not happen without a terminal on both ends', async () => {
    const result = await world.run(['tui']);
    expect([result.code, result.stderr]).toEqual([
      2,
      'reins: the terminal UI needs a terminal on stdin and stdout\n  reins tui --help\n',
    ]);
  });

  test('the lines of a trace go to the file of --trace-file, once each and without what is said', async () => {
    const terminal = open(['tui', '--trace-file', 'trace.log']);
    await ready(terminal);
    terminal.type('hello there\r');
    await terminal.until((rows) => rows.some((row) => row.includes('You said: hello there')), 'the answer');
    await ready(terminal);
    terminal.type('\u0018\u0003');
    await terminal.ended;
    const file = join(world.workspace, 'trace.log');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    for (const line of lines) expect(line).toMatch(/^ts=\S+ level=(?:info|warn) msg=\w+ run_id=run_\w+ /);
    const kinds = lines.map((line) => / msg=(\w+)/.exec(line)?.[1]);
    expect([kinds[0], kinds.at(-1)]).toEqual(['chain_started', 'chain_completed']);
    expect(new Set(lines).size).toBe(lines.length);
    expect(lines.join()).not.toMatch(/hello there|step_chunk/);
  });

  test('one message beside the screen takes no such file', async () => {
    const { code, stderr } = await world.run([...tester, 'chat', '--trace-file', 'trace.log', 'hi']);
    expect([code, stderr.split('\n')[0]]).toEqual([
      2,
      'reins: --trace-file belongs to the full-screen terminal; --trace writes to stderr',
    ]);
  });

  test.each([
    [['--frobnicate']],
    [['tui', '--json']],
    [['tui', '--theme', 'nope']],
    [['tui', '--theme', 'constructor']],
  ])('a bad flag is told before an escape byte is written: %j', async (argv) => {
    const terminal = open(argv);
    expect((await terminal.ended).code).toBe(2);
    expect(terminal.bytes()).not.toContain('\u001b');
  });
});

describe('leaving', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 143],
    ['SIGQUIT', 131],
  ])('%s leaves the terminal as it was, with %i', async (signal, code) => {
    const terminal = open(['tui']);
    await ready(terminal);
    terminal.kill(signal);
    expect((await terminal.ended).code).toBe(code);
    expect(terminal.modes()).toEqual(asBefore);
    expect(terminal.bytes()).toMatch(/\u001b\[\?25h\u001b\[\?1049l/);
  });

  test('Ctrl+C and Ctrl+D twice leave an empty composer', async () => {
    for (const key of ['\u0003', '\u0004']) {
      const terminal = open(['tui']);
      await ready(terminal);
      terminal.type(key);
      await terminal.saw('again to quit');
      terminal.type(key);
      expect((await terminal.ended).code).toBe(0);
      expect(terminal.modes()).toEqual(asBefore);
    }
  });

  test.each([
    ['SIGTERM', 143, undefined, 'interrupted'],
    ['a closed window', 0, 15, 'interrupted'],
    ['a key', 0, undefined, 'suspended'],
  ])('%s during a question leaves the run to be resumed', async (way, code, signal, status) => {
    await addScript(world, writingTurns);
    const terminal = open(['tui', ...tester]);
    await ready(terminal);
    terminal.type('write\r');
    await terminal.saw('waiting for you');
    if (way === 'SIGTERM') terminal.kill(way);
    else if (way === 'a key') terminal.type('\u0018\u0003');
    else terminal.close();
    const ended = await terminal.ended;
    expect([ended.code, ended.signal || undefined]).toEqual([code, signal]);
    const [run] = JSON.parse((await world.run(['state', 'list', '--json'])).stdout);
    expect(run.status).toBe(status);
    // What is left behind is said where somebody can read it.
    if (way !== 'a closed window')
      expect(terminal.screen()).toMatch(
        /reins: session \S+, 2 messages\nreins: (run_\w+) can go on: reins state resume \1\nreins: open: reins approvals respond ask_\w+ --approve\|--deny/,
      );
  });
});

test('a policy that was mended by hand is no longer called invalid, without a turn', async () => {
  const policy = `${world.home}/.reins/hitl-policy-own.json`;
  const whole = JSON.stringify({ default_action: 'approve', rules: [] });
  writeFileSync(policy, whole, { mode: 0o600 });
  await world.run(['config', 'set', 'hitl-policy-name', 'own']);
  writeFileSync(policy, '{');
  const terminal = open(['tui']);
  await terminal.saw('policy: INVALID, everything asks');
  writeFileSync(policy, whole);
  await terminal.until((rows) => rows.some((row) => /^ idle .* policy own [0-9a-f]{4}/.test(row)), 'the policy');
  // Nor in the banner, nor in what a first start is told.
  await terminal.until((rows) => !rows.join(' ').includes('everything asks'), 'nothing of it');
  expect(terminal.screen()).not.toContain('reins policy vet');
});

test('Ctrl+Z gives the terminal back to the shell, and fg takes it again', async () => {
  const command = ['bash', '--norc', '-i'];
  const terminal = open([], { command });
  terminal.type(`${process.execPath} ${program} tui\r`);
  await ready(terminal);
  terminal.type('draft');
  await terminal.saw('› draft');
  terminal.type('\u001a');
  await terminal.saw('Stopped');
  expect(terminal.modes()).toMatchObject({ alternate: false, focus: false });
  // The shell is told of the new size; who is stopped is not.
  terminal.resize(70, 20);
  terminal.type('fg\r');
  await terminal.until((rows) => /^─ message ─{60}$/.test(rows[15] ?? ''), 'the screen at its new size');
  await terminal.saw('› draft');
  expect(terminal.modes()).toMatchObject({ alternate: true, paste: true, focus: true });
  terminal.type('\u0018\u0003');
  await terminal.until((rows) => rows.at(-1) !== undefined && !terminal.modes().alternate, 'the shell');
  terminal.type('exit\r');
  await terminal.ended;
});

test('lines are read and edited again after Ctrl+Z and fg, and pastes are marked as before', async () => {
  const terminal = open([], { command: ['bash', '--norc', '-i'] });
  terminal.type(`PS1=; bind 'set enable-bracketed-paste off'; ${process.execPath} ${program} tui --plain\r`);
  const prompt = (rows: readonly string[]) => rows.filter((row) => row !== '').at(-1) === '>';
  await terminal.until(prompt, 'the prompt');
  expect(terminal.modes().paste).toBe(true);
  terminal.type('/fo');
  await terminal.saw('> /fo');
  terminal.type('\u001a');
  await terminal.saw('Stopped');
  expect(terminal.modes().paste).toBe(false);
  terminal.type('fg\r');
  await terminal.until((rows) => rows.filter((row) => row !== '').at(-1) === '> /fo', 'the line again');
  expect(terminal.modes().paste).toBe(true);
  terminal.type('obar\r');
  await terminal.saw('there is no command /foobar');
  terminal.type('\u0004\u0004');
  await terminal.until(() => !terminal.modes().paste, 'the shell');
  terminal.type('exit\r');
  await terminal.ended;
});

test('the prompt stands again after fg where the terminal edits lines itself', async () => {
  const terminal = open([], { command: ['bash', '--norc', '-i'] });
  terminal.type(`PS1=; TERM=dumb ${process.execPath} ${program} tui\r`);
  const prompt = (rows: readonly string[]) => rows.filter((row) => row !== '').at(-1) === '>';
  await terminal.until(prompt, 'the prompt');
  terminal.type('\u001a');
  await terminal.saw('Stopped');
  terminal.type('fg\r');
  await terminal.until(prompt, 'the prompt again');
  terminal.type('/nothing\r');
  await terminal.saw('there is no command /nothing');
  terminal.type('/quit\rexit\r');
  await terminal.ended;
});

test('an editor has the terminal and its keys until it ends, and what was dumped waits for Enter in any way', async () => {
  const editor = world.write(
    '../editor',
    '#!/bin/sh\nprintf "\\033[?1000h"; trap "echo again" CONT; echo editing; while :; do sleep 0.05; done\n',
  );
  chmodSync(editor, 0o700);
  const terminal = open([], { command: ['bash', '--norc', '-i'], environment: { VISUAL: editor } });
  terminal.type(`${process.execPath} ${program} tui\r`);
  await ready(terminal);
  terminal.type('draft\u0007');
  await terminal.saw('editing');
  terminal.type('\u001a');
  await terminal.saw('Stopped');
  terminal.type('fg; echo went on\r');
  await terminal.until((rows) => rows.includes('again'), 'the editor');
  expect(terminal.modes().alternate).toBe(false);
  terminal.type('\u0003');
  await terminal.saw('nothing was changed');
  // It was ended in the middle of its work.
  expect(terminal.modes().mouse).toBe(false);
  expect(terminal.rows()).toContain('› draft');
  terminal.type('\u0015/dump\r');
  await terminal.saw('Enter goes back.');
  // Not an end of the input: the keys behind it arrive.
  terminal.type('x\u0004');
  await terminal.until(() => terminal.modes().alternate, 'the screen');
  terminal.type('on');
  await terminal.saw('› on');
  terminal.type('\u0018\u0003');
  await terminal.saw('went on');
});
