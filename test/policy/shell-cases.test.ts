import { describe, expect, it } from 'vitest';
import type { Action } from '../../src/schema/policy.ts';
import { type HostFacts, judge, load, readFixture } from './virtual-host.ts';

type ShellCase = {
  readonly id: string;
  readonly allowlist: readonly string[];
  readonly command: unknown;
  readonly args?: unknown;
  readonly shell?: unknown;
  readonly cwd?: unknown;
  readonly host?: Partial<HostFacts>;
  readonly expect: Action;
  readonly why: string;
};

// The file's format is fixed by 02 §1; what does not fit it fails the cases below.
const { host, cases } = readFixture('shell-cases.json') as {
  readonly host: HostFacts;
  readonly cases: readonly ShellCase[];
};

describe('the cases of shell-cases.json', () => {
  it.each(cases.map((one) => [one.id, one.why, one] as const))('%s: %s', async (_id, _why, one) => {
    const members = Object.entries(one).filter(([name]) => ['command', 'args', 'shell', 'cwd'].includes(name));
    const when = [{ key: 'command', op: 'command_prefix_allowlist', value: one.allowlist.join(',') }];
    const rules = [{ tools: 'local_shell', tool: 'local_shell', action: 'allow', when }];
    const policy = await load({ default_action: 'approve', rules });
    const call = { tools: 'local_shell', tool: 'local_shell', args: Object.fromEntries(members) };
    const { action, detail } = judge(policy, call, { ...host, ...one.host });
    expect({ action, detail }).toMatchObject({ action: one.expect });
  });
});
