import type { Condition, Policy } from '../schema/policy.ts';
import { type LinearRegex, loadRegexEngine, RegexSyntaxError } from '../text/linear-regex.ts';
import type { Findings } from './findings.ts';
import { valueOperators } from './operators.ts';

/**
 * Gives every `regex` condition its expression, `.` matching a line feed (02 §7.1). The engine is loaded only when there
 * is one; a bad expression is a finding and stays without. All are checked here, and each text is compiled once, when a
 * call first needs it: most are never asked.
 */
export async function attachRegexes(policy: Policy, findings: Findings): Promise<Policy> {
  if (!policy.rules.some((rule) => rule.when.some(isRegex))) return policy;
  const engine = await loadRegexEngine();
  const known = new Map<string, LinearRegex>();
  const read = (source: string): LinearRegex => {
    const regex = known.get(source) ?? engine.read(source, { dotAll: true });
    known.set(source, regex);
    return regex;
  };
  const rules = policy.rules.map((rule, index) => {
    const when = rule.when.map((condition, place) => {
      if (!isRegex(condition)) return condition;
      try {
        return { ...condition, regex: read(condition.value) };
      } catch (error) {
        if (!(error instanceof RegexSyntaxError)) throw error;
        findings.add(`$.rules[${index}].when[${place}].value`, 'bad_operand', error.message);
        return condition;
      }
    });
    return { ...rule, when };
  });
  return { ...policy, rules };
}

/** A `regex` condition whose operand is worth compiling: not empty, not too long. */
const isRegex = (condition: Condition): boolean =>
  condition.op === 'regex' && valueOperators['regex']?.(condition).ok === true;
