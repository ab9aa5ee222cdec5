import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openTerminal } from '../../support/terminal.ts';
import { addScript, createProject, tester, type World, writingTurns } from '../world.ts';

let world: World;
beforeEach(async () => {
  world = await createProject();
});
afterEach(() => world.remove());

const explain = async (...words: readonly string[]) => {
  const { code, stdout, stderr } = await world.run(['policy', 'explain', ...words]);
  return { code, lines: stdout.trimEnd().split('\n'), stderr };
};
const small = JSON.stringify({
  default_action: 'approve',
  rules: [
    { '//': 'notes', tools: 'local_fs', action: 'deny', when: [{ key: 'path', op: 'glob', value: 'private/**' }] },
    { tools: 'local_fs', tool: 'read_file', action: 'allow' },
    { tools: 'local_fs', action: 'approve', timeout_s: 90 },
    {
      tools: 'local_shell',
      action: 'allow',
      when: [{ key: 'command', op: 'command_prefix_allowlist', value: 'true,ls' }],
    },
  ],
});

describe('policy explain', () => {
  test('says verdict, arguments and rule, and what would change it', async () => {
    world.write('small.json', small);
    const { workspace } = world;
    const denied = await explain('local_fs/read_file', '{"path":"private/a"}', '--policy', './small.json');
    expect(denied).toEqual({
      code: 0,
      lines: [
        `deny  rule 1 of ${workspace}/small.json (file small)`,
        '  for notes',
        '  path private/a matches private/**',
        `local_fs.read_file in ${workspace}`,
        '  path: "private/a"',
        'rule 1   deny    path glob private/** : private/a',
        'would change with: another path that rule 1 does not match: allow',
      ],
      stderr: '',
    });
    const asked = await explain('local_fs', 'list_dir', '--policy=./small.json');
    expect(asked.lines.slice(-4)).toEqual([
      `local_fs.list_dir in ${workspace}`,
      'rule 1   no      path glob private/** : absent',
      'rule 3   approve every call',
      'waits 90 s, then denied',
    ]);
  });

  test('reads a command as the gate does', async () => {
    world.write('small.json', small);
    const { lines } = await explain('--command', 'true', '--policy', './small.json');
    expect(lines[0]).toBe(`allow  rule 4 of ${world.workspace}/small.json (file small)`);
    expect(lines).toContain('read as argv readable');
    expect(lines.find((line) => line.startsWith('  1. true → /'))).toBeDefined();
    const two = await explain('--command', 'rm x; true', '--policy', './small.json');
    expect(two.lines[0]).toBe(`approve  default action of ${world.workspace}/small.json (file small)`);
    expect(two.lines).toContain('waits 7 d, then denied');
    const flagged = await explain('--command', 'true --x=1', '--policy', './small.json');
    expect(flagged.lines.at(-1)).toBe('would change with: without the option --x=1: allow');
    const unlisted = await explain('--command', 'cat', '--policy', './small.json');
    expect(unlisted.lines.at(-1)).toBe('would change with: the entry cat in rule 4: allow');
  });

  test('names the directory in place of cd, and the narrowest entry for one command of a line', async () => {
    world.write('small.json', small);
    world.write('a/b c/x', '');
    const change = async (...words: readonly string[]) =>
      (await explain(...words, '--policy', './small.json')).lines.at(-1)?.replace('would change with: ', '');
    expect(await change('--command', 'cd a && ls | true')).toBe('cwd a in place of cd: allow');
    expect(await change('--command', 'cd "a/b c"; ls')).toBe('cwd a/b c in place of cd: allow');
    const inside = JSON.stringify({ command: "cd 'b c' && ls x", cwd: 'a' });
    expect(await change('local_shell', inside)).toBe('cwd a/b c in place of cd: allow');
    expect(await change('--command', 'ls && git branch --list x')).toBe('the entry git branch --list in rule 4: allow');
    expect(await change('--command', 'cd .. && ls')).toBe('waits 7 d, then denied');
  });

  test('says of each command of a line what covers it, or what fails', async () => {
    world.write('small.json', small);
    const segments = async (command: string) => {
      const { lines } = await explain('--command', command, '--policy', './small.json');
      return lines.filter((line) => line.startsWith('  ')).map((line) => line.replace(/ → \/\S+/, ''));
    };
    expect(await segments('ls -l && true --x=1 | nosuch')).toEqual([
      '  true: option --x=1',
      '  command: "ls -l && true --x=1 | nosuch"',
      '  1. ls -l · covered by ls',
      '  2. true --x=1 · true: option --x=1',
      '  3. nosuch → does not resolve · not covered',
    ]);
    expect(await segments('ls *.c; env A=1 true')).toEqual([
      expect.any(String),
      '  command: "ls *.c; env A=1 true"',
      '  1. ls *.c · the shell decides a word',
      '  2. env A=1 true · launcher env is never granted',
      '  3. true (inside another)',
      expect.any(String),
    ]);
    const { stdout } = await world.run(['policy', 'explain', '--command', 'ls', '--policy', './small.json', '--json']);
    expect(JSON.parse(stdout).record.analysis.segments).toMatchObject([{ words: ['ls'], covered_by: 'ls', why: null }]);
  });

  test.each([
    ['PATH=/tmp/x:$PATH ls -l', '  1. ls -l → does not resolve'],
    ['export PATH=/tmp/x; ls', '  2. ls → does not resolve'],
    ['export PA\\\nTH=/tmp/x; ls', '  2. ls → does not resolve'],
    ['read -r PATH < x; ls', '  2. ls → does not resolve'],
    ['ls() { true; }; ls', '  2. ls → does not resolve'],
    ['function ls { true; }; ls', '  2. ls → does not resolve'],
    ['alias ls=true\nls', 'ls → does not resolve'],
    ['hash -p /tmp/x/ls ls; ls', 'ls → does not resolve'],
    ['. ./env.sh; ls', '  3. ls → does not resolve'],
    ['env PATH=/tmp/x ls; true', '  2. ls (inside another) → does not resolve'],
    // These leave the place where a program is found as it is.
    ['env PATH=/tmp/x ls; true', '  1. env PATH=/tmp/x ls → /'],
    ['echo $PATH; ls', '  2. ls → /'],
    ['A=1; ls', '  1. ls → /'],
    ['export PATH=/tmp/x; /bin/ls', '  2. /bin/ls → /'],
  ])('names no file for a program that the line may find elsewhere: %s', async (command, line) => {
    world.write('all.json', '{"default_action":"approve"}');
    const { lines } = await explain('--command', command, '--policy', './all.json');
    expect(lines.join('\n')).toContain(line);
  });

  test('names the wall and the floor', async () => {
    world.write('open.json', '{"default_action":"allow"}');
    const wall = await explain('local_fs/write_file', '{"path":".reins/x","content":""}', '--policy', './open.json');
    expect(wall.lines.slice(0, 2)).toEqual(['deny  a wall that no policy lifts', '  control plane: .reins/x']);
    const floor = await explain('local_fs/write_file', '{"path":".envrc","content":""}', '--policy', './open.json');
    expect(floor.lines[0]).toBe(`approve  a floor under default action of ${world.workspace}/open.json (file open)`);
  });

  test('says what would be refused before any rule is asked', async () => {
    const { stderr } = await explain('local_fs/write_file', '{"path":"a"}');
    expect(stderr).toBe('a call like this is refused before any rule is asked: The argument "content" is missing.\n');
    expect((await explain('local_fs/readfile', '{}')).stderr).toContain(
      'local_fs has no tool readfile; it has read_file',
    );
    expect((await explain('nosuch/x', '{}')).stderr).toContain('there is no toolset nosuch');
  });

  test('takes the toolset of --command in words as well', async () => {
    const [alone, ...named] = [[], ['local_shell'], ['local_shell', 'local_shell'], ['local_shell/local_shell']];
    const { code, lines } = await explain(...(alone ?? []), '--command', 'ls -la');
    expect(code).toBe(0);
    for (const words of named) expect((await explain(...words, '--command', 'ls -la')).lines).toEqual(lines);
    expect((await explain('local_fs', '--command', 'ls')).code).toBe(2);
  });

  test('refuses what names no call, with a line that can be pasted', async () => {
    const first = async (...words: readonly string[]) => {
      const { code, stderr } = await explain(...words);
      return [code, stderr.split('\n')[0]];
    };
    expect(await first()).toEqual([2, 'reins: say which call: a toolset and tool, --command, or --ask']);
    expect(await first('local_fs', '{"path"')).toEqual([2, 'reins: --args is not JSON: line 1, column 8']);
    expect(await first('local_fs/grep', '[]')).toEqual([2, 'reins: --args is not a JSON object']);
    expect(await first('local_fs.read_file', '{}')).toEqual([
      2,
      'reins: "local_fs.read_file" is no toolset: write local_fs/read_file',
    ]);
    expect(await first('echo', `{"input":${'['.repeat(9_000)}${']'.repeat(9_000)}}`)).toEqual([
      2,
      'reins: --args is nested deeper than 500 levels',
    ]);
    expect(await first('--command', 'ls', '--args', '{}')).toEqual([
      2,
      'reins: --command and --args exclude each other',
    ]);
    expect(await first('--ask', 'abcd', 'local_fs')).toEqual([
      2,
      'reins: --ask names the call: "local_fs" does not go with it',
    ]);
    expect(await first('--ask', 'abcdef')).toEqual([1, 'reins: no such ask: abcdef']);
    expect(await first('echo', '--args', '@/dev/zero')).toEqual([
      2,
      'reins: --args: /dev/zero is more than the limit of 10485760 bytes (10 MiB)',
    ]);
    expect(await first('echo', '--args', '@nosuch.json')).toEqual([
      2,
      'reins: --args: nosuch.json cannot be read (no such file)',
    ]);
  });

  test('takes a policy of the project only when it is trusted', async () => {
    world.write('.reins/hitl-policy.json', small);
    const { code, stderr } = await explain('echo');
    expect(code).toBe(3);
    expect(stderr).toContain('is not trusted');
  });

  test('makes no ask, and its record is the one that the gate stores for the same call', async () => {
    await addScript(world, writingTurns);
    const ran = await world.run([...tester, '--on-ask', 'deny', '--json', 'go']);
    expect(JSON.parse(ran.stdout).permission_denials).toHaveLength(1);
    const { asks } = JSON.parse((await world.run(['approvals', 'list', '--state', 'all', '--json'])).stdout);
    const args = '{"path":"new.txt","content":"hello\\n"}';
    const { stdout } = await world.run(['policy', 'explain', 'local_fs/write_file', args, '--json']);
    const { trace, ...record } = JSON.parse(stdout).record;
    expect(record).toEqual(asks[0].record);
    expect(trace.at(-1)).toEqual({ rule: 62, selectors: true, conditions: [], outcome: 'approve' });
    const again = JSON.parse((await world.run(['approvals', 'list', '--state', 'all', '--json'])).stdout);
    expect(again.total).toBe(1);
    const { lines } = await explain('--ask', asks[0].id.slice(-6), '--policy', 'strict');
    expect(lines[0]).toBe('approve  rule 57 of hitl-policy-strict.json (builtin strict)');
  });
});

describe('the reason at the question', () => {
  test('tries another directory of an ask where that leads', async () => {
    world.write('a/x', '');
    const call = { name: 'local_shell.local_shell', arguments: { command: 'cd a && cat ../README.md' } };
    await addScript(world, [
      { name: 'ask', match: { role: 'user' }, reply: { text: '', tool_calls: [call] } },
      { name: 'refused', match: { role: 'tool' }, reply: { text: 'It was denied.' } },
    ]);
    await world.run([...tester, '--shell', '--on-ask', 'deny', 'go']);
    const [ask] = JSON.parse((await world.run(['approvals', 'list', '--state', 'all', '--json'])).stdout).asks;
    expect((await explain('--ask', ask.id)).lines.at(-1)).toBe('would change with: cwd a in place of cd: allow');
  });

  test('x shows which rules were tried, and approves nothing', async () => {
    await addScript(world, writingTurns);
    const terminal = openTerminal(world, [...tester, 'go'], { columns: 160 });
    await terminal.saw('[y] once');
    await terminal.press('x', 'rule 63  approve every call');
    expect(terminal.screen()).toContain('approve  rule 63 of hitl-policy.json (builtin default)');
    expect(terminal.screen()).toContain('waits 7 d, then denied');
    await terminal.press('n', 'It was denied.');
    await terminal.ended;
    const { stdout } = await world.run(['approvals', 'list', '--state', 'all', '--json']);
    const [ask] = JSON.parse(stdout).asks;
    const shown = await world.run(['approvals', 'show', ask.id, '--explain']);
    expect(shown.stdout).toContain('  rule 63  approve every call\n');
  });

  test('x explains by the policy that asked, whatever governs now', async () => {
    const policy = JSON.stringify({ rules: [{ tools: 'local_fs', action: 'approve' }] });
    const path = world.write('asking.json', policy);
    await addScript(world, writingTurns);
    await world.run([...tester, '--policy', path, '--on-ask', 'deny', 'go']);
    world.write('asking.json', '{"default_action":"allow"}');
    const [ask] = JSON.parse((await world.run(['approvals', 'list', '--state', 'all', '--json'])).stdout).asks;
    const { stdout } = await world.run(['approvals', 'show', ask.id, '--explain']);
    expect(stdout).toContain('  rule 1   approve every call\n');
  });
});
