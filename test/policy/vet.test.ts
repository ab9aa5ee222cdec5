import { describe, expect, it } from 'vitest';
import { type VetOptions, vetPolicy } from '../../src/policy/vet.ts';
import { presetNames } from '../../src/workspace/presets/policies.ts';
import { load, loadPreset } from './virtual-host.ts';

const vet = async (document: object, options?: VetOptions): Promise<readonly string[]> =>
  vetPolicy((await load(document)).policy, options).map(({ severity, path, code }) => `${severity} ${path} ${code}`);

const shellRule = (action: string, op: string, value: string, tools = 'local_shell') => ({
  tools,
  tool: tools,
  action,
  when: [{ key: 'command', op, value }],
});

describe('vetPolicy', () => {
  it('finds rules that an earlier one hides, worse where a refusal is hidden', async () => {
    const hidden = (first: string, second: string) =>
      vet({
        rules: [
          { tools: 'local_fs', action: first },
          { tools: 'local_fs', tool: 'grep', action: second },
        ],
      });
    expect(await hidden('allow', 'deny')).toEqual(['error $.rules[1] unreachable']);
    expect(await hidden('allow', 'approve')).toEqual(['error $.rules[1] unreachable']);
    expect(await hidden('deny', 'allow')).toEqual(['warn $.rules[1] unreachable']);
    expect(await vet({ rules: [{ tools: 'local_fs', tool: 'grep', action: 'allow' }, { action: 'deny' }] })).toEqual(
      [],
    );
  });

  it.each([
    'sh',
    'env',
    'timeout',
    'python3 -m',
    'node -e',
    'npx',
    'less',
    'bun run',
    'ls,,make',
    'sh --version',
    'node -p',
    'docker run',
    'npm exec',
  ])('finds that the entry %s grants nothing', async (entries) => {
    expect(await vet({ rules: [shellRule('allow', 'command_prefix_allowlist', entries)] })).toEqual([
      'error $.rules[0].when[0].value dead_entry',
    ]);
  });

  it.each(['ls', 'python3 -m pytest', 'node --version', 'python3 scripts/x.py', 'sed', 'git status'])(
    'leaves the entry %s alone',
    async (entries) => {
      expect(await vet({ rules: [shellRule('allow', 'command_prefix_allowlist', entries)] })).toEqual([]);
    },
  );

  it('notes a program without an option table, unless the operator wrote one', async () => {
    const document = { rules: [shellRule('allow', 'command_prefix_allowlist', 'ls,terraform plan,./gradlew')] };
    const finding = 'warn $.rules[0].when[0].value untabled_program';
    expect(await vet(document)).toEqual([finding, finding]);
    expect(
      await vet(document, { commandTables: { format: 1, programs: { terraform: { operands: 'none' } } } }),
    ).toEqual([finding]);
  });

  it('finds an allowlist on a toolset that Reins does not execute, and an empty one', async () => {
    expect(await vet({ rules: [shellRule('allow', 'command_prefix_allowlist', 'ls', 'ssh')] })).toEqual([
      'error $.rules[0].when[0].value dead_entry',
    ]);
    expect(await vet({ rules: [shellRule('allow', 'command_prefix_allowlist', '')] })).toEqual([
      'error $.rules[0].when[0].value dead_entry',
    ]);
  });

  it('finds tools that do not exist, and toolsets that nobody registered', async () => {
    const rules = [
      { tools: 'local_fs', tool: 'list_files', action: 'allow' },
      { tools: 'github', action: 'allow' },
    ];
    expect(await vet({ rules })).toEqual(['error $.rules[0].tool unknown_tool']);
    expect(await vet({ rules: rules.slice(1) }, { registered: ['jira'] })).toEqual([
      'warn $.rules[0].tools unknown_tool',
    ]);
    expect(await vet({ rules: rules.slice(1) }, { registered: ['github'] })).toEqual([]);
  });

  it('finds a list that would take back what an allowlist above it grants', async () => {
    const rules = [
      shellRule('allow', 'command_prefix_allowlist', 'ls,git log'),
      shellRule('approve', 'command_ask_always', 'git'),
    ];
    expect(await vet({ rules })).toEqual(['warn $.rules[1].when[0] claw_back']);
    expect(await vet({ rules: [...rules].reverse() })).toEqual([]);
  });

  it('finds waits that say nothing or outlast the ceiling', async () => {
    const rules = [{ action: 'approve', timeout_s: 3601, on_timeout: 'later' }];
    expect(await vet({ rules }, { ceilingSeconds: 3600 })).toEqual([
      'warn $.rules[0].on_timeout on_timeout_other',
      'warn $.rules[0].timeout_s timeout_above_ceiling',
    ]);
    expect(await vet({ rules }, { ceilingSeconds: null })).toEqual(['warn $.rules[0].on_timeout on_timeout_other']);
  });

  it('finds a regex that allows too much, and a deny that a missing argument escapes', async () => {
    const wide = (value: string) =>
      vet({ rules: [{ tools: 'x', action: 'allow', when: [{ key: 'k', op: 'regex', value }] }] });
    expect(await wide('.*safe.*')).toEqual(['warn $.rules[0].when[0].value regex_wide']);
    expect(await wide('(?i).*safe.*')).toEqual(['warn $.rules[0].when[0].value regex_wide']);
    expect(await wide('safe.*')).toEqual([]);
    const deny = (tool: string, key: string) =>
      vet({ rules: [{ tools: 'local_fs', tool, action: 'deny', when: [{ key, op: 'eq', value: 'x' }] }] });
    expect(await deny('list_dir', 'path')).toEqual(['warn $.rules[0].when[0].key missing_key_deny']);
    expect(await deny('read_file', 'path')).toEqual([]);
  });

  it('says that lists of commands are a net beneath a default of allow', async () => {
    expect(await vet({ default_action: 'allow', rules: [shellRule('deny', 'command_blacklist', 'rm')] })).toEqual([
      'warn $.default_action deny_list_only',
    ]);
  });

  it('says of a policy that only allows that nothing keeps credentials from being read', async () => {
    expect(await vet({ default_action: 'allow' })).toEqual(['warn $.default_action nothing_denied']);
    expect(await vet({ default_action: 'allow', rules: [{ tools: 'local_fs', action: 'allow' }] })).toEqual([
      'warn $.default_action nothing_denied',
    ]);
    expect(await vet({ default_action: 'allow', rules: [{ tools: 'local_fs', action: 'deny' }] })).toEqual([]);
    expect(await vet({})).toEqual([]);
  });

  it('finds nothing in the shipped presets but the net of open', () => {
    const found = presetNames.flatMap((name) =>
      vetPolicy(loadPreset(name).policy).map(({ code }) => `${name} ${code}`),
    );
    expect(found).toEqual(['open deny_list_only']);
  });
});
