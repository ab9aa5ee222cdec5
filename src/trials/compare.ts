import { setImmediate as turn } from 'node:timers/promises';
import type { LoadedPolicy, PolicyCall, PolicyHost } from '../schema/policy.ts';
import type { PolicyComparison, PolicyDifference } from '../schema/policy-views.ts';
import type { RecordedCalls } from '../store/recorded-calls.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { shippedPolicy } from '../workspace/presets/copies.ts';
import { isPresetName } from '../workspace/presets/policies.ts';
import { exampleCalls } from './example-calls.ts';
import { generatedCalls } from './generated-calls.ts';
import { createRetrials, rank } from './recorded.ts';
import { compareStructure } from './structure.ts';
import { createJudge, type Judge } from './judge.ts';
import { openValid, type TrialDeps } from './trial.ts';
import { exampleMachine, virtualHost } from './virtual-host.ts';

export type CompareDeps = TrialDeps & { readonly recorded: RecordedCalls; readonly now: () => number };

/** Recorded calls that take part: the newest ones of this time. */
const recordedMs = 30 * 86_400_000;
const maxRecorded = 1000;

/** `policy diff` (02 §14.5): how two documents differ, as they are written and as they decide. */
export function createComparison(deps: CompareDeps) {
  return {
    /** @throws RuntimeError usage, policy_not_found, not_trusted, invalid_policy */
    async comparePolicies(input: {
      readonly a: string;
      readonly b: string;
      readonly trust: readonly string[];
    }): Promise<PolicyComparison> {
      const open = (name: string) => shippedAs(name) ?? openValid(deps, { name, trust: input.trust });
      const [a, b] = [await open(input.a), await open(input.b)];
      const trial = await createJudge();
      const found: PolicyDifference[] = [];
      let calls = 0;
      const compare = (call: PolicyCall, host: PolicyHost, from: PolicyDifference['from']): void => {
        calls += 1;
        const [left, right] = [trial.judge(a, call, host), trial.judge(b, call, host)];
        const change = rank[right.action] - rank[left.action];
        if (change === 0) return;
        found.push({ ...call, from, change: change > 0 ? 'widened' : 'tightened', a: sideOf(left), b: sideOf(right) });
      };
      for (const [from, list] of [
        ['example', exampleCalls()],
        ['rule', unique([...generatedCalls(a.policy), ...generatedCalls(b.policy)])],
      ] as const) {
        for (const call of list) compare(call, exampleHost(call), from);
      }
      const retry = createRetrials(deps, a, b);
      const filter = { since: deps.now() - recordedMs, session_id: null, tools: null };
      for (const page of deps.recorded.pages(filter, maxRecorded)) {
        for (const recorded of page) {
          const retrial = retry(recorded);
          if (retrial.fault !== null) continue;
          for (const policy of [a, b]) await trial.prime(policy, retrial.call, retrial.host);
          compare(retrial.call, retrial.host, 'recorded');
        }
        await turn();
      }
      const differences = found.sort((left, right) =>
        left.change < right.change ? 1 : left.change > right.change ? -1 : 0,
      );
      return { a: a.identity, b: b.identity, structure: compareStructure(a.policy, b.policy), calls, differences };
    },
  };
}

/** `builtin:default` is the shipped one, also where a document of that name takes its place. */
function shippedAs(name: string): LoadedPolicy | null {
  const preset = name.replace(/^builtin:/, '');
  return preset !== name && isPresetName(preset) ? shippedPolicy(preset) : null;
}

const sideOf = ({ action, matched_rule, reason }: ReturnType<Judge['judge']>): PolicyDifference['a'] => ({
  action,
  rule: matched_rule,
  reason,
});

const unique = (calls: readonly PolicyCall[]): readonly PolicyCall[] => [
  ...new Map(calls.map((call) => [canonicalJson(call), call])).values(),
];

/** A machine that has every program that a line begins with, so that a list is judged and not the machine. */
function exampleHost(call: PolicyCall): PolicyHost {
  const { command } = call.args;
  const word = typeof command === 'string' ? /^[A-Za-z0-9_.+-]+/.exec(command)?.[0] : undefined;
  const programs = word === undefined ? exampleMachine.programs : [...exampleMachine.programs, word];
  return virtualHost({ ...exampleMachine, programs });
}
