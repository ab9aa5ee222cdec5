import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { judgeWords, tableOf } from '../../src/policy/option-tables.ts';
import { parseCommandTables } from '../../src/policy/read-tables.ts';
import type { OptionTable } from '../../src/schema/command-tables.ts';
import { judge, load, plainHost } from './virtual-host.ts';

const shipped = readFileSync(new URL('../../src/policy/command-tables.json', import.meta.url), 'utf8');

const judged = (table: OptionTable, ...words: string[]) => {
  const result = judgeWords(table, words, undefined);
  return result.ok ? result.operands.map(({ text, kind }) => `${kind} ${text}`) : result.failing;
};
const program = (name: string): OptionTable => {
  const table = tableOf(name, undefined);
  if (table === undefined) throw new Error(`no table for ${name}`);
  return table;
};

describe('the shipped tables', () => {
  it('have the form that an operator writes', async () => {
    expect(await parseCommandTables(shipped)).toMatchObject({ ok: true });
  });

  it.each([
    ['sort', ['-rnk2', 'a', '-'], ['read a', 'read -']],
    ['sort', ['-k', '2', '--', '-x'], ['read -x']],
    ['sort', ['--key=2', 'a'], ['read a']],
    ['sort', ['--rev', 'a'], 'option --rev'],
    ['sort', ['-ro', 'x'], 'option -ro'],
    ['sort', ['-k'], 'option -k without its value'],
    ['ls', ['--color=never'], []],
    ['ls', ['--color=auto'], 'option --color=auto with the value auto'],
    ['head', ['-20', 'a'], ['read a']],
    ['sort', ['-20', 'a'], 'option -20'],
    ['grep', ['a b', 'x', 'y'], ['text a b', 'read x', 'read y']],
    ['grep', ['-e', 'a', 'x'], ['read x']],
    ['grep', ['-f', 'p', 'x'], ['read p', 'read x']],
    ['grep', ['-fp', 'x'], ['read p', 'read x']],
    // `echo` prints these, and knows no option that begins so.
    ['echo', ['---', '-- a --', '->', '- b', '-1'], ['text ---', 'text -- a --', 'text ->', 'text - b', 'text -1']],
    ['echo', ['-e', 'a'], 'option -e'],
    ['echo', ['--help'], 'option --help'],
    ['cat', ['---'], 'option ---'],
    ['uniq', ['a', 'b'], 'operand b'],
    ['date', ['+%F'], ['text +%F']],
    ['date', ['2020-01-01'], 'operand 2020-01-01'],
    ['sed', ['-n', '1,$p', 'a'], ['text 1,$p', 'read a']],
    ['sed', ['1p', 'a'], 'option -n is missing'],
    ['sed', ['-n', '1p;w x'], 'operand 1p;w x'],
    ['find', ['.', '(', '-name', 'x', '-o', '!', '-type', 'f', ')'], ['read .']],
    ['find', ['.', '-newer', 'x'], ['read x', 'read .']],
    ['find', ['.', '-delete'], 'option -delete'],
    ['tar', ['-tzf', 'a.tgz'], ['read a.tgz']],
    ['tar', ['-tf', 'host:a'], 'option -tf with the value host:a'],
    ['go', ['test', '-run=X', '--count=1', './...'], ['text ./...']],
    ['go', ['test', '../x'], 'operand ../x'],
    ['go', ['build', '/x'], 'operand /x'],
    ['go', ['run', '.'], 'subcommand run'],
    ['git', ['log', '-5', '--format=%h', '-U3', 'HEAD'], ['rev HEAD']],
    // What `-U` stands before is an operand, and so is what stands behind the `-n` of `shortlog`.
    ['git', ['diff', '-U', '/etc/passwd', 'x'], ['rev /etc/passwd', 'rev x']],
    ['git', ['shortlog', '-sn', '/x'], ['rev /x']],
    ['git', ['shortlog', '-s', '-n', 'HEAD'], ['rev HEAD']],
    ['git', ['log', '-n', 'HEAD'], []],
    ['diff', ['-ru', 'a', 'b'], ['file a', 'file b']],
    ['git', ['branch', 'x'], 'operand x'],
    ['git', ['branch', '--list', 'x'], ['rev x']],
    ['git', ['-C', 'x', 'log'], 'option -C'],
    ['git', [], 'has no subcommand'],
    ['git', ['--version'], 'option --version'],
    ['npm', ['--version'], []],
    ['npm', ['test', '--silent'], []],
    ['vitest', ['run', '--reporter', 'evil'], 'option --reporter with the value evil'],
    ['pytest', ['-q', 'tests'], ['read tests']],
    // A file of further options, which no table would see.
    ['pytest', ['@options'], 'operand @options'],
    ['mypy', ['@options'], 'operand @options'],
    ['tsc', ['--noEmit', '@options'], 'operand @options'],
    ['tee', ['x'], 'is never granted'],
  ])('judge %s %j', (name, words, expected) => {
    expect(judged(program(name), ...words)).toEqual(expected);
  });
});

describe('an operator', () => {
  const own = async (programs: object) => {
    const read = await parseCommandTables(JSON.stringify({ format: 1, programs }));
    if (!read.ok) throw new Error(read.message);
    return read.tables;
  };
  const verdict = async (command: string, programs: object) => {
    const when = [{ key: 'command', op: 'command_prefix_allowlist', value: 'git,mytool' }];
    const policy = await load({ default_action: 'approve', rules: [{ action: 'allow', when }] });
    const call = { tools: 'local_shell', tool: 'local_shell', args: { command } };
    const facts = { ...plainHost, programs: ['git', 'mytool'] };
    const { action, detail } = judge(policy, call, facts, { commandTables: await own(programs) });
    return action === 'allow' ? action : detail;
  };

  it('replaces the table of a program, and gives one to a program that has none', async () => {
    const git = { subcommands: { stash: { flags: ['--list'], operands: 'none' } } };
    expect(await verdict('git stash --list', { git })).toBe('allow');
    expect(await verdict('git log', { git })).toBe('git: subcommand log');
    const mytool = { values: [{ name: '-o', kind: 'write' }], operands: 'read', pattern: '[a-z]+' };
    expect(await verdict('mytool -o out abc', { mytool })).toBe('allow');
    expect(await verdict('mytool abc1', { mytool })).toBe('mytool: operand abc1');
    expect(await verdict('mytool -o /etc/x abc', { mytool })).toBe('mytool: operand outside the workspace: /etc/x');
    expect(await verdict('mytool -o .reins/x abc', { mytool })).toMatch(/^write into the control plane/);
  });

  it('adds to a shipped table by extending it under its own name', async () => {
    const git = { extends: 'git', subcommands: { stash: { flags: ['--list'], operands: 'none' } } };
    expect(await verdict('git stash --list', { git })).toBe('allow');
    expect(await verdict('git stash pop', { git })).toBe('git: operand pop');
    expect(await verdict('git log -3', { git })).toBe('allow');
    expect(await verdict('git push', { git })).toBe('git: subcommand push');
    expect(await verdict('git --', { git })).toBe('git: option --');
    // What the table does not say holds as it is: operands are still paths that are read.
    const mytool = { extends: 'sort', flags: ['-k', '-m'], values: ['-o'] };
    expect(await verdict('mytool -k -m -r a', { mytool })).toBe('allow');
    expect(await verdict('mytool -o x a', { mytool })).toBe('allow');
    expect(await verdict('mytool /etc/x', { mytool })).toBe('mytool: operand outside the workspace: /etc/x');
    const less = { extends: 'git', grant: 'never' };
    expect(await verdict('mytool log', { mytool: less })).toBe('mytool: is never granted');
    const loop = { mytool: { extends: 'git', flags: ['-a'] }, git: { extends: 'mytool' } };
    expect(await verdict('mytool -a', loop)).toBe('allow');
  });

  it('bars an operand by what stands anywhere in it, as the shipped tables do', async () => {
    const mytool = { values: [{ name: '-f', deny_pattern: ':' }], operands: 'text', deny_pattern: '(^|/)\\.\\.(/|$)' };
    expect(await verdict('mytool -f ab a/b', { mytool })).toBe('allow');
    expect(await verdict('mytool a/../b', { mytool })).toBe('mytool: operand a/../b');
    expect(await verdict('mytool -f a:b', { mytool })).toBe('mytool: option -f with the value a:b');
  });

  it.each([
    ['{', /line 1/],
    ['{"format":2,"programs":{}}', /^\$\.format: must be 1$/],
    ['{"format":1}', /^\$\.programs: is missing$/],
    ['{"format":1,"format":1,"programs":{}}', /twice/],
    ['{"format":1,"programs":{"x":{"flag":["-a"]}}}', /^\$\.programs\.x\.flag: is not known$/],
    ['{"format":1,"programs":{"x":{"flags":"-a"}}}', /^\$\.programs\.x\.flags: must be a list of texts$/],
    ['{"format":1,"programs":{"x":{"values":[{"kind":"read"}]}}}', /values\[0\]\.name: is missing$/],
    ['{"format":1,"programs":{"x":{"operands":"any"}}}', /must be one of none, text, read/],
    ['{"format":1,"programs":{"x":{"pattern":"("}}}', /^\$\.programs\.x\.pattern: /],
    ['{"format":1,"programs":{"x":{"pattern":"(?=a)"}}}', /^\$\.programs\.x\.pattern: /],
  ])('is told what is wrong with %j', async (text, message) => {
    expect(await parseCommandTables(text)).toMatchObject({ ok: false, message: expect.stringMatching(message) });
  });
});
