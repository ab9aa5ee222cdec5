import { expect, it } from 'vitest';
import type { Evaluation } from '../../src/schema/policy.ts';
import type { PolicyExplanation, TriedRule } from '../../src/schema/policy-views.ts';
import { explanationLines, verdictLine } from '../../src/view/explanation.ts';

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

it('shows each command of a line with its program, and why the line is not granted', () => {
  const analysis = {
    form: 'sh',
    verdict: 'readable',
    segments: [
      { words: ['ls'], program: '/usr/bin/ls', revealed: false },
      { words: ['x'], program: null, revealed: true },
    ],
    unread: null,
    ungrantable: 'a subshell',
  };
  expect(explanationLines({ ...explanation, record: { ...record, analysis } })).toEqual([
    'approve  default action of hitl-policy.json (builtin default)',
    'local_shell.local_shell in /w',
    '  command: "ls | x"',
    'read as sh readable',
    '  1. ls → /usr/bin/ls',
    '  2. x (inside another) → does not resolve · not covered: x',
    '  a subshell',
    'rule 9   no      command_prefix_allowlist ls : ls | x',
    'waits without a deadline',
  ]);
});

it('makes do with an analysis that it does not know', () => {
  expect(explanationLines({ ...explanation, record: { ...record, analysis: 'x' } })).toHaveLength(5);
  expect(explanationLines({ ...explanation, record: { ...record, analysis: { segments: [null] } } })[3]).toBe(
    'read as',
  );
});
