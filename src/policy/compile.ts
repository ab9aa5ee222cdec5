import type { Action, Condition, Policy, Rule } from '../schema/policy.ts';
import { type CommandTest, commandOperators } from './commands.ts';
import { parseExists, type ValueTest, valueOperators } from './operators.ts';
import { unclear } from './scope.ts';

/** A condition ready to be judged; its operand is read once, when first needed. */
export type CompiledCondition = {
  readonly condition: Condition;
  /** Steps into the arguments: one member name, or those of a JSON Pointer (02 §6). */
  readonly steps: readonly string[];
  operator(): Operator;
};

/** What an operand has become. */
export type Operator =
  | { readonly kind: 'exists'; readonly present: boolean }
  | { readonly kind: 'value'; readonly test: ValueTest }
  | { readonly kind: 'command'; readonly test: CommandTest };

export type CompiledRule = {
  readonly rule: Rule;
  /** Null matches every name (02 §5). */
  readonly tools: string | null;
  readonly tool: string | null;
  readonly conditions: readonly CompiledCondition[];
};

/** A memo and nothing else: what it returns follows from the document, which never changes. */
const compiled = new WeakMap<Policy, readonly CompiledRule[]>();

/** The rules ready to be judged; made once for each document. Never throws: a bad operand is indeterminate. */
export function compilePolicy(policy: Policy): readonly CompiledRule[] {
  const known = compiled.get(policy);
  if (known !== undefined) return known;
  const rules = policy.rules.map((rule) => ({
    rule,
    tools: selector(rule.tools),
    tool: selector(rule.tool),
    conditions: rule.when.map((condition) => compileCondition(condition, rule.action)),
  }));
  compiled.set(policy, rules);
  return rules;
}

/** A selector as it matches: null stands for every name. */
export const selector = (text: string): string | null => (text === '' || text === '*' ? null : text);

function compileCondition(condition: Condition, action: Action): CompiledCondition {
  let operator: Operator | null = null;
  return {
    condition,
    steps: pointerSteps(condition.key),
    operator() {
      operator ??= readOperator(condition, action);
      return operator;
    },
  };
}

/** A bad operand gives a test that cannot tell. */
function readOperator(condition: Condition, action: Action): Operator {
  const parsed = parseOperator(condition, action);
  if (parsed?.ok === true) return parsed.operator;
  const why = parsed?.message ?? `the operator ${condition.op} is not known`;
  return { kind: 'value', test: () => unclear(why) };
}

/** A key that starts with `/` is a JSON Pointer (RFC 6901), any other one member name. */
const pointerSteps = (key: string): readonly string[] =>
  key.startsWith('/')
    ? key
        .slice(1)
        .split('/')
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    : [key];

export type ParsedOperator =
  | { readonly ok: true; readonly operator: Operator }
  | { readonly ok: false; readonly message: string };

/** Reads the operand of a condition; null for an operator that does not exist. */
export function parseOperator(condition: Condition, action: Action): ParsedOperator | null {
  const { op, value } = condition;
  if (op === 'exists') {
    const present = parseExists(value);
    return present === null
      ? { ok: false, message: 'the operand must be empty, "true" or "false"' }
      : { ok: true, operator: { kind: 'exists', present } };
  }
  if (isCommandOperator(op)) {
    const parsed = commandOperators[op]?.(value, action) ?? null;
    return parsed?.ok === true ? { ok: true, operator: { kind: 'command', test: parsed.test } } : parsed;
  }
  const parsed = Object.hasOwn(valueOperators, op) ? (valueOperators[op]?.(condition) ?? null) : null;
  return parsed?.ok === true ? { ok: true, operator: { kind: 'value', test: parsed.test } } : parsed;
}

export const isCommandOperator = (op: string): boolean => Object.hasOwn(commandOperators, op);

/** Whether a rule of the document reads an argument of this toolset as a command line (02 §7.3). */
export const readsLines = (policy: Policy, tools: string): boolean =>
  tools !== 'local_shell' &&
  policy.rules.some(
    (rule) => (selector(rule.tools) ?? tools) === tools && rule.when.some(({ op }) => isCommandOperator(op)),
  );
