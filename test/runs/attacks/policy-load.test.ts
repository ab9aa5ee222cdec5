import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addScript, createProject, tester, type World } from '../../cli/world.ts';

/** Attacks of `attack-cases.json` by policy documents, through the built program: what does not load allows nothing. */

let world: World;
beforeEach(async () => {
  world = await createProject();
});
afterEach(() => world.remove());

type Result = {
  readonly denials: number;
  readonly written: boolean;
  readonly stderr: string;
  readonly code: number | null;
};

/** A model reads a file and writes one, with nobody to ask. */
async function run(...flags: readonly string[]): Promise<Result> {
  const { stdout, stderr, code } = await world.run([
    ...['run', ...tester, '--shell', '--on-ask', 'deny', '--json', ...flags, 'go'],
  ]);
  const denials = stdout.startsWith('{') ? JSON.parse(stdout).permission_denials.length : -1;
  return { denials, written: existsSync(join(world.workspace, 'M')), stderr, code };
}
const script = () =>
  addScript(world, [
    {
      match: { role: 'user' },
      reply: {
        text: 'I try.',
        tool_calls: [
          { name: 'local_fs.read_file', arguments: { path: 'notes' } },
          { name: 'local_shell.local_shell', arguments: { command: 'touch M' } },
          { name: 'local_fs.write_file', arguments: { path: 'M', content: 'x' } },
        ],
      },
    },
    { match: { role: 'tool' }, reply: { text: 'done' } },
  ]);
const file = (): string => join(world.home, '.reins', 'hitl-policy.json');
function put(text: string | Uint8Array): void {
  mkdirSync(join(world.home, '.reins'), { recursive: true });
  writeFileSync(file(), text, { mode: 0o600 });
}
const allowing = { default_action: 'allow' };
const allow = { tools: 'local_fs', action: 'allow' };

/** What is wrong, the document, and what is said of it. */
const refused: readonly (readonly [string, string, string | Uint8Array, string])[] = [
  ['POL-001', 'a member of compute', JSON.stringify({ ...allowing, compute: { maxTurn: 5 } }), '$.compute.maxTurn'],
  [
    'POL-001',
    'a member of trusted_binaries',
    JSON.stringify({ ...allowing, trusted_binaries: { dir: [] } }),
    '$.trusted_binaries.dir',
  ],
  ['POL-002', 'a misspelt action', JSON.stringify({ ...allowing, rules: [{ action: 'alow' }] }), '$.rules[0].action'],
  ['POL-002', 'a misspelt default', '{"default_action":"permit"}', '$.default_action'],
  ['POL-002', 'another case', '{"default_action":"Allow"}', '$.default_action'],
  [
    'POL-004',
    'no deadline that expires',
    JSON.stringify({ ...allowing, rules: [{ action: 'approve', timeout_s: -1, on_timeout: 'deny' }] }),
    '$.rules[0]',
  ],
  ...[-2, 1_000_000_000, 1.5, '30'].map(
    (timeout_s) =>
      [
        'POL-005',
        `timeout_s ${JSON.stringify(timeout_s)}`,
        JSON.stringify({ ...allowing, rules: [{ action: 'approve', timeout_s }] }),
        '$.rules[0].timeout_s',
      ] as const,
  ),
  [
    'POL-006',
    'timeout_s of an allow',
    JSON.stringify({ ...allowing, rules: [{ action: 'allow', timeout_s: 5 }] }),
    '$.rules[0]',
  ],
  ['POL-008', 'a member twice', '{"default_action":"deny","default_action":"allow"}', 'duplicate_member'],
  [
    'POL-008',
    'an action twice',
    '{"default_action":"allow","rules":[{"action":"deny","action":"allow"}]}',
    'duplicate_member',
  ],
  ['POL-008', 'a trailing comma', '{"default_action":"allow",}', 'not_json'],
  ['POL-008', 'NaN', '{"default_action":"allow","rules":[{"action":"approve","timeout_s":NaN}]}', 'not_json'],
  ['POL-008', 'a comment', '{"default_action":"allow"} // x', 'not_json'],
  ['POL-008', 'two byte order marks', '\ufeff\ufeff{"default_action":"allow"}', 'not_json'],
  ['POL-008', 'UTF-16', Buffer.from('\ufeff{"default_action":"allow"}', 'utf16le'), 'bad_encoding'],
  ['POL-008', 'version 99', '{"version":99,"default_action":"allow"}', 'unsupported_version'],
  [
    'POL-009',
    'a member __proto__',
    '{"__proto__":{"default_action":"allow"},"default_action":"allow"}',
    'unknown_member',
  ],
  ['POL-009', 'a member constructor', '{"default_action":"allow","constructor":{}}', 'unknown_member'],
  [
    'POL-015',
    'a negative cap',
    JSON.stringify({ ...allowing, attention: { maxAgentAnswers: -1 } }),
    '$.attention.maxAgentAnswers',
  ],
  [
    'POL-015',
    'a cap too large',
    JSON.stringify({ ...allowing, attention: { maxAgentApprovals: 1_000_000_000 } }),
    '$.attention.maxAgentApprovals',
  ],
];

describe('a document that does not load', () => {
  beforeEach(async () => {
    await script();
    world.write('notes', 'x');
  });

  it.each(refused)('%s: %s makes every call ask, and is named', async (_id, _what, text, said) => {
    put(text);
    const { denials, written, stderr } = await run();
    expect([denials, written]).toEqual([3, false]);
    expect(stderr).toContain(said);
    expect(stderr).toContain(file());
    expect(await world.run(['policy', 'vet', file()])).toMatchObject({ code: 3 });
  });

  it('is named by doctor', async () => {
    put('{"default_action":"permit"}');
    expect((await world.run(['doctor'])).stdout).toContain(file());
  });

  it('POL-008: one byte order mark is skipped, and the attack is one: this document allows the calls', async () => {
    put(`\ufeff${JSON.stringify(allowing)}`);
    expect(await run()).toMatchObject({ denials: 0, written: true });
  });

  it('POL-010: a file that cannot be read as one makes every call ask, without a wait; a missing one is the default', async () => {
    mkdirSync(join(world.home, '.reins'), { recursive: true });
    for (const make of [
      () => mkdirSync(file()),
      () => execFileSync('mkfifo', ['-m', '600', file()]),
      () => {
        put('');
        truncateSync(file(), 2 * 2 ** 30);
      },
      () => {
        put(JSON.stringify(allowing));
        chmodSync(file(), 0o666);
      },
      () => put(''),
    ]) {
      make();
      const { denials, written, stderr } = await run();
      expect([make.toString(), denials, written]).toEqual([make.toString(), 3, false]);
      expect(stderr).toContain(file());
      execFileSync('rm', ['-rf', file()]);
    }
    // The default reads unasked, and asks for the rest.
    expect(await run()).toMatchObject({ denials: 2, written: false });
  });
});

describe('a document that loads', () => {
  it('POL-009: names of prototypes are names like others', async () => {
    await script();
    world.write('notes', 'x');
    const named = (key: string, action: string) => ({ action, when: [{ key, op: 'exists' }] });
    for (const key of ['__proto__', 'toString', 'constructor', 'hasOwnProperty']) {
      put(JSON.stringify({ default_action: 'approve', rules: [named(key, 'allow')] }));
      expect([key, await run()]).toEqual([key, expect.objectContaining({ denials: 3, written: false })]);
    }
  });

  it('POL-012: a deny for a toolset that there is not is an error of vet', async () => {
    put(JSON.stringify({ ...allowing, rules: [{ tools: 'local_shel', action: 'deny' }] }));
    const { code, stdout, stderr } = await world.run(['policy', 'vet', file()]);
    expect(`${stdout}${stderr}`).toContain('unknown_tool');
    expect(code).toBe(0);
    expect((await world.run(['policy', 'vet', '--strict', file()])).code).toBe(3);
  });

  it('POL-015: caps of 0 load', async () => {
    put(JSON.stringify({ ...allowing, attention: { maxAgentAnswers: 0, maxAgentApprovals: 0 } }));
    expect((await world.run(['policy', 'vet', file()])).code).not.toBe(3);
  });

  it('SEM-001: the first rule that matches holds; vet says that the deny behind it is dead', async () => {
    await script();
    world.write('notes', 'x');
    put(JSON.stringify({ rules: [allow, { tools: 'local_fs', tool: 'write_file', action: 'deny' }] }));
    expect(await run()).toMatchObject({ denials: 1, written: true });
    const vet = await world.run(['policy', 'vet', file()]);
    expect(vet.code).toBe(3);
    expect(`${vet.stdout}${vet.stderr}`).toContain('unreachable');
  });

  it('POL-017: an import is never wider than its source, and says what it could not take over', async () => {
    const settings = world.write(
      '../settings.json',
      JSON.stringify({
        permissions: {
          allow: ['Bash(git:* push)', 'Write(docs/**)', 'mcp__*', 'Bash(command:rm *)'],
          deny: ['Bash(curl:* x)', 'Write(private/**)', 'mcp__*'],
        },
      }),
    );
    const { stdout, stderr, code } = await world.run(['policy', 'import', '--from', 'claude', settings]);
    expect(code).toBe(0);
    for (const rule of ['Bash(git:* push)', 'Write(docs/**)', 'mcp__*', 'Bash(command:rm *)', 'Bash(curl:* x)']) {
      expect(stderr).toContain(rule);
    }
    const document = JSON.parse(stdout) as {
      readonly default_action?: string;
      readonly rules: readonly { readonly action: string }[];
    };
    expect(document.default_action ?? 'approve').not.toBe('allow');
    expect(document.rules.filter(({ action }) => action === 'allow')).toEqual([]);
    await script();
    world.write('notes', 'x');
    put(stdout);
    expect(await run()).toMatchObject({ denials: 3, written: false });
  });
});
