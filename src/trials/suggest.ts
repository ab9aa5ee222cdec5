import { setImmediate as turn } from 'node:timers/promises';
import type { RuleSuggestion, SuggestReport } from '../schema/policy-views.ts';
import type { RecordedCall, RecordedCalls } from '../store/recorded-calls.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { type Approval, type Candidate, candidatesOf, fewest } from './candidates.ts';
import { createRetrials, type Retrial } from './recorded.ts';
import { createJudge } from './judge.ts';
import { type RuleTrial, touchesCatalogue, tryRule, viewOf, wasDenied } from './try-rule.ts';
import { openValid, type TrialDeps } from './trial.ts';

export type SuggestDeps = TrialDeps & {
  readonly recorded: RecordedCalls;
  /** Every argument that a tool takes; null for one that is not known. */
  readonly argumentNames: (tools: string, tool: string) => readonly string[] | null;
};

/** Rules are tried on what was denied at any time, and told with what they would do to the time that was asked about. */
type Past = RuleTrial & { readonly denied: readonly Retrial[]; readonly recent: readonly Retrial[] };

/** Other calls that a suggestion names; the rest is counted. */
const maxNamed = 20;

/** `policy suggest` (02 §14.6): the narrowest rules that would have answered what was approved again and again. */
export function createSuggest(deps: SuggestDeps) {
  return {
    /** @throws RuntimeError usage, policy_not_found, not_trusted, invalid_policy */
    async suggestRules(input: {
      readonly policy: string | null;
      readonly trust: readonly string[];
      readonly since: number;
    }): Promise<SuggestReport> {
      const loaded = await openValid(deps, { name: input.policy, trust: input.trust });
      const trial = await createJudge();
      const retry = createRetrials(deps, loaded);
      const denied: Retrial[] = [];
      const recent: Retrial[] = [];
      for (const page of deps.recorded.pages({ since: 0, session_id: null, tools: null }, Number.POSITIVE_INFINITY)) {
        for (const recorded of page) {
          const retrial = retry(recorded);
          // A denied call counts whenever it was, and also where its program is gone or a secret in it is masked.
          if (wasDenied(recorded)) denied.push(retrial);
          if (recorded.at >= input.since && retrial.fault === null) recent.push(retrial);
        }
        await turn();
      }
      const approved = recent.filter(
        ({ recorded }) => isApproved(recorded) && recorded.workspace === deps.workspace.root,
      );
      return {
        policy: loaded.identity,
        approvals: approved.length,
        suggestions: choose({ trial, loaded, denied, recent }, approved),
      };
    },
  };

  function choose(past: Past, approved: readonly Retrial[]): readonly RuleSuggestion[] {
    const { trial } = past;
    const taken = new Set<string>();
    const suggestions: RuleSuggestion[] = [];
    for (const [, ofTool] of byTool(approved)) {
      const harmless = ofTool.filter((one) => !touchesCatalogue(trial, one));
      const [first] = harmless;
      if (first === undefined) continue;
      const places = new Map(harmless.map((one) => [askOf(one), one]));
      const approvals = harmless.map((one): Approval => ({ call: one.call, ask: askOf(one), at: one.recorded.at }));
      const names = deps.argumentNames(first.call.tools, first.call.tool);
      for (const candidate of candidatesOf(approvals, {
        names,
        root: deps.workspace.root,
        wordsOf: trial.wordsOf,
        least: fewest,
      })) {
        const open = candidate.approvals.filter(({ ask }) => !taken.has(ask));
        if (open.length < fewest) continue;
        const members = open.flatMap(({ ask }) => places.get(ask) ?? []);
        const suggestion = tryCandidate(past, candidate, members);
        if (suggestion === null) continue;
        for (const { ask } of open) taken.add(ask);
        suggestions.push(suggestion);
      }
    }
    return suggestions;
  }

  /** Null unless enough approvals still ask, and the rule holds for each of them. */
  function tryCandidate(past: Past, candidate: Candidate, approved: readonly Retrial[]): RuleSuggestion | null {
    const { trial, loaded, recent } = past;
    // What a rule of the policy allows by now needs no other one.
    const members = approved.filter(({ call, host }) => trial.judge(loaded, call, host).action !== 'allow');
    if (members.length < fewest) return null;
    const placed = tryRule(past, candidate, members);
    if (placed === null) return null;
    const group = new Set(members.map(askOf));
    const now = recent.filter(placed.allows);
    const also = now.filter((one) => !group.has(askOf(one)));
    return {
      rule: candidate.rule,
      index: placed.index,
      approvals: members.length,
      asks: [...group],
      answers: now.filter(({ recorded }) => recorded.ask !== null).length,
      also_allowed: also.length,
      also: also.slice(0, maxNamed).map(viewOf),
    };
  }
}

const askOf = ({ recorded }: Retrial): string => recorded.ask?.id ?? `${recorded.run_id} ${recorded.call_id}`;

/** A person's word; an agent's makes no rules. */
const isApproved = ({ ask }: RecordedCall): boolean =>
  ask?.state === 'approved' && ask.by?.startsWith('operator:') === true;

function byTool(calls: readonly Retrial[]): ReadonlyMap<string, readonly Retrial[]> {
  const found = new Map<string, Retrial[]>();
  for (const one of calls) {
    const key = canonicalJson([one.call.tools, one.call.tool]);
    found.set(key, [...(found.get(key) ?? []), one]);
  }
  return found;
}
