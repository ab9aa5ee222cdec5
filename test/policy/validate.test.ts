import { describe, expect, it } from 'vitest';
import { failClosedPolicy } from '../../src/policy/fail-closed.ts';
import { loadFailureLines } from '../../src/policy/findings.ts';
import { parsePolicy } from '../../src/policy/validate.ts';
import { strictBounds } from '../../src/workspace/presets/policies.ts';

const codes = async (document: unknown): Promise<readonly string[]> => {
  const text = typeof document === 'string' || document instanceof Uint8Array ? document : JSON.stringify(document);
  return (await parsePolicy(text)).findings.map(({ path, code }) => `${path} ${code}`);
};
const rule = (more: object) => ({ rules: [{ action: 'deny', ...more }] });
const operand = (op: string, value: unknown, action = 'deny') => ({
  rules: [{ action, when: [{ key: 'k', op, value }] }],
});

describe('parsePolicy', () => {
  it('fills in what a document leaves out', async () => {
    expect(await parsePolicy('{"//":"x","rules":[{"action":"deny","//":"why","when":null}],"compute":null}')).toEqual({
      findings: [],
      policy: {
        version: 1,
        default_action: 'approve',
        rules: [{ tools: '', tool: '', when: [], action: 'deny', timeout_s: 0, on_timeout: null, note: 'why' }],
        compute: {
          maxTurns: 0,
          maxToolCalls: 0,
          maxTokens: 0,
          modelAllowlist: [],
          backendAllowlist: [],
          onExhausted: 'fail',
        },
        attention: { allowAgentAnswers: false, maxAgentAnswers: 0, allowAgentApprovals: false, maxAgentApprovals: 0 },
        trusted_binaries: null,
      },
    });
  });

  it('names every expression that cannot be read, and gives equal ones to all that can', async () => {
    const when = (...values: string[]) => values.map((value) => ({ key: 'k', op: 'regex', value }));
    const broken = {
      rules: [
        { action: 'deny', when: when('(', 'a') },
        { action: 'deny', when: when('(', 'a**') },
      ],
    };
    expect((await parsePolicy(JSON.stringify(broken))).findings).toEqual([
      ...['$.rules[0].when[0].value', '$.rules[1].when[0].value'].map((path) => ({
        severity: 'load',
        path,
        code: 'bad_operand',
        message: 'missing closing ): `(?s)(`',
      })),
      {
        severity: 'load',
        path: '$.rules[1].when[1].value',
        code: 'bad_operand',
        message: 'invalid nested repetition operator: `**`',
      },
    ]);
    const { policy } = await parsePolicy(JSON.stringify(rule({ when: when('a+', 'b', 'a+') })));
    const [first, second, third] = policy?.rules[0]?.when.map(({ regex }) => regex) ?? [];
    expect([first?.matchWhole('aa'), second?.matchWhole('aa'), third === first]).toEqual([true, false, true]);
  });

  it('says what to write where a key or a place leads nowhere', async () => {
    const when = [
      { key: '/files/a~2', op: 'eq', value: 'x' },
      { key: 'path', op: 'path_within', value: '~' },
      { key: 'path', op: 'glob', value: '$HOME/.ssh/**' },
    ];
    expect((await parsePolicy(JSON.stringify({ rules: [{ action: 'deny', when }] }))).findings).toEqual([
      {
        severity: 'load',
        path: '$.rules[0].when[0].key',
        code: 'bad_operand',
        message: 'holds "~2": in a JSON Pointer ~0 stands for "~" and ~1 for "/", and nothing else follows a "~"',
      },
      {
        severity: 'load',
        path: '$.rules[0].when[1].value',
        code: 'bad_operand',
        message: '~ is not expanded here: write ~/ for the home directory, ./~ for a name in the workspace',
      },
      {
        severity: 'load',
        path: '$.rules[0].when[2].value',
        code: 'bad_operand',
        message: '$HOME is not expanded here: write ~/ for the home directory, ./$HOME for a name in the workspace',
      },
    ]);
  });

  it.each([
    ['command_blacklist', 'rm*', '"rm*" is a pattern: programs are listed by name'],
    ['command_ask_always', 'ls,?', '"?" is a pattern: programs are listed by name'],
    [
      'command_prefix_allowlist',
      'ls,git push *',
      '"git push *" ends in a star: an entry covers whatever follows its words',
    ],
    [
      'command_prefix_allowlist',
      'git push:*',
      '"git push:*" ends in a star: an entry covers whatever follows its words',
    ],
    ['command_prefix_allowlist', '"git push"', '"\\"git push\\"" holds a quote: write the words without'],
    ['command_prefix_allowlist', 'cd x && rm', '"cd x && rm" is more than one command: write an entry for each'],
    ['command_prefix_allowlist', 'rm;', '"rm;" is more than one command: write an entry for each'],
    ['command_prefix_allowlist', 'A=b rm', '"A=b rm" begins with an assignment: write the command behind it'],
    ['command_prefix_allowlist', 'rm*', '"rm*" begins with a pattern: programs are listed by name'],
    ['command_prefix_allowlist', 'ls|rm x', '"ls|rm x" begins with no name of a program'],
    ['command_prefix_allowlist', '$RM x', '"$RM x" begins with no name of a program'],
    ['command_prefix_allowlist', 'rm $(x)', '"rm $(x)" holds a substitution: that is no word of a command'],
    ['command_path', '**/.env,**/.ssh/**', 'a glob is one place: write {a,b}, or a rule for each'],
    ['glob', '/etc/a, /etc/b', 'a glob is one place: write {a,b}, or a rule for each'],
    ['glob', ' **/.env', 'a glob has no blanks at its ends'],
    ['glob', 'file:///etc/**', 'a glob is a path, not an address: leave file: out'],
    ['path_within', 'src/**', 'is a directory, not a pattern: what lies below it counts; use glob for patterns'],
  ])('refuses a deny that would guard nothing: %s %j', async (op, value, message) => {
    const document = { rules: [{ action: 'deny', when: [{ key: 'path', op, value }] }] };
    const path = '$.rules[0].when[0].value';
    expect((await parsePolicy(JSON.stringify(document))).findings).toEqual([
      { severity: 'load', path, code: 'bad_operand', message },
    ]);
  });

  it.each([
    ['command_blacklist', '[,rm,git-lfs'],
    ['command_prefix_allowlist', 'git push --force,~/bin/x,./x.sh,npm run a:b,curl http://x/?a=b'],
    ['command_path', '{**/.env,~/.ssh/**}'],
    ['glob', 'a,b/**'],
    ['glob', '\\!x'],
    ['path_within', 'src/[id]'],
    ['path_within', 'src/*'],
  ])('takes a deny that guards what it says: %s %j', async (op, value) => {
    const document = { rules: [{ action: 'deny', when: [{ key: 'path', op, value }] }] };
    expect((await parsePolicy(JSON.stringify(document))).findings).toEqual([]);
  });

  it('reads the blocks', async () => {
    const digest = 'AB'.repeat(32);
    const { policy } = await parsePolicy(
      JSON.stringify({
        compute: { maxTurns: 3, modelAllowlist: [' m '], onExhausted: 'finish_stuck' },
        attention: { allowAgentAnswers: true, maxAgentAnswers: 2 },
        trusted_binaries: { dirs: ['/usr/bin'], hashes: { '/usr/bin/git': digest } },
      }),
    );
    expect(policy).toMatchObject({
      compute: { maxTurns: 3, modelAllowlist: ['m'], onExhausted: 'finish' },
      attention: { allowAgentAnswers: true, maxAgentAnswers: 2, allowAgentApprovals: false },
      trusted_binaries: { dirs: ['/usr/bin'], hashes: { '/usr/bin/git': 'ab'.repeat(32) } },
    });
  });

  it('collects every finding, and at most 50', async () => {
    expect(
      await codes({ x: 1, version: -1, rules: [{ action: 'no', tools: 'a*', when: [{ op: 'eq', y: 2 }] }, 5] }),
    ).toEqual([
      '$.x unknown_member',
      '$.version unsupported_version',
      '$.rules[0].action bad_action',
      '$.rules[0].tools bad_selector',
      '$.rules[0].when[0].y unknown_member',
      '$.rules[0].when[0].key missing_member',
      '$.rules[1] wrong_type',
    ]);
    expect(await codes({ rules: Array.from({ length: 80 }, () => ({})) })).toHaveLength(50);
  });

  it('accepts annotations in every object, but not among the hashes', async () => {
    const notes = { $schema: 's', '//': 'n', '// more': 1 };
    expect(
      await codes({
        ...notes,
        rules: [{ ...notes, action: 'deny', when: [{ ...notes, key: 'k', op: 'exists' }] }],
        compute: notes,
        attention: notes,
        trusted_binaries: notes,
      }),
    ).toEqual([]);
    expect(await codes({ trusted_binaries: { hashes: { '//': 'x' } } })).toEqual([
      '$.trusted_binaries.hashes["//"] bad_digest',
    ]);
  });

  it.each([
    ['bytes that are no UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), ['$ bad_encoding']],
    ['UTF-16', new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0]), ['$ bad_encoding']],
    ['a byte order mark in front', new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d]), []],
    ['nesting of 33', `{"//":${'['.repeat(32)}${']'.repeat(32)}}`, ['$ too_deep']],
    ['nesting of 32', `{"//":${'['.repeat(31)}${']'.repeat(31)}}`, []],
    ['more than a MiB', `{"//":"${'x'.repeat(1_048_570)}"}`, ['$ too_large']],
    ['exactly a MiB', `{"//":"${'x'.repeat(1_048_576 - 9)}"}`, []],
    ['a top level that is no object', 'null', ['$ wrong_type']],
    ['2,001 rules', { rules: Array.from({ length: 2001 }, () => ({ action: 'deny' })) }, ['$.rules too_many']],
    ['2,000 rules', { rules: Array.from({ length: 2000 }, () => ({ action: 'deny' })) }, []],
    ['an odd member name', { 'a b': 1 }, ['$["a b"] unknown_member']],
    ['a selector of 257 characters', rule({ tools: 'a'.repeat(257) }), ['$.rules[0].tools bad_selector']],
    ['a selector of 256 characters', rule({ tools: 'a'.repeat(256) }), []],
    ['an action of another type', { rules: [{ action: null }] }, ['$.rules[0].action wrong_type']],
    ['a fraction of a second', { rules: [{ action: 'approve', timeout_s: 1.5 }] }, ['$.rules[0].timeout_s wrong_type']],
    ['a bound that no double holds', '{"compute":{"maxTurns":1e309}}', ['$.compute.maxTurns out_of_range']],
    ['an empty on_timeout', { rules: [{ action: 'approve', on_timeout: '' }] }, ['$.rules[0].on_timeout wrong_type']],
    ['a wait without an end', { rules: [{ action: 'approve', timeout_s: -1 }] }, []],
    [
      'a wait of nothing on a deny',
      rule({ timeout_s: 0, on_timeout: 'deny' }),
      ['$.rules[0].timeout_s not_an_ask', '$.rules[0].on_timeout not_an_ask'],
    ],
    [
      'an operator of another type',
      { rules: [{ action: 'deny', when: [{ key: 'k', op: 1 }] }] },
      ['$.rules[0].when[0].op wrong_type'],
    ],
    ['a regex of 4,097 bytes', operand('regex', 'é'.repeat(2049)), ['$.rules[0].when[0].value bad_operand']],
    ['a regex of 4,096 bytes', operand('regex', 'é'.repeat(2048)), []],
    ['a number too large for a double', operand('lt', '1e999'), ['$.rules[0].when[0].value bad_operand']],
    ['a number with a plus', operand('lt', '+1'), ['$.rules[0].when[0].value bad_operand']],
    ['an empty list of values', operand('in', '[]'), ['$.rules[0].when[0].value bad_operand']],
    ['a list of one number', operand('not_in', '[1]'), []],
    ['names between blank entries', operand('command_blacklist', ' rm , ,dd'), []],
    ['a list of blank entries', operand('command_ask_always', ' , '), ['$.rules[0].when[0].value bad_operand']],
    [
      'an empty prefix list under deny',
      operand('command_prefix_allowlist', ''),
      ['$.rules[0].when[0].value bad_operand'],
    ],
    ['an empty prefix list under allow', operand('command_prefix_allowlist', '', 'allow'), []],
    ['a path operand with U+0000', operand('path_within', 'a\u0000'), ['$.rules[0].when[0].value bad_operand']],
    [
      '257 directories',
      { trusted_binaries: { dirs: Array.from({ length: 257 }, () => '/a') } },
      ['$.trusted_binaries.dirs too_many'],
    ],
    ['a directory of another system', { trusted_binaries: { dirs: ['C:\\bin', '\\\\s\\x', '/a'] } }, []],
    ['a null in a block', { compute: { maxTurns: null } }, ['$.compute.maxTurns wrong_type']],
    [
      'a name of 513 bytes',
      { compute: { modelAllowlist: ['é'.repeat(257)] } },
      ['$.compute.modelAllowlist[0] bad_operand'],
    ],
  ] as const)('judges %s', async (_what, document, expected) => {
    expect(await codes(document)).toEqual(expected);
  });

  it('names the duplicates it refuses', async () => {
    expect((await parsePolicy('{"rules":[{"action":"deny","action":"deny"}],"rules":[]}')).findings).toEqual([
      {
        severity: 'load',
        path: '$',
        code: 'duplicate_member',
        message: 'members stand twice in one object: $.rules[0].action, $.rules',
      },
    ]);
  });
});

describe('a load failure', () => {
  it('prints one line for each finding and then what holds', async () => {
    const { findings } = await parsePolicy('{"compute":{"maxTurn":5},"default_action":"permit"}');
    expect(loadFailureLines('.reins/hitl-policy.json', findings)).toEqual([
      'reins: policy .reins/hitl-policy.json: $.default_action: is "permit"; write allow, deny or approve [bad_action]',
      'reins: policy .reins/hitl-policy.json: $.compute.maxTurn: is not a member here; known are maxTurns, maxToolCalls, maxTokens, modelAllowlist, backendAllowlist, onExhausted [unknown_member]',
      'reins: this policy is not used: every tool call will ask until it is fixed (reins policy vet .reins/hitl-policy.json)',
    ]);
  });

  it('leaves a policy under which everything asks within the bounds of strict', () => {
    expect(failClosedPolicy(strictBounds())).toMatchObject({
      default_action: 'approve',
      rules: [],
      compute: { maxTurns: 100, maxToolCalls: 150, maxTokens: 1_000_000, onExhausted: 'fail' },
      attention: { allowAgentAnswers: false, allowAgentApprovals: false },
      trusted_binaries: null,
    });
  });
});
