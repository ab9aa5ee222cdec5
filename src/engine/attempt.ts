import { compose, composedName } from '../chain/compose.ts';
import { renderTemplate } from '../chain/template.ts';
import { chooseBranch } from '../chain/transition.ts';
import { durationMs, type Value } from '../chain/values.ts';
import { RuntimeError } from '../schema/errors.ts';
import { expand, type Prepared, promptTemplate, receive, templateVariables } from './expand.ts';
import { failed, failure, type Handled, handledError } from './failure.ts';
import { handlers } from './handlers.ts';
import { adopt, newMessage, type Run } from './run.ts';
import { emit, newRecord, type Step } from './step.ts';
import { startTaskClock } from './task-clock.ts';

type Done = Extract<Handled, { kind: 'done' }>;

/** An attempt that succeeded, and where its branches lead. */
export type Taken = Done & {
  /** A task id, or `end`. */
  readonly next: string;
  /** What becomes `previous_output`: the output, or what the branch composed of it. */
  readonly carried: Value;
  /** The variable of a composed result. */
  readonly composedAs: string | null;
};

export type Attempted = Taken | Exclude<Handled, Done>;

/** Opens the next attempt of the present task and reports its start. */
export function beginStep(run: Run): Step {
  const { state, deps } = run;
  const task = run.tasks.get(state.taskId);
  if (task === undefined) throw new RuntimeError('internal', `the chain has no task ${state.taskId}.`);
  const at = { task_id: task.id, task_handler: task.handler, attempt: state.attempt };
  const received = inputOf(run, task);
  const limitMs = task.timeout === undefined ? null : durationMs(task.timeout);
  const clock = startTaskClock(deps, run.signal, limitMs);
  const step: Step = { run, task, at, startedAt: deps.now(), clock, record: newRecord(), received };
  emit(step, {
    kind: 'step_started',
    input_type: promptTemplate(task) === '' ? received.type : 'string',
    input_var: task.input_var ?? '',
  });
  adopt(run, at, state.input);
  return step;
}

/** The task's input, or nothing when it has none; the attempt itself then fails with the reason. */
function inputOf(run: Run, task: Step['task']): Value {
  try {
    return receive(run, task);
  } catch (error) {
    if (error instanceof RuntimeError) return { type: 'nil', value: null };
    throw error;
  }
}

/** Expands, handles, prints and branches. Every failure of the task is in the return value; a bug is thrown. */
export async function attempt(step: Step): Promise<Attempted> {
  try {
    const prepared = await expand(step);
    const handled = await handlers[step.task.handler](prepared);
    if (handled.kind !== 'done') return handled;
    if (handled.exhausted) return { ...handled, next: 'end', carried: handled.output, composedAs: null };
    return await conclude(prepared, handled);
  } catch (error) {
    return handledError(error, step.run.signal);
  } finally {
    step.clock.close();
  }
}

/** What follows a success and can still fail: the print template, the branch, its composition. */
async function conclude(step: Prepared, done: Done): Promise<Attempted> {
  try {
    await print(step, done.output);
    return branch(step, done);
  } catch (error) {
    const handled = handledError(error, step.run.signal);
    return handled.kind === 'failed' ? { ...handled, partial: done.output } : handled;
  }
}

async function print(step: Prepared, output: Value): Promise<void> {
  const { run, scope, task } = step;
  if (task.print === undefined || task.print === '') return;
  const variables = { ...templateVariables(run), [task.id]: output.value };
  const { within } = run.deps;
  emit(step, { kind: 'print', text: await renderTemplate(task.print, { field: 'print', scope, variables, within }) });
}

/** The branch that the eval takes (04 §8). @throws RuntimeError compose_failed */
function branch(step: Prepared, done: Done): Attempted {
  const { run, task } = step;
  const choice = chooseBranch(task, done.evalText, run.state.edgeCounts);
  if (choice.kind === 'leaf') return { ...done, next: 'end', carried: done.output, composedAs: null };
  if (choice.kind === 'no_branch') return failed(failure('no_branch', choice.message), done.output);
  if (choice.branch.compose === undefined) {
    return { ...done, next: choice.goto, carried: done.output, composedAs: null };
  }
  const other = variable(run, choice.branch.compose.with_var, { id: task.id, output: done.output });
  const carried = compose(choice.branch, done.output, other, (content) =>
    newMessage(run, { role: 'assistant', content }),
  );
  return { ...done, next: choice.goto, carried, composedAs: composedName(task.id, choice.branch) };
}

function variable(run: Run, name: string, own: { readonly id: string; readonly output: Value }): Value | undefined {
  const { state } = run;
  if (name === own.id) return own.output;
  if (name === 'input') return state.input;
  if (name === 'previous_output') return state.previous;
  return Object.hasOwn(state.variables, name) ? state.variables[name] : undefined;
}
