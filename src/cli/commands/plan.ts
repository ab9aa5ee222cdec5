import { RuntimeError } from '../../schema/errors.ts';
import type { Plan } from '../../schema/plan.ts';
import { measure, plural } from '../../view/format.ts';
import { planLines, planMarkdown } from '../../view/plan-lines.ts';
import { confirmed } from '../confirm.ts';
import type { Context, Handler } from '../context.ts';
import { when } from '../times.ts';
import { said } from '../said.ts';

/** `plan list` (06 §13): `* name  [2/4]  active  1h ago`. */
const list: Handler = async (context) => {
  const plans = await (await context.client()).listPlans({ status: null });
  if (context.globals.format !== 'text') {
    await context.printJson(plans);
    return 0;
  }
  if (plans.length === 0) {
    context.hint('no plans; reins plan new "<goal>" makes one');
    return 0;
  }
  const rows = plans.map((plan) => ({ ...plan, count: `[${plan.done}/${plan.total}]` }));
  const width = await measure(rows.map(({ name }) => name));
  const nameWidth = rows.reduce((most, { name }) => Math.max(most, width(name)), 0);
  const countWidth = rows.reduce((most, { count }) => Math.max(most, count.length), 0);
  const lines = rows.map(({ active, name, count, status, updated_at }) =>
    [
      `${active ? '*' : ' '} ${name}${' '.repeat(nameWidth - width(name))}`,
      count.padEnd(countWidth),
      status.padEnd('completed'.length),
      when(context, updated_at),
    ].join('  '),
  );
  // In one piece: a write for each of thousands takes longer than everything else.
  await context.print(lines.join('\n'));
  return 0;
};

const show: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const asMarkdown = flags.bool('markdown') === true;
  if (asMarkdown && context.globals.format !== 'text') {
    throw new RuntimeError('usage', '--markdown and a JSON output format exclude each other');
  }
  const plan = await (await context.client()).showPlan({ plan: words[0] ?? null });
  if (asMarkdown) await context.print(planMarkdown(plan).trimEnd());
  else await printPlan(context, plan);
  return 0;
};

const printPlan = (context: Context, plan: Plan): Promise<void> =>
  context.globals.format === 'text' ? context.print(planLines(plan).join('\n')) : context.printJson(plan);

const change: Handler = async (context) => {
  const plan = await (await context.client()).switchPlan({ plan: context.invocation.words[0] ?? '' });
  await said(context, `Switched to plan "${plan.name}".`, plan);
  return 0;
};

const archive: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const plan = await (await context.client()).archivePlan({
    plan: words[0] ?? null,
    force: flags.bool('force') === true,
  });
  await said(context, `Archived plan "${plan.name}".`, plan);
  return 0;
};

const remove: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const deleted = await (await context.client()).deletePlan({
    plan: words[0] ?? '',
    force: flags.bool('force') === true,
  });
  await said(context, `Deleted plan "${deleted.name}".`, deleted);
  return 0;
};

/** Asks on a terminal first; elsewhere it needs `--force`. */
const clean: Handler = async (context) => {
  const client = await context.client();
  const force = context.invocation.flags.bool('force') === true;
  const gone = (await client.listPlans({ status: null })).filter(({ status }) => status !== 'active');
  if (gone.length > 0 && !force && context.terminal.interactive()) {
    const question = `Delete ${plural(gone.length, 'plan')} that are completed or archived? [y] delete  [n] keep`;
    if (!(await confirmed(context, question))) return 0;
  }
  const { names } = await client.cleanPlans({ force });
  await said(context, names.length === 0 ? 'Nothing to clean.' : `Deleted ${plural(names.length, 'plan')}.`, { names });
  return 0;
};

/** The number of a step (07 §3.3). @throws RuntimeError usage */
function ordinalOf(context: Context): number {
  const word = context.invocation.words[0] ?? '';
  const ordinal = Number(word);
  if (/^\d+$/.test(word) && Number.isSafeInteger(ordinal)) return ordinal;
  throw new RuntimeError('usage', `"${word}" is no number of a step`, { hints: ['reins plan show'] });
}

const retry: Handler = async (context) => {
  const ordinal = ordinalOf(context);
  const plan = context.invocation.flags.text('plan');
  const done = await (await context.client()).retryStep({ plan, ordinal });
  if (done.warning !== null) context.warn(done.warning);
  if (done.was_pending) context.hint(`step ${ordinal} is pending already`);
  await printPlan(context, done.plan);
  return 0;
};

const skip: Handler = async (context) => {
  const ordinal = ordinalOf(context);
  const plan = context.invocation.flags.text('plan');
  await printPlan(context, await (await context.client()).skipStep({ plan, ordinal }));
  return 0;
};

export const handlers = { list, show, switch: change, archive, delete: remove, clean, retry, skip };
