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

const checks = cases.flatMap(({ id, checks: list }) =>
  (list ?? []).map((check, index) => [`${id} ${index + 1}`, check] as const),
);

describe('the checks of attack-cases.json', () => {
  it.each(checks)('%s holds', async (_id, check) => {
    const { action, detail } = judge(await load(check.policy), check.call, host);
    const expected = check.expect.action_in ?? [check.expect.action];
    expect(expected, detail ?? '').toContain(action);
  });
});
