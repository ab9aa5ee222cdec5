import type { Action, Condition, Policy, Rule } from '../schema/policy.ts';
import { type CommandTest, commandOperators } from './commands.ts';
import { type Parsed, parseExists, type ValueTest, valueOperators } from './operators.ts';
import { unclear } from './scope.ts';

/** A condition whose operand was read once. */
export type CompiledCondition = {
  readonly condition: Condition;
  /** Steps into the arguments: one member name, or those of a JSON Pointer (02 §6). */
  readonly steps: readonly string[];
} & (
  | { readonly kind: 'exists'; readonly present: boolean }
  | { readonly kind: 'value'; readonly test: ValueTest }
  | { readonly kind: 'command'; readonly test: CommandTest }
);

export type CompiledRule = {
  readonly rule: Rule;
  /** Null matches every name (02 §5). */
  readonly tools: string | null;
  readonly tool: string | null;
  readonly conditions: readonly CompiledCondition[];
};

/** A memo and nothing else: what it returns follows from the document, which never changes. */
const compiled = new WeakMap<Policy, readonly CompiledRule[]>();

/** The rules with their operands read; made once for each document. Never throws: a bad operand is indeterminate. */
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
  const steps = pointerSteps(condition.key);
  const operator = parseOperator(condition, action);
  if (operator?.ok === true) {
    if (operator.kind === 'exists') return { condition, steps, kind: 'exists', present: operator.present };
    if (operator.kind === 'command') return { condition, steps, kind: 'command', test: operator.test };
    return { condition, steps, kind: 'value', test: operator.test };
  }
  const why = operator?.message ?? `the operator ${condition.op} is not known`;
  return { condition, steps, kind: 'value', test: () => unclear(why) };
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
  | { readonly ok: true; readonly kind: 'exists'; readonly present: boolean }
  | { readonly ok: true; readonly kind: 'value'; readonly test: ValueTest }
  | { readonly ok: true; readonly kind: 'command'; readonly test: CommandTest }
  | { readonly ok: false; readonly message: string };

/** Reads the operand of a condition; null for an operator that does not exist. */
export function parseOperator(condition: Condition, action: Action): ParsedOperator | null {
  const { op, value } = condition;
  if (op === 'exists') {
    const present = parseExists(value);
    return present === null
      ? { ok: false, message: 'the operand must be empty, "true" or "false"' }
      : { ok: true, kind: 'exists', present };
  }
  if (isCommandOperator(op)) return tagged('command', commandOperators[op]?.(value, action));
  return Object.hasOwn(valueOperators, op) ? tagged('value', valueOperators[op]?.(condition)) : null;
}

export const isCommandOperator = (op: string): boolean => Object.hasOwn(commandOperators, op);

function tagged<K extends 'value' | 'command', T>(kind: K, operator: Parsed<T> | undefined) {
  if (operator === undefined) return null;
  return operator.ok ? { ok: true as const, kind, test: operator.test } : operator;
}
