import type { RuntimeClient } from '../client/operations.ts';
import { playSteps, type StepsEnd } from '../client/play-plan.ts';
import type { StepOutcome, StepStarted } from '../schema/plan.ts';
import type { OnAsk, RunResult } from '../schema/run.ts';
import { formatRemaining } from '../view/format.ts';
import { planFlag, planLines, stepCommands, stepResult, stepWaits } from '../view/plan-lines.ts';
import type { Context } from './context.ts';
import { followRun } from './follow.ts';
import { followPlanner, showingAnswer } from './follow-planning.ts';
import { createOutput, type Output } from './output.ts';
import { type ResultObject, resultObject } from './result-json.ts';
import { planOptions, resolveOnAsk } from './start-run.ts';

const shownFailureLines = 20;

/** What the steps of one invocation share. */
type Played = {
  readonly context: Context;
  readonly client: RuntimeClient;
  readonly onAsk: OnAsk;
  /** The results so far, for a JSON format. */
  readonly executed: ResultObject[];
};

/** `plan next`, with `--auto` one step after the other. @returns the exit code of 07 §4.11 */
export async function runSteps(context: Context): Promise<number> {
  const { globals, invocation } = context;
  const auto = invocation.flags.bool('auto') === true;
  const onAsk = await resolveOnAsk(context, context.client);
  const client = await context.client();
  const options = await planOptions(context, client, ['executor', 'summarizer'], onAsk);
  const plan = invocation.flags.text('plan');
  const played: Played = { context, client, onAsk, executed: [] };
  // Who looks on sees the whole list first, and then one step after the other.
  if (auto && context.terminal.live) context.hint(planLines(await client.showPlan({ plan })).join('\n'));
  const end = await showingAnswer(context, () =>
    playSteps(
      client,
      { plan, shell: globals.shell, run: options },
      {
        step: (started) => followStep(played, started),
        async ended(outcome, { ordinal, total }) {
          const place = `Step ${ordinal} of ${total}`;
          await say(context, outcome, place);
          if (auto && outcome.can_split) context.hint(`${place} is split into smaller ones.`);
        },
        planning: followPlanner(context, client),
        split: async (split) => {
          if (split.kind === 'plan') context.hint(planLines(split.plan).join('\n'));
        },
        none: async (why) => {
          if (why === 'time') context.hint('the time of --timeout is used up; no further step was begun');
          else if (globals.format === 'text') await context.print('All steps are complete.');
        },
        goesOn: () => auto,
      },
    ),
  );
  return ended(played, end);
}

/** Follows the run of one step. @returns its active milliseconds */
async function followStep({ context, client, onAsk, executed }: Played, started: StepStarted): Promise<number> {
  const { ordinal, total, description, run, resumed } = started;
  const place = `Step ${ordinal} of ${total}`;
  context.hint(`${place}: ${description.split('\n', 1)[0] ?? ''}${resumed ? ' (goes on where it stopped)' : ''}`);
  const began = context.process.now();
  const { output, result } = stepOutput(context, executed);
  await followRun(context, client, run, {
    onAsk,
    output,
    heading: () => `step ${ordinal} of ${total} · ${formatRemaining(Math.max(1000, context.process.now() - began))}`,
    // What became of the step is said below, in the words of the plan.
    ending: () => undefined,
  });
  const ended = result();
  return ended === null ? 0 : Math.max(0, ended.duration_ms - ended.waited_ms);
}

/** The output of a step's run: nothing in text, one object of several in JSON, all lines of it in a stream. */
function stepOutput(
  context: Context,
  executed: ResultObject[],
): { readonly output: Output; readonly result: () => RunResult | null } {
  const stream = context.globals.format === 'stream-json' ? createOutput(context) : null;
  let last: RunResult | null = null;
  return {
    result: () => last,
    output: {
      full: context.globals.format !== 'text',
      started: async (run) => stream?.started(run),
      event: async (event) => stream?.event(event),
      failed: async () => undefined,
      async finished(result, extras) {
        last = result;
        executed.push(resultObject(result, extras));
        await stream?.finished(result, extras);
      },
    },
  };
}

async function say(context: Context, outcome: StepOutcome, place: string): Promise<void> {
  const { step } = outcome;
  const { terminal } = context;
  const note = (line: string) => terminal.err(`${terminal.style('err', 'yellow', 'reins:')} ${context.safe(line)}\n`);
  switch (step.status) {
    case 'completed':
      if (context.globals.format === 'text') await context.print(`${place} completed: ${stepResult(step)}`);
      if (step.summary_error !== null) context.warn(`${place.toLowerCase()} was not summed up: ${step.summary_error}`);
      return;
    case 'waiting':
      note(`${place.toLowerCase()} ${stepWaits(step)}`);
      terminal.err(`  ${context.placed(outcome.respond ?? `reins plan next${planFlag(outcome.plan)}`)}\n`);
      return;
    case 'running':
      note(
        `${place.toLowerCase()} stopped at its last checkpoint; ${context.placed(`reins plan next${planFlag(outcome.plan)}`)} goes on with it`,
      );
      return;
    case 'pending':
      note(`${place.toLowerCase()} was cancelled; it is pending again`);
      return;
    case 'skipped':
      return;
    case 'failed':
      sayFailure(context, outcome, place);
  }
}

/** `Step 2 of 4 failed (<class>): <message>`, the last lines of its text, and what can be done (07 §4.11). */
function sayFailure(context: Context, { plan, step }: StepOutcome, place: string): void {
  const { terminal } = context;
  const prefix = terminal.style('err', 'red', 'reins:');
  const text = step.failure_text ?? '';
  terminal.err(
    `${prefix} ${context.safe(`${place.toLowerCase()} failed (${step.failure_class ?? 'logic'}): ${text}`)}\n`,
  );
  const said = (step.result_text ?? '').trimEnd();
  if (said !== '' && !said.includes(text)) {
    for (const line of said.split('\n').slice(-shownFailureLines)) terminal.err(`  | ${context.safe(line)}\n`);
  }
  for (const command of stepCommands(plan, step.ordinal)) terminal.err(`  ${context.placed(command)}\n`);
}

/** The last object of a JSON format (07 §4.11). */
async function ended({ context, client, executed }: Played, end: StepsEnd): Promise<number> {
  const { plan, stopped_by, exit_code } = end;
  const { format } = context.globals;
  if (format === 'text') return exit_code;
  const object = {
    schema_version: 1,
    type: 'plan_result',
    plan: await client.showPlan({ plan }),
    executed,
    stopped_by,
    exit_code,
  };
  if (format === 'json') await context.printJson(object);
  else await context.terminal.out(`${JSON.stringify(object)}\n`);
  return exit_code;
}
