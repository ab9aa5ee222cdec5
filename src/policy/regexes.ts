import type { Condition, Policy } from '../schema/policy.ts';
import { compileRegex, RegexSyntaxError } from '../text/linear-regex.ts';
import type { Findings } from './findings.ts';
import { valueOperators } from './operators.ts';

/**
 * Gives every `regex` condition its compiled expression, `.` matching a line feed (02 §7.1). The engine is loaded only
 * when there is one; a bad expression is a finding and stays without.
 */
export async function attachRegexes(policy: Policy, findings: Findings): Promise<Policy> {
  if (!policy.rules.some((rule) => rule.when.some(isRegex))) return policy;
  const rules = policy.rules.map(async (rule, index) => {
    const when = rule.when.map(async (condition, place) => {
      if (!isRegex(condition)) return condition;
      try {
        return { ...condition, regex: await compileRegex(condition.value, { dotAll: true }) };
      } catch (error) {
        if (!(error instanceof RegexSyntaxError)) throw error;
        findings.add(`$.rules[${index}].when[${place}].value`, 'bad_operand', error.message);
        return condition;
      }
    });
    return { ...rule, when: await Promise.all(when) };
  });
  return { ...policy, rules: await Promise.all(rules) };
}

/** A `regex` condition whose operand is worth compiling: not empty, not too long. */
const isRegex = (condition: Condition): boolean =>
  condition.op === 'regex' && valueOperators['regex']?.(condition).ok === true;
