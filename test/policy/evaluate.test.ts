import { describe, expect, it } from 'vitest';
import { evaluate } from '../../src/policy/evaluate.ts';
import type { PolicyCall } from '../../src/schema/policy.ts';
import { judge, load, plainHost, virtualHost } from './virtual-host.ts';

const call = (args: Readonly<Record<string, unknown>>, tools = 't', tool = 't'): PolicyCall => ({ tools, tool, args });

const one = (action: string, op: string, value: string, key = 'k') => ({
  default_action: action === 'allow' ? 'approve' : 'allow',
  rules: [{ tools: 't', tool: 't', action, when: [{ key, op, value }] }],
});

describe('the record', () => {
  it('names the rule, what was caught, and what the rule is for', async () => {
    const policy = await load({
      rules: [
        { tools: 't', action: 'allow' },
        {
          '//': 'keys stay here',
          tools: 'local_fs',
          action: 'deny',
          when: [{ key: 'path', op: 'glob', value: '**/*.pem' }],
        },
      ],
    });
    expect(judge(policy, call({ path: 'a/b.pem' }, 'local_fs', 'read_file'))).toEqual({
      action: 'deny',
      matched_rule: 1,
      reason: 'matched_rule',
      timeout_s: 0,
      on_timeout: null,
      policy: policy.identity,
      detail: 'path a/b.pem matches **/*.pem',
      note: 'keys stay here',
      trust: [],
      exec: null,
    });
  });

  it('carries the wait of an approve rule, and none under a floor', async () => {
    const policy = await load({
      rules: [
        { tools: 't', action: 'approve', timeout_s: 60, on_timeout: 'deny' },
        { tools: 'local_fs', action: 'allow' },
      ],
    });
    expect(judge(policy, call({}))).toMatchObject({ action: 'approve', timeout_s: 60, on_timeout: 'deny' });
    expect(judge(policy, call({ path: '.envrc' }, 'local_fs', 'write_file'))).toMatchObject({
      action: 'approve',
      matched_rule: 1,
      reason: 'floor',
      timeout_s: 0,
      on_timeout: null,
      detail: 'protected path: .envrc',
    });
  });

  it('escapes control and format characters of a detail and keeps it at 200 characters', async () => {
    const policy = await load(one('deny', 'prefix', 'x'));
    const { detail } = judge(policy, call({ k: 'x\u001b[31m\u202e' }));
    expect(detail).toBe('k starts with x');
    const glob = await load(one('deny', 'glob', '**'));
    expect(judge(glob, call({ k: 'a\u001b\u202e' })).detail).toBe('k a\\u{1b}\\u{202e} matches **');
    expect(judge(glob, call({ k: 'a'.repeat(4000) })).detail).toHaveLength(200);
  });

  it('says what would be executed: the resolved file, or the exact line for the shell', async () => {
    const policy = await load({ default_action: 'allow' });
    const shell = (args: Readonly<Record<string, unknown>>) =>
      judge(policy, call(args, 'local_shell', 'local_shell')).exec;
    expect(shell({ command: `ls -la 'a b'` })).toEqual({
      form: 'argv',
      file: '/usr/bin/ls',
      argv: ['ls', '-la', 'a b'],
      env_set: {},
      env_clear: [],
      cwd: '/srv/p',
      program: {
        word: 'ls',
        real: '/usr/bin/ls',
        dev: '1',
        ino: '1',
        size: '1',
        mtime_ns: '1',
        ctime_ns: '1',
        ungrantable: null,
      },
    });
    expect(shell({ command: 'ls; id' })).toMatchObject({
      form: 'sh',
      file: '/bin/sh',
      argv: ['/bin/sh', '-c', 'ls; id'],
    });
    expect(shell({ command: 'no-such-program' })).toMatchObject({ form: 'argv', file: null, program: null });
    expect(shell({ command: 'ls', shell: 'yes' })).toBeNull();
  });

  it('keeps on request what each condition of each rule saw', async () => {
    const policy = await load({
      default_action: 'deny',
      rules: [
        { tools: 'other', action: 'allow' },
        {
          tools: 't',
          action: 'allow',
          when: [
            { key: 'k', op: 'eq', value: 'x' },
            { key: 'n', op: 'gt', value: '5' },
          ],
        },
        { tools: 't', action: 'approve', when: [{ key: 'k', op: 'lt', value: '5' }] },
        { action: 'deny' },
      ],
    });
    const record = judge(policy, call({ k: 'y', n: 6 }), plainHost, {}, { trace: true });
    expect(record.trace).toEqual([
      { rule: 0, selectors: false, conditions: [], outcome: 'other tool' },
      {
        rule: 1,
        selectors: true,
        conditions: [
          { op: 'eq', key: 'k', result: 'false', seen: 'y', why: null },
          { op: 'gt', key: 'n', result: 'true', seen: '6', why: 'is 6' },
        ],
        outcome: 'no',
      },
      {
        rule: 2,
        selectors: true,
        conditions: [{ op: 'lt', key: 'k', result: 'indeterminate', seen: 'y', why: 'is no number' }],
        outcome: 'floor',
      },
      { rule: 3, selectors: true, conditions: [], outcome: 'deny' },
    ]);
    expect(record).toMatchObject({ action: 'deny', matched_rule: 3 });
  });

  it('tells on request how a command was read', async () => {
    const policy = await load({ default_action: 'allow' });
    const record = judge(
      policy,
      call({ command: 'git status' }, 'local_shell', 'local_shell'),
      plainHost,
      {},
      { trace: true },
    );
    expect(record.analysis).toEqual({
      form: 'argv',
      verdict: 'readable',
      segments: [{ words: ['git', 'status'], program: '/usr/bin/git', revealed: false, covered_by: null, why: null }],
      unread: null,
      ungrantable: null,
    });
  });
});

describe('a condition', () => {
  it('that cannot be judged matches a deny, sets the floor for an approve, and never satisfies an allow', async () => {
    const odd = call({ k: { a: 1 } });
    expect(judge(await load(one('deny', 'eq', 'x')), odd)).toMatchObject({ action: 'deny', matched_rule: 0 });
    expect(judge(await load(one('approve', 'eq', 'x')), odd)).toMatchObject({
      action: 'approve',
      matched_rule: null,
      reason: 'floor',
      detail: 'rule 1 cannot be judged: k is no text, number or boolean',
    });
    expect(judge(await load(one('allow', 'eq', 'x')), odd)).toMatchObject({
      action: 'approve',
      matched_rule: null,
      reason: 'default_action',
    });
  });

  it('reads own members and JSON Pointers only', async () => {
    const denies = async (key: string, args: Readonly<Record<string, unknown>>) =>
      judge(await load(one('deny', 'exists', '', key)), call(args)).action === 'deny';
    expect(await denies('__proto__', {})).toBe(false);
    expect(await denies('__proto__', JSON.parse('{"__proto__":1}'))).toBe(true);
    expect(await denies('constructor', {})).toBe(false);
    expect(await denies('/a/0/b~1c', { a: [{ 'b/c': 1 }] })).toBe(true);
    expect(await denies('/a/00/b', { a: [{ b: 1 }] })).toBe(false);
    expect(await denies('/a/length', { a: [1] })).toBe(false);
    expect(await denies('/', { '': 1 })).toBe(true);
  });

  it('on a text of 65,536 bytes is judged by a regex, on a longer one nobody can tell', async () => {
    const policy = await load(one('deny', 'regex', 'a*'));
    expect(judge(policy, call({ k: `${'a'.repeat(65_535)}b` })).action).toBe('allow');
    expect(judge(policy, call({ k: 'a'.repeat(65_536) })).detail).toBe('k matches a*');
    expect(judge(policy, call({ k: 'b'.repeat(65_537) }))).toMatchObject({
      action: 'deny',
      detail: 'k is longer than 65536 bytes',
    });
  });

  it('with an operator or operand that nobody knows denies, where a document was built by hand', async () => {
    const loaded = await load({ default_action: 'allow' });
    const rule = (op: string, value: string) => ({
      ...loaded,
      policy: {
        ...loaded.policy,
        rules: [
          {
            tools: '',
            tool: '',
            when: [{ key: 'k', op, value }],
            action: 'deny' as const,
            timeout_s: 0,
            on_timeout: null,
            note: null,
          },
        ],
      },
    });
    expect(judge(rule('toString', ''), call({ k: 'x' })).action).toBe('deny');
    expect(judge(rule('glob', '{'), call({ k: 'x' })).action).toBe('deny');
    expect(judge(rule('regex', 'x'), call({ k: 'y' }))).toMatchObject({ detail: 'k the expression was not compiled' });
  });

  it('on paths needs both names under allow and either under deny', async () => {
    const linked = { realPath: (path: string) => path.replace('/srv/p/link', '/etc') };
    const read = (path: string) => call({ path }, 'local_fs', 'read_file');
    const rules = (action: string, op: string, value: string) =>
      load({ default_action: 'approve', rules: [{ tools: 'local_fs', action, when: [{ key: 'path', op, value }] }] });
    const action = async (of: string, op: string, value: string, path: string) =>
      judge(await rules(of, op, value), read(path), plainHost, linked).action;
    expect(await action('allow', 'path_within', '.', 'link/passwd')).toBe('approve');
    expect(await action('allow', 'glob', '**', 'src/a')).toBe('allow');
    expect(await action('deny', 'glob', '/etc/**', 'link/passwd')).toBe('deny');
    expect(await action('deny', 'glob', 'link/**', 'link/passwd')).toBe('deny');
  });
});

describe('the evaluator', () => {
  it('takes the name of the toolset for a call without a tool name', async () => {
    const rules = [{ tools: 'echo', tool: 'echo', action: 'deny' }];
    const policy = await load({ default_action: 'allow', rules });
    const named = { tools: 'echo', args: {} };
    expect(judge(policy, { ...named, tool: '' }).action).toBe('deny');
    // A case file may leave it out.
    expect(judge(policy, JSON.parse(JSON.stringify(named))).action).toBe('deny');
  });

  it('asks when the host fails, and says so', async () => {
    const policy = await load(one('allow', 'glob', '**'));
    const broken = () => {
      throw new Error('no such machine');
    };
    expect(judge(policy, call({ k: 'x' }), plainHost, { realPath: broken })).toMatchObject({
      action: 'approve',
      matched_rule: null,
      reason: 'internal_error',
      detail: 'the evaluator failed: no such machine',
    });
  });

  it('treats a command without a reading as unreadable', async () => {
    const policy = await load({ default_action: 'allow' });
    const record = evaluate(policy, call({ command: 'ls' }, 'local_shell', 'local_shell'), virtualHost(plainHost));
    expect(record).toMatchObject({ action: 'approve', reason: 'floor', detail: 'the call was not read' });
  });

  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['no argument', {}, 'allow'],
    ['arguments that are absent', { command: null, shell: null }, 'allow'],
    ['nothing but an input', { stdin: 'rm -rf /' }, 'approve'],
    ['nothing but a directory', { cwd: '/' }, 'approve'],
    ['nothing but the form', { shell: true }, 'approve'],
    ['an empty command', { command: '' }, 'approve'],
    ['arguments of no command', { args: ['-rf', '/'] }, 'approve'],
  ])('sets the floor of an unreadable command for all that is given: %s', async (_what, args, action) => {
    const shell = call(args, 'local_shell', 'local_shell');
    expect(judge(await load({ default_action: 'allow' }), shell).action).toBe(action);
    expect(judge(await load({}), shell).action).toBe('approve');
    expect(judge(await load({ default_action: 'deny' }), shell).action).toBe('deny');
  });
});
