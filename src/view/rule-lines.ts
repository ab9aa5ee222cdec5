import type { RecordedCallView, RuleCandidate, RuleProposals } from '../schema/policy-views.ts';
import { callSummary } from './call-summary.ts';
import { plural } from './format.ts';

/** What each kind of rule would let through, in words. */
export const ruleKinds: Readonly<Record<RuleCandidate['kind'], string>> = {
  exact: 'exactly this call',
  directory: 'this directory',
  host: 'this host',
  prefix: 'commands that begin like this',
};

/** What a rule is about, beside its kind: the values that it compares with. Not escaped. */
export const ruleSubject = ({ rule }: Pick<RuleCandidate, 'rule'>): string =>
  (rule.when ?? [])
    .filter(({ op }) => op !== 'exists')
    .map(({ value }) => value)
    .join(' · ');

/** A rule as JSON in lines that can be read: what it picks, each condition, what it does. Not escaped. */
export function ruleJson({ rule }: Pick<RuleCandidate, 'rule'>): readonly string[] {
  const { when = [], action, ...rest } = rule;
  const pairs = Object.entries(rest).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}, `);
  const conditions = when.map((one, index) => {
    const text = Object.entries(one)
      .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
      .join(', ');
    return `${index === 0 ? '  "when": [' : '    '}{ ${text} }${index === when.length - 1 ? '],' : ','}`;
  });
  return [`{ ${pairs.join('')}`.trimEnd(), ...conditions, `  "action": ${JSON.stringify(action)} }`];
}

/** Where a rule would stand, and what else it would have allowed (03 §9). Not escaped. */
export function ruleReach(one: RuleCandidate, { looked_at }: Pick<RuleProposals, 'looked_at'>): string {
  const others =
    looked_at === 0
      ? 'no other call is recorded yet'
      : `would also have allowed ${one.also_allowed} of the last ${plural(looked_at, 'recorded call')}`;
  return `as rule ${one.index + 1}; ${others}`;
}

/** The calls that it would also have allowed. Not escaped. */
export const ruleMatches = (one: RuleCandidate): readonly string[] => {
  const more = one.also_allowed - one.also.length;
  return [...one.also.map(callLine), ...(more > 0 ? [`and ${more} more`] : [])];
};

/** A call, what the policy said to it, and who answered. Not escaped. */
const callLine = ({ tools, tool, args, was, outcome }: RecordedCallView): string =>
  `${tools}.${tool} ${callSummary(args)} (${was}${outcome === null ? '' : `, ${outcome.state} by ${outcome.by ?? 'nobody yet'}`})`;

/** The file that a rule would be written to. Not escaped. */
export function ruleTarget({ path, copy, policy }: Pick<RuleProposals, 'path' | 'copy' | 'policy'>): readonly string[] {
  const except = policy.source === 'file' ? ', but where --policy names another' : '';
  return [
    `with a note that names this question, into ${path}`,
    ...(copy === null
      ? []
      : [`a new copy of the policy ${policy.name}; it governs from then on (hitl-policy-name = ${copy})${except}`]),
  ];
}
