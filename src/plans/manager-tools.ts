import { integer, min, object, string } from 'superstruct';
import { RuntimeError } from '../schema/errors.ts';
import { maxStepBytes, type Plan, type PlanRunOptions, type StepOutcome } from '../schema/plan.ts';
import type { RunResult } from '../schema/run.ts';
import type { ParentRun } from '../runs/nested.ts';
import { bytes, inputSchema } from '../tools/input-schema.ts';
import { defineTool, type Tool, type ToolContext, type ToolResult, type ToolSite } from '../tools/tool.ts';
import type { PlanOperations } from './plans.ts';
import type { Planning } from './planning.ts';
import type { StepRuns } from './step-runs.ts';

/** What the tools do their work with; loaded when the first of them is called. */
export type ManagerDeps = {
  readonly operations: Pick<PlanOperations, 'showPlan' | 'retryStep' | 'skipStep'>;
  readonly runs: Pick<Planning, 'newPlan' | 'planningStep'> & Pick<StepRuns, 'nextStep' | 'stepOutcome'>;
  /** The run that a call came from. @throws RuntimeError run_not_active */
  readonly parent: (runId: string) => ParentRun;
  readonly awaitRun: (runId: string) => Promise<RunResult>;
  readonly cancel: (runId: string, reason: string) => Promise<void>;
};

type Load = () => Promise<ManagerDeps>;

const active = { plan: null };
const nothing = object({});
const ordinalOnly = object({ ordinal: min(integer(), 1) });
type Ordinal = { readonly ordinal: number };

/**
 * `plan_manager` (05 §7): a chat that drives plans, for operators who have switched it on. A run that it starts is a child of
 * the chat's run: its bounds are what is left of that one's, it has no shell, and no `plan_manager` of its own.
 */
export function createManagerTools(load: Load): readonly Tool[] {
  return [createPlan(load), runNextStep(load), getStatus(load), retryStep(load), skipStep(load)];
}

/** The active plan as a call was judged; null where there is none. */
type ActivePlan = Pick<Plan, 'id' | 'name' | 'steps'> | null;

/**
 * Says which plan a call is about, and acts on that one: while a person is asked, another may become the active plan.
 * @param what of this plan it is about
 */
const ofActive =
  <A>(load: Load, what: (args: A, plan: ActivePlan) => string) =>
  async (args: A, site: ToolSite) => {
    const plan = await activePlan(load);
    const text = what(args, plan);
    return {
      ok: true,
      facts: plan,
      cwd: site.root,
      summary: plan === null ? text : `${plan.name}: ${text}`,
      ...(plan === null ? {} : { meant: plan.id }),
    } as const;
  };

async function activePlan(load: Load): Promise<ActivePlan> {
  try {
    return await (await load()).operations.showPlan(active);
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'not_found') return null;
    throw error;
  }
}

const stepText = (ordinal: number, plan: ActivePlan): string => {
  const step = plan?.steps.find((each) => each.ordinal === ordinal);
  return step === undefined ? `step ${ordinal}` : `step ${ordinal}, ${firstLine(step.description)}`;
};

const firstLine = (text: string): string => text.split('\n', 1)[0]?.slice(0, 100) ?? '';

/** The step that is run next, or that stands in the way. */
function nextText(plan: ActivePlan): string {
  const next = plan?.steps.find(({ status }) => status !== 'completed' && status !== 'skipped');
  return next === undefined ? 'run the next step' : `run ${stepText(next.ordinal, plan)}`;
}

/** The plan by its name, or whichever is active for who finds none. */
const named = (plan: ActivePlan) => ({ plan: plan?.name ?? null });

const here = (summary: string) => (_args: unknown, site: ToolSite) =>
  ({ ok: true, facts: null, cwd: site.root, summary }) as const;

function createPlan(load: Load): Tool {
  const args = object({ goal: bytes(string(), 1, maxStepBytes) });
  return defineTool<{ goal: string }, null>({
    spec: {
      tools: 'plan_manager',
      tool: 'create_plan',
      description: 'Makes a plan of steps for a goal and makes it the active one.',
      input_schema: inputSchema(args, { goal: { description: 'What is to be reached.' } }),
      read_only: false,
    },
    args,
    prepare: ({ goal }, site) => here(`plan: ${firstLine(goal)}`)(null, site),
    execute: ({ goal }, context) =>
      answered(async () => {
        const deps = await load();
        const parent = deps.parent(context.run_id);
        const options = optionsOf(parent);
        if (options === null) return spent();
        let step = await deps.runs.newPlan(
          { goal, from: null, explore: false, planner_model: null, shell: false, run: options },
          parent.ref,
        );
        while (step.kind === 'run') {
          const { run_id } = step.run;
          const next = deps.runs.planningStep({ run_id });
          await followed(deps, parent, context, run_id);
          step = await next;
        }
        if (step.kind !== 'plan') throw new RuntimeError('internal', 'a planning ended without a plan');
        const { name, goal: kept, steps } = step.plan;
        return {
          ok: true,
          value: {
            plan_name: name,
            goal: kept,
            steps: steps.map(({ ordinal, description }) => ({ ordinal, description })),
          },
        };
      }),
  });
}

function runNextStep(load: Load): Tool {
  return defineTool<object, ActivePlan>({
    spec: {
      tools: 'plan_manager',
      tool: 'run_next_step',
      description: 'Executes the next pending step of the active plan, and waits until it has ended.',
      input_schema: inputSchema(nothing, {}),
      read_only: false,
    },
    args: nothing,
    prepare: ofActive(load, (_args, plan) => nextText(plan)),
    execute: (_args, context) =>
      answered(async () => {
        const deps = await load();
        const parent = deps.parent(context.run_id);
        const options = optionsOf(parent);
        if (options === null) return spent();
        const started = await deps.runs.nextStep({ ...named(context.facts), shell: false, run: options }, parent.ref);
        if (started.kind === 'done') return { ok: true, value: { status: 'done', message: 'All steps are complete.' } };
        const { run_id } = started.run;
        await followed(deps, parent, context, run_id);
        return { ok: true, value: stepValue(started.ordinal, await deps.runs.stepOutcome({ run_id })) };
      }),
  });
}

function getStatus(load: Load): Tool {
  return defineTool<object, null>({
    spec: {
      tools: 'plan_manager',
      tool: 'get_plan_status',
      description: 'Tells the active plan and how its steps stand.',
      input_schema: inputSchema(nothing, {}),
      read_only: true,
    },
    args: nothing,
    prepare: here('status of the active plan'),
    execute: () =>
      answered(async () => {
        try {
          return { ok: true, value: statusOf(await (await load()).operations.showPlan(active)) };
        } catch (error) {
          if (!(error instanceof RuntimeError) || error.code !== 'not_found') throw error;
          return { ok: true, value: { status: 'no_active_plan' } };
        }
      }),
  });
}

function retryStep(load: Load): Tool {
  return defineTool<Ordinal, ActivePlan>({
    spec: {
      tools: 'plan_manager',
      tool: 'retry_step',
      description: 'Puts a step of the active plan back to pending. It does not run.',
      input_schema: inputSchema(ordinalOnly, { ordinal: { description: 'Number of the step, from 1.' } }),
      read_only: false,
    },
    args: ordinalOnly,
    prepare: ofActive<Ordinal>(load, ({ ordinal }, plan) => `retry ${stepText(ordinal, plan)}`),
    execute: ({ ordinal }, { facts }) =>
      answered(async () => {
        await (await load()).operations.retryStep({ ...named(facts), ordinal });
        return { ok: true, value: { ordinal, status: 'reset_to_pending' } };
      }),
  });
}

function skipStep(load: Load): Tool {
  return defineTool<Ordinal, ActivePlan>({
    spec: {
      tools: 'plan_manager',
      tool: 'skip_step',
      description: 'Leaves a step of the active plan out.',
      input_schema: inputSchema(ordinalOnly, { ordinal: { description: 'Number of the step, from 1.' } }),
      read_only: false,
    },
    args: ordinalOnly,
    prepare: ofActive<Ordinal>(load, ({ ordinal }, plan) => `skip ${stepText(ordinal, plan)}`),
    execute: ({ ordinal }, { facts }) =>
      answered(async () => {
        await (await load()).operations.skipStep({ ...named(facts), ordinal });
        return { ok: true, value: { ordinal, status: 'skipped' } };
      }),
  });
}

/** The options of a child run: those of the chat, with what is left of its bounds; null when one of them is spent. */
function optionsOf(parent: ParentRun): PlanRunOptions | null {
  const left = {
    max_turns: parent.left('maxTurns'),
    max_tool_calls: parent.left('maxToolCalls'),
    max_tokens: parent.left('maxTokens'),
  };
  if (Object.values(left).some((value) => value < 0)) return null;
  const { input, chain_path, shell, variables, images, ...options } = parent.request;
  // A question of a step is for the approvals of all runs: the chat goes on and says that the step waits.
  return { ...options, ...left, on_ask: options.on_ask === 'deny' ? 'deny' : 'suspend' };
}

const spent = (): ToolResult => ({
  ok: false,
  error: 'compute_exhausted',
  message: 'A compute bound of this run is used up: no further run is started.',
});

/** Waits for a child run; it ends with the call. What it has used is taken from the chat's bounds. */
async function followed(
  deps: ManagerDeps,
  parent: ParentRun,
  context: Pick<ToolContext<unknown>, 'signal'>,
  runId: string,
): Promise<void> {
  const stop = (): void => void deps.cancel(runId, 'the run that started it was stopped').catch(() => undefined);
  if (context.signal.aborted) stop();
  context.signal.addEventListener('abort', stop, { once: true });
  try {
    parent.charge(await deps.awaitRun(runId));
  } finally {
    context.signal.removeEventListener('abort', stop);
  }
}

/** What a plan refuses is said to the model, and the chat goes on. */
async function answered(body: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    const word = error.code === 'in_use' || error.code === 'run_suspended' ? 'busy' : error.code;
    return { ok: false, error: word, message: error.message };
  }
}

function stepValue(ordinal: number, { step }: StepOutcome): unknown {
  const status = step.status === 'completed' ? 'completed' : step.status === 'waiting' ? 'suspended' : 'failed';
  const result = step.summary?.summary ?? step.failure_text ?? step.result_text ?? step.last_failure_summary ?? '';
  return { ordinal, description: step.description, status, result };
}

const statusOf = (plan: Plan): unknown => ({
  plan_name: plan.name,
  goal: plan.goal,
  status: plan.status,
  steps: plan.steps.map((step) => {
    const result = step.summary?.summary ?? step.failure_text ?? step.result_text;
    const { ordinal, description, status } = step;
    return { ordinal, description, status, ...(result === null ? {} : { result }) };
  }),
});
