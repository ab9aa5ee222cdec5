import { describe, expect, it } from 'vitest';
import { readCall } from '../../src/shell/read-line.ts';

const argv = (words: readonly string[], more: object = {}) => ({
  form: 'argv',
  verdict: 'readable',
  words,
  unexpanded: [],
  grant: { ok: true, line: { commands: [{ words, redirects: [] }], operators: [] } },
  refusal: null,
  ...more,
});

describe('a call without args', () => {
  it('is an argument vector when the line is one simple command of literal words', async () => {
    expect(await readCall({ command: `grep -n "a b" src/x.ts` })).toMatchObject(
      argv(['grep', '-n', 'a b', 'src/x.ts']),
    );
  });

  it('reads null as absent', async () => {
    expect(await readCall({ command: 'ls', args: null, shell: null })).toMatchObject(argv(['ls']));
  });

  it('keeps unquoted globs as they are and tells of them', async () => {
    expect(await readCall({ command: `ls *.ts '*'` })).toMatchObject(
      argv(['ls', '*.ts', '*'], { unexpanded: ['*.ts'] }),
    );
  });

  it.each(['ls; id', 'ls $(id)', 'ls > x', 'A=1 ls', 'ls\nid'])('sends %j to the shell', async (command) => {
    const grant = { ok: false };
    expect(await readCall({ command })).toMatchObject({ form: 'sh', verdict: 'readable', line: command, grant });
    expect(await readCall({ command, shell: true })).toEqual(await readCall({ command }));
  });

  it('judges what shell: false cannot run all the same, and says that the tool refuses it', async () => {
    const refusal = expect.stringMatching(/^The line holds the operator &&, which `shell: false` cannot run\./);
    expect(await readCall({ command: 'ls && id', shell: false })).toMatchObject({
      form: 'sh',
      verdict: 'readable',
      grant: { ok: true },
      refusal,
    });
  });

  it('goes to the shell when it is told to', async () => {
    expect(await readCall({ command: `ls 'a b'`, shell: true })).toMatchObject({
      form: 'sh',
      verdict: 'readable',
      line: `ls 'a b'`,
      grant: { ok: true, line: { commands: [{ words: ['ls', 'a b'], redirects: [] }], operators: [] } },
    });
    expect(await readCall({ command: 'ls *.ts', shell: true })).toMatchObject({
      form: 'sh',
      verdict: 'readable',
      grant: { ok: false, construct: 'an unquoted * ? or [ in "*.ts"' },
    });
  });

  it.each([
    ...['ls (', 'ls (x', 'ls; case a in a) ls (;; esac', 'echo ${ ls', 'echo $\u007b ls; }', 'echo ${|', 'echo $[1'],
    ...["ls; cat <<' x", 'ls <<${ x', 'ls !(a)', 'ls @(a|b)'],
  ])('does not read %j, which no shell runs, or not every one alike', async (command) => {
    expect(await readCall({ command })).toMatchObject({ form: 'sh', verdict: 'unreadable', grant: { ok: false } });
  });

  it.each(['f() { ls; }; f', 'ls \\\n -l', 'cat <<E x\na (b\nE', 'x=(1 2); ls', '(ls) && (id)', "ls '${' \\$["])(
    'reads %j',
    async (command) => {
      expect(await readCall({ command })).toMatchObject({ form: 'sh', verdict: 'readable' });
    },
  );

  it('refuses without a shell what a shell would expand, and names it', async () => {
    expect(await readCall({ command: 'ls *.ts', shell: false })).toMatchObject({
      form: 'argv',
      refusal:
        'The line holds an unquoted * ? or [ in "*.ts", which `shell: false` cannot run. Split the work into simple commands, or leave `shell` out.',
    });
    expect(await readCall({ command: `ls '*.ts'`, shell: false })).toMatchObject(argv(['ls', '*.ts']));
  });

  it('does not read a line above 65,536 bytes', async () => {
    expect(await readCall({ command: `ls ${'é'.repeat(32_767)}` })).toMatchObject({
      form: 'sh',
      verdict: 'unreadable',
    });
    expect(await readCall({ command: `ls ${'é'.repeat(32_766)}` })).toMatchObject({
      form: 'argv',
      verdict: 'readable',
    });
  });
});

describe('a call with args', () => {
  it('is the program word and the list, whatever the elements hold', async () => {
    expect(await readCall({ command: 'grep', args: ['-n', '$HOME *', "it's"] })).toMatchObject(
      argv(['grep', '-n', '$HOME *', "it's"]),
    );
  });

  it('splits a string by POSIX quoting', async () => {
    expect(await readCall({ command: 'grep', args: `-n "a b" c\\ d` })).toMatchObject(
      argv(['grep', '-n', 'a b', 'c d']),
    );
  });

  it('runs but is never granted when an element looks like shell syntax', async () => {
    expect(await readCall({ command: 'echo', args: ['a', '&&', 'b'] })).toMatchObject(
      argv(['echo', 'a', '&&', 'b'], { grant: { ok: false, construct: 'the operator &&' } }),
    );
    expect(await readCall({ command: 'echo', args: '$(whoami)' })).toMatchObject({
      grant: { ok: false, construct: 'a command substitution' },
    });
  });

  it('is unreadable when an argument holds a forbidden character or is too long', async () => {
    expect(await readCall({ command: 'echo', args: ['a\u202eb'] })).toMatchObject(
      argv(['echo', 'a\u202eb'], {
        grant: { ok: false },
        verdict: 'unreadable',
        detail: '`args` holds U+202E at position 1.',
      }),
    );
    expect(await readCall({ command: 'echo', args: ['x'.repeat(65_537)] })).toMatchObject({ verdict: 'unreadable' });
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
  ])('%j is named in one sentence', async (args, message) => {
    expect(await readCall(args)).toMatchObject({
      form: 'none',
      verdict: 'unreadable',
      error: 'invalid_arguments',
      message,
    });
  });
});
