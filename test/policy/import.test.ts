import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assemble } from '../../src/policy/import/assemble.ts';
import { importClaude } from '../../src/policy/import/claude.ts';
import { importCodex } from '../../src/policy/import/codex.ts';
import type { SourceFile } from '../../src/policy/import/draft.ts';
import { importGemini } from '../../src/policy/import/gemini.ts';
import { importOpencode } from '../../src/policy/import/opencode.ts';
import { readToml } from '../../src/policy/import/toml.ts';
import { judge, load, plainHost } from './virtual-host.ts';

const file = (path: string, text: string): readonly SourceFile[] => [{ path, text, level: 'user' }];
const place = { home: '/home/u', workspace: '/srv/p' };
const host = { ...plainHost, programs: [...plainHost.programs, 'rmdir', 'npm'] };

const words = ['git', 'git push', 'git pushx', 'rm', 'rmdir', 'ls', 'npm test', 'npm'] as const;
const patterns = words.flatMap((word) => [word, `${word} *`, `${word}:*`, `${word}*`, `* ${word}`]);
const commands = words.flatMap((word) => [word, `${word} x`]);

/** Whether a pattern of the source matches a simple command: a star is any text, `:*` whole further words. */
function matches(pattern: string, command: string): boolean {
  const text = pattern.replace(/:\*$/, ' *');
  if (text.endsWith(' *') && command === text.slice(0, -2)) return true;
  const parts = text.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(command);
}

describe('an import of command rules', () => {
  it('allows nothing that the source denies, asks about, or says nothing of', async () => {
    const some = fc.uniqueArray(fc.constantFrom(...patterns), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(some, some, some, async (deny, ask, allow) => {
        const list = (rules: readonly string[]) => rules.map((rule) => `Bash(${rule})`);
        const permissions = { deny: list(deny), ask: list(ask), allow: list(allow) };
        const imported = importClaude(file('/home/u/.claude/settings.json', JSON.stringify({ permissions })));
        const { document, report } = await assemble(imported, []);
        expect(report).toHaveLength(deny.length + ask.length + allow.length);
        const policy = await load(document);
        for (const command of commands) {
          const call = { tools: 'local_shell', tool: 'local_shell', args: { command } };
          const { action } = judge(policy, call, host);
          const refused = [...deny, ...ask].some((pattern) => matches(pattern, command));
          const allowed = allow.some((pattern) => matches(pattern, command));
          if (refused || !allowed) expect([command, action]).not.toEqual([command, 'allow']);
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('the readers of settings', () => {
  it('never throw, whatever the text', () => {
    const pieces = fc.constantFrom(
      ...'prefix_rule( pattern = [ ] ) " \' \n # [[rule]] toolName decision allow deny { } : , \\ """ bash permission * r" ('.split(
        ' ',
      ),
      '\n',
    );
    const text = fc.array(pieces, { maxLength: 40 }).map((all) => all.join(' '));
    fc.assert(
      fc.property(fc.oneof(text, fc.string()), (source) => {
        importCodex(file('/x.rules', source));
        importCodex(file('/x.toml', source));
        importGemini(file('/x.toml', source));
        importOpencode(file('/x.json', source), place);
        importClaude(file('/x/settings.json', source));
      }),
    );
  });

  it('refuse lists that are nested without end', () => {
    expect(readToml(`a = ${'['.repeat(100_000)}`)).toEqual({ message: 'lists are nested more than 32 deep', line: 1 });
  });

  it('read the texts of TOML as they are meant', () => {
    const tables = readToml(
      `a = 'C:\\x' # no escape\nb = "q\\"t"\nc = """\nlong\n"""\nd = [1, true,\n "x",]\n[[rule]]\ne = -2`,
    );
    expect(
      Array.isArray(tables) && tables.map(({ name, line, values }) => [name, line, Object.fromEntries(values)]),
    ).toEqual([
      ['', 1, { a: 'C:\\x', b: 'q"t', c: 'long\n', d: [1, true, 'x'] }],
      ['rule', 8, { e: -2 }],
    ]);
  });

  it('give documents that load, where a source has words that no list may hold', async () => {
    const rules = ['"A=1", "rm"', '"cd", "x", "&&", "rm"', '"git", "*"', '"git", "commit", "-m", "\'a\'"'];
    const text = rules.map((words) => `prefix_rule(pattern=[${words}], decision="forbidden")`).join('\n');
    const deny = ['Bash(A=1 rm:*)', 'Bash(cd x && rm:*)', 'Bash("git push":*)', 'Read(a, /b)', 'Read(**/.env,**/x)'];
    const settings = JSON.stringify({ permissions: { deny } });
    for (const imported of [
      importCodex(file('/home/u/x.rules', text)),
      importClaude(file('/home/u/s.json', settings)),
    ]) {
      const { document, report } = await assemble(imported, []);
      await load(document);
      expect(report.map(({ outcome }) => outcome)).toEqual(report.map(() => 'narrowed'));
    }
  });

  it('read a configuration of Codex as people have it', () => {
    const tables = readToml(`approval_policy = "on-request"
notify = ["notify-send", 'Codex']
tui.theme = "x" # dotted
[projects."/home/me/a.b"]
trust_level = "trusted"
[mcp_servers.ctx]
env = { "API_KEY" = 'k', NESTED = { a = [1, 2] }, }
startup_timeout_sec = 1_000
ratio = 6.5e-1
since = 1979-05-27T07:32:00Z
on = 1979-05-27 07:32:00
text = """\\
  one \u00e9"""
[ "quoted" . 'two' ]
"a b" = true
`);
    expect(Array.isArray(tables) && tables.map(({ name, values }) => [name, values])).toEqual([
      [
        '',
        new Map<string, unknown>([
          ['approval_policy', 'on-request'],
          ['notify', ['notify-send', 'Codex']],
          ['tui', new Map([['theme', 'x']])],
        ]),
      ],
      ['projects./home/me/a.b', new Map([['trust_level', 'trusted']])],
      [
        'mcp_servers.ctx',
        new Map<string, unknown>([
          [
            'env',
            new Map<string, unknown>([
              ['API_KEY', 'k'],
              ['NESTED', new Map([['a', [1, 2]]])],
            ]),
          ],
          ['startup_timeout_sec', 1000],
          ['ratio', 0.65],
          ['since', '1979-05-27T07:32:00Z'],
          ['on', '1979-05-27 07:32:00'],
          ['text', 'one é'],
        ]),
      ],
      ['quoted.two', new Map([['a b', true]])],
    ]);
    for (const text of ['a = {', 'a = { b }', 'a.b = 1\na = 2', 'a = 1\na.b = 2', '[a', 'a = 1 2x', 'a = tru'])
      expect([text, Array.isArray(readToml(text))]).toEqual([text, false]);
    expect(readToml(`${'a.'.repeat(100_000)}a = 1`)).toEqual({ message: 'a key has more than 32 parts', line: 1 });
  });

  it('take what stands in a table of a rule of Gemini for a part of it, however it is written', async () => {
    const allow = '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "ls"\ndecision = "allow"\n';
    const ls = { tools: 'local_shell', tool: 'local_shell', args: { command: 'ls' } };
    const verdict = async (source: string) => {
      const { document } = await assemble(importGemini(file('/x.toml', source)), []);
      return judge(await load(document), ls, host).action;
    };
    expect(await verdict(allow)).toBe('allow');
    for (const limit of [
      'toolAnnotations = { readOnlyHint = true }',
      'toolAnnotations.readOnlyHint = true',
      '[rule.toolAnnotations]\nreadOnlyHint = true',
    ]) {
      expect([limit, await verdict(`${allow}${limit}\n`)]).toEqual([limit, 'approve']);
    }
  });
});
