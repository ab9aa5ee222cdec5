import type { Ask } from '../schema/ask.ts';
import { escapeText, hiddenCharacters, type SafeText } from './escape.ts';
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

/** Labelled lines of a card; `data` lines came from outside and stand apart from what the runtime established. */
export type CardPart = {
  readonly label: string;
  readonly lines: readonly SafeText[];
  /** May be folded, with the number of hidden lines said; everything else is never cut. */
  readonly foldable: boolean;
};

/** What every surface shows of an ask (03 §8, 10 §7.2). */
export type AskCard = {
  readonly title: SafeText;
  readonly deadline: string;
  readonly headline: SafeText;
  readonly parts: readonly CardPart[];
  readonly warnings: readonly SafeText[];
  readonly choices: readonly CardChoice[];
};

const line = (text: string): SafeText => escapeText(text, { mode: 'line' });
const fact = (label: string, ...lines: readonly string[]): CardPart => ({
  label,
  lines: lines.map(line),
  foldable: false,
});
const data = (label: string, text: string): CardPart => ({
  label,
  lines: splitSafe(escapeText(text, { mode: 'lines' })),
  foldable: true,
});

// Splitting a safe text at its own line breaks leaves safe lines.
const splitSafe = (text: SafeText) =>
  text.split('\n').filter((each, index, all) => each !== '' || index < all.length - 1) as SafeText[];

/**
 * The card of an ask.
 * @param now milliseconds since the epoch, for the time that is left
 * @param shown an id as this surface shows it
 */
export function askCard(ask: Ask, now: number, shown: (id: string) => string = (id) => id): AskCard {
  const policy = `${ask.policy.name} (${ask.policy.source}${ask.policy.sha256 === null ? '' : `, ${ask.policy.sha256.slice(0, 8)}`})`;
  return {
    title: line(`${shown(ask.id)} · ${ask.tools}.${ask.tool}`),
    deadline: ask.expires_at === null ? 'waits for ever' : formatRemaining(Date.parse(ask.expires_at) - now),
    headline: line(headline(ask)),
    parts: [
      ...(ask.question === null ? [] : questionParts(ask.question)),
      ...diffParts(ask),
      ...(ask.kind === 'budget' ? budgetParts(ask.args) : argumentParts(ask.args)),
      ...programParts(ask),
      ...pathParts(ask),
      ...urlParts(ask),
      fact('cwd', ask.cwd),
      fact('from', origin(ask, shown)),
      fact('rule', `${ruleText(ask)} of ${policy}${ask.record.note === null ? '' : `: ${ask.record.note}`}`),
      ...(ask.record.detail === null ? [] : [fact('reason', ask.record.detail)]),
      ...onceParts(ask),
      ...agentParts(ask.preview.adjudicator),
      ...(ask.preview.tool_says === undefined ? [] : [data('tool says', ask.preview.tool_says)]),
      fact('binds', ask.binding.slice(0, 12)),
    ],
    warnings: warnings(ask).map(line),
    choices: choices(ask),
  };
}

/** The ids that a card shows. */
export const idsOf = (ask: Ask): readonly string[] => [ask.id, ...(ask.run_id === null ? [] : [ask.run_id])];

export function headline(ask: Ask): string {
  if (ask.kind === 'question') return 'A question';
  if (ask.kind === 'budget') return 'A bound is spent: grant it once more?';
  if (ask.kind === 'unknown_outcome') return 'This call had started when the process ended; its outcome is unknown';
  if (ask.preview.diff !== undefined) return ask.preview.new_file === true ? 'Create a file' : 'Change a file';
  if (ask.record.exec !== null) return 'Run a command';
  if (ask.preview.url !== undefined) return `${ask.preview.url.method} ${ask.preview.url.host}`;
  return `Call ${ask.tools}.${ask.tool}`;
}

const questionParts = (question: NonNullable<Ask['question']>): readonly CardPart[] => [
  data('question', question.text),
  ...(question.detail === undefined ? [] : [data('detail', question.detail)]),
  ...(question.choices === undefined
    ? []
    : [data('choices', question.choices.map((choice, index) => `${index + 1}. ${choice}`).join('\n'))]),
];

function diffParts(ask: Ask): readonly CardPart[] {
  const { diff, diff_note: note } = ask.preview;
  return [
    ...(diff === undefined ? [] : [{ ...data('diff', diff), lines: data('diff', diff).lines.map(markTrailing) }]),
    ...(note === undefined ? [] : [fact('diff', note)]),
  ];
}

/** Blanks at the end of a changed line are marked (03 §8); the first column belongs to the diff. */
function markTrailing(shown: SafeText): SafeText {
  if (!/^[+-]/.test(shown)) return shown;
  // A dot in place of a blank leaves the line as safe as it was.
  return shown.replace(/(?<=.) +(?=␍?⏎?$)/, (blanks) => '·'.repeat(blanks.length)) as SafeText;
}

/**
 * Every argument, sorted by name, in full: what is shown is what will run. Names come from the model: `arg` stands
 * before them, so that none can pass for a fact of the runtime.
 */
function argumentParts(args: unknown): readonly CardPart[] {
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    return [data('arguments', JSON.stringify(args))];
  const entries = Object.entries(args).sort(([left], [right]) => (left < right ? -1 : 1));
  if (entries.length === 0) return [fact('arguments', 'none')];
  return entries.map(([key, value]) =>
    data(`arg ${line(key)}`, typeof value === 'string' ? value : JSON.stringify(value)),
  );
}

const counted: Readonly<Record<string, string>> = {
  maxTurns: 'model calls',
  maxToolCalls: 'tool calls',
  maxTokens: 'tokens',
};

/** The bound, what is used of it, and what one more grant means (10 §7.8). The runtime wrote these arguments. */
function budgetParts(args: unknown): readonly CardPart[] {
  const { bound, used, limit, more } = args as { bound: string; used: number; limit: number; more: number };
  const unit = counted[bound] ?? bound;
  return [
    fact('bound', bound),
    fact('used', `${used} of ${limit} ${unit}`),
    fact('grant', `${more} more ${unit} for this run; then it asks again`),
  ];
}

function programParts(ask: Ask): readonly CardPart[] {
  const { exec } = ask.record;
  if (exec === null) return [];
  const words = exec.argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
  return [
    fact('runs', exec.form === 'sh' ? `/bin/sh: ${words}` : words),
    fact('program', exec.file === null ? 'not resolved' : exec.file),
  ];
}

const pathParts = (ask: Ask): readonly CardPart[] =>
  (ask.preview.paths ?? []).map((path) =>
    fact(
      'path',
      `${path.given}${path.real === path.given ? '' : ` → ${path.real}`}${path.inside ? '' : ' (outside the workspace)'}${path.link ? ' (through a link)' : ''}`,
    ),
  );

/** Why the answer is not remembered, unless that is why it was asked. */
const onceParts = ({ preview: { reserved }, record }: Ask): readonly CardPart[] =>
  reserved === undefined || reserved === record.detail ? [] : [fact('once', `asked each time: ${reserved}`)];

/** The agent that may answer in the operator's place (03 §7.7). */
const agentParts = (agent: Ask['preview']['adjudicator']): readonly CardPart[] =>
  agent === undefined
    ? []
    : [fact('agent', `${agent.chain}, ${agent.used} of ${agent.cap} answers, adjudicator: ${agent.state}`)];

function urlParts(ask: Ask): readonly CardPart[] {
  const { url } = ask.preview;
  return url === undefined ? [] : [fact('url', `${url.method} ${url.scheme}://${url.host}:${url.port}${url.path}`)];
}

function origin(ask: Ask, shown: (id: string) => string): string {
  const parts = [
    ...(ask.session_id === null ? [] : [`session ${ask.session_name ?? ask.session_id}`]),
    ...(ask.step_no === null ? [] : [`plan ${ask.plan_name ?? '-'}, step ${ask.step_no}`]),
    ...(ask.run_id === null ? [] : [shown(ask.run_id)]),
    ...(ask.chain_id === null ? [] : [`chain ${ask.chain_id}`]),
    ...(ask.task_id === null ? [] : [`task ${ask.task_id}`]),
  ];
  return parts.join(', ');
}

/** Counted from 1 for people; JSON counts from 0. */
function ruleText(ask: Ask): string {
  const { matched_rule: rule, reason } = ask.record;
  if (rule !== null) return `rule ${rule + 1}`;
  return reason === 'default_action' ? 'default action' : reason.replaceAll('_', ' ');
}

function warnings(ask: Ask): readonly string[] {
  const hidden = hiddenCharacters(allText(ask.args));
  return [
    ...(hidden.length === 0 ? [] : [`hidden or look-alike characters: ${hidden.join(', ')}`]),
    ...((ask.preview.paths ?? []).some((path) => !path.inside) ? ['a path lies outside the workspace'] : []),
    ...(ask.preview.url === undefined ? [] : ['this call uses the network']),
    ...(ask.preview.policy_changed === true ? ['the policy changed since this was asked'] : []),
    ...(ask.policy.state === 'invalid' ? ['the policy is invalid: everything asks'] : []),
  ];
}

function allText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, each]) => `${key}\n${allText(each)}`)
    .join('\n');
}

/** 03 §8 `flags`: what a person should know before answering, as words for programs. */
export const askFlags = (ask: Ask): readonly string[] => [
  ...(hiddenCharacters(JSON.stringify(ask.args)).length > 0 ? ['hidden_characters'] : []),
  ...((ask.preview.paths ?? []).some((path) => !path.inside) ? ['outside_workspace'] : []),
  ...(ask.preview.url === undefined ? [] : ['network']),
  ...(ask.policy.state === 'invalid' ? ['policy_invalid'] : []),
  ...(ask.verdict?.by.startsWith('agent:') === true ? ['adjudicated'] : []),
];

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
  const width = Math.max(...card.parts.map((part) => Math.min(part.label.length, 16)));
  const deadline = /\d/.test(card.deadline) ? `expires in ${card.deadline}` : card.deadline;
  const out: string[] = [...broken('', `ASK ${card.title}  (${deadline})`, 4), ...broken('', card.headline, 4)];
  let hidden = 0;
  for (const part of card.parts) {
    const shown = part.foldable ? part.lines.slice(0, most) : part.lines;
    hidden += part.lines.length - shown.length;
    // The name of an argument comes from the model and may be of any length.
    const apart = screen !== null && part.label.length > width;
    if (apart) out.push(...broken('  ', part.label, 4));
    for (const [index, text] of shown.entries()) {
      out.push(...broken(`  ${(index === 0 && !apart ? part.label : '').padEnd(width)}  `, text));
    }
    if (shown.length < part.lines.length) {
      out.push(`  ${''.padEnd(width)}  (${part.lines.length - shown.length} of ${part.lines.length} lines hidden)`);
    }
  }
  out.push(...card.warnings.flatMap((text) => broken('  ! ', text)));
  return { lines: out, hidden };
}
