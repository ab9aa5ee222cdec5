import { setImmediate as turn } from 'node:timers/promises';
import type { Evaluation, LoadedPolicy, Policy, PolicyCall, Rule } from '../schema/policy.ts';
import type { RuleSuggestion, SuggestReport, WrittenRule } from '../schema/policy-views.ts';
import type { RecordedCall, RecordedCalls } from '../store/recorded-calls.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { catalogue, guardedFrom, strictBounds } from '../workspace/presets/policies.ts';
import { type Approval, type Candidate, candidatesOf, fewest } from './candidates.ts';
import { examplePaths } from './generated-calls.ts';
import { createRetrials, type Retrial } from './recorded.ts';
import { selector } from '../policy/compile.ts';
import { failClosedPolicy } from '../policy/fail-closed.ts';
import { createJudge, type Judge } from './judge.ts';
import { openValid, type TrialDeps } from './trial.ts';

export type SuggestDeps = TrialDeps & {
  readonly recorded: RecordedCalls;
  /** Every argument that a tool takes; null for one that is not known. */
  readonly argumentNames: (tools: string, tool: string) => readonly string[] | null;
};

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
        suggestions: choose(trial, loaded, approved, denied, recent),
      };
    },
  };

  function choose(
    trial: Judge,
    loaded: LoadedPolicy,
    approved: readonly Retrial[],
    denied: readonly Retrial[],
    recent: readonly Retrial[],
  ): readonly RuleSuggestion[] {
    const taken = new Set<string>();
    const suggestions: RuleSuggestion[] = [];
    for (const [, ofTool] of byTool(approved)) {
      const harmless = ofTool.filter((one) => !touchesCatalogue(trial, one));
      const [first] = harmless;
      if (first === undefined) continue;
      const places = new Map(harmless.map((one) => [askOf(one), one]));
      const approvals = harmless.map((one): Approval => ({ call: one.call, ask: askOf(one), at: one.recorded.at }));
      const names = deps.argumentNames(first.call.tools, first.call.tool);
      for (const candidate of candidatesOf(approvals, names, deps.workspace.root, trial.wordsOf)) {
        const open = candidate.approvals.filter(({ ask }) => !taken.has(ask));
        if (open.length < fewest) continue;
        const members = open.flatMap(({ ask }) => places.get(ask) ?? []);
        const suggestion = tryCandidate(trial, loaded, candidate, members, denied, recent);
        if (suggestion === null) continue;
        for (const { ask } of open) taken.add(ask);
        suggestions.push(suggestion);
      }
    }
    return suggestions;
  }

  /** Null unless every approval of the group would be allowed, no denied call matches, and no guarded name is opened. */
  function tryCandidate(
    trial: Judge,
    loaded: LoadedPolicy,
    candidate: Candidate,
    approved: readonly Retrial[],
    denied: readonly Retrial[],
    recent: readonly Retrial[],
  ): RuleSuggestion | null {
    // What a rule of the policy allows by now needs no other one.
    const members = approved.filter(({ call, host }) => trial.judge(loaded, call, host).action !== 'allow');
    const [first] = members;
    if (first === undefined || members.length < fewest) return null;
    const alone = nothingBut([ruleOf(candidate.rule)], 'deny');
    const matches = ({ call, host }: Retrial): boolean => trial.judge(alone, call, host).matched_rule === 0;
    if (denied.some(matches)) return null;
    const before = members.map(({ call, host }) => trial.judge(loaded, call, host));
    const index = placeOf(loaded.policy, before, first.call);
    const widened = inserted(loaded, candidate.rule, index);
    const allows = (result: Evaluation): boolean => result.action === 'allow' && result.matched_rule === index;
    if (!members.every(({ call, host }) => allows(trial.judge(widened, call, host)))) return null;
    if (candidate.directory !== null && opensGuarded(trial, widened, candidate.directory, first)) return null;
    const group = new Set(members.map(askOf));
    const now = recent.filter(({ call, host }) => allows(trial.judge(widened, call, host)));
    const also = now.filter((one) => !group.has(askOf(one)));
    return {
      rule: candidate.rule,
      index,
      approvals: members.length,
      asks: [...group],
      answers: now.filter(({ recorded }) => recorded.ask !== null).length,
      also_allowed: also.length,
      also: also.slice(0, maxNamed).map(({ recorded, call }) => ({
        at: new Date(recorded.at).toISOString(),
        ...call,
        was: recorded.record.action,
        outcome: recorded.ask === null ? null : { state: recorded.ask.state, by: recorded.ask.by },
      })),
    };
  }

  /** Whether a name below the directory that the catalogue keeps from such a tool would be allowed. */
  function opensGuarded(trial: Judge, policy: LoadedPolicy, directory: string, { call, host }: Retrial): boolean {
    return guardedFrom(call.tool)
      .filter((glob) => glob.startsWith('**/'))
      .flatMap((glob) => examplePaths(glob, `${directory}/`))
      .some((path) => trial.judge(policy, { ...call, args: { ...call.args, path } }, host).action === 'allow');
  }
}

const askOf = ({ recorded }: Retrial): string => recorded.ask?.id ?? `${recorded.run_id} ${recorded.call_id}`;

/** By whoever: a policy, a person, a deadline, or a surface on which nobody could be asked. */
const wasDenied = ({ record, ask }: RecordedCall): boolean =>
  record.action === 'deny' || ask?.state === 'denied' || ask?.state === 'expired';

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

/** Any text of the call that names something of the catalogue, as a path or in a command; or a wall. */
function touchesCatalogue(trial: Judge, { call, host }: Retrial): boolean {
  const isCommand = call.tools === 'local_shell';
  const keys = isCommand ? ['command'] : Object.keys(call.args).filter((key) => typeof call.args[key] === 'string');
  const op = isCommand ? 'command_path' : 'glob';
  const rules = catalogue().flatMap((value) => keys.map((key) => denying({ key, op, value })));
  return trial.judge(nothingBut(rules, 'allow'), call, host).action === 'deny';
}

const denying = (condition: Rule['when'][number]): Rule => ({ ...blank, when: [condition], action: 'deny' });

const blank: Rule = { tools: '', tool: '', when: [], action: 'allow', timeout_s: 0, on_timeout: null, note: null };

/** A policy of these rules alone. */
const nothingBut = (rules: readonly Rule[], default_action: Policy['default_action']): LoadedPolicy => ({
  identity: { name: 'trial', source: 'file', path: null, sha256: null, state: 'ok' },
  policy: { ...failClosedPolicy(strictBounds()), default_action, rules },
  text: '',
  findings: [],
});

const ruleOf = ({ tools = '', tool = '', when = [], action }: WrittenRule): Rule => ({
  ...blank,
  tools,
  tool,
  when,
  action,
});

function inserted(loaded: LoadedPolicy, rule: WrittenRule, index: number): LoadedPolicy {
  const rules = [...loaded.policy.rules];
  rules.splice(index, 0, ruleOf(rule));
  return { ...loaded, policy: { ...loaded.policy, rules } };
}

/**
 * Where a rule is put (03 §9): directly above the first rule that decided one of the asks, and never above a deny rule
 * that could match the same tool.
 */
function placeOf({ rules }: Policy, before: readonly Evaluation[], { tools, tool }: PolicyCall): number {
  const deciding = Math.min(...before.map(({ matched_rule: rule }) => rule ?? rules.length));
  const could = (selected: string, name: string): boolean => (selector(selected) ?? name) === name;
  const lastDeny = rules.findLastIndex(
    (rule) => rule.action === 'deny' && could(rule.tools, tools) && could(rule.tool, tool),
  );
  return Math.max(deciding, lastDeny + 1);
}
