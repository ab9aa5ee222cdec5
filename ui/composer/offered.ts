import type { PolicyExplanation } from '../../src/schema/policy-views.ts';

/** Whether a file may be mentioned: not what the policy denies, nor what a rule singles out to be asked about: credentials, secrets (10 §6.4). */
export function isOffered({ record: { action, matched_rule }, tried }: PolicyExplanation): boolean {
  const rule = tried.find((one) => one.rule === matched_rule);
  return action === 'allow' || (action === 'approve' && (rule?.conditions.length ?? 0) === 0);
}
