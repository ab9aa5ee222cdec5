import type { RuntimeClient } from '../../client/operations.ts';
import { RuntimeError } from '../../schema/errors.ts';
import type { RuleSuggestion, SuggestReport, WrittenRule } from '../../schema/policy-views.ts';
import { callSummary } from '../../view/call-summary.ts';
import { escapeText } from '../../view/escape.ts';
import { plural } from '../../view/format.ts';
import type { Context, Handler } from '../context.ts';
import { openKeys } from '../keys.ts';

/** Keys in this time after a question was painted answer nothing (06 §9). */
const guardMs = 400;
const monthMs = 30 * 86_400_000;

/** `policy suggest` (02 §14.6): rules for what was approved again and again. */
const suggest: Handler = async (context) => {
  const { flags } = context.invocation;
  const write = flags.bool('write') === true;
  if (write && (!context.terminal.interactive() || context.globals.format !== 'text')) {
    throw new RuntimeError('usage', '--write asks about each rule and needs a terminal', {
      hints: ['reins policy suggest'],
    });
  }
  const client = await context.client();
  const look = () =>
    client.suggestRules({ ...wanted(context), since: flags.number('since') ?? context.process.now() - monthMs });
  const report = await look();
  if (context.globals.format !== 'text') {
    await context.printJson({ schema_version: 1, ...report });
    return 0;
  }
  if (report.suggestions.length === 0) {
    context.hint(`nothing to suggest: ${plural(report.approvals, 'approval')} looked at, three of a kind make a rule`);
    return 0;
  }
  if (write) return writeEach(context, client, report, look);
  for (const one of report.suggestions) await context.print(suggestionLines(one).join('\n'));
  context.hint('reins policy suggest --write adds them, each after a question');
  return 0;
};

const wanted = ({ globals }: Context) => ({ policy: globals.policy?.value ?? null, trust: [...globals.trust] });

function suggestionLines(one: RuleSuggestion): readonly string[] {
  const more = one.also_allowed - one.also.length;
  return [
    JSON.stringify(one.rule),
    `  as rule ${one.index + 1}, from ${plural(one.approvals, 'approval')}; would have answered ${plural(one.answers, 'ask')}`,
    one.also_allowed === 0
      ? '  no other recorded call would have been allowed'
      : `  would also have allowed ${plural(one.also_allowed, 'recorded call')}:`,
    ...one.also.map(({ tools, tool, args, was }) => `    ${tools}.${tool} ${callSummary(args)} (${was})`),
    ...(more > 0 ? [`    and ${more} more`] : []),
  ];
}

/** One question for each; after a rule was written the rest is looked at anew, since it may need less. */
async function writeEach(
  context: Context,
  client: RuntimeClient,
  first: SuggestReport,
  look: () => Promise<SuggestReport>,
): Promise<number> {
  const declined = new Set<string>();
  for (let report = first; ; ) {
    const one = report.suggestions.find(({ rule }) => !declined.has(JSON.stringify(rule)));
    if (one === undefined) return 0;
    const target = await client.ruleTarget(wanted(context));
    const answer = await askWrite(context, one, target);
    if (answer === 'stop') return 0;
    if (answer === 'no') {
      context.terminal.err('not written\n');
      declined.add(JSON.stringify(one.rule));
      continue;
    }
    const added = await client.addRule({
      ...wanted(context),
      rule: { '//': noteOn(one, context.process.now()), ...one.rule } satisfies WrittenRule,
      index: one.index,
      sha256: report.policy.sha256 ?? '',
    });
    await context.print(`Added rule ${one.index + 1} to ${added.path}.`);
    if (added.copy !== null) await context.print(`${added.path} governs now (hitl-policy-name = ${added.copy}).`);
    report = await look();
  }
}

const noteOn = ({ asks }: RuleSuggestion, now: number): string => {
  const more = asks.length - 1;
  return `added ${new Date(now).toISOString()} from ${asks[0] ?? 'asks'}${more > 0 ? ` and ${more} more` : ''}`;
};

/** Nothing but `y` writes. */
async function askWrite(
  context: Context,
  one: RuleSuggestion,
  target: { readonly path: string; readonly copy: string | null },
): Promise<'yes' | 'no' | 'stop'> {
  const { terminal, process } = context;
  const keys = openKeys(process);
  const lines = suggestionLines(one).map((line) => escapeText(line, { mode: 'line' }));
  const copied = target.copy === null ? '' : ', a new copy of the policy that governs; it will govern from then on';
  terminal.err(`\n${lines.join('\n')}\n  to ${escapeText(target.path, { mode: 'line' })}${copied}\n`);
  const question = () => terminal.err('[y] write it  [n] leave it  [q] stop\n');
  question();
  const painted = process.now();
  try {
    for (;;) {
      const key = await keys.next(new AbortController().signal);
      if (key === null || key === '\u0003' || key === 'q') return 'stop';
      if (process.now() - painted < guardMs) continue;
      if (key === 'y') return 'yes';
      if (key === 'n') return 'no';
      question();
    }
  } finally {
    keys.close();
  }
}

export const handlers = { suggest };
