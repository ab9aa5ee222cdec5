import { chmodSync, lstatSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPools } from '../../../src/runs/pools.ts';
import { type Bench, type CallOptions, createBench } from '../support.ts';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.remove());

const file = (name: string, content: string | Buffer = '') => {
  mkdirSync(dirname(join(bench.workspace, name)), { recursive: true });
  writeFileSync(join(bench.workspace, name), content);
};
type Args = Readonly<Record<string, unknown>>;
const denyEnv = (_tools: string, tool: string, args: Args) =>
  tool === 'read_file' && /(^|\/)\.env$/.test(String(args['path'])) ? 'deny' : 'allow';
const askEnv = (_tools: string, _tool: string, args: Args) =>
  /(^|\/)\.env$/.test(String(args['path'])) ? 'approve' : 'allow';

describe('list_dir', () => {
  const list = (args: object, more = {}) => bench.value('local_fs.list_dir', args, more);

  it('lists names in byte order, directories with / and links with @', async () => {
    file('b/x');
    file('a.txt');
    file('Z');
    file('é');
    symlinkSync('a.txt', join(bench.workspace, 'link'));
    expect(await list({})).toBe('Z\na.txt\nb/\nlink@\né');
  });

  it('goes down three levels, but into no .git, no node_modules and no link', async () => {
    for (const name of ['src/a/b/c.ts', 'src/a.ts', '.git/config', 'node_modules/x/index.js']) file(name);
    symlinkSync('src', join(bench.workspace, 'link'));
    expect(await list({ recursive: true })).toBe('.git/\nlink@\nnode_modules/\nsrc/\nsrc/a.ts\nsrc/a/\nsrc/a/b/');
    expect(await list({ recursive: true, max_depth: 4, path: 'src' })).toBe('a.ts\na/\na/b/\na/b/c.ts');
  });

  it('says when the chain lowers the depth', async () => {
    file('a/b/c');
    expect(await list({ recursive: true, max_depth: 9 }, { limits: { _max_list_depth: '2' } })).toBe(
      'a/\na/b/\n[depth lowered from 9 to 2 by _max_list_depth]',
    );
  });

  it('lists 2,000 of 10,000 entries and says how many more there are', async () => {
    for (let index = 0; index < 10_000; index += 1) file(`f${String(index).padStart(5, '0')}`);
    const lines = String(await list({})).split('\n');
    expect(lines.length).toBe(2001);
    expect(lines.slice(-2)).toEqual(['f01999', '[8000 more entries]']);
  });

  it('ends with _max_output_bytes as well', async () => {
    for (let index = 0; index < 20; index += 1) file(`${index + 10}${'x'.repeat(98)}`);
    const limits = { _max_output_bytes: '1024' };
    expect(
      String(await list({}, { limits }))
        .split('\n')
        .map((line) => line.length),
    ).toEqual([...Array(7).fill(100), 17]);
    expect(
      String(await bench.value('local_fs.find_files', { pattern: '*' }, { limits }))
        .split('\n')
        .at(-1),
    ).toBe('[more than 7 files; narrow the pattern or give a directory as path]');
  });

  it('makes control characters of names visible', async () => {
    file('a\nb\u001b[31m');
    expect(await list({})).toBe('a\\u000ab\\u001b[31m');
  });

  it('leaves out names whose reading is denied, and counts them', async () => {
    file('.env', 'KEY=1');
    file('a.txt');
    expect(await list({}, { judge: denyEnv })).toBe('a.txt\n[1 left out by policy]');
    expect(await list({}, { judge: askEnv })).toBe('.env\na.txt');
  });

  it('refuses a file, and a missing directory', async () => {
    file('a.txt');
    expect(await bench.error('local_fs.list_dir', { path: 'a.txt' })).toBe('not_regular');
    expect(await bench.error('local_fs.list_dir', { path: 'b' })).toBe('not_found');
    expect(await bench.error('local_fs.list_dir', { path: '/proc' })).toBe('not_regular');
  });

  // The administrator may look into everything.
  it.skipIf(process.getuid?.() === 0)('and other searches say where a directory cannot be looked into', async () => {
    const closed = join(bench.workspace, 'closed/inner');
    mkdirSync(closed, { recursive: true });
    chmodSync(closed, 0o300);
    const refused = { ok: false, error: 'io_error', message: '"closed/inner" could not be used: EACCES.' };
    for (const [tool, args] of [
      ['list_dir', {}],
      ['find_files', { pattern: '*' }],
      ['grep', { pattern: 'x' }],
    ] as const) {
      expect(await bench.call(`local_fs.${tool}`, { path: 'closed/inner', ...args })).toMatchObject(refused);
    }
    expect(await list({ path: 'closed', recursive: true })).toBe('inner/\n[1 directories could not be read]');
  });
});

describe('a tree that is deeper than a search goes', () => {
  it('is told of with the result', async () => {
    file(`${'d/'.repeat(70)}deep.txt`, 'needle\n');
    const note = '[1 directories below 64 levels were not entered; begin deeper with path]';
    expect(await bench.value('local_fs.find_files', { pattern: 'deep.txt' })).toBe(`[no files match]\n${note}`);
    expect(await bench.value('local_fs.grep', { pattern: 'needle' })).toBe(`no matches in 0 files\n${note}`);
    const path = 'd/'.repeat(10);
    expect(await bench.value('local_fs.find_files', { pattern: 'deep.txt', path })).toBe(`${'d/'.repeat(60)}deep.txt`);
  });
});

describe('find_files', () => {
  const find = (args: object, more = {}) => bench.value('local_fs.find_files', args, more);
  beforeEach(() => {
    for (const name of ['a.ts', 'src/b.ts', 'src/deep/c.test.ts', 'src/d.js', '.hidden/e.ts', 'node_modules/f.ts'])
      file(name);
  });

  it.each([
    ['*.ts', '.hidden/e.ts\na.ts\nsrc/b.ts\nsrc/deep/c.test.ts'],
    ['src/*.ts', 'src/b.ts'],
    ['src/**/*.ts', 'src/b.ts\nsrc/deep/c.test.ts'],
    ['**/*.{js,test.ts}', 'src/d.js\nsrc/deep/c.test.ts'],
    ['[ab].ts', 'a.ts\nsrc/b.ts'],
    ['?.js', 'src/d.js'],
    ['*.py', '[no files match]'],
  ])('finds %s', async (pattern, expected) => {
    expect(await find({ pattern })).toBe(expected);
  });

  it('states a cut', async () => {
    expect(await find({ pattern: '*.ts', max_results: 2 })).toBe(
      '.hidden/e.ts\na.ts\n[more than 2 files; narrow the pattern or raise max_results]',
    );
  });

  it('leaves out what is denied, and counts it', async () => {
    file('.env', 'x');
    expect(await find({ pattern: '.e*' }, { judge: denyEnv })).toBe('[no files match]\n[1 left out by policy]');
  });

  it('refuses a pattern that is no glob', async () => {
    expect(await bench.call('local_fs.find_files', { pattern: '{a,b' })).toMatchObject({
      error: 'invalid_arguments',
      message: '"pattern" has a { without a }.',
    });
  });

  it('leaves out denied substrings, and counts them', async () => {
    expect(await find({ pattern: 'src/**' }, { limits: { _denied_path_substrings: 'deep' } })).toBe(
      'src/b.ts\nsrc/d.js\n[1 left out by _denied_path_substrings]',
    );
  });
});

describe('grep', () => {
  const grep = (args: object, more = {}) => bench.value('local_fs.grep', args, more);

  it('finds literal text in a file, with context', async () => {
    file('a.txt', 'one\ntwo (x)\nthree\nfour\n');
    expect(await grep({ pattern: '(x)', path: 'a.txt' })).toBe('2: two (x)');
    expect(await grep({ pattern: '(x)', path: 'a.txt', context: 1 })).toBe('1- one\n2: two (x)\n3- three');
    expect(await grep({ pattern: 'nine', path: 'a.txt' })).toBe('no matches in 1 files');
  });

  it('shows no file that took the place of another one while that was judged, and says which one it will open', async () => {
    file('d/a.txt', 'one');
    file('d/b.txt', 'one');
    file('elsewhere', 'one');
    const at = (name: string) => join(bench.workspace, name);
    const first = lstatSync(at('d/a.txt'), { bigint: true });
    const asked: unknown[] = [];
    const judge: CallOptions['judge'] = (_tools, tool, args, seen) => {
      if (args['path'] !== at('d/a.txt')) return 'allow';
      asked.push([tool, seen]);
      if (tool === 'read_file') renameSync(at('elsewhere'), at('d/a.txt'));
      return 'allow';
    };
    expect(await grep({ pattern: 'one', path: 'd' }, { judge })).toBe('b.txt:1: one\n[skipped: 1 unreadable files]');
    const seen = { real: at('d/a.txt'), dev: first.dev, ino: first.ino };
    expect(asked).toEqual([
      ['grep', seen],
      ['read_file', seen],
    ]);
  });

  it('looks at a range of lines', async () => {
    file('a.txt', 'x\nx\nx\nx\n');
    expect(await grep({ pattern: 'x', path: 'a.txt', start_line: 2, end_line: 3 })).toBe('2: x\n3: x');
    expect(await bench.error('local_fs.grep', { pattern: 'x', start_line: 2 })).toBe('invalid_arguments');
  });

  it('searches a directory in order of paths, and skips binary and large files with a count', async () => {
    file('b/two.txt', 'needle here\n');
    file('a.txt', 'a Needle\nneedle\n');
    file('c.bin', Buffer.from([0, 1, 2]));
    file('d.log', `needle\n${'x'.repeat(16 * 1024 * 1024)}`);
    expect(await grep({ pattern: 'needle' })).toBe(
      'a.txt:2: needle\nb/two.txt:1: needle here\n[skipped: 1 binary files, 1 files above 16 MiB]',
    );
    expect(await grep({ pattern: 'NEEDLE', ignore_case: true, include: 'a.*' })).toBe(
      'a.txt:1: a Needle\na.txt:2: needle',
    );
    expect(await grep({ pattern: 'nothing', include: '*.txt' })).toBe('no matches in 2 files');
  });

  it('finds any literal text whatever its case, and takes no time for one that nearly repeats', async () => {
    file('a.txt', 'Date-Time (ΟΔΟΣ)\nοδος\n');
    expect(await grep({ pattern: 'date-time', ignore_case: true })).toBe('a.txt:1: Date-Time (ΟΔΟΣ)');
    expect(await grep({ pattern: 'οδοσ', ignore_case: true })).toBe('a.txt:1: Date-Time (ΟΔΟΣ)\na.txt:2: οδος');
    file('a.txt', 'a'.repeat(4_000_000));
    expect(await grep({ pattern: `${'A'.repeat(8000)}b`, ignore_case: true })).toBe('no matches in 1 files');
  });

  it('says that a text of several lines is found in none', async () => {
    expect(await bench.call('local_fs.grep', { pattern: 'one\ntwo' })).toEqual({
      ok: false,
      error: 'invalid_arguments',
      message: '"pattern" holds a line end, but each line is searched by itself. Give a text of one line.',
      extra: { path: 'pattern' },
    });
  });

  it('takes RE2 syntax, and refuses what it does not have', async () => {
    file('a.txt', 'abc 12\nabc\n');
    expect(await grep({ pattern: '[a-c]+ \\d+$', path: 'a.txt', regex: true })).toBe('1: abc 12');
    expect(await bench.call('local_fs.grep', { pattern: '(?=x)', regex: true })).toMatchObject({
      error: 'invalid_arguments',
      extra: { path: 'pattern' },
    });
  });

  it('is not slowed down by an expression that makes others backtrack', async () => {
    file('a.txt', `${'a'.repeat(100_000)}b\n`);
    expect(await grep({ pattern: '(a+)+$', path: 'a.txt', regex: true })).toBe('no matches in 1 files');
  });

  it('finds in a line of any length, with a pattern of any size', async () => {
    file('a.txt', `first\n${'a'.repeat(2 ** 20)}needle\nneedle\n`);
    const cut = `2: …${'a'.repeat(494)}needle\n3: needle`;
    expect(await grep({ pattern: '(?:needle|no{300})', path: 'a.txt', regex: true })).toBe(cut);
    expect(await grep({ pattern: 'NEEDLE', path: 'a.txt', ignore_case: true })).toBe(cut);
    expect(await grep({ pattern: `b${'a'.repeat(4000)}` })).toBe('no matches in 1 files');
  });

  it('searches a line that takes long beside everything else, and can be cancelled', async () => {
    const pools = createPools({ root: new URL('../../.build/', import.meta.url) });
    const { findInLine } = pools;
    const own = createBench({ findInLine });
    try {
      writeFileSync(join(own.workspace, 'a.txt'), 'a'.repeat(2 ** 20));
      // It would take a minute.
      const pattern = `(?i)${'a'.repeat(4000)}b`;
      const cancel = new AbortController();
      const call = own.call('local_fs.grep', { pattern, regex: true }, { signal: cancel.signal });
      expect(await own.value('local_fs.grep', { pattern: 'aaa', include: 'b*' })).toBe('no matches in 0 files');
      setTimeout(() => cancel.abort(), 200);
      expect(await call).toMatchObject({ ok: false, error: 'cancelled' });
    } finally {
      own.remove();
      await pools.close();
    }
  });

  it('cuts long lines around the match', async () => {
    file('a.txt', `${'x'.repeat(1000)}needle${'y'.repeat(1000)}\n`);
    expect(await grep({ pattern: 'needle', path: 'a.txt' })).toBe(`1: …${'x'.repeat(100)}needle${'y'.repeat(394)}…`);
  });

  it('states a cut by the number of matches and by the size', async () => {
    file('a.txt', 'needle\n'.repeat(200));
    expect(await grep({ pattern: 'needle', path: 'a.txt', max_matches: 2 })).toBe(
      '1: needle\n2: needle\n[cut after 2 matches (max_matches); there are more]',
    );
    expect(await grep({ pattern: 'needle', path: 'a.txt' }, { limits: { _max_grep_matches: '1' } })).toBe(
      '1: needle\n[cut after 1 matches (_max_grep_matches); there are more]',
    );
    expect(
      String(await grep({ pattern: 'needle' }, { limits: { _max_output_bytes: '1024' } }))
        .split('\n')
        .at(-1),
    ).toBe('[cut after 37 matches at 1024 bytes (_max_output_bytes); narrow path, include or pattern]');
    expect(await grep({ pattern: 'needle', path: 'a.txt', max_matches: 200 })).toMatch(/200: needle$/);
  });

  it('neither shows nor matches what must not be read, and says how many files that are', async () => {
    file('.env', 'KEY=needle\n');
    file('sub/.env', 'nothing\n');
    file('a.txt', 'needle\n');
    expect(await grep({ pattern: 'needle' }, { judge: denyEnv })).toBe('a.txt:1: needle\n[2 left out by policy]');
  });

  it('shows no content that would ask, when the search itself did not', async () => {
    file('.env', 'KEY=needle\n');
    file('a.txt', 'needle\n');
    expect(await grep({ pattern: 'needle' }, { judge: askEnv })).toBe('a.txt:1: needle\n[1 left out by policy]');
    const approved = () => 'approve' as const;
    expect(await grep({ pattern: 'needle' }, { judge: approved })).toBe('.env:1: KEY=needle\na.txt:1: needle');
  });

  it('stops when it is cancelled', async () => {
    file('a.txt', 'x\n');
    const controller = new AbortController();
    controller.abort();
    expect(await bench.error('local_fs.grep', { pattern: 'x' }, { signal: controller.signal })).toBe('cancelled');
  });
});
