import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { summaryLine } from '../../../src/tools/files/subject.ts';
import { type Bench, createBench } from '../support.ts';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.remove());

const file = (name: string, content: string | Buffer = '') => {
  writeFileSync(join(bench.workspace, name), content);
  return join(bench.workspace, name);
};
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const read = (path: string, more = {}) => bench.call('local_fs.read_file', { path }, more);

describe('read_file', () => {
  it('reads text and leaves a full mark', async () => {
    const path = file('a.txt', 'one\ntwo\n');
    expect(await read('a.txt')).toEqual({ ok: true, value: 'one\ntwo\n' });
    expect(bench.marks.get(`session ${path}`)).toEqual({ sha256: sha256('one\ntwo\n'), full: true, ranges: [] });
  });

  it('hides a byte order mark and shows CRLF as LF, but mixed line ends as they are', async () => {
    file('crlf.txt', '\ufeffone\r\ntwo\r\n');
    file('mixed.txt', 'one\r\ntwo\n');
    expect(await bench.value('local_fs.read_file', { path: 'crlf.txt' })).toBe('one\ntwo\n');
    expect(await bench.value('local_fs.read_file', { path: 'mixed.txt' })).toBe('one\r\ntwo\n');
  });

  it('reads UTF-16 with a byte order mark', async () => {
    file('wide.txt', Buffer.from('\ufeffhé\r\nzwei\r\ndrei', 'utf16le'));
    const range = { path: 'wide.txt', start_line: 2, end_line: 9 };
    expect(await bench.value('local_fs.read_file_range', range)).toBe('zwei\ndrei');
    file('wide.txt', Buffer.from('\ufeffhé\n', 'utf16le'));
    expect(await bench.value('local_fs.read_file', { path: 'wide.txt' })).toBe('hé\n');
    file('wider.txt', Buffer.from('\ufeff\u0000h\u0000', 'utf16le'));
    expect(await bench.error('local_fs.read_file', { path: 'wider.txt' })).toBe('binary_file');
  });

  it('cuts at a line end, says how to go on, and marks the lines that were shown', async () => {
    const path = file('long.txt', 'abcdefghi\n'.repeat(300));
    const text = await bench.value(
      'local_fs.read_file',
      { path: 'long.txt' },
      { limits: { _max_output_bytes: '1024' } },
    );
    expect(text).toBe(
      `${'abcdefghi\n'.repeat(82)}[cut after line 82 of 300; go on with read_file_range and start_line 83]`,
    );
    expect(bench.marks.get(`session ${path}`)).toMatchObject({ full: false, ranges: [[1, 82]] });
  });

  it('refuses what is larger than _max_read_bytes, with both numbers', async () => {
    file('big.txt', 'x'.repeat(101));
    expect(await read('big.txt', { limits: { _max_read_bytes: '100' } })).toEqual({
      ok: false,
      error: 'too_large',
      message: '"big.txt" has 101 bytes; _max_read_bytes is 100. Read a part of it with read_file_range.',
      extra: { bytes: 101, max_bytes: 100 },
    });
  });

  it('says what a binary file is', async () => {
    file('a.png', Buffer.from('89504e470d0a1a0a0000', 'hex'));
    expect(await read('a.png')).toEqual({
      ok: false,
      error: 'binary_file',
      message: '"a.png" is not text: image/png, 10 bytes.',
      extra: { bytes: 10, media_type: 'image/png' },
    });
  });

  it('names similar files for a missing one, but none whose reading is denied', async () => {
    file('config.json');
    file('config.jsonc');
    const judge = (_tools: string, _tool: string, args: Readonly<Record<string, unknown>>) =>
      String(args['path']).endsWith('.jsonc') ? 'deny' : 'allow';
    expect(await read('config.jso', { judge })).toEqual({
      ok: false,
      error: 'not_found',
      message: '"config.jso" does not exist. Similar names: config.json.',
      extra: { similar: ['config.json'] },
    });
  });

  it.each([
    ['caf\u00e9.txt', 'cafe\u0301.txt', 'caf\u00e9.txt', 'cafe\\u0301.txt'],
    ['at 9 AM.txt', 'at 9\u202fAM.txt', 'at 9 AM.txt', 'at 9\\u202fAM.txt'],
  ])('tells a missing name from one that looks the same: %j', async (given, there, said, name) => {
    file(there);
    expect(await read(given)).toMatchObject({
      error: 'not_found',
      message: `"${said}" does not exist. A name that looks the same does: write it as "${name}", with the codes as escapes.`,
      extra: { similar: [there] },
    });
    expect(await read(given, { judge: () => 'deny' })).toMatchObject({ message: `"${given}" does not exist.` });
  });

  it('returns at once for a FIFO, a device by link and a directory', async () => {
    execFileSync('mkfifo', [join(bench.workspace, 'pipe')]);
    symlinkSync('/dev/zero', join(bench.workspace, 'zero'));
    mkdirSync(join(bench.workspace, 'dir'));
    expect(await bench.error('local_fs.read_file', { path: 'pipe' })).toBe('not_regular');
    expect(await bench.error('local_fs.read_file', { path: 'zero' })).toBe('not_regular');
    expect(await bench.error('local_fs.read_file', { path: 'dir' })).toBe('is_directory');
  });

  it.each(['a.txt/', 'a.txt/.', 'a.txt//', './a.txt/./'])('takes %s for no name of a file', async (path) => {
    writeFileSync(join(bench.workspace, 'a.txt'), 'x');
    expect(await bench.error('local_fs.read_file', { path })).toBe('not_found');
  });

  it.each(['\u0001x', 'a\nb', '', 'missing/../a', 'x/'.repeat(300)])('refuses the path %j', async (path) => {
    const error = await bench.error('local_fs.read_file', { path });
    expect(['bad_path', 'invalid_arguments']).toContain(error);
  });

  it('says of a name that is not UTF-8 that it cannot be given', async () => {
    writeFileSync(Buffer.concat([Buffer.from(join(bench.workspace, 'caf')), Buffer.from([0xe9])]), 'x');
    const name = await bench.value('local_fs.list_dir', {});
    expect(name).toBe('caf\ufffd');
    expect(await bench.call('local_fs.read_file', { path: name })).toMatchObject({
      error: 'bad_path',
      message: expect.stringContaining('is not UTF-8'),
    });
  });

  it('takes ~/ for the home directory, and says so of a tilde alone', async () => {
    mkdirSync(bench.home, { recursive: true });
    writeFileSync(join(bench.home, 'mine.txt'), 'x\n');
    expect(await bench.value('local_fs.read_file', { path: '~/mine.txt' })).toBe('x\n');
    expect(String(await bench.value('local_fs.list_dir', { path: '~/' }))).toContain('mine.txt');
    const tools = [
      ['list_dir', {}],
      ['write_file', { content: 'x' }],
      ['stat_file', {}],
    ] as const;
    for (const [tool, args] of tools) {
      expect(await bench.call(`local_fs.${tool}`, { path: '~', ...args })).toEqual({
        ok: false,
        error: 'bad_path',
        message: 'The path "~" is not expanded here: write ~/ for the home directory, ./~ for a name in the workspace.',
      });
    }
    expect(await bench.error('local_shell.local_shell', { command: 'pwd', cwd: '~' })).toBe('bad_path');
    expect(await bench.error('local_fs.write_file', { path: './~', content: 'x' })).toBe('ok');
  });
});

describe('containment', () => {
  it('refuses what leads out of a root that confines: prefix sibling, link, dots', async () => {
    mkdirSync(`${bench.workspace}-secrets`);
    writeFileSync(`${bench.workspace}-secrets/key`, 'x');
    mkdirSync(join(bench.workspace, 'docs'));
    symlinkSync(`${bench.workspace}-secrets/key`, join(bench.workspace, 'link'));
    for (const path of ['../ws-secrets/key', `${bench.workspace}-secrets/key`, 'link', 'docs/../../ws-secrets/key']) {
      expect(await bench.error('local_fs.read_file', { path }, { confined: true })).toBe('outside_root');
    }
  });

  it('leaves them to the gate where the root does not confine', async () => {
    writeFileSync(join(bench.dir, 'note'), 'outside');
    expect(await bench.value('local_fs.read_file', { path: '../note' })).toBe('outside');
  });

  it('applies .. to the real directory behind a link', async () => {
    mkdirSync(join(bench.workspace, 'a/b'), { recursive: true });
    symlinkSync('a/b', join(bench.workspace, 'short'));
    writeFileSync(join(bench.workspace, 'a/note'), 'real');
    expect(await bench.value('local_fs.read_file', { path: 'short/../note' }, { confined: true })).toBe('real');
  });

  it('is narrowed by _allowed_dir, which is then what paths are relative to', async () => {
    mkdirSync(join(bench.workspace, 'sub'));
    file('top.txt', 'x');
    file('sub/in.txt', 'in');
    const limits = { _allowed_dir: 'sub' };
    expect(await bench.value('local_fs.read_file', { path: 'in.txt' }, { limits })).toBe('in');
    expect(await bench.error('local_fs.read_file', { path: '../top.txt' }, { limits })).toBe('outside_root');
    expect(await bench.error('local_fs.read_file', { path: 'x' }, { limits: { _allowed_dir: '..' } })).toBe(
      'not_permitted',
    );
  });

  it('does not show the real path of what it refuses', async () => {
    symlinkSync('/etc/hostname', join(bench.workspace, 'host'));
    const result = await bench.call('local_fs.read_file', { path: 'host' }, { confined: true });
    expect(result).toEqual({
      ok: false,
      error: 'outside_root',
      message: '"host" is outside the root of this run. Use a path inside it.',
    });
  });

  it('refuses denied substrings of the given and the real path', async () => {
    file('secret-plan.txt', 'x');
    symlinkSync('secret-plan.txt', join(bench.workspace, 'plain'));
    const limits = { _denied_path_substrings: 'secret, .env' };
    expect(await bench.error('local_fs.read_file', { path: 'plain' }, { limits })).toBe('not_permitted');
  });

  it('refuses every call while a limit is not a number in range', async () => {
    file('a.txt', 'x');
    for (const _max_read_bytes of ['0', '-1', 'many', '1e9']) {
      expect(await bench.error('local_fs.read_file', { path: 'a.txt' }, { limits: { _max_read_bytes } })).toBe(
        'not_permitted',
      );
    }
  });

  it('reads nothing when the directory or the file was replaced after the check', async () => {
    mkdirSync(join(bench.workspace, 'dir'));
    file('dir/a.txt', 'judged');
    mkdirSync(join(bench.dir, 'other'));
    writeFileSync(join(bench.dir, 'other/a.txt'), 'secret');
    const swapDirectory = () => {
      renameSync(join(bench.workspace, 'dir'), join(bench.workspace, 'old'));
      symlinkSync(join(bench.dir, 'other'), join(bench.workspace, 'dir'));
    };
    expect(await bench.error('local_fs.read_file', { path: 'dir/a.txt' }, { meanwhile: swapDirectory })).toBe(
      'path_changed',
    );
    file('b.txt', 'judged');
    const swapFile = () => {
      rmSync(join(bench.workspace, 'b.txt'));
      linkSync(join(bench.dir, 'other/a.txt'), join(bench.workspace, 'b.txt'));
    };
    expect(await bench.error('local_fs.read_file', { path: 'b.txt' }, { meanwhile: swapFile })).toBe('path_changed');
    file('c.txt', 'judged');
    const swapLink = () => {
      rmSync(join(bench.workspace, 'c.txt'));
      symlinkSync(join(bench.dir, 'other/a.txt'), join(bench.workspace, 'c.txt'));
    };
    expect(await bench.error('local_fs.read_file', { path: 'c.txt' }, { meanwhile: swapLink })).toBe('path_changed');
  });

  it('refuses a loop of links', async () => {
    symlinkSync('two', join(bench.workspace, 'one'));
    symlinkSync('one', join(bench.workspace, 'two'));
    expect(await bench.error('local_fs.read_file', { path: 'one' })).toBe('bad_path');
  });
});

describe('read_file_range', () => {
  const range = (args: object, more = {}) => bench.value('local_fs.read_file_range', args, more);

  it('gives lines, with numbers if wanted', async () => {
    file('a.txt', 'one\ntwo\nthree\nfour');
    expect(await range({ path: 'a.txt', start_line: 2, end_line: 3 })).toBe('two\nthree\n');
    expect(await range({ path: 'a.txt', start_line: 3, numbers: true })).toBe('3: three\n4: four');
    expect(await range({ path: 'a.txt', start_line: 4, end_line: 99 })).toBe('four');
  });

  it('says how many lines there are when the start is beyond them', async () => {
    file('a.txt', 'one\ntwo\n');
    expect(await bench.call('local_fs.read_file_range', { path: 'a.txt', start_line: 3 })).toEqual({
      ok: false,
      error: 'out_of_range',
      message: '"a.txt" has 2 lines; line 3 does not exist.',
      extra: { lines: 2 },
    });
  });

  it('finds no line in a file of nothing but a byte order mark', async () => {
    file('a.txt', '\ufeff');
    expect(await range({ path: 'a.txt' })).toBe('');
  });

  it('refuses an end before the start', async () => {
    file('a.txt', 'x');
    expect(await bench.error('local_fs.read_file_range', { path: 'a.txt', start_line: 3, end_line: 2 })).toBe(
      'invalid_arguments',
    );
  });

  it('cuts a long range and says where to go on', async () => {
    file('a.txt', 'abcdefghi\n'.repeat(300));
    const text = await range({ path: 'a.txt', start_line: 101 }, { limits: { _max_output_bytes: '1024' } });
    expect(text).toBe(`${'abcdefghi\n'.repeat(82)}[cut after line 182 of 300; go on with start_line 183]`);
  });

  it('reads a file larger than _max_read_bytes and than one block', async () => {
    file('a.txt', `${'x'.repeat(99)}\n`.repeat(30_000));
    expect(await range({ path: 'a.txt', start_line: 29_999, numbers: true })).toBe(
      `29999: ${'x'.repeat(99)}\n30000: ${'x'.repeat(99)}\n`,
    );
  });

  it('makes ranges that together are the whole file a full mark', async () => {
    const path = file('a.txt', 'one\ntwo\nthree\n');
    await range({ path: 'a.txt', start_line: 1, end_line: 2 });
    expect(bench.marks.get(`session ${path}`)).toMatchObject({ full: false, ranges: [[1, 2]] });
    await range({ path: 'a.txt', start_line: 3 });
    expect(bench.marks.get(`session ${path}`)).toMatchObject({ full: true, ranges: [] });
  });
});

describe('count_stats and stat_file', () => {
  it('counts lines, words and bytes', async () => {
    file('a.txt', 'one two\n\tthree\nfour');
    expect(await bench.value('local_fs.count_stats', { path: 'a.txt' })).toBe('Lines: 3, Words: 4, Bytes: 19');
    file('empty.txt', '');
    expect(await bench.value('local_fs.count_stats', { path: 'empty.txt' })).toBe('Lines: 0, Words: 0, Bytes: 0');
    writeFileSync(join(bench.workspace, 'wide.txt'), Buffer.from('\ufeffone two\nthree\n', 'utf16le'));
    expect(await bench.value('local_fs.count_stats', { path: 'wide.txt' })).toBe('Lines: 2, Words: 3, Bytes: 30');
  });

  it('describes a link itself', async () => {
    file('a.txt', 'x');
    symlinkSync('a.txt', join(bench.workspace, 'link'));
    expect(await bench.value('local_fs.stat_file', { path: 'link' })).toMatchObject({
      name: 'link',
      path: 'link',
      type: 'link',
      link_target: 'a.txt',
    });
  });

  it('gives mode in octal and time in RFC 3339', async () => {
    chmodSync(file('a.sh', 'x'), 0o755);
    expect(await bench.value('local_fs.stat_file', { path: 'a.sh' })).toEqual({
      name: 'a.sh',
      path: 'a.sh',
      type: 'file',
      size: 1,
      mtime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      mode: '0755',
    });
  });
});

describe('spooled results', () => {
  it('are read by run and session only, and leave no mark', async () => {
    await bench.call('local_shell.local_shell', { command: 'seq 1 30000' }, { run: 'run_1', call: 'c9' });
    const args = { path: '@output/c9.stdout', start_line: 15_000, end_line: 15_001 };
    expect(await bench.value('local_fs.read_file_range', args, { run: 'run_2' })).toBe('15000\n15001\n');
    expect(await bench.error('local_fs.read_file_range', args, { run: 'run_3', scope: 'other' })).toBe('not_found');
    expect(await bench.value('local_fs.grep', { path: '@output/c9.stdout', pattern: '29999' })).toBe('29999: 29999');
    expect(await bench.value('local_fs.count_stats', { path: '@output/c9.stdout' })).toBe(
      'Lines: 30000, Words: 30000, Bytes: 168894',
    );
    expect(await bench.value('local_fs.stat_file', { path: '@output/c9.stdout' })).toMatchObject({
      name: 'c9.stdout',
      type: 'file',
      size: 168_894,
    });
    expect(await bench.error('local_fs.read_file', { path: '@output/c9.stdout' })).toBe('not_found');
    expect(bench.marks.size).toBe(0);
  });
});

it('shows in the line of a call what hides in a name, and leaves a picture of several whole', () => {
  expect(summaryLine('👩‍👩‍👧.txt')).toBe('👩‍👩‍👧.txt');
  expect(summaryLine('a\u200db\u202ec')).toBe('a\\u200db\\u202ec');
});
