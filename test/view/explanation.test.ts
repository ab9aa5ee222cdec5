import { expect, it } from 'vitest';
import type { Evaluation } from '../../src/schema/policy.ts';
import type { PolicyExplanation, TriedRule } from '../../src/schema/policy-views.ts';
import { explanationLines, isTelling, triedLines, verdictLine, whyLines } from '../../src/view/explanation.ts';

const policy = { name: 'default', source: 'builtin', path: null, sha256: 'a', state: 'ok' } as const;
const record: Evaluation = {
  action: 'approve',
  matched_rule: null,
  reason: 'default_action',
  timeout_s: 0,
  on_timeout: null,
  policy,
  detail: null,
  note: null,
  trust: [],
  exec: null,
};
const condition = {
  op: 'command_prefix_allowlist',
  key: 'command',
  value: 'ls',
  result: 'false',
  seen: 'ls | x',
} as const;
const tried: readonly TriedRule[] = [
  { rule: 8, outcome: 'no', note: null, conditions: [{ ...condition, why: 'not covered: x' }] },
];
const explanation: PolicyExplanation = {
  call: { tools: 'local_shell', tool: 'local_shell', args: { command: 'ls | x' }, cwd: '/w' },
  record,
  tried,
  wait_s: 'never',
  would_change_with: null,
  refused: null,
  notes: [],
};

it('says who decided, and what stands above every policy', () => {
  expect(verdictLine(record)).toBe('approve  default action of hitl-policy.json (builtin default)');
  expect(verdictLine({ ...record, action: 'deny', reason: 'control_plane' })).toBe('deny  a wall that no policy lifts');
  expect(verdictLine({ ...record, reason: 'floor', matched_rule: 2 })).toBe(
    'approve  a floor under rule 3 of hitl-policy.json (builtin default)',
  );
  const broken = { name: 'x', source: 'user', path: '/h/hitl-policy-x.json', sha256: null, state: 'invalid' } as const;
  expect(verdictLine({ ...record, policy: broken })).toBe(
    'approve  default action of /h/hitl-policy-x.json (user x, invalid: everything asks)',
  );
});

it('says of a question that it is one, unless it is denied: whatever else the rules say, a person is asked', () => {
  const call = { tools: 'engine', tool: 'ask_human', args: {}, cwd: '/w' };
  const lines = (action: Evaluation['action']) =>
    explanationLines({ ...explanation, call, record: { ...record, action }, tried: [], wait_s: null });
  const words = '  a question to a person, which is asked also where a rule allows it; the answer is the result';
  expect(lines('approve').slice(1)).toEqual([words, 'engine.ask_human in /w']);
  expect(lines('allow').slice(1)).toEqual([words, 'engine.ask_human in /w']);
  expect(lines('deny').slice(1)).toEqual(['engine.ask_human in /w']);
});

const segment = { words: ['ls'], program: '/usr/bin/ls', revealed: false, covered_by: null, why: null };
const analysis = { form: 'sh', verdict: 'readable', segments: [segment], unread: null, ungrantable: null };
const shellLines = (segments: readonly object[], why: string, more: object = {}) =>
  explanationLines({
    ...explanation,
    record: { ...record, analysis: { ...analysis, segments, ...more } },
    tried: [{ rule: 8, outcome: 'no', note: null, conditions: [{ ...condition, why }] }],
  }).slice(3, -1);

it('shows each command of a line with its program, and what covers it or why nothing does', () => {
  const segments = [
    { ...segment, covered_by: 'ls' },
    { ...segment, words: ['x', 'y'], program: null, why: 'not covered: x y' },
    { ...segment, words: ['z'], revealed: true },
  ];
  expect(shellLines(segments, 'not covered: x y')).toEqual([
    'read as sh readable',
    '  1. ls → /usr/bin/ls · covered by ls',
    '  2. x y → does not resolve · not covered',
    '  3. z (inside another) → /usr/bin/ls',
    'rule 9   no      command_prefix_allowlist ls : not covered: x y',
  ]);
});

it('says once what is true of no command alone', () => {
  const covered = [{ ...segment, covered_by: 'ls' }];
  expect(shellLines(covered, 'the directory is outside the workspace: /etc').slice(1, 3)).toEqual([
    '  1. ls → /usr/bin/ls · covered by ls',
    '  the directory is outside the workspace: /etc',
  ]);
  expect(shellLines(covered, 'not grantable: a subshell', { ungrantable: 'a subshell' }).slice(1, 4)).toEqual([
    '  1. ls → /usr/bin/ls · covered by ls',
    '  a subshell',
    'rule 9   no      command_prefix_allowlist ls : not grantable: a subshell',
  ]);
});

it('does not repeat the line behind the rules that judge it, nor their operands', () => {
  const rule = (op: string, value: string, result: 'true' | 'false' | 'indeterminate', why: string | null) =>
    explanationLines({
      ...explanation,
      tried: [
        {
          rule: 3,
          outcome: 'no',
          note: null,
          conditions: [{ op, key: 'command', value, result, seen: 'ls | x', why }],
        },
      ],
    }).find((line) => line.startsWith('rule '));
  expect(rule('command_path', '**/.ssh/**', 'false', null)).toBe('rule 4   no      command_path **/.ssh/**');
  expect(rule('command_path', '**/.ssh/**', 'true', 'path a/.ssh/b matches **/.ssh/**')).toBe(
    'rule 4   no      command_path **/.ssh/** : path a/.ssh/b',
  );
  expect(rule('command_prefix_allowlist', 'ls,x', 'true', 'every command is covered: ls | x')).toBe(
    'rule 4   no      command_prefix_allowlist ls,x : every command is covered',
  );
  expect(rule('has_command_substitution', '', 'indeterminate', 'not read')).toBe(
    'rule 4   no      has_command_substitution : cannot tell: not read',
  );
});

it('tells apart the rules that say something, and keeps how the call was read without the others', () => {
  const unread: TriedRule = {
    ...tried[0]!,
    rule: 9,
    conditions: [{ ...condition, result: 'indeterminate', why: 'x' }],
  };
  expect([...tried, unread].map(isTelling)).toEqual([false, true]);
  const all = whyLines(explanation);
  expect(whyLines(explanation, [])).toEqual(all.filter((line) => !line.startsWith('rule ')));
  expect(triedLines(tried)).toEqual(all.filter((line) => line.startsWith('rule ')));
});

it('makes do with an analysis that it does not know', () => {
  expect(explanationLines({ ...explanation, record: { ...record, analysis: 'x' } })).toHaveLength(5);
  expect(explanationLines({ ...explanation, record: { ...record, analysis: { segments: [null] } } })[3]).toBe(
    'read as',
  );
});
