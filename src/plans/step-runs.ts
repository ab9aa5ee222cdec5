import { RuntimeError } from '../schema/errors.ts';
import type { NextStarted, NextStep, PlanHead, StepOutcome, StepStarted } from '../schema/plan.ts';
import type { RunResult, RunStarted, StartRun } from '../schema/run.ts';
import type { Finished } from '../runs/finish.ts';
import type { LiveRun } from '../runs/live-run.ts';
import type { RunService } from '../runs/runs.ts';
import type { StartWith } from '../runs/write-start.ts';
import type { Feed } from '../store/feed.ts';
import type { StepRow } from '../store/plan-steps.ts';
import type { PlanListRow, Plans } from '../store/plans.ts';
import type { Runs } from '../store/runs.ts';
import { messageOf } from '../text/thrown.ts';
import { planFlag } from '../view/plan-lines.ts';
import { checkPlace, findPlan } from './find-plan.ts';
import { claimOf, headView, respondCommand, stepView } from './plan-view.ts';
import { planRequest } from './request.ts';
import { changedMeanwhile, type PlanBooks } from './settle.ts';
import { saysBlocked } from './step-end.ts';
import { endOf, hasFailed, isRunning, waits } from './step-outcome.ts';
import { createSummaryTools } from './summary-tools.ts';
import { type PlanModels, stepVariables } from './variables.ts';

export type StepRunDeps = {
  readonly plans: Plans;
  readonly books: PlanBooks;
  readonly feed: Feed;
  readonly service: Pick<RunService, 'startPlanned' | 'resumeRun' | 'awaitRun' | 'cancelRun' | 'isHere'>;
  readonly runs: Pick<Runs, 'ended'>;
  readonly models: () => PlanModels;
  /** JSON of the tools that the executor may use, by provider (07 §4.3). */
  readonly executorTools: (options: { readonly shell: boolean; readonly trust: readonly string[] }) => Promise<string>;
  /** @throws RuntimeError when the chain of the summariser cannot be used */
  readonly checkSummarizer: (trust: readonly string[]) => Promise<void>;
  readonly mask: <T>(value: T) => T;
  /** Real path of the workspace root, where the steps of this process run. */
  readonly workspace: string;
  readonly by: string;
  readonly now: () => number;
};

/** A summary that takes longer is given up; the step's own words serve instead. */
const summaryMs = 300_000;

/** Steps as runs (07 §4.5): chosen, claimed, executed, summed up, taken in. */
export function createStepRuns(deps: StepRunDeps) {
  const { plans, books, feed, service, now } = deps;
  /** Runs of summarisers by the run of their step, while they are going. */
  const summaries = new Map<string, string>();

  const started = (plan: PlanListRow, step: StepRow, run: RunStarted, resumed: boolean): StepStarted => ({
    kind: 'step',
    run,
    plan: plan.name,
    ordinal: step.ordinal,
    total: plan.total,
    description: step.description,
    resumed,
  });

  /** Somebody else was quicker with a claim of this plan. */
  const outrun = (plan: PlanListRow): RuntimeError => {
    const held = plans.steps(plan.id).find((step) => claimOf(step, now()) === 'live');
    return held === undefined ? changedMeanwhile() : isRunning(plan, held);
  };

  const goOn = async (plan: PlanListRow, step: StepRow, input: NextStep): Promise<StepStarted> => {
    const { on_ask, timeout_ms } = input.run;
    const run_id = step.run_id ?? '';
    const resume = { run_id, accept_changed_chain: false, on_ask, timeout_ms };
    const run = await service.resumeRun(resume, deps.by).catch((error: unknown) => {
      throw chainChanged(error) ? withWaysOn(error, headView(plan, plans.activeId()), step) : error;
    });
    return started(plan, step, run, true);
  };

  const begin = async (
    plan: PlanListRow,
    step: StepRow,
    input: NextStep,
    parent: StartWith['parent'],
  ): Promise<StepStarted> => {
    const { run: options, shell } = input;
    await deps.checkSummarizer(options.trust);
    const tools = await deps.executorTools({ shell, trust: options.trust });
    const variables = stepVariables(plan, plans.steps(plan.id), step, { tools, models: deps.models() });
    const request = planRequest(options, { text: step.description, variables, shell });
    const run = await service.startPlanned('plan_step', request, {
      ...(parent === undefined ? {} : { parent }),
      plan: {
        id: plan.id,
        name: plan.name,
        stepId: step.id,
        ordinal: step.ordinal,
      },
      claim(runId) {
        if (!plans.claim(step.id, runId, now())) throw outrun(plan);
        feed.commit('full', (record) => {
          plans.touch(plan.id, now());
          books.changed(record, plan, step);
        });
      },
    });
    await books.mirrored(plan);
    return started(plan, step, run, false);
  };

  /** Runs the summariser on what the step's run said and did (07 §4.5.5). Its failure never fails the step. */
  const summarise = async (live: LiveRun, finished: Finished, plan: PlanListRow, step: StepRow): Promise<void> => {
    const runId = live.gate.ref.run_id;
    const fail = (problem: string): void =>
      void feed.commit('normal', () => plans.setSummary(step.id, runId, { summary_error: problem.slice(0, 2000) }));
    try {
      const models = deps.models();
      const request: StartRun = {
        ...live.request,
        input: { type: 'string', value: '' },
        chain_path: null,
        model: models.summarizer_model || live.request.model,
        on_ask: 'deny',
        shell: false,
        timeout_ms: Math.min(summaryMs, Math.max(1000, live.gate.clock.left())),
        variables: stepVariables(plan, plans.steps(plan.id), step, { tools: '', models }),
        images: [],
      };
      const run = await service.startPlanned('step_summary', request, {
        parent: live.gate.ref,
        plan: { id: plan.id, name: plan.name, stepId: step.id, ordinal: step.ordinal },
        history: historyOf(finished),
        tools: createSummaryTools({
          plans,
          stepId: step.id,
          runId,
          write: (body) => feed.commit('full', () => body()),
          mask: deps.mask,
        }),
      });
      summaries.set(runId, run.run_id);
      const result = await service.awaitRun({ run_id: run.run_id });
      const row = plans.step(step.id);
      if (row?.summary === null && row.summary_error === null) fail(whyNone(result));
    } catch (error) {
      fail(messageOf(error));
    } finally {
      summaries.delete(runId);
    }
  };

  return {
    /**
     * Starts the lowest pending step, or goes on with one that nobody works on any more (07 §4.5.1).
     * @param parent the run that asks for it, if one does
     * @throws RuntimeError not_found, in_use (a failed step, or a live claim), run_suspended, not_resumable_here, and as a run
     * that cannot start
     */
    async nextStep(input: NextStep, parent?: StartWith['parent']): Promise<NextStarted> {
      const found = findPlan(plans, input.plan);
      books.reconcile(found.id);
      const plan = plans.byId(found.id) ?? found;
      if (plan.status === 'archived') {
        throw new RuntimeError('in_use', `Plan "${plan.name}" is archived.`, {
          hints: [`reins plan switch ${plan.name}`],
        });
      }
      const steps = plans.steps(plan.id);
      const failed = steps.find(({ status }) => status === 'failed');
      if (failed !== undefined) throw hasFailed(plan, failed, plan.id === plans.activeId());
      const held = steps.find(({ status }) => status === 'running' || status === 'waiting');
      if (held !== undefined) {
        const claim = claimOf(held, now());
        if (claim === 'live') throw isRunning(plan, held);
        if (claim === 'waiting' && held.ask_id !== null) throw waits(plan, held, plan.id === plans.activeId());
        return goOn(plan, held, input);
      }
      const step = steps.find(({ status }) => status === 'pending');
      if (step === undefined) return { kind: 'done', plan: plan.name };
      checkPlace(plan, deps.workspace);
      return begin(plan, step, input, parent);
    },

    /** Takes in the outcome of a step's run of this process, whatever command it went on with. Never rejects. */
    async afterStep(live: LiveRun, finished: Finished): Promise<void> {
      try {
        const { status, text } = finished.result;
        const step = plans.stepOfRun(live.gate.ref.run_id);
        const plan = step === undefined ? undefined : plans.byId(step.plan_id);
        if (step === undefined || plan === undefined) return;
        if (status === 'suspended' || status === 'interrupted') {
          feed.commit('normal', (record) => books.changed(record, plan, step));
        } else {
          if (status === 'completed' && !saysBlocked(text)) await summarise(live, finished, plan, step);
          books.settleStep(step);
        }
        await books.mirrored(plan);
      } catch {
        // A full disk or a lock: the next command finds the ended run and takes it in.
      }
    },

    /** The run to stop when a step's run is: that of its summariser, once the step itself has ended. */
    goingFor: (runId: string): string => summaries.get(runId) ?? runId,

    /** How the step of a run stands after the run has ended or rests. @throws RuntimeError not_found */
    async stepOutcome(input: { readonly run_id: string }): Promise<StepOutcome> {
      if (service.isHere(input.run_id)) await service.awaitRun(input);
      const step = plans.stepOfRun(input.run_id);
      const plan = step === undefined ? undefined : plans.byId(step.plan_id);
      if (step === undefined || plan === undefined) {
        throw new RuntimeError('not_found', `No step of a plan is on run ${input.run_id} any more.`, {
          hints: ['reins plan show'],
        });
      }
      const timedOut = deps.runs.ended(input.run_id)?.error?.class === 'timeout';
      const others = plans.steps(plan.id);
      return {
        plan: headView(plan, plans.activeId()),
        step: stepView(step, now()),
        ...endOf(step, plan, timedOut),
        respond: respondCommand(step),
        can_split:
          step.failure_class === 'capacity' &&
          step.replaces === null &&
          !others.some(({ replaces }) => replaces === step.id),
      };
    },
  };
}

export type StepRuns = ReturnType<typeof createStepRuns>;

const chainChanged = (error: unknown): error is RuntimeError =>
  error instanceof RuntimeError && error.code === 'resume_chain_changed';

/** A step is gone on with by its run: `plan next` itself accepts no other chain. */
const withWaysOn = (cause: RuntimeError, plan: PlanHead, step: StepRow): RuntimeError =>
  new RuntimeError(cause.code, cause.message, {
    cause,
    data: cause.data,
    hints: [
      `reins state resume ${step.run_id} --accept-changed-chain`,
      `reins plan skip ${step.ordinal}${planFlag(plan)}`,
    ],
  });

/** JSON of the messages of a finished run. */
function historyOf(finished: Finished): string {
  const output = finished.output();
  if (
    finished.result.output_type === 'chat_history' &&
    typeof output === 'object' &&
    output !== null &&
    'messages' in output
  ) {
    return JSON.stringify(output.messages);
  }
  const { run_id, text } = finished.result;
  return JSON.stringify([
    { id: `${run_id}-output`, role: 'assistant', content: text, timestamp: new Date().toISOString() },
  ]);
}

const whyNone = (result: RunResult): string =>
  result.error === null ? `the summariser ended as ${result.status} and stored nothing` : result.error.message;
