import { resolve } from 'node:path';
import type { RuntimeClient } from '../../client/operations.ts';
import { RuntimeError } from '../../schema/errors.ts';
import type { Plan, PlanningStep } from '../../schema/plan.ts';
import { isObject } from '../../text/json-object.ts';
import { plural } from '../../view/format.ts';
import { stepLine } from '../../view/plan-lines.ts';
import type { Context, Handler } from '../context.ts';
import { readInput, ways } from '../input.ts';
import { readFileBytes } from '../input-bytes.ts';
import { followPlanning } from '../follow-planning.ts';
import { runSteps } from '../plan-steps.ts';
import { planOptions, resolveOnAsk } from '../start-run.ts';

/** What a planning came to, printed; or the exit code of the run that ended it. */
async function finished(
  context: Context,
  client: RuntimeClient,
  first: PlanningStep,
  say: (done: Exclude<PlanningStep, { kind: 'run' }>) => readonly string[],
  exploring = false,
): Promise<number> {
  const done = await followPlanning(context, client, first, exploring);
  if (typeof done === 'number') return done;
  if (context.globals.format === 'text') await context.print(say(done).join('\n'));
  else await context.printJson(done.kind === 'plan' ? done.plan : done.context);
  if (done.kind === 'plan' && done.question !== null) {
    context.hint(`the planner asks: ${done.question}`);
    context.hint('  reins plan new "<goal with the answer>"');
  } else if (done.kind === 'plan' && done.plan.active && context.terminal.stderrIsTerminal) {
    context.hint(`Next: ${context.placed('reins plan next')}`);
  }
  return 0;
}

const listed = (plan: Plan): readonly string[] => plan.steps.map(stepLine);

/** Planning waits for nobody's answer but a person's who is there. */
const planningAsk = async (context: Context) => {
  const onAsk = await resolveOnAsk(context, context.client);
  return onAsk === 'suspend' ? ('deny' as const) : onAsk;
};

/** `plan new` (07 §4.4). */
const create: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const from = flags.text('from');
  const goal = await readInput(words, context.globals.input, context);
  if (goal === null && from === null) throw new RuntimeError('usage', 'no goal', { hints: ways(context.process.argv) });
  const text = from === null ? null : await readStepFile(from, context);
  const explore = flags.bool('explore') === true;
  const uses = from !== null ? [] : (['planner', ...(explore ? (['explorer'] as const) : [])] as const);
  const onAsk = await planningAsk(context);
  const client = await context.client();
  const wanted = {
    goal: goal ?? '',
    from: text,
    explore,
    planner_model: flags.text('planner-model'),
    shell: context.globals.shell,
    run: await planOptions(context, client, uses, onAsk),
  };
  const first = await client.newPlan(wanted).catch((error: unknown) => {
    throw from === null ? error : withPlace(error, from);
  });
  return finished(context, client, first, (done) =>
    done.kind === 'plan'
      ? [`Created plan "${done.plan.name}" with ${plural(done.plan.total, 'step')}. Now active.`, ...listed(done.plan)]
      : [],
  );
};

/** What the steps of a file lack is said with the file. */
function withPlace(error: unknown, path: string): unknown {
  const data = error instanceof RuntimeError ? error.data : null;
  if (!(error instanceof RuntimeError) || !isObject(data) || data['param'] !== 'from') return error;
  const message = `--from: ${path}: ${error.message} It takes a Markdown list or a JSON array.`;
  return new RuntimeError('usage', message, { cause: error });
}

const maxFileBytes = 4 * 1024 * 1024;

async function readStepFile(path: string, context: Context): Promise<string> {
  const bytes = await readFileBytes(resolve(context.process.cwd, path), path, context, '--from');
  if (bytes.length > maxFileBytes)
    throw new RuntimeError('usage', `--from: ${path} is above ${maxFileBytes / 1024 / 1024} MiB`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new RuntimeError('usage', `--from: ${path} is no UTF-8 text`, { cause: error });
  }
}

/** `plan next` (07 §4.5, §4.6). */
const next: Handler = (context) => runSteps(context);

/** `plan replan` (07 §4.7). */
const replan: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const onAsk = await planningAsk(context);
  const client = await context.client();
  const first = await client.replan({
    plan: flags.text('plan'),
    instruction: words.join(' '),
    shell: context.globals.shell,
    run: await planOptions(context, client, ['planner'], onAsk),
  });
  return finished(context, client, first, (done) =>
    done.kind === 'plan' ? [`Replanned: ${plural(done.added, 'new step')}.`, ...listed(done.plan)] : [],
  );
};

/** `plan explore` (07 §4.8). */
const explore: Handler = async (context) => {
  const onAsk = await planningAsk(context);
  const client = await context.client();
  const first = await client.explorePlan({
    plan: context.invocation.flags.text('plan'),
    run: await planOptions(context, client, ['explorer'], onAsk),
  });
  const told = (done: Exclude<PlanningStep, { kind: 'run' }>): readonly string[] => {
    if (done.kind !== 'context') return [];
    const { languages, entry_points, test_commands } = done.context;
    const named = languages.length === 0 ? 'no languages' : languages.join(', ');
    return [
      `Explored: ${named}; ${plural(entry_points.length, 'entry point')}, ${plural(test_commands.length, 'test command')}.`,
    ];
  };
  return finished(context, client, first, told, true);
};

export const handlers = { new: create, next, replan, explore };
