import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyPatch } from 'diff';
import { type Bench, createBench } from '../support.ts';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.remove());

const at = (name: string) => join(bench.workspace, name);
const file = (name: string, content: string | Buffer = '') => {
  writeFileSync(at(name), content);
  return at(name);
};
const text = (name: string) => readFileSync(at(name), 'utf8');
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const read = (path: string) => bench.value('local_fs.read_file', { path });
const write = (path: string, content: string, more = {}) => bench.call('local_fs.write_file', { path, content }, more);

describe('write_file', () => {
  it('makes a new file and its directories', async () => {
    expect(await write('a/b/c.txt', 'hi\n')).toEqual({
      ok: true,
      value: {
        path: 'a/b/c.txt',
        changed: true,
        created: true,
        old_bytes: null,
        new_bytes: 3,
        old_sha256: null,
        new_sha256: sha256('hi\n'),
      },
    });
    expect(text('a/b/c.txt')).toBe('hi\n');
    expect((statSync(at('a/b/c.txt')).mode & 0o777) | 0o022).toBe(0o666);
    expect(readdirSync(at('a/b'))).toEqual(['c.txt']);
  });

  it('wants an existing file read completely, in its present state', async () => {
    file('a.txt', 'one\ntwo\nthree\n');
    expect(await write('a.txt', 'x')).toMatchObject({ error: 'read_first' });
    await bench.value('local_fs.read_file_range', { path: 'a.txt', start_line: 1, end_line: 2 });
    expect(await write('a.txt', 'x')).toMatchObject({ error: 'read_first' });
    await read('a.txt');
    file('a.txt', 'changed outside\n');
    expect(await write('a.txt', 'x')).toMatchObject({ error: 'stale_read' });
    expect(text('a.txt')).toBe('changed outside\n');
    await read('a.txt');
    expect(await write('a.txt', 'x')).toMatchObject({ ok: true, value: { changed: true, created: false } });
  });

  it('needs no reading for an empty file, nor after its own writing', async () => {
    file('empty.txt', '');
    expect(await write('empty.txt', 'one')).toMatchObject({ ok: true });
    expect(await write('empty.txt', 'two')).toMatchObject({ ok: true });
    expect(text('empty.txt')).toBe('two');
  });

  it('writes nothing when the content is equal', async () => {
    const path = file('a.txt', 'same');
    await read('a.txt');
    const before = lstatSync(path).ino;
    expect(await write('a.txt', 'same')).toMatchObject({ ok: true, value: { changed: false, created: false } });
    expect(lstatSync(path).ino).toBe(before);
  });

  it('keeps a byte order mark where the new content has line ends of its own', async () => {
    file('a.txt', '\ufeffone\r\ntwo\n');
    await read('a.txt');
    await write('a.txt', 'one\r\ntwo\nthree\n');
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('\ufeffone\r\ntwo\nthree\n');
    await write('a.txt', 'one\r\ntwo\r\n');
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('\ufeffone\r\ntwo\r\n');
  });

  it('refuses more than _max_write_bytes, with both numbers', async () => {
    expect(await write('a.txt', 'x'.repeat(11), { limits: { _max_write_bytes: '10' } })).toEqual({
      ok: false,
      error: 'too_large',
      message: '"a.txt" would have 11 bytes; _max_write_bytes is 10.',
      extra: { bytes: 11, max_bytes: 10 },
    });
  });

  it('does not overwrite what changed between ask and execution', async () => {
    file('a.txt', 'old');
    await read('a.txt');
    expect(await write('a.txt', 'new', { meanwhile: () => writeFileSync(at('a.txt'), 'other') })).toMatchObject({
      error: 'changed_since_approval',
    });
    expect(text('a.txt')).toBe('other');
    expect(await write('b.txt', 'new', { meanwhile: () => writeFileSync(at('b.txt'), 'appeared') })).toMatchObject({
      error: 'changed_since_approval',
    });
    expect(text('b.txt')).toBe('appeared');
    expect(readdirSync(bench.workspace).sort()).toEqual(['a.txt', 'b.txt']);
  });

  it('does not write through a directory that became a link', async () => {
    mkdirSync(at('dir'));
    mkdirSync(join(bench.dir, 'out'));
    const swap = () => {
      // The directory stays, under another name; a link takes its place.
      renameSync(at('dir'), at('moved'));
      symlinkSync(join(bench.dir, 'out'), at('dir'));
    };
    expect(await write('dir/a.txt', 'x', { meanwhile: swap })).toMatchObject({ error: 'path_changed' });
    expect(existsSync(join(bench.dir, 'out/a.txt'))).toBe(false);
  });

  it('refuses a new file below a directory that leads out of a confining root', async () => {
    mkdirSync(join(bench.dir, 'out'));
    symlinkSync(join(bench.dir, 'out'), at('link'));
    expect(await write('link/new.txt', 'x', { confined: true })).toMatchObject({ error: 'outside_root' });
    symlinkSync(join(bench.dir, 'out/nothing'), at('dangling'));
    expect(await write('dangling', 'x', { confined: true })).toMatchObject({ error: 'outside_root' });
  });

  it('writes the real target of a link and keeps the link', async () => {
    file('real.txt', '');
    symlinkSync('real.txt', at('link'));
    expect(await write('link', 'x')).toMatchObject({ ok: true });
    expect(lstatSync(at('link')).isSymbolicLink()).toBe(true);
    expect(text('real.txt')).toBe('x');
  });

  it('leaves the other name of a file with two names as it was, and says so', async () => {
    file('one.txt', 'old');
    linkSync(at('one.txt'), at('two.txt'));
    await read('one.txt');
    expect(await write('one.txt', 'new')).toMatchObject({ ok: true, value: { hard_link_broken: true } });
    expect([text('one.txt'), text('two.txt')]).toEqual(['new', 'old']);
  });

  it('refuses directories and devices without touching them', async () => {
    mkdirSync(at('dir'));
    expect(await write('dir', 'x')).toMatchObject({ error: 'is_directory' });
    expect(await write('new/', 'x')).toMatchObject({ error: 'is_directory' });
    expect(existsSync(at('new'))).toBe(false);
    expect(await write('/dev/null', 'x')).toMatchObject({ error: 'not_regular' });
  });

  it('tells nothing of a file before the policy has spoken', async () => {
    file('a.txt', 'secret');
    const tool = bench.catalog.find('local_fs', 'edit_file');
    const site = {
      run_id: 'r',
      call_id: 'c',
      scope: 's',
      root: bench.workspace,
      confined: false,
      home: bench.home,
      limits: {},
      direct: false,
      command: null,
    };
    const prepared = await tool!.prepare({ path: 'a.txt', old_string: 'x', new_string: 'y' }, site, {});
    expect(prepared).toMatchObject({ ok: true });
    expect(prepared.ok && tool!.unfit!(prepared.facts)).toMatchObject({ error: 'read_first' });
  });
});

describe('edit_file', () => {
  const edit = (old_string: string, new_string: string, more = {}) =>
    bench.call('local_fs.edit_file', { path: 'a.txt', old_string, new_string, ...more });

  it('replaces the one match', async () => {
    file('a.txt', 'one two three\n');
    await read('a.txt');
    expect(await edit('two', '2')).toMatchObject({ ok: true, value: { replacements: 1 } });
    expect(text('a.txt')).toBe('one 2 three\n');
  });

  it('changes nothing without a match, and shows similar lines', async () => {
    file('a.txt', 'const value = 1;\nconst other = 2;\n');
    await read('a.txt');
    expect(await edit('const valve = 1;', 'x')).toEqual({
      ok: false,
      error: 'no_match',
      message: 'The text does not occur in "a.txt". Similar: line 1: const value = 1;.',
      extra: { lines: [1] },
    });
    expect(text('a.txt')).toBe('const value = 1;\nconst other = 2;\n');
  });

  it('says of a text that does not occur what keeps it from occurring', async () => {
    file('a.txt', '  const value = 1;\n\treturn value;\n');
    await read('a.txt');
    expect(await edit('2: \treturn value;', 'x')).toMatchObject({
      message:
        'The text does not occur in "a.txt". It has the numbers of lines in it, which the file has not; without them it is line 2.',
      extra: { lines: [2] },
    });
    expect(await edit('const value = 2;', 'const value = 1;')).toMatchObject({
      error: 'no_match',
      message:
        'The text does not occur in "a.txt". The new text is there already, on line 1: this change seems to have been made.',
    });
  });

  it('says of an empty text what adds to a file and what makes one', async () => {
    file('a.txt', 'x\n');
    await read('a.txt');
    expect(await edit('', 'y')).toMatchObject({
      error: 'invalid_arguments',
      message: expect.stringContaining('put it into "new_string" as well to add to it; write_file makes a file'),
      extra: { path: 'old_string' },
    });
  });

  it('refuses two matches unless all are meant', async () => {
    file('a.txt', 'x\ny\nx\n');
    await read('a.txt');
    expect(await edit('x', 'z')).toMatchObject({ error: 'not_unique', extra: { count: 2, lines: [1, 3] } });
    expect(await edit('x', 'z', { replace_all: true })).toMatchObject({ ok: true, value: { replacements: 2 } });
    expect(text('a.txt')).toBe('z\ny\nz\n');
  });

  it('needs any reading of the present state, also of a part', async () => {
    file('a.txt', 'one\ntwo\n');
    expect(await edit('one', '1')).toMatchObject({ error: 'read_first' });
    await bench.value('local_fs.read_file_range', { path: 'a.txt', start_line: 1, end_line: 1 });
    expect(await edit('one', '1')).toMatchObject({ ok: true });
    expect(await edit('two', '2')).toMatchObject({ ok: true });
    expect(await write('a.txt', 'x')).toMatchObject({ error: 'read_first' });
  });

  it('keeps CRLF, byte order mark and mode', async () => {
    chmodSync(file('a.txt', '\ufeffone\r\ntwo\r\n'), 0o755);
    await read('a.txt');
    expect(await edit('one\ntwo', '1\n2')).toMatchObject({ ok: true });
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('\ufeff1\r\n2\r\n');
    expect(statSync(at('a.txt')).mode & 0o777).toBe(0o755);
  });

  it('takes CRLF in the texts of a change for the line end of a CRLF file', async () => {
    file('a.txt', 'one\r\ntwo\r\nthree\r\n');
    await read('a.txt');
    expect(await edit('one\r\ntwo', '1\r\n2')).toMatchObject({ ok: true });
    expect(await edit('three', '3\r\n4\n5')).toMatchObject({ ok: true });
    expect(text('a.txt')).toBe('1\r\n2\r\n3\r\n4\r\n5\r\n');
  });

  it('does not stand still over a text that is nearly everywhere', async () => {
    const letters = 'a'.repeat(50_000);
    file('a.txt', `${'a'.repeat(900_000)}\n${letters}b${letters}\n`);
    await read('a.txt');
    expect(await edit(`a${letters}b${letters}`, 'x')).toMatchObject({ error: 'no_match' });
    expect(await edit(`${letters}b${letters}`, 'x')).toMatchObject({ ok: true, value: { replacements: 1 } });
    expect(await edit('a', 'b', { replace_all: true })).toMatchObject({ ok: true, value: { replacements: 900_000 } });
    expect(text('a.txt')).toBe(`${'b'.repeat(900_000)}\nx\n`);
  });

  it('compares as much of a long file with a text that does not occur as takes no time', async () => {
    const line = (number: number) => `${'x'.repeat(40)}${String(number).padStart(8, '0')}${'yzab'.repeat(20)}\n`;
    file('a.txt', Array.from({ length: 8000 }, (_, number) => line(number)).join(''));
    await read('a.txt');
    const absent = `${'x'.repeat(30)}${'qwerty'.repeat(8)}${'yzab'.repeat(10)}`;
    expect(await edit(absent, 'x')).toMatchObject({ error: 'no_match', extra: { lines: [] } });
    expect(await edit(line(77).replace('077', '07z'), 'x')).toMatchObject({
      error: 'no_match',
      extra: { lines: [71, 72, 73] },
    });
  });

  it('refuses a result that is too long before it is made', async () => {
    file('a.txt', 'a'.repeat(1_000_000));
    await read('a.txt');
    expect(await edit('a', 'b'.repeat(1000), { replace_all: true })).toEqual({
      ok: false,
      error: 'too_large',
      message: '"a.txt" would have 1000000000 bytes; _max_write_bytes is 5242880.',
      extra: { bytes: 1_000_000_000, max_bytes: 5_242_880 },
    });
  });

  it('takes a dollar sign and a backslash for themselves', async () => {
    file('a.txt', 'cost\n');
    await read('a.txt');
    await edit('cost', '$& $1 \\n');
    expect(text('a.txt')).toBe('$& $1 \\n\n');
  });

  it('refuses equal texts, binary files and other encodings', async () => {
    file('a.txt', 'x');
    expect(await edit('x', 'x')).toMatchObject({ error: 'invalid_arguments' });
    file('a.txt', Buffer.from([0x68, 0xe9, 0x6c, 0x6c, 0x6f, 0x20, 0x77, 0x6f, 0x72, 0x6c, 0x64]));
    await read('a.txt');
    expect(await edit('h', 'j')).toMatchObject({ error: 'not_utf8' });
  });

  it('and write_file say of a binary file that it is one, and do not ask for a reading that is refused', async () => {
    file('a.txt', Buffer.from([0, 1, 2]));
    expect(await edit('x', 'y')).toMatchObject({ error: 'binary_file' });
    expect(await write('a.txt', 'x')).toMatchObject({
      error: 'binary_file',
      message: expect.stringContaining('write_file does not replace it. If that is meant, take it away first.'),
    });
    expect(readFileSync(at('a.txt'))).toEqual(Buffer.from([0, 1, 2]));
  });

  it('and write_file does not put the sign for what could not be read in its place', async () => {
    const latin1 = Buffer.from('caf\xe9\n', 'latin1');
    file('a.txt', latin1);
    const shown = await bench.value('local_fs.read_file', { path: 'a.txt' });
    expect(shown).toBe('caf\ufffd\n');
    expect(await bench.call('local_fs.write_file', { path: 'a.txt', content: `${String(shown)}more\n` })).toMatchObject(
      {
        error: 'not_utf8',
        message: expect.stringContaining('would lose'),
      },
    );
    expect(readFileSync(join(bench.workspace, 'a.txt'))).toEqual(latin1);
    expect(await bench.error('local_fs.write_file', { path: 'a.txt', content: 'caf\u00e9\n' })).toBe('ok');
    expect(await bench.error('local_fs.write_file', { path: 'a.txt', content: 'caf\ufffd\n' })).toBe('ok');
  });
});

describe('a file that is closed to writing', () => {
  // The administrator may write everything.
  it.skipIf(process.getuid?.() === 0)('is not replaced, although its directory would allow it', async () => {
    file('a.txt', 'old\n');
    chmodSync(at('a.txt'), 0o444);
    await read('a.txt');
    const message =
      '"a.txt" is write-protected (EACCES), so it is not changed. Make it writable first, if that is meant.';
    const refused = { ok: false, error: 'io_error', message, extra: { code: 'EACCES' } };
    expect(await bench.call('local_fs.write_file', { path: 'a.txt', content: 'new\n' })).toEqual(refused);
    expect(await bench.call('local_fs.edit_file', { path: 'a.txt', old_string: 'old', new_string: 'new' })).toEqual(
      refused,
    );
    expect(text('a.txt')).toBe('old\n');
  });
});

describe('sed', () => {
  const sed = (args: object) => bench.call('local_fs.sed', { path: 'a.txt', ...args });
  beforeEach(async () => {
    file('a.txt', 'a.b\naxb\na.b\na.b\n');
    await read('a.txt');
  });

  it('takes the pattern literally and wants exactly one match', async () => {
    expect(await sed({ pattern: 'axb', replacement: '$1' })).toMatchObject({ ok: true, value: { replacements: 1 } });
    expect(text('a.txt')).toBe('a.b\n$1\na.b\na.b\n');
    expect(await sed({ pattern: 'a.b', replacement: 'x' })).toMatchObject({ error: 'not_unique', extra: { count: 3 } });
  });

  it('finds what begins in its lines only, behind a long line of the same', async () => {
    file('a.txt', `${'aa'.repeat(250_000)}\nxaax\nxaaax\n`);
    await read('a.txt');
    const range = { pattern: 'aa', replacement: '-', start_line: 2, end_line: 2 };
    expect(await sed(range)).toMatchObject({ ok: true, value: { replacements: 1 } });
    expect(text('a.txt')).toBe(`${'aa'.repeat(250_000)}\nx-x\nxaaax\n`);
    expect(await sed(range)).toMatchObject({ error: 'no_match' });
  });

  it('takes an expected number, and refuses another one', async () => {
    expect(await sed({ pattern: 'a.b', replacement: 'x', expect_replacements: 2 })).toMatchObject({
      error: 'wrong_count',
      extra: { count: 3, lines: [1, 3, 4] },
    });
    expect(await sed({ pattern: 'a.b', replacement: 'x', expect_replacements: 3 })).toMatchObject({ ok: true });
    expect(text('a.txt')).toBe('x\naxb\nx\nx\n');
  });

  it('says that it takes no regular expression, and where outside of its lines the text is', async () => {
    expect(await sed({ pattern: 's/axb/y/', replacement: '' })).toMatchObject({
      error: 'no_match',
      message:
        'The text does not occur in "a.txt". The pattern is taken literally: it is no regular expression and no sed command.',
    });
    expect(await sed({ pattern: 'axb', replacement: 'y', start_line: 3 })).toMatchObject({
      message: 'The text does not occur in "a.txt" in that range of lines. It occurs on line 2.',
      extra: { lines: [2] },
    });
  });

  it('refuses equal texts, about which a person would be asked for nothing', async () => {
    expect(await sed({ pattern: 'axb', replacement: 'axb' })).toMatchObject({
      error: 'invalid_arguments',
      extra: { path: 'replacement' },
    });
  });

  it('looks only where matches may begin', async () => {
    expect(await sed({ pattern: 'a.b', replacement: 'x', start_line: 2, end_line: 3 })).toMatchObject({ ok: true });
    expect(text('a.txt')).toBe('a.b\naxb\nx\na.b\n');
    expect(await sed({ pattern: 'a.b', replacement: 'y', all: true, start_line: 4 })).toMatchObject({
      ok: true,
      value: { replacements: 1 },
    });
  });
});

describe('the card of a change', () => {
  const previewOf = async (name: string, args: { path: string }) => {
    const tool = bench.catalog.find('local_fs', name);
    const site = {
      run_id: 'r',
      call_id: 'c',
      scope: 'session',
      root: bench.workspace,
      confined: false,
      home: bench.home,
      limits: {},
      direct: false,
      command: null,
    };
    const prepared = await tool!.prepare(args, site, {});
    if (!prepared.ok) throw new Error(prepared.message);
    return tool!.preview!(args, prepared.facts, site);
  };

  it('shows a diff that makes the very change', async () => {
    const old = Array.from({ length: 20 }, (_, line) => `line ${line + 1}`).join('\n');
    file('a.txt', old);
    await read('a.txt');
    const preview = await previewOf('edit_file', {
      path: 'a.txt',
      old_string: 'line 10',
      new_string: 'LINE 10\nmore',
    } as never);
    expect(preview.diff).toBe(
      '--- a/a.txt\n+++ b/a.txt\n@@ -7,7 +7,8 @@\n line 7\n line 8\n line 9\n-line 10\n+LINE 10\n+more\n line 11\n line 12\n line 13\n',
    );
    expect(preview).toMatchObject({ new_file: false, preimage: { path: at('a.txt'), sha256: sha256(old) } });
    await bench.call('local_fs.edit_file', { path: 'a.txt', old_string: 'line 10', new_string: 'LINE 10\nmore' });
    expect(applyPatch(old, preview.diff ?? '')).toBe(text('a.txt'));
  });

  it('shows line ends, a missing last one and a new file', async () => {
    file('a.txt', 'one\r\ntwo');
    await read('a.txt');
    expect((await previewOf('write_file', { path: 'a.txt', content: 'one\r\ntwo\r\n' } as never)).diff).toBe(
      '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\r\n-two\n\\ No newline at end of file\n+two\r\n',
    );
    expect(await previewOf('write_file', { path: 'new.txt', content: 'a\nb\n' } as never)).toMatchObject({
      diff: '--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n',
      new_file: true,
      preimage: { path: at('new.txt'), sha256: null },
    });
  });

  it('says when nothing changes', async () => {
    file('a.txt', 'same');
    await read('a.txt');
    expect((await previewOf('write_file', { path: 'a.txt', content: 'same' } as never)).diff).toBe('(no changes)');
  });

  it('gives a correct diff when all lines differ and the finest one would take too long', async () => {
    const lines = (seed: string) =>
      `${Array.from({ length: 6000 }, (_, line) => `${seed}${line * 7919}`).join('\n')}\n`;
    const old = `same\n${lines('a')}end\n`;
    const content = `same\n${lines('b')}end\n`;
    file('a.txt', old);
    await bench.value('local_fs.read_file_range', { path: 'a.txt', end_line: 3000 });
    await bench.value('local_fs.read_file_range', { path: 'a.txt', start_line: 3001 });
    const { diff = '' } = await previewOf('write_file', { path: 'a.txt', content } as never);
    expect(applyPatch(old, diff)).toBe(content);
  });

  it('gives sizes and hashes instead of a diff of more than 5 MiB', async () => {
    const content = 'x'.repeat(5 * 1024 * 1024 + 1);
    const tool = bench.catalog.find('local_fs', 'write_file');
    const site = {
      run_id: 'r',
      call_id: 'c',
      scope: 's',
      root: bench.workspace,
      confined: false,
      home: bench.home,
      limits: { _max_write_bytes: '104857600' },
      direct: false,
      command: null,
    };
    const prepared = await tool!.prepare({ path: 'big.txt', content }, site, {});
    if (!prepared.ok) throw new Error(prepared.message);
    const preview = await tool!.preview!({ path: 'big.txt', content }, prepared.facts, site);
    expect(preview.diff).toBeUndefined();
    expect(preview.diff_note).toBe(`no diff: old: no file; new: 5242881 bytes, sha256 ${sha256(content)}`);
  });
});
