import { describe, expect, it } from 'vitest';
import { readCall } from '../../src/shell/read-line.ts';

const argv = (words: readonly string[], more: object = {}) => ({
  form: 'argv',
  verdict: 'readable',
  words,
  unexpanded: [],
  ungrantable: null,
  ...more,
});

describe('a call without args', () => {
  it('is an argument vector when the line is one simple command of literal words', () => {
    expect(readCall({ command: `grep -n "a b" src/x.ts` })).toEqual(argv(['grep', '-n', 'a b', 'src/x.ts']));
  });

  it('reads null as absent', () => {
    expect(readCall({ command: 'ls', args: null, shell: null })).toEqual(argv(['ls']));
  });

  it('keeps unquoted globs as they are and tells of them', () => {
    expect(readCall({ command: `ls *.ts '*'` })).toEqual(argv(['ls', '*.ts', '*'], { unexpanded: ['*.ts'] }));
  });

  it.each(['ls; id', 'ls $(id)', 'ls > x', 'A=1 ls', 'ls\nid', 'ls "open'])('sends %j to the shell', (command) => {
    expect(readCall({ command })).toMatchObject({ form: 'sh', verdict: 'unreadable', line: command });
    expect(readCall({ command, shell: true })).toMatchObject({ form: 'sh', line: command });
    expect(readCall({ command, shell: false })).toMatchObject({ form: 'none', error: 'needs_shell' });
  });

  it('goes to the shell when it is told to, and is read all the same where the shell expands nothing', () => {
    expect(readCall({ command: `ls 'a b'`, shell: true })).toEqual({
      form: 'sh',
      verdict: 'readable',
      line: `ls 'a b'`,
      words: ['ls', 'a b'],
    });
    expect(readCall({ command: 'ls *.ts', shell: true })).toMatchObject({ form: 'sh', verdict: 'unreadable' });
  });

  it('refuses without a shell what a shell would expand, and names it', () => {
    expect(readCall({ command: 'ls *.ts', shell: false })).toMatchObject({
      error: 'needs_shell',
      message:
        'The line holds an unquoted * ? or [ in "*.ts", which `shell: false` cannot run. Split the work into simple commands, or leave `shell` out.',
    });
    expect(readCall({ command: `ls '*.ts'`, shell: false })).toEqual(argv(['ls', '*.ts']));
  });

  it('does not read a line above 65,536 bytes', () => {
    expect(readCall({ command: `ls ${'é'.repeat(32_767)}` })).toMatchObject({ form: 'sh', verdict: 'unreadable' });
    expect(readCall({ command: `ls ${'é'.repeat(32_766)}` })).toMatchObject({ form: 'argv', verdict: 'readable' });
  });
});

describe('a call with args', () => {
  it('is the program word and the list, whatever the elements hold', () => {
    expect(readCall({ command: 'grep', args: ['-n', '$HOME *', "it's"] })).toEqual(
      argv(['grep', '-n', '$HOME *', "it's"]),
    );
  });

  it('splits a string by POSIX quoting', () => {
    expect(readCall({ command: 'grep', args: `-n "a b" c\\ d` })).toEqual(argv(['grep', '-n', 'a b', 'c d']));
  });

  it('runs but is never granted when an element looks like shell syntax', () => {
    expect(readCall({ command: 'echo', args: ['a', '&&', 'b'] })).toEqual(
      argv(['echo', 'a', '&&', 'b'], { ungrantable: 'the operator &&' }),
    );
    expect(readCall({ command: 'echo', args: '$(whoami)' })).toMatchObject({ ungrantable: 'a command substitution' });
  });

  it('is unreadable when an argument holds a forbidden character or is too long', () => {
    expect(readCall({ command: 'echo', args: ['a\u202eb'] })).toEqual(
      argv(['echo', 'a\u202eb'], { verdict: 'unreadable', ungrantable: '`args` holds U+202E at position 1.' }),
    );
    expect(readCall({ command: 'echo', args: ['x'.repeat(65_537)] })).toMatchObject({ verdict: 'unreadable' });
  });
});

describe('a call that the tool would refuse', () => {
  it.each([
    [{}, '`command` must be a text.'],
    [{ command: 12 }, '`command` must be a text.'],
    [{ command: ' \t\n' }, '`command` is blank.'],
    [{ command: 'ls\u00a0x' }, '`command` holds U+00A0 at position 2.'],
    [{ command: 'ls', shell: 'yes' }, '`shell` must be true, false or absent.'],
    [
      { command: 'ls', shell: true, args: [] },
      '`args` cannot stand beside `shell: true`: write the whole line in `command`.',
    ],
    [{ command: 'ls -la', args: ['x'] }, '`command` holds a blank beside `args`: it must be the program word alone.'],
    [{ command: 'ls', args: [1] }, '`args` must be a text or a list of texts.'],
    [{ command: 'ls', args: {} }, '`args` must be a text or a list of texts.'],
    [{ command: 'ls', args: ['a\u0000'] }, '`args` holds U+0000 at position 1.'],
  ])('%j is named in one sentence', (args, message) => {
    expect(readCall(args)).toMatchObject({ form: 'none', verdict: 'unreadable', error: 'invalid_arguments', message });
  });
});
