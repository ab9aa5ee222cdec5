import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePolicy } from '../../src/policy/validate.ts';
import { vetPolicy } from '../../src/policy/vet.ts';
import type { LoadedPolicy } from '../../src/schema/policy.ts';
import { presetNames, presetText } from '../../src/workspace/presets/policies.ts';
import { judge, load, loadPreset } from './virtual-host.ts';

const operators: readonly (readonly [string, string])[] = [
  ['eq', 'x'],
  ['neq', 'x'],
  ['in', '["x",1]'],
  ['not_in', '["x",1]'],
  ['prefix', 'x'],
  ['suffix', 'x'],
  ['contains', 'x'],
  ['regex', '(a|b)*x'],
  ['lt', '5'],
  ['lte', '5'],
  ['gt', '5'],
  ['gte', '5'],
  ['exists', 'false'],
  ['host', 'a.test,*.b.test,::1'],
  ['glob', '{**/*.pem,~/x/**,src/**.go}'],
  ['path_within', 'src'],
  ['command_blacklist', 'rm'],
  ['command_ask_always', 'rm'],
  ['has_command_substitution', ''],
  ['command_prefix_allowlist', 'ls,git status'],
  ['command_path', '**/.ssh/**'],
];

/** Every operator under one action, on the keys that the samples use. */
const everyOperator = (action: string): Promise<LoadedPolicy> =>
  load({
    default_action: 'allow',
    rules: operators.flatMap(([op, value]) =>
      ['path', 'command', 'url', '/a/0'].map((key) => ({ action, when: [{ key, op, value }] })),
    ),
  });

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '~', '~/', '..', '/', '\u0000', 'http://', 'file:///%', '$(x', "'", '\ud800', 'a'.repeat(5000)),
);
const value: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true }),
  fc.jsonValue(),
);
const args = fc.record(
  { path: value, command: value, args: value, shell: value, cwd: value, url: value, uri: value, a: value, file: value },
  { requiredKeys: [] },
);
const tools = fc.constantFrom('local_shell', 'local_fs', 'webhook', 'github', '__proto__', '');

describe('the evaluator', () => {
  it.each(['allow', 'approve', 'deny'])(
    'decides any call under %s rules without an error of its own',
    async (action) => {
      const policy = await everyOperator(action);
      fc.assert(
        fc.property(tools, text, args, fc.boolean(), (toolset, tool, sample, trace) => {
          const record = judge(policy, { tools: toolset, tool, args: sample }, undefined, {}, { trace });
          expect(record.reason).not.toBe('internal_error');
          expect(['allow', 'approve', 'deny']).toContain(record.action);
          expect((record.detail ?? '').length).toBeLessThanOrEqual(200);
        }),
        { numRuns: 400 },
      );
    },
  );

  it('decides the same with and without a trace', async () => {
    const policies = [...presetNames.map(loadPreset), await everyOperator('approve')];
    fc.assert(
      fc.property(fc.constantFrom(...policies), tools, text, args, (policy, toolset, tool, sample) => {
        const call = { tools: toolset, tool, args: sample };
        const { trace: _trace, analysis: _analysis, ...traced } = judge(policy, call, undefined, {}, { trace: true });
        expect(traced).toEqual(judge(policy, call));
      }),
    );
  });

  it('decides a call as before where a rule is added behind the one that decides it', async () => {
    const rule = fc
      .record({
        action: fc.constantFrom('allow', 'approve', 'deny'),
        tools: fc.constantFrom('local_shell', 'local_fs', 'webhook', '*'),
        operator: fc.constantFrom(...operators),
        key: fc.constantFrom('path', 'command', 'url'),
        bare: fc.boolean(),
      })
      .map(({ action, tools, operator: [op, value], key, bare }) =>
        bare ? { action, tools } : { action, tools, when: [{ key, op, value }] },
      );
    const sample = fc.constantFrom(
      'ls',
      'rm x',
      'git status',
      'ls && rm x',
      'x',
      'src/a.go',
      'k.pem',
      'http://a.test/',
    );
    let decided = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(rule, { minLength: 1, maxLength: 6 }),
        rule,
        tools,
        fc.dictionary(fc.constantFrom('path', 'command', 'url'), sample),
        async (rules, added, toolset, args) => {
          const call = { tools: toolset, tool: toolset, args };
          const before = judge(await load({ rules }), call);
          if (before.matched_rule === null) return;
          decided += 1;
          expect(judge(await load({ rules: [...rules, added] }), call)).toEqual(before);
        },
      ),
      { numRuns: 400 },
    );
    expect(decided).toBeGreaterThan(50);
  });

  it('denies a program wherever it stands in a line, even where everything is allowed', async () => {
    const when = [{ key: 'command', op: 'command_blacklist', value: 'rm' }];
    const policy = await load({ default_action: 'allow', rules: [{ action: 'deny', when }] });
    const word = fc.stringMatching(/^[a-z]{1,8}$/).filter((text) => !isReserved(text));
    const between = fc.constantFrom('; ', '&& ', '|| ', '| ', '& ', '\n', '$(', '`', '"$(', '& { ', '&& ( ', '<(');
    fc.assert(
      fc.property(word, between, (left, opening) => {
        const command = `${left} ${opening}rm x`;
        expect(judge(policy, { tools: 'local_shell', tool: 'local_shell', args: { command } }).action).toBe('deny');
      }),
    );
  });
});

const isReserved = (text: string): boolean =>
  /^(case|coproc|do|done|elif|else|esac|fi|for|function|if|in|select|then|time|until|while)$/.test(text);

describe('the validator', () => {
  it('finds something or gives a policy for any text, and never both', async () => {
    const member = fc.constantFrom(
      'rules',
      'action',
      'when',
      'op',
      'key',
      'value',
      'compute',
      'hashes',
      'dirs',
      'x',
      '//',
    );
    const { document } = fc.letrec((tie) => ({
      document: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue({ maxDepth: 1 }),
        fc.constantFrom<unknown>('deny', 'allow', 'glob', 'regex', '(', '{a', 1, -1, null),
        fc.array(tie('document'), { maxLength: 3 }),
        fc.dictionary(member, tie('document'), { maxKeys: 5 }),
      ),
    }));
    // A shipped document with a part of it cut out or written over.
    const damaged = fc
      .tuple(
        fc.constantFrom(...presetNames.map(presetText)),
        fc.nat(),
        fc.nat(80),
        fc.oneof(fc.jsonValue(), fc.string()),
      )
      .map(([whole, from, length, put]) => {
        const start = from % whole.length;
        const middle = typeof put === 'string' ? put : JSON.stringify(put);
        return whole.slice(0, start) + middle + whole.slice(start + length);
      });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          document.map((sample) => JSON.stringify(sample)),
          damaged,
          fc.string(),
        ),
        async (sample) => {
          const { policy, findings } = await parsePolicy(sample);
          expect(policy === null).toBe(findings.length > 0);
          if (policy !== null) vetPolicy(policy);
        },
      ),
      { numRuns: 500 },
    );
  });
});
