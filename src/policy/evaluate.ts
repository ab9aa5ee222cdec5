import type { CommandReading } from '../schema/command.ts';
import type {
  Action,
  ConditionTrace,
  Evaluation,
  ExecFact,
  LoadedPolicy,
  PolicyCall,
  PolicyHost,
  Rule,
  TrustedBinaries,
  TrustedStart,
  TrustFinding,
} from '../schema/policy.ts';
import { foldCase } from '../text/fold-case.ts';
import { messageOf } from '../text/thrown.ts';
import { type Analysis, analyseCall, analyseLine } from './analysis.ts';
import { type CommandTest, prefixEntries } from './commands.ts';
import { type CompiledCondition, type CompiledRule, compilePolicy, isCommandOperator } from './compile.ts';
import { shown, shownValue } from './detail.ts';
import { resolveExec } from './exec.ts';
import type { Entry } from './grant.ts';
import { floorOf, wallOf } from './guards.ts';
import type { ValueTest } from './operators.ts';
import { gating } from './trusted.ts';
import { analysisRecord } from './segments.ts';
import { createScope, isOwn, no, type Reading, type Scope, unclear, yes } from './scope.ts';

export type EvaluateOptions = {
  /** Keeps what every condition saw (`explain`); every condition of a tried rule is evaluated then. */
  readonly trace?: boolean;
  /** The reading of a `local_shell` call; without it the call counts as unreadable. */
  readonly reading?: CommandReading;
  /** Reads the line that another toolset takes; without it such a line counts as unreadable. */
  readonly readLine?: (line: string) => CommandReading;
};

type Trace = NonNullable<Evaluation['trace']>[number];

/** What the walk through the rules has come to. */
type Found = {
  readonly matched: number | null;
  readonly detail: string | null;
  /** Why no `allow` stands: an `approve` rule that could not be judged, a line that could not be read. */
  readonly floor: string | null;
  /** Why an allowlist did not grant the call: the detail when nothing better is known. */
  readonly withheld: string | null;
  /** The first finding of `trusted_binaries`. */
  readonly trust: TrustFinding | null;
  /** Of the rule that matched. */
  readonly starts: readonly TrustedStart[] | null;
  readonly trace: readonly Trace[];
};

/**
 * Decides one call (02 §8): a wall, else the first rule that matches, else the default, and then the floors. Pure but
 * for the host. Never throws: an error of its own yields `approve` with reason `internal_error`.
 */
export function evaluate(
  loaded: LoadedPolicy,
  call: PolicyCall,
  host: PolicyHost,
  options: EvaluateOptions = {},
): Evaluation {
  try {
    return judge(loaded, nameOfBoth(call), host, options);
  } catch (error) {
    const detail = shown(`the evaluator failed: ${messageOf(error)}`);
    return { ...blank(loaded), action: 'approve', reason: 'internal_error', detail };
  }
}

/** A call without a tool name uses that of its toolset for both (02 §5). */
const nameOfBoth = (call: PolicyCall): PolicyCall => (call.tool ? call : { ...call, tool: call.tools });

function judge(loaded: LoadedPolicy, call: PolicyCall, host: PolicyHost, options: EvaluateOptions): Evaluation {
  const { policy } = loaded;
  const rules = compilePolicy(policy);
  const refusedBy: Scope['refusedBy'] = (tools, tool, args) => {
    const other = createScope({ tools, tool, args }, host, trusts(loaded), () => analyseCall(call, undefined, host));
    return refusalOf(walk(rules, { scope: other, options, lines: new Map() }, false), policy.rules, `${tools}/${tool}`);
  };
  const scope = createScope(call, host, trusts(loaded), () => analyseCall(call, options.reading, host), refusedBy);
  const analysis = options.trace === true ? analysisRecord(scope, allowlists(rules, call)) : {};
  const base = { ...blank(loaded), ...analysis };
  const wall = wallOf(scope);
  if (wall !== null) {
    return {
      ...base,
      action: 'deny',
      reason: 'control_plane',
      detail: shown(wall),
      ...(options.trace === true ? { trace: [] } : {}),
    };
  }
  const found = walk(rules, { scope, options, lines: new Map() }, options.trace === true);
  const rule = found.matched === null ? undefined : policy.rules[found.matched];
  const action = rule?.action ?? policy.default_action;
  const floor =
    action === 'allow' ? (found.floor ?? floorOf(scope) ?? (rule === undefined ? unruled(call) : null)) : null;
  const detail = floor ?? found.detail ?? found.trust?.detail ?? found.withheld;
  const granted = floor === null && isGranted(rule);
  return {
    ...base,
    action: floor === null ? action : 'approve',
    matched_rule: found.matched,
    reason: floor !== null ? 'floor' : rule === undefined ? 'default_action' : 'matched_rule',
    timeout_s: rule?.action === 'approve' ? rule.timeout_s : 0,
    on_timeout: rule?.action === 'approve' ? rule.on_timeout : null,
    detail: detail === null ? null : shown(detail),
    note: rule?.note ?? null,
    trust: found.trust === null ? [] : [found.trust],
    exec:
      options.reading === undefined
        ? null
        : withTrusted(resolveExec(options.reading, host, granted), granted ? found.starts : null),
    ...(options.trace === true ? { trace: found.trace } : {}),
  };
}

/** A step of a plan is started by a model only where a rule allows that: a default is not enough (07 §4.12). */
const unruled = ({ tools, tool }: PolicyCall): string | null =>
  tools === 'plan_manager' && tool === 'run_next_step' ? 'no rule allows a model to start a step of a plan' : null;

/** The allowlists of the rules that pick the call, those behind the rule that decided among them. */
const allowlists = (rules: readonly CompiledRule[], call: PolicyCall): readonly (readonly Entry[])[] =>
  rules
    .filter((one) => one.rule.action === 'allow' && selects(one, call))
    .flatMap(({ rule }) => rule.when)
    .flatMap(({ op, value }) => (op === 'command_prefix_allowlist' ? [prefixEntries(value)] : []));

/** An allowlist let the call through: what runs is what it judged (02 §9.5). */
const isGranted = (rule: Rule | undefined): boolean =>
  rule?.action === 'allow' && rule.when.some(({ op }) => op === 'command_prefix_allowlist');

const trusts = ({ policy }: LoadedPolicy): TrustedBinaries | null => gating(policy.trusted_binaries);

const withTrusted = (exec: ExecFact | null, starts: readonly TrustedStart[] | null): ExecFact | null =>
  exec === null || starts === null ? exec : { ...exec, trusted: starts };

const blank = (loaded: LoadedPolicy): Evaluation => ({
  action: 'approve',
  matched_rule: null,
  reason: 'default_action',
  timeout_s: 0,
  on_timeout: null,
  policy: loaded.identity,
  detail: null,
  note: null,
  trust: [],
  exec: null,
});

/** How the rules refuse a call that another one names, the default aside; null when none does. */
function refusalOf({ matched, floor }: Found, rules: readonly Rule[], name: string): string | null {
  const action = matched === null ? 'allow' : (rules[matched]?.action ?? 'deny');
  if (action !== 'allow') return `rule ${(matched ?? 0) + 1} says ${action} for ${name}`;
  return floor;
}

const selects = ({ tools, tool }: CompiledRule, call: PolicyCall): boolean =>
  (tools === null || tools === call.tools) && (tool === null || tool === call.tool);

/** A call under judgement, and what it is judged with. */
type Sight = {
  readonly scope: Scope;
  readonly options: EvaluateOptions;
  /** Lines of other toolsets that some rule has read: the next one does not read them again. */
  readonly lines: Map<string, Analysis>;
};

/** The first rule that matches; an `approve` rule that cannot be judged sets the floor, a `deny` rule then matches. */
function walk(rules: readonly CompiledRule[], sight: Sight, tracing: boolean): Found {
  const { scope } = sight;
  const trace: Trace[] = [];
  let floor: string | null = null;
  let withheld: string | null = null;
  let trust: TrustFinding | null = null;
  for (let index = 0; index < rules.length; index += 1) {
    const rule = rules[index];
    if (rule === undefined) continue;
    if (!selects(rule, scope.call)) {
      if (tracing) trace.push({ rule: index, selectors: false, conditions: [], outcome: 'other tool' });
      continue;
    }
    const conditions: ConditionTrace[] | null = tracing ? [] : null;
    const result = judgeRule(rule, sight, conditions);
    withheld ??= result.result === 'false' ? result.detail : null;
    floor ??= result.floor ?? null;
    trust ??= result.trust ?? null;
    const open = result.result === 'indeterminate';
    const matches = result.result === 'true' || (open && rule.rule.action === 'deny' && result.asks !== true);
    if (conditions !== null) {
      trace.push({ rule: index, selectors: true, conditions, outcome: outcomeOf(result, rule.rule.action) });
    }
    if (matches) {
      return { matched: index, detail: result.detail, floor, withheld, trust, starts: result.starts ?? null, trace };
    }
    if (open && rule.rule.action !== 'allow') {
      floor ??= `rule ${index + 1} cannot be judged: ${result.detail}`;
    }
  }
  return { matched: null, detail: null, floor, withheld, trust, starts: null, trace };
}

function outcomeOf({ result, asks }: Reading, action: Action): string {
  if (result === 'true') return action;
  if (result === 'false' || action === 'allow') return 'no';
  return action === 'deny' && asks !== true ? 'deny' : 'floor';
}

/** All conditions must hold: a false one wins over an indeterminate one. Stops at the first false unless tracing. */
function judgeRule(rule: CompiledRule, sight: Sight, trace: ConditionTrace[] | null): Reading {
  let detail: string | null = null;
  let open: Reading | null = null;
  let asks = false;
  let failed: Reading | null = null;
  let floor: string | undefined;
  let starts: Reading['starts'];
  for (const condition of rule.conditions) {
    const reading = judgeCondition(condition, sight, rule.rule.action);
    if (trace !== null) trace.push(traceOf(condition, sight.scope, reading));
    // What lies behind a false condition is looked at for the trace only.
    if (failed === null) floor ??= reading.floor;
    starts ??= reading.starts;
    if (reading.result === 'false') failed ??= reading;
    else if (reading.result === 'indeterminate') {
      open ??= unclear(named(condition, reading.detail) ?? '');
      asks ||= reading.asks === true;
    } else detail ??= named(condition, reading.detail);
    if (failed !== null && trace === null) break;
  }
  const unclearOne = open === null || !asks ? open : { ...open, asks };
  const result = failed ?? unclearOne ?? { result: 'true', detail, ...(starts === undefined ? {} : { starts }) };
  return floor === undefined ? result : { ...result, floor };
}

const named = ({ condition }: CompiledCondition, detail: string | null): string | null =>
  detail === null || isCommandOperator(condition.op) ? detail : `${condition.key} ${detail}`;

function traceOf(compiled: CompiledCondition, scope: Scope, reading: Reading): ConditionTrace {
  const { condition } = compiled;
  const seen =
    isCommandOperator(condition.op) && scope.call.tools === 'local_shell'
      ? scope.analysis().texts.join(' ')
      : valueAt(scope.call.args, compiled.steps);
  return {
    op: condition.op,
    key: condition.key,
    result: reading.result,
    seen: seen === undefined ? null : shownValue(seen),
    why: reading.detail === null ? null : shown(reading.detail),
  };
}

/** 02 §7: missing is false, an array is tested element by element, what an operator cannot read is indeterminate. */
function judgeCondition(compiled: CompiledCondition, sight: Sight, action: Action): Reading {
  const { scope } = sight;
  const operator = compiled.operator();
  if (operator.kind === 'command' && scope.call.tools === 'local_shell') {
    return operator.test(scope.analysis(), scope, action);
  }
  const rival = isOwn(scope.call.tools) ? null : rivalOf(scope.call.args, compiled.steps);
  if (rival !== null) return unclear(`may be meant by the argument ${rival}: some servers do not tell case apart`);
  const value = valueAt(scope.call.args, compiled.steps);
  const present = value !== undefined && value !== null;
  if (operator.kind === 'exists') {
    if (present !== operator.present) return no;
    return yes(present ? 'is present' : 'is absent');
  }
  if (!present || (Array.isArray(value) && value.length === 0)) return no;
  if (operator.kind === 'command') return judgeLine(operator.test, value, sight, action);
  return Array.isArray(value)
    ? judgeElements(operator.test, value, scope, action)
    : operator.test(value, scope, action);
}

/** Under `allow` every element must hold; else one suffices, and one that nobody can tell leaves it open. */
function judgeElements(test: ValueTest, values: readonly unknown[], scope: Scope, action: Action): Reading {
  const decisive = action === 'allow' ? 'false' : 'true';
  let open: Reading | null = null;
  let last: Reading = no;
  for (const value of values) {
    last = test(value, scope, action);
    if (last.result === decisive) return last;
    if (last.result === 'indeterminate') open ??= last;
  }
  return open ?? last;
}

/** The line of another toolset: a text, read as POSIX, never granted (02 §7.3). */
function judgeLine(test: CommandTest, value: unknown, { scope, options, lines }: Sight, action: Action): Reading {
  if (typeof value !== 'string') return unclear('is no line of text');
  const analysis = lines.get(value) ?? analyseLine(value, options.readLine?.(value));
  lines.set(value, analysis);
  const reading = test(analysis, scope, action);
  return analysis.floor === null ? reading : { ...reading, floor: analysis.floor };
}

/**
 * A name on the way that differs in case alone from the one that a rule is about. Many servers take either: beside or in
 * place of `path` they read what stands under `Path`. Null where there is none, or the tool is ours.
 */
function rivalOf(args: unknown, steps: readonly string[]): string | null {
  let value: unknown = args;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    const folded = foldCase(step);
    const rival = Object.keys(value).find((name) => name !== step && foldCase(name) === folded);
    if (rival !== undefined) return rival;
    value = valueAt(value, [step]);
  }
  return null;
}

/** The own member that the steps lead to; undefined when there is none. */
function valueAt(args: unknown, steps: readonly string[]): unknown {
  let value: unknown = args;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) && !/^(0|[1-9][0-9]*)$/.test(step)) return undefined;
    if (!Object.hasOwn(value, step)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}
