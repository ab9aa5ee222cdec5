import type { Ask } from '../schema/ask.ts';
import { budgetWords } from './budget.ts';
import { callParts, type CardPart, type Pen, pens } from './card-parts.ts';
import { cardWarnings } from './card-warnings.ts';
import type { Glyphs, SafeText } from './escape.ts';
import { formatRemaining, wrap } from './format.ts';

export type CardChoice =
  | 'once'
  | 'session'
  | 'edits'
  | 'rule'
  | 'edit'
  | 'deny'
  | 'deny_feedback'
  | 'answer'
  | 'run_again'
  | 'done'
  | 'skip'
  | 'explain'
  | 'full'
  | 'later';

/** What every surface shows of an ask (03 §8, 10 §7.2). */
export type AskCard = {
  readonly title: SafeText;
  readonly deadline: string;
  readonly headline: SafeText;
  readonly parts: readonly CardPart[];
  readonly warnings: readonly SafeText[];
  readonly choices: readonly CardChoice[];
};

/** Of an ask that is over nothing is left: its state is said. */
function deadlineOf({ state, expires_at }: Ask, now: number): string {
  if (state !== 'pending') return state;
  return expires_at === null ? 'waits for ever' : formatRemaining(Date.parse(expires_at) - now);
}

/**
 * The card of an ask.
 * @param now milliseconds since the epoch, for the time that is left
 * @param shown an id as this surface shows it
 * @param glyphs the signs that this surface draws with
 */
export function askCard(
  ask: Ask,
  now: number,
  shown: (id: string) => string = (id) => id,
  glyphs: Glyphs = 'unicode',
): AskCard {
  const pen = pens[glyphs];
  const { fact, line } = pen;
  return {
    title: line(`${shown(ask.id)} · ${ask.tools}.${ask.tool}`),
    deadline: deadlineOf(ask, now),
    headline: line(headline(ask)),
    parts: toldLast([
      ...(ask.question === null ? [] : questionParts(ask.question, pen)),
      ...(ask.kind === 'budget' ? budgetParts(ask.args, pen) : ask.kind === 'question' ? [] : callParts(ask, pen)),
      ...(ask.preview.started_at === undefined ? [] : [fact('started', ask.preview.started_at)]),
      ...(ask.preview.file_now === undefined ? [] : [fact('file now', fileNow[ask.preview.file_now])]),
      fact('cwd', ask.cwd),
      fact('from', origin(ask, shown)),
      fact('rule', ruleText(ask, pen)),
      ...(ask.record.detail === null ? [] : [fact('reason', ask.record.detail)]),
      ...onceParts(ask, pen),
      ...(ask.preview.tool_says === undefined ? [] : [saysPart(ask.preview.tool_says, pen)]),
      ...agentParts(ask, pen),
      fact('binds', ask.binding.slice(0, 12)),
    ]),
    warnings: cardWarnings(ask).map(line),
    choices: choices(ask),
  };
}

const fileNow = {
  as_before: 'as it was before the call, which has not changed it',
  another: 'not what it was before the call, which may have changed it',
} as const;

/** Who pages through the whole of a card meets what must be seen first, and what says the same again behind it. */
const toldLast = (parts: readonly CardPart[]): readonly CardPart[] => [
  ...parts.filter(({ extra }) => extra !== 'told'),
  ...parts.filter(({ extra }) => extra === 'told'),
];

/** The ids that a card shows. */
export const idsOf = (ask: Ask): readonly string[] => [ask.id, ...(ask.run_id === null ? [] : [ask.run_id])];

export function headline(ask: Ask): string {
  if (ask.kind === 'question') return 'A question';
  if (ask.kind === 'budget') return 'A bound is spent: grant it once more?';
  if (ask.kind === 'unknown_outcome') return 'This call had started when the process ended; its outcome is unknown';
  if (ask.preview.diff !== undefined) return ask.preview.new_file === true ? 'Create a file' : 'Change a file';
  if (ask.record.exec !== null) {
    const { first = [], total = 1 } = ask.preview.commands ?? {};
    if (total === null) return first.length > 1 ? `Run more than ${first.length} commands` : 'Run a command';
    const own = total - first.filter(({ revealed }) => revealed).length;
    return own > 1 ? `Run ${own} commands` : 'Run a command';
  }
  if (ask.preview.url !== undefined) return `${ask.preview.url.method} ${ask.preview.url.host}`;
  return `Call ${ask.tools}.${ask.tool}`;
}

const questionParts = (question: NonNullable<Ask['question']>, { data }: Pen): readonly CardPart[] => [
  data('question', question.text),
  ...(question.detail === undefined ? [] : [data('detail', question.detail)]),
  ...(question.choices === undefined
    ? []
    : [data('choices', question.choices.map((choice, index) => `${index + 1}. ${choice}`).join('\n'))]),
];

function budgetParts(args: unknown, { fact }: Pen): readonly CardPart[] {
  const { bound, used, grant } = budgetWords(args);
  return [fact('bound', bound), fact('used', used), fact('grant', grant)];
}

const mostSaid = 3;

/** Always under its label, and nobody has to have read it: a tool may say anything of itself (10 §7.2). */
function saysPart(text: string, { data }: Pen): CardPart {
  const part = data('tool says', text);
  return { ...part, lines: part.lines.slice(0, mostSaid), extra: 'help' };
}

/** Why the answer is not remembered, unless that is why it was asked. */
const onceParts = ({ preview: { reserved }, record }: Ask, { fact }: Pen): readonly CardPart[] =>
  reserved === undefined || reserved === record.detail ? [] : [fact('once', `asked each time: ${reserved}`)];

/** The agent that may answer in the operator's place (03 §7.7). */
function agentParts({ state, preview: { adjudicator: agent } }: Ask, { fact }: Pen): readonly CardPart[] {
  if (agent === undefined) return [];
  // What it does is told while the ask is open.
  const does = state === 'pending' ? `, adjudicator: ${agent.state}` : '';
  return [fact('agent', `${agent.chain}, ${agent.used} of ${agent.cap} answers${does}`)];
}

function origin(ask: Ask, shown: (id: string) => string): string {
  const { by_model: by } = ask.preview;
  const parts = [
    ...(ask.session_id === null ? [] : [`session ${ask.session_name ?? ask.session_id}`]),
    ...(ask.step_no === null ? [] : [`plan ${ask.plan_name ?? '-'}, step ${ask.step_no}`]),
    ...(ask.run_id === null ? [] : [shown(ask.run_id)]),
    ...(ask.chain_id === null ? [] : [`chain ${ask.chain_id}`]),
    ...(ask.task_id === null ? [] : [`task ${ask.task_id}`]),
    ...(by === undefined ? [] : [`${by.model} at ${by.backend}`]),
  ];
  return parts.join(', ');
}

/** `default 51d0c7aa (builtin) · rule 14 of 15 → approve: note`. Counted from 1 for people; JSON counts from 0. */
function ruleText({ policy, record, preview }: Ask, { arrow, dot }: Pen): string {
  const { matched_rule: rule, reason, action, note } = record;
  const digest = policy.sha256 === null ? '' : ` ${policy.sha256.slice(0, 8)}`;
  // The count is of the policy that it was asked under.
  const of = preview.rules === undefined || preview.policy_changed === true ? '' : ` of ${preview.rules}`;
  const own = rule === null ? null : `rule ${rule + 1}${of}`;
  const by =
    reason === 'floor'
      ? `floor${own === null ? '' : ` under ${own}`}`
      : (own ?? (reason === 'default_action' ? 'default action' : reason.replaceAll('_', ' ')));
  return `${policy.name}${digest} (${policy.source}) ${dot} ${by} ${arrow} ${action}${note === null ? '' : `: ${note}`}`;
}

/** 03 §8 `choices`: what this ask may be answered with; the runtime checks it once more. */
export function choices(ask: Ask): readonly CardChoice[] {
  if (ask.kind === 'question') return ['answer', 'full', 'later'];
  if (ask.kind === 'budget') return ['once', 'deny', 'later'];
  if (ask.kind === 'unknown_outcome') return ['run_again', 'done', 'skip', 'full', 'later'];
  const edits: readonly CardChoice[] = ask.preview.edits_root === undefined ? [] : ['edits'];
  const remembered: readonly CardChoice[] = isRememberable(ask) ? ['session', ...edits, 'rule'] : [];
  return ['once', ...remembered, 'edit', 'deny', 'deny_feedback', 'explain', 'full', 'later'];
}

/** Whether rules alone led to it, under a policy that can be named: the rest is a person's to answer each time (03 §9). */
const isRememberable = ({ record, policy, preview }: Ask): boolean =>
  preview.reserved === undefined &&
  policy.sha256 !== null &&
  (record.reason === 'matched_rule' || record.reason === 'default_action');

/** The screen that card lines are broken for; null where nothing is broken (a pipe, a file). */
export type CardScreen = { readonly columns: number; readonly width: (text: string) => number } | null;

/** Columns that a broken line has at least, however narrow the screen is. */
const leastRoom = 16;

/**
 * Lines of a card for a line-wise surface, and how many lines of foldable parts are hidden. A line that is longer than
 * the screen goes on under its own beginning: were it left to the terminal, a long argument could go on in the first
 * column and pass for a line of the card (03 §8.1).
 */
export function cardLines(
  card: AskCard,
  most: number,
  screen: CardScreen = null,
): { readonly lines: readonly string[]; readonly hidden: number } {
  const broken = (first: string, text: string, under = first.length): readonly string[] => {
    if (screen === null) return [first + text];
    const taken = Math.max(screen.width(first), under);
    const pieces = wrap(text, Math.max(leastRoom, screen.columns - taken), screen.width);
    return pieces.map((piece, index) => (index === 0 ? first : ' '.repeat(under)) + piece);
  };
  const whole = most === Number.POSITIVE_INFINITY;
  const parts = card.parts.filter(({ extra }) => whole || extra !== 'told');
  const width = Math.max(...parts.map((part) => Math.min(part.label.length, 16)));
  const deadline = /\d/.test(card.deadline) ? `expires in ${card.deadline}` : card.deadline;
  const out: string[] = [...broken('', `ASK ${card.title}  (${deadline})`, 4), ...broken('', card.headline, 4)];
  let hidden = 0;
  for (const part of parts) {
    const shown = part.foldable ? part.lines.slice(0, most) : part.lines;
    if (part.extra === undefined) hidden += part.lines.length - shown.length;
    const digits = Math.max(0, ...(part.numbers ?? []).map((number) => number.length));
    // The name of an argument comes from the model and may be of any length.
    const apart = screen !== null && part.label.length > width;
    if (apart) out.push(...broken('  ', part.label, 4));
    for (const [index, text] of shown.entries()) {
      const number = digits === 0 ? '' : `${(part.numbers?.[index] ?? '').padStart(digits)} `;
      out.push(...broken(`  ${(index === 0 && !apart ? part.label : '').padEnd(width)}  ${number}`, text));
    }
    if (shown.length < part.lines.length) {
      out.push(`  ${''.padEnd(width)}  (${part.lines.length - shown.length} of ${part.lines.length} lines hidden)`);
    }
  }
  out.push(...card.warnings.flatMap((text) => broken('  ! ', text)));
  return { lines: out, hidden };
}
