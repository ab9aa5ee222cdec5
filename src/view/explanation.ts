import type { Evaluation } from '../schema/policy.ts';
import type { PolicyExplanation, TriedRule } from '../schema/policy-views.ts';
import { formatSeconds } from './format.ts';

/** Longest operand of a condition as a line shows it. */
const maxOperand = 60;

/**
 * What would happen to a call, line by line (02 §14.2): verdict, arguments, analysis, rules tried, trust, wait, and what
 * would change it. Rules count from 1. Not escaped: whoever prints it makes it visible.
 */
export function explanationLines(explanation: PolicyExplanation): readonly string[] {
  const { call, record } = explanation;
  return [
    verdictLine(record),
    ...(record.note === null ? [] : [`  for ${record.note}`]),
    ...(record.detail === null ? [] : [`  ${record.detail}`]),
    `${call.tools}.${call.tool} in ${call.cwd}`,
    ...Object.entries(call.args).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`),
    ...whyLines(explanation),
  ];
}

/** The part that a card does not show already: how the call was read and which rules were tried. */
export function whyLines({ record, tried, wait_s, would_change_with }: PolicyExplanation): readonly string[] {
  return [
    ...analysisLines(record.analysis, tried),
    ...tried.map(ruleLine),
    ...record.trust.map((finding) => `trust: ${typeof finding === 'string' ? finding : JSON.stringify(finding)}`),
    ...(wait_s === null ? [] : [waitLine(wait_s)]),
    ...(would_change_with === null ? [] : [`would change with: ${would_change_with}`]),
  ];
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

const waitLine = (seconds: number | 'never'): string =>
  seconds === 'never' ? 'waits without a deadline' : `waits ${formatSeconds(seconds)}, then denied`;

function ruleLine({ rule, outcome, conditions }: TriedRule): string {
  const tested = conditions.map(({ op, key, value, seen, why, result }) => {
    const name = key === '' || op.startsWith('command_') || op.endsWith('substitution') ? op : `${key} ${op}`;
    const unsure = result === 'indeterminate' && why !== null ? ` (cannot tell: ${why})` : '';
    return `${name}${value === '' ? '' : ` ${short(value)}`} : ${seen ?? 'absent'}${unsure}`;
  });
  const shown = tested.length === 0 ? 'every call' : tested.join(' and ');
  return `rule ${String(rule + 1).padEnd(3)} ${outcome.padEnd(8)}${shown}`;
}

const short = (operand: string): string =>
  operand.length > maxOperand ? `${operand.slice(0, maxOperand - 1)}…` : operand;

/** The reading of a command as the record tells it; members that are not there are left out. */
function analysisLines(analysis: unknown, tried: readonly TriedRule[]): readonly string[] {
  if (typeof analysis !== 'object' || analysis === null) return [];
  const known = new Map(Object.entries(analysis));
  const text = (name: string): string | null => {
    const value: unknown = known.get(name);
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const segments: unknown = known.get('segments');
  const list = Array.isArray(segments) ? segments : [];
  const granted = tried.flatMap(({ conditions }) => conditions).find(({ op }) => op === 'command_prefix_allowlist');
  const coverage = granted?.why ?? null;
  // What an allowlist says is about the one command of a line, or about the one whose words it names.
  const isAbout = (segment: unknown): boolean =>
    coverage !== null && (list.length === 1 || coverage.endsWith(`: ${wordsOf(segment)}`));
  const told = list.some(isAbout);
  return [
    ['read as', text('form'), text('verdict')].filter((part) => part !== null).join(' '),
    ...list.map((segment, index) => segmentLine(segment, index, isAbout(segment) ? coverage : null)),
    ...[text('unread'), text('ungrantable'), told ? null : coverage].flatMap((why) =>
      why === null ? [] : [`  ${why}`],
    ),
  ];
}

const wordsOf = (segment: unknown): string => {
  const words: unknown = typeof segment === 'object' && segment !== null ? Reflect.get(segment, 'words') : null;
  return Array.isArray(words) ? words.join(' ') : '';
};

function segmentLine(segment: unknown, index: number, coverage: string | null): string {
  const known = new Map<string, unknown>(
    typeof segment === 'object' && segment !== null ? Object.entries(segment) : [],
  );
  const shown = wordsOf(segment);
  const program = known.get('program');
  const own = known.get('why');
  const cause = typeof own === 'string' ? own : coverage;
  const resolved = typeof program === 'string' ? program : 'does not resolve';
  const inside = known.get('revealed') === true ? ' (inside another)' : '';
  return `  ${index + 1}. ${shown}${inside} → ${resolved}${cause === null ? '' : ` · ${cause}`}`;
}
