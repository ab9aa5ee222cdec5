import { RuntimeError } from '../../schema/errors.ts';
import type { ReplayReport, VerdictChange } from '../../schema/policy-views.ts';
import { callSummary } from '../../view/call-summary.ts';
import type { Context, Handler } from '../context.ts';
import { when } from '../times.ts';

const dayMs = 86_400_000;
/** `--since` in milliseconds since the epoch; 30 days without it. */
const sinceOf = (context: Context): number =>
  context.invocation.flags.number('since') ?? context.process.now() - 30 * dayMs;

/** `policy replay` (02 §14.4). */
const replay: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const policy = words[0] ?? context.globals.policy?.value ?? null;
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

export const handlers = { replay };
