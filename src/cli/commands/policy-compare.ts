import { RuntimeError } from '../../schema/errors.ts';
import type { PolicyComparison, PolicyDifference, ReplayReport, VerdictChange } from '../../schema/policy-views.ts';
import { callSummary } from '../../view/call-summary.ts';
import { escapeText } from '../../view/escape.ts';
import type { Context, Handler } from '../context.ts';
import { policyMeant } from '../policy-meant.ts';
import { when } from '../times.ts';

const dayMs = 86_400_000;
/** `--since` in milliseconds since the epoch; 30 days without it. */
const sinceOf = (context: Context): number =>
  context.invocation.flags.number('since') ?? context.process.now() - 30 * dayMs;

/** `policy replay` (02 §14.4). */
const replay: Handler = async (context) => {
  const { flags } = context.invocation;
  const policy = policyMeant(context);
  if (policy === null) {
    throw new RuntimeError('usage', 'say which policy the recorded calls are put to', {
      hints: ['reins policy replay strict', 'reins policy list'],
    });
  }
  const report = await (await context.client()).replayCalls({
    policy,
    trust: [...context.globals.trust],
    since: sinceOf(context),
    session: flags.text('session'),
    tools: flags.text('tools'),
    limit: flags.number('limit') ?? 1000,
  });
  if (context.globals.format === 'text') await printReplay(context, report);
  else {
    const changes = report.changes.map(({ args, ...change }) => ({ ...change, summary: callSummary(args) }));
    await context.printJson({ schema_version: 1, ...report, changes });
  }
  const limit = flags.text('fail-on');
  const hit = report.widened + (limit === 'changed' ? report.tightened : 0);
  return limit !== null && hit > 0 ? 1 : 0;
};

async function printReplay(context: Context, report: ReplayReport): Promise<void> {
  if (report.changes.length > 0) {
    await context.printTable(
      [
        { title: 'TIME' },
        { title: 'TOOL' },
        { title: 'SUMMARY', flexible: true },
        { title: 'WAS' },
        { title: 'NOW' },
        { title: 'RULE' },
      ],
      report.changes.map((change) => [
        when(context, change.at),
        `${change.tools}.${change.tool}`,
        callSummary(change.args),
        wasText(change),
        change.now,
        change.rule === null ? 'default' : String(change.rule + 1),
      ]),
    );
  }
  const { checked, tightened, widened, unchanged, not_comparable: apart } = report;
  await context.print(
    `checked ${checked}, tightened ${tightened}, widened ${widened}, unchanged ${unchanged}, not comparable ${apart}`,
  );
}

const wasText = ({ was, outcome }: VerdictChange): string =>
  outcome === null ? was : `${was}, ${outcome.state}${outcome.by === null ? '' : ` by ${outcome.by}`}`;

/** `policy diff` (02 §14.5). */
const diff: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const [a = '', b = ''] = words;
  const compared = await (await context.client()).comparePolicies({ a, b, trust: [...context.globals.trust] });
  if (context.globals.format === 'text') await printComparison(context, compared);
  else await context.printJson({ schema_version: 1, ...compared });
  const widened = compared.differences.some(({ change }) => change === 'widened');
  return flags.bool('fail-on-widening') === true && widened ? 1 : 0;
};

async function printComparison(context: Context, compared: PolicyComparison): Promise<void> {
  const { structure, calls, differences } = compared;
  const { blocks, removed, added, moved } = structure;
  for (const { block, a, b } of blocks) await context.print(`${block}: ${JSON.stringify(a)} → ${JSON.stringify(b)}`);
  for (const { index, rule } of removed) await context.print(`- rule ${index + 1}  ${JSON.stringify(rule)}`);
  for (const { index, rule } of added) await context.print(`+ rule ${index + 1}  ${JSON.stringify(rule)}`);
  for (const { from, to } of moved) await context.print(`> rule ${from + 1} is rule ${to + 1}`);
  if (differences.length === 0) return context.print(`no difference on ${calls} calls`);
  await context.printTable(
    [
      { title: 'CHANGE' },
      { title: 'CALL', flexible: true },
      { title: 'FROM' },
      { title: 'FIRST' },
      { title: 'SECOND' },
    ],
    differences.map((one) => [
      one.change,
      escapeText(`${one.tools}.${one.tool} ${callSummary(one.args)}`.trimEnd(), { mode: 'line' }),
      one.from,
      sideText(one.a),
      sideText(one.b),
    ]),
  );
  const widened = differences.filter(({ change }) => change === 'widened').length;
  await context.print(`widened ${widened}, tightened ${differences.length - widened} of ${calls} calls`);
}

function sideText({ action, rule, reason }: PolicyDifference['a']): string {
  const by =
    rule === null ? (reason === 'default_action' ? 'default' : reason.replaceAll('_', ' ')) : `rule ${rule + 1}`;
  return `${action} (${reason === 'floor' ? `floor, ${by}` : by})`;
}

export const handlers = { replay, diff };
