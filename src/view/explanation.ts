import type { Evaluation } from '../schema/policy.ts';
import type { CommandSegment, PolicyExplanation, TriedRule } from '../schema/policy-views.ts';
import { formatSeconds } from './format.ts';

/** Longest operand of a condition as a line shows it. */
const maxOperand = 60;

/**
 * What would happen to a call, line by line (02 §14.2): verdict, arguments, analysis, rules tried, trust, wait, and what
 * would change it. Rules count from 1. Not escaped: whoever prints it makes it visible.
 */
export function explanationLines(explanation: PolicyExplanation): readonly string[] {
  const { call, record } = explanation;
  const question = questionText(explanation);
  return [
    verdictLine(record),
    ...(record.note === null ? [] : [`  for ${record.note}`]),
    ...(record.detail === null ? [] : [`  ${record.detail}`]),
    ...(question === null ? [] : [`  ${question}`]),
    `${call.tools}.${call.tool} in ${call.cwd}`,
    ...Object.entries(call.args).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`),
    ...whyLines(explanation),
  ];
}

/** What the call of a question comes to, which no rule says; null for other calls, and where it is denied (decision 261). */
export const questionText = ({ call: { tools, tool }, record: { action } }: PolicyExplanation): string | null =>
  tools === 'engine' && tool === 'ask_human' && action !== 'deny'
    ? 'a question to a person, which is asked also where a rule allows it; the answer is the result'
    : null;

/**
 * The part that a card does not show already: how the call was read and which rules were tried.
 * @param shown those of the rules that are told
 */
export function whyLines(explanation: PolicyExplanation, shown = explanation.tried): readonly string[] {
  const { record, tried, wait_s, would_change_with } = explanation;
  return [
    ...analysisLines(record.analysis, tried),
    ...triedLines(shown),
    ...trustLines(record),
    ...(wait_s === null ? [] : [waitLine(wait_s)]),
    ...(would_change_with === null ? [] : [`would change with: ${would_change_with}`]),
  ];
}

const trustLines = ({ trust }: Evaluation): readonly string[] =>
  trust.map((finding) => `trust: ${typeof finding === 'string' ? finding : JSON.stringify(finding)}`);

/** How the call was read: its commands and their programs, and what is known of these. */
export const readingLines = ({ record, tried }: PolicyExplanation): readonly string[] => [
  ...analysisLines(record.analysis, tried),
  ...trustLines(record),
];

/** `approve by rule 14 of 15, waits 7d, then denied`. @param rules how many the document has; null = not known */
export function verdictText(record: Evaluation, rules: number | null, wait_s: PolicyExplanation['wait_s']): string {
  const { action, reason, matched_rule: rule } = record;
  const by = rule === null ? 'the default action' : `rule ${rule + 1}${rules === null ? '' : ` of ${rules}`}`;
  const why: Readonly<Record<string, string>> = {
    control_plane: 'a wall that no policy lifts',
    internal_error: 'the evaluator, which failed',
    remembered: `what was approved before in this session, under ${by}`,
    floor: `a floor under ${by}`,
  };
  const broken = record.policy.state === 'invalid' ? '; the policy is invalid, so everything asks' : '';
  return `${action} by ${why[reason] ?? by}${wait_s === null ? '' : `, ${waitLine(wait_s)}`}${broken}`;
}

/** `allow  rule 69 of hitl-policy.json (builtin default)`. */
export function verdictLine({ action, reason, matched_rule: rule, policy }: Evaluation): string {
  const file = policy.path ?? (policy.name === 'default' ? 'hitl-policy.json' : `hitl-policy-${policy.name}.json`);
  const broken = policy.state === 'invalid' ? ', invalid: everything asks' : '';
  const where = `of ${file} (${policy.source} ${policy.name}${broken})`;
  if (reason === 'control_plane') return `${action}  a wall that no policy lifts`;
  if (reason === 'internal_error') return `${action}  the evaluator failed`;
  const by = rule === null ? `default action ${where}` : `rule ${rule + 1} ${where}`;
  if (reason === 'remembered') return `${action}  approved before in this session, under ${by}`;
  return reason === 'floor' ? `${action}  a floor under ${by}` : `${action}  ${by}`;
}

export const triedLines = (tried: readonly TriedRule[]): readonly string[] => tried.map(ruleLine);

/** One that could not be read does not fit either, and may be what somebody is looking for. */
export const isTelling = ({ outcome, conditions }: TriedRule): boolean =>
  outcome !== 'no' || conditions.some(({ result }) => result === 'indeterminate');

const waitLine = (seconds: number | 'never'): string =>
  seconds === 'never' ? 'waits without a deadline' : `waits ${formatSeconds(seconds)}, then denied`;

const ruleLine = (tried: TriedRule): string =>
  `rule ${String(tried.rule + 1).padEnd(3)} ${tried.outcome.padEnd(8)}${triedText(tried)}`;

/** The conditions of a rule, each with what it saw. */
export const triedText = ({ conditions }: Pick<TriedRule, 'conditions'>): string =>
  conditions.length === 0 ? 'every call' : conditions.map(conditionText).join(' and ');

type Tried = TriedRule['conditions'][number];

/** Operators that judge the whole call, which stands above the rules and is not said again behind each. */
const isWhole = (op: string): boolean => op.startsWith('command_') || op.endsWith('substitution');

function conditionText(condition: Tried): string {
  const { op, key, value, seen, why, result } = condition;
  const operand = value === '' ? '' : ` ${short(value)}`;
  if (isWhole(op)) {
    const told = wholeReason(condition);
    return `${op}${operand}${told === null ? '' : ` : ${told}`}`;
  }
  const unsure = result === 'indeterminate' && why !== null ? ` (cannot tell: ${why})` : '';
  return `${key === '' ? op : `${key} ${op}`}${operand} : ${seen ?? 'absent'}${unsure}`;
}

/** What the operator found, without the line and the operand, which the reader has before him. */
function wholeReason({ op, value, seen, why, result }: Tried): string | null {
  if (why === null) return null;
  if (result === 'indeterminate') return `cannot tell: ${why}`;
  const bare = [`: ${seen ?? ''}`, ` matches ${value}`].reduce(
    (text, end) => (text.endsWith(end) ? text.slice(0, -end.length) : text),
    why,
  );
  return op === 'command_prefix_allowlist' ? short(bare) : bare;
}

const short = (operand: string): string =>
  operand.length > maxOperand ? `${operand.slice(0, maxOperand - 1)}…` : operand;

/** The reading of a command as the record tells it; members that are not there are left out. */
function analysisLines(analysis: unknown, tried: readonly TriedRule[]): readonly string[] {
  if (typeof analysis !== 'object' || analysis === null) return [];
  const known = new Map(Object.entries(analysis));
  const text = (name: string): string | null => textOf(known.get(name));
  const listed: unknown = known.get('segments');
  const segments = (Array.isArray(listed) ? listed : []).map(readSegment);
  const told = [text('unread'), text('ungrantable'), ...segments.map(({ why }) => why)].filter((why) => why !== null);
  // What is true of no command alone: the directory, a trust finding.
  const whole = tried
    .flatMap(({ conditions }) => conditions)
    .find(({ op, result, why }) => op === 'command_prefix_allowlist' && result === 'false' && why !== null)?.why;
  const isTold = whole == null || told.some((why) => whole.endsWith(why));
  return [
    ['read as', text('form'), text('verdict')].filter((part) => part !== null).join(' '),
    ...segments.map(segmentLine),
    ...[text('unread'), text('ungrantable'), isTold ? null : whole].flatMap((why) =>
      why === null ? [] : [`  ${why}`],
    ),
  ];
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Of records that other versions have written, whatever is there. */
function readSegment(segment: unknown): CommandSegment {
  const known = new Map<string, unknown>(
    typeof segment === 'object' && segment !== null ? Object.entries(segment) : [],
  );
  const words = known.get('words');
  return {
    words: Array.isArray(words) ? words.map(String) : [],
    program: textOf(known.get('program')),
    revealed: known.get('revealed') === true,
    covered_by: textOf(known.get('covered_by')),
    why: textOf(known.get('why')),
  };
}

/** `  1. git status → /usr/bin/git · covered by git status`. */
function segmentLine({ words, program, revealed, covered_by, why }: CommandSegment, index: number): string {
  const shown = words.join(' ');
  const own = `: ${shown}`;
  const cause = why?.endsWith(own) === true ? why.slice(0, -own.length) : why;
  const coverage = covered_by === null ? cause : `covered by ${covered_by}`;
  const inside = revealed ? ' (inside another)' : '';
  return `  ${index + 1}. ${shown}${inside} → ${program ?? 'does not resolve'}${coverage === null ? '' : ` · ${coverage}`}`;
}
