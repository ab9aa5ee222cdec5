import { selector } from '../policy/compile.ts';
import { failClosedPolicy } from '../policy/fail-closed.ts';
import type { Evaluation, LoadedPolicy, Policy, PolicyCall, PolicyHost, Rule } from '../schema/policy.ts';
import type { RecordedCallView, WrittenRule } from '../schema/policy-views.ts';
import type { RecordedCall } from '../store/recorded-calls.ts';
import { catalogue, guardedFrom, strictBounds } from '../workspace/presets/policies.ts';
import { examplePaths } from './generated-calls.ts';
import type { Judge } from './judge.ts';
import type { Retrial } from './recorded.ts';

/** A call, and the machine that it is judged on. */
export type Tried = { readonly call: PolicyCall; readonly host: PolicyHost };

/** The policy that a rule is to join, and every call that it must not open. */
export type RuleTrial = { readonly trial: Judge; readonly loaded: LoadedPolicy; readonly denied: readonly Tried[] };

/** A rule in its place, and what the policy with it allows. */
export type PlacedRule = {
  /** Counted from 0. */
  readonly index: number;
  /** Whether this very rule lets a call through. */
  readonly allows: (one: Tried) => boolean;
};

/**
 * Puts a rule where it belongs and tries it (02 §14.6, 03 §9): null unless it lets every one of these calls through,
 * matches none that was denied, and opens no name that the catalogue guards.
 * @param directory the one that it opens, relative to the root; null for other rules
 */
export function tryRule(
  { trial, loaded, denied }: RuleTrial,
  { rule, directory }: { readonly rule: WrittenRule; readonly directory: string | null },
  calls: readonly Tried[],
): PlacedRule | null {
  const [first] = calls;
  if (first === undefined) return null;
  const alone = nothingBut([ruleOf(rule)], 'deny');
  if (denied.some(({ call, host }) => trial.judge(alone, call, host).matched_rule === 0)) return null;
  const before = calls.map(({ call, host }) => trial.judge(loaded, call, host));
  const index = placeOf(loaded.policy, before, first.call);
  const widened = inserted(loaded, rule, index);
  const allows = ({ call, host }: Tried): boolean => {
    const result = trial.judge(widened, call, host);
    return result.action === 'allow' && result.matched_rule === index;
  };
  if (!calls.every(allows)) return null;
  if (directory !== null && opensGuarded(trial, widened, directory, first)) return null;
  return { index, allows };
}

/** Whether a name below the directory that the catalogue keeps from such a tool would be allowed. */
function opensGuarded(trial: Judge, policy: LoadedPolicy, directory: string, { call, host }: Tried): boolean {
  return guardedFrom(call.tool)
    .filter((glob) => glob.startsWith('**/'))
    .flatMap((glob) => examplePaths(glob, `${directory}/`))
    .some((path) => trial.judge(policy, { ...call, args: { ...call.args, path } }, host).action === 'allow');
}

/** By whoever: a policy, a person, a deadline, or a surface on which nobody could be asked. */
export const wasDenied = ({ record, ask }: RecordedCall): boolean =>
  record.action === 'deny' || ask?.state === 'denied' || ask?.state === 'expired';

/** Any text of the call that names something of the catalogue, as a path or in a command; or a wall. */
export function touchesCatalogue(trial: Judge, { call, host }: Tried): boolean {
  const isCommand = call.tools === 'local_shell';
  const keys = isCommand ? ['command'] : Object.keys(call.args).filter((key) => typeof call.args[key] === 'string');
  const op = isCommand ? 'command_path' : 'glob';
  const rules = catalogue().flatMap((value) => keys.map((key) => denying({ key, op, value })));
  return trial.judge(nothingBut(rules, 'allow'), call, host).action === 'deny';
}

/** A recorded call as a report names it. */
export const viewOf = ({ recorded, call }: Retrial): RecordedCallView => ({
  at: new Date(recorded.at).toISOString(),
  ...call,
  was: recorded.record.action,
  outcome: recorded.ask === null ? null : { state: recorded.ask.state, by: recorded.ask.by },
});

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

/** The policy with one rule more. */
export function inserted(loaded: LoadedPolicy, rule: WrittenRule, index: number): LoadedPolicy {
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
