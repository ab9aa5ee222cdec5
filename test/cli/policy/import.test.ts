import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type World } from '../world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => world.remove());

type Line = {
  readonly text: string;
  readonly outcome: string;
  readonly rules: readonly number[];
  readonly source: string;
};

/** Imports a file; its report as `outcome text`. */
const importing = async (from: string, name: string, text: string) => {
  const path = world.write(name, text);
  const { code, stdout } = await world.run(['policy', 'import', '--from', from, path, '--out', 'out.json', '--json']);
  const result = JSON.parse(stdout);
  return { code, result, lines: (result.report as readonly Line[]).map(({ text, outcome }) => `${outcome} ${text}`) };
};
/** What the imported policy says to calls, each as toolset/tool and arguments. */
const verdicts = async (...calls: readonly (readonly [string, object])[]) => {
  const cases = calls.map(([name, args]) => {
    const [tools = '', tool = tools] = name.split('/');
    return { name: JSON.stringify([name, args]), call: { tools, tool, args }, host, expect: { action: 'deny' } };
  });
  world.write('check.policy-test.json', JSON.stringify({ policy: './out.json', cases }));
  const { stdout } = await world.run(['policy', 'test', 'check.policy-test.json', '--json']);
  return JSON.parse(stdout).files[0].cases.map(({ got }: { got: { action: string } }) => got.action);
};
const host = {
  workspace: '/w',
  home: '/h',
  programs: ['ls', 'git', 'rm', 'rmdir', 'pwd', 'npm'],
  programs_dir: '/usr/bin',
};
const shell = (command: string) => ['local_shell', { command }] as const;
const file = (tool: string, path: string) => [`local_fs/${tool}`, { path }] as const;

describe('policy import --from claude', () => {
  const settings = JSON.stringify(
    {
      permissions: {
        allow: [
          'Bash(ls:*)',
          'Bash(pwd)',
          'Bash(node:*)',
          'Bash(npm*)',
          'Bash(rmdir:*)',
          'Read(src/**)',
          'Edit(docs/**)',
          'WebFetch(domain:docs.test)',
          'mcp__gh__get',
          'mcp__local_fs',
          'Write(x)',
          'Task(y)',
        ],
        deny: ['Bash(rm*)', 'Read(.env)', 'WebFetch(domain:evil.test)', 'mcp__bad__*_x', 'Write(dist/**)'],
        ask: ['Bash(git push:*)'],
        defaultMode: 'dontAsk',
      },
    },
    null,
    1,
  );

  test('reports every rule of the source, and the result vets', async () => {
    const { code, result, lines } = await importing('claude', 'settings.json', settings);
    expect([code, result.vet, result.document.default_action]).toEqual([0, 'ok', 'deny']);
    expect(lines).toEqual([
      'narrowed deny Bash(rm*)',
      'exact deny Read(.env)',
      'exact deny WebFetch(domain:evil.test)',
      'narrowed deny mcp__bad__*_x',
      'exact deny Write(dist/**)',
      'exact ask Bash(git push:*)',
      'exact allow Bash(ls:*)',
      'exact allow Bash(pwd)',
      'dropped allow Bash(node:*)',
      'dropped allow Bash(npm*)',
      'dropped allow Bash(rmdir:*)',
      'exact allow Read(src/**)',
      'exact allow Edit(docs/**)',
      'exact allow WebFetch(domain:docs.test)',
      'exact allow mcp__gh__get',
      'dropped allow mcp__local_fs',
      'dropped allow Write(x)',
      'inert allow Task(y)',
      'exact defaultMode dontAsk',
    ]);
    expect(result.report[0].source).toBe(`${world.workspace}/settings.json:18`);
  });

  test('allows what the source allows, and nothing that it asks about or denies', async () => {
    await importing('claude', 'settings.json', settings);
    expect(
      await verdicts(
        shell('ls'),
        shell('pwd'),
        file('read_file', 'src/a'),
        file('write_file', 'docs/a'),
        ['gh/get', {}],
        ['web/web_get', { url: 'https://docs.test/x' }],
      ),
    ).toEqual(['allow', 'allow', 'allow', 'allow', 'allow', 'allow']);
    const refused = await verdicts(
      shell('rm x'),
      shell('rmdir x'),
      shell('pwd -P'),
      shell('git push origin'),
      shell('npm i'),
      shell('node x'),
      file('read_file', 'src/.env'),
      file('write_file', 'docs/dist/a'),
      file('write_file', 'src/a'),
      ['web/web_get', { url: 'https://a.docs.test/' }],
      ['web/web_get', { url: 'https://docs.test@evil.test/' }],
      ['web/web_post', { url: 'https://docs.test/' }],
      ['bad/y_x', {}],
      ['local_fs/list_dir', {}],
    );
    expect(refused).not.toContain('allow');
  });

  test('merges the usual files and marks those of the project', async () => {
    world.write('../home/.claude/settings.json', '{"permissions":{"deny":["Bash(rm:*)"]}}');
    world.write('.claude/settings.json', '{"permissions":{"allow":["Bash(ls:*)"]}}');
    const { code, stdout, stderr } = await world.run(['policy', 'import', '--from', 'claude']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).rules).toHaveLength(48);
    expect(stderr).toBe(
      `exact    ${world.home}/.claude/settings.json:1  deny Bash(rm:*) (rule 47)\n` +
        `exact    ${world.workspace}/.claude/settings.json:1 [project]  allow Bash(ls:*) (rule 48)\n` +
        '2 exact, 0 narrowed, 0 dropped\n',
    );
  });
});

describe('policy import --from codex', () => {
  const rules = `
# network
prefix_rule(
    pattern = ["git", ["push", "fetch"]],
    decision = "prompt",
    justification = "network",
    match = [["git", "push", "origin"]],
)
prefix_rule(pattern=["rm"], decision="forbidden", match=["rm -rf x"])
prefix_rule(pattern=["ls"])
prefix_rule(pattern=["a,b"])
host_executable(name="git", paths=["/usr/bin/git"])
`;

  test('expands alternatives, keeps the reasons, and writes the tests beside the policy', async () => {
    const { code, result, lines } = await importing('codex', 'x.rules', rules);
    expect(code).toBe(0);
    expect(lines.map((line) => line.slice(0, 40))).toEqual([
      'exact prefix_rule( pattern = ["git", ["p',
      'exact prefix_rule(pattern=["rm"], decisi',
      'exact prefix_rule(pattern=["ls"])',
      'dropped prefix_rule(pattern=["a,b"])',
      'exact host_executable(name="git", paths=',
    ]);
    expect(
      result.document.rules
        .slice(46)
        .map(({ action, when }: { action: string; when: { value: string }[] }) => [action, when[0]?.value]),
    ).toEqual([
      ['deny', 'rm'],
      ['approve', 'git push'],
      ['approve', 'git fetch'],
      ['allow', 'ls'],
    ]);
    expect(result.document.rules[47]['//']).toBe('network');
    expect(result.document.trusted_binaries).toEqual({ dirs: ['/usr/bin'] });
    expect(result.tests).toBe(join(world.workspace, 'out.policy-test.json'));
    const tested = await world.run(['policy', 'test', 'out.policy-test.json']);
    expect(tested.stdout).toContain('2 passed, 0 failed\n');
  });

  test('is made again where one that was killed has left the tests and not the policy', async () => {
    await importing('codex', 'x.rules', rules);
    rmSync(join(world.workspace, 'out.json'));
    expect((await importing('codex', 'x.rules', rules)).result).toMatchObject({
      out: join(world.workspace, 'out.json'),
      tests: join(world.workspace, 'out.policy-test.json'),
    });
  });

  test('never replaces a file, and writes none of the two where one is there', async () => {
    world.write('out.policy-test.json', '{}');
    const path = world.write('x.rules', rules);
    const again = () => world.run(['policy', 'import', '--from', 'codex', path, '--out', 'out.json']);
    const refused = `reins: --out: ${world.workspace}/out.policy-test.json exists already: name another file\n`;
    expect(await again()).toMatchObject({ code: 2, stderr: expect.stringContaining(refused) });
    expect(existsSync(join(world.workspace, 'out.json'))).toBe(false);
    rmSync(join(world.workspace, 'out.policy-test.json'));
    world.write('out.json', '{}');
    expect((await again()).code).toBe(2);
    expect(existsSync(join(world.workspace, 'out.policy-test.json'))).toBe(false);
  });

  test('needs no database, and removes what a killed one has left beside its file', async () => {
    const left = world.write('.old.json.reins-tmp-0123456789ab', 'half of it');
    chmodSync(left, 0o600);
    utimesSync(left, new Date('2026-01-01'), new Date('2026-01-01'));
    await importing('codex', 'x.rules', rules);
    expect([existsSync(left), existsSync(join(world.home, '.reins'))]).toEqual([false, false]);
  });

  test('reads a configuration with tables of projects and servers beside the rules', async () => {
    mkdirSync(join(world.home, '.codex/rules'), { recursive: true });
    writeFileSync(join(world.home, '.codex/rules/default.rules'), rules);
    writeFileSync(
      join(world.home, '.codex/config.toml'),
      'approval_policy = "on-request"\n[projects."/srv/p"]\ntrust_level = "trusted"\n' +
        '[mcp_servers.ctx]\ncommand = "ctx"\nenv = { "KEY" = "v" }\n',
    );
    const { code, stdout } = await world.run(['policy', 'import', '--from', 'codex', '--json']);
    const { report } = JSON.parse(stdout);
    expect([code, report.length, report.at(-1)]).toMatchObject([
      0,
      6,
      { outcome: 'inert', text: 'approval_policy = on-request' },
    ]);
  });

  test('asks about every command where a statement cannot be read', async () => {
    await importing('codex', 'x.rules', `${rules}\nprefix_rule(pattern=[x for x in y])\n`);
    expect(await verdicts(shell('ls'), shell('rm x'))).toEqual(['approve', 'deny']);
  });
});

describe('policy import --from opencode', () => {
  test('finds the settings in their usual places, with comments or without', async () => {
    mkdirSync(join(world.home, '.config/opencode'), { recursive: true });
    writeFileSync(join(world.home, '.config/opencode/opencode.jsonc'), '{"permission": {"edit": "deny"}} // mine');
    world.write('opencode.json', '{"permission": {"webfetch": "deny"}}');
    const { code, stdout } = await world.run(['policy', 'import', '--from', 'opencode', '--json']);
    const { report } = JSON.parse(stdout);
    expect([code, report.slice(0, 2).map(({ text, level }: { text: string; level: string }) => [text, level])]).toEqual(
      [
        0,
        [
          ['edit *: deny', 'user'],
          ['webfetch *: deny', 'project'],
        ],
      ],
    );
  });

  test('keeps what the last match was: a general word is what is left for the rest', async () => {
    const config = `{ // mine
      "permission": {
        "edit": "deny",
        "bash": { "npm *": "allow", "*": "ask", "ls *": "allow", "git push*": "deny", "git *": "allow" },
      },
    }`;
    const { code, lines } = await importing('opencode', 'opencode.json', config);
    expect(code).toBe(0);
    expect(lines).toEqual([
      'exact edit *: deny',
      'inert bash npm *: allow',
      'exact bash *: ask',
      'exact bash ls *: allow',
      'narrowed bash git push*: deny',
      'dropped bash git *: allow',
      'inert read (missing)',
      'inert grep (missing)',
      'inert glob (missing)',
      'inert list (missing)',
      'inert webfetch (missing)',
    ]);
    expect(await verdicts(shell('ls'), shell('git push'), shell('npm'), file('write_file', 'a'))).toEqual([
      'allow',
      'deny',
      'approve',
      'deny',
    ]);
  });
});

describe('policy import --from gemini', () => {
  const toml = `
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["ls", "git status"]
decision = "allow"
priority = 100

[[rule]]
toolName = ["write_file", "replace"]
decision = "ask_user"
priority = 50
modes = ["default"]

[[rule]]
mcpName = "gh"
toolName = "get"
decision = "allow"
priority = 20

[[rule]]
toolName = "*"
decision = "deny"
priority = 10
denyMessage = """
not here"""

[[rule]]
toolName = "read_file"
decision = "allow"
`;

  test('puts a refusal of everything below what is allowed above it, and drops what is below it', async () => {
    const { code, result } = await importing('gemini', 'p.toml', toml);
    expect(code).toBe(0);
    expect(result.report.map(({ outcome }: Line) => outcome)).toEqual(['exact', 'narrowed', 'exact', 'exact', 'inert']);
    expect(result.document.rules.at(-1)).toEqual({ '//': 'not here', action: 'deny' });
    expect(
      await verdicts(shell('ls'), ['gh/get', {}], file('write_file', 'a'), file('read_file', 'a'), shell('rm')),
    ).toEqual(['allow', 'allow', 'approve', 'deny', 'deny']);
  });

  test('asks where an expression refuses what cannot be told', async () => {
    const more = `${toml}\n[[rule]]\ntoolName = "run_shell_command"\nargsPattern = "rm"\ndecision = "deny"\npriority = 500\n`;
    const { lines } = await importing('gemini', 'p.toml', more);
    expect(lines[0]?.startsWith('narrowed toolName = "run_shell_command", argsPattern')).toBe(true);
    expect(await verdicts(shell('ls'))).toEqual(['approve']);
  });
});

describe('policy import', () => {
  test('imports nothing where something of the source cannot be read', async () => {
    const path = world.write('bad.json', '{"permissions":');
    const { code, stdout, stderr } = await world.run(['policy', 'import', '--from', 'claude', path]);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(
      /^reins: .*bad\.json: .*\(line 1, column \d+\)\n {2}reins policy import --from claude <path>\n$/,
    );
    const missing = await world.run(['policy', 'import', '--from', 'gemini', 'nosuch.toml']);
    expect([missing.code, missing.stderr.split('\n')[0]]).toEqual([
      3,
      `reins: ${world.workspace}/nosuch.toml: there is no such file`,
    ]);
    const nowhere = await world.run(['policy', 'import', '--from', 'opencode']);
    expect([nowhere.code, nowhere.stderr.split('\n')[0]]).toEqual([
      3,
      'reins: there are no settings of opencode in their usual places',
    ]);
    const json = await world.run(['policy', 'import', '--from', 'opencode', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: 'config_invalid' }, exit_code: 3 });
  });

  test('writes no file over another, and wants to know whose settings they are', async () => {
    world.write('settings.json', '{"permissions":{}}');
    world.write('out.json', 'mine');
    const { code, stderr } = await world.run([
      'policy',
      'import',
      '--from',
      'claude',
      'settings.json',
      '--out',
      'out.json',
    ]);
    expect([code, stderr.split('\n')[0]]).toEqual([
      2,
      `reins: --out: ${world.workspace}/out.json exists already: name another file`,
    ]);
    expect(readFileSync(join(world.workspace, 'out.json'), 'utf8')).toBe('mine');
    expect((await world.run(['policy', 'import', 'settings.json'])).code).toBe(2);
    expect((await world.run(['policy', 'import', '--from', 'other'])).code).toBe(2);
    expect(existsSync(join(world.workspace, 'out.policy-test.json'))).toBe(false);
  });
});
