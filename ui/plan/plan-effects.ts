import type { RuntimeClient } from '../../src/client/operations.ts';
import { playPlanning, playSteps, type PlanningEnd } from '../../src/client/play-plan.ts';
import { RuntimeError, toWire } from '../../src/schema/errors.ts';
import type { Plan, PlanningStep, PlanRunOptions, StepOutcome } from '../../src/schema/plan.ts';
import { plural } from '../../src/view/format.ts';
import { stepResult, stepWaits } from '../../src/view/plan-lines.ts';
import type { Action } from '../actions.ts';
import type { State } from '../state.ts';
import { openList } from '../overlays/overlay.ts';
import { type KeyOf, waysOn } from './plan-ways.ts';
import { drivenElsewhere, type PlanAction, type PlanIntent, replannedLines } from './plan-state.ts';

export type PlanEffectDeps = {
  readonly client: () => Promise<RuntimeClient>;
  readonly state: () => State;
  readonly dispatch: (action: Action) => void;
  readonly now: () => number;
  /** The options of runs that play these chains. @throws RuntimeError not_trusted */
  readonly options: (client: RuntimeClient, uses: readonly PlanUse[]) => Promise<PlanRunOptions>;
  readonly shell: () => boolean;
  /** The keys that what is said names. */
  readonly key: KeyOf;
  /** The model that was named for this program; null = the configured one. */
  readonly model: string | null;
};

/** How often a step of another process is looked at. */
const lookMs = 3000;

type DriveEnd = Extract<PlanAction, { readonly type: 'driven-out' }>['how'];

export type PlanUse = 'planner' | 'explorer' | 'executor' | 'summarizer';

export type PlanEffects = {
  perform(intent: PlanIntent): void;
  /** Runs that were driven here since the program began, ended or not. */
  runs(): ReadonlySet<string>;
  /** A plan has changed, here or elsewhere. */
  changed(): void;
  /** A second has passed. A process that dies tells nobody: what it works on is looked at now and then. */
  tick(): void;
  close(): void;
};

/** Carries out what the plan pane wants; what comes of it is told by actions. */
export function createPlanEffects(deps: PlanEffectDeps): PlanEffects {
  const { client: clientOf, now, state } = deps;
  const tell = (action: PlanAction): void => deps.dispatch({ type: 'plan', action, now: now() });
  const said = (text: string, bad = false): void => tell({ type: 'said', text, bad });
  const ending = new AbortController();
  let following: AbortController | null = null;
  let loading: Promise<void> | null = null;
  let again = false;
  let loadedAt = Number.NEGATIVE_INFINITY;
  let driving = false;
  const runs = new Set<string>();

  const load = async (): Promise<void> => {
    loadedAt = now();
    const client = await clientOf();
    const plan = await client.showPlan({ plan: null }).catch((error: unknown) => {
      if (toWire(error).code === 'not_found') return null;
      throw error;
    });
    const config = await client.listConfig({});
    const modelOf = (name: string) => config.find(({ key }) => key === name)?.value || null;
    const models = { planner: modelOf('planner-model'), executor: deps.model ?? modelOf('default-model') };
    tell({ type: 'loaded', plan, models });
  };
  /** One reading at a time, and one more for what changed meanwhile. */
  const changed = (): void => {
    if (loading !== null) {
      again = true;
      return;
    }
    loading = load()
      .catch((error: unknown) => said(toWire(error).message, true))
      .finally(() => {
        loading = null;
        if (again) {
          again = false;
          changed();
        }
      });
  };

  const follow = async (runId: string | null): Promise<void> => {
    following?.abort();
    following = null;
    if (runId === null) return;
    const own = new AbortController();
    following = own;
    const client = await clientOf();
    const signal = AbortSignal.any([own.signal, ending.signal]);
    for await (const events of client.watch({ run_id: runId, after: 0, signal }))
      tell({ type: 'events', run_id: runId, events });
  };

  /** Follows a run that this process drives, for the time that it takes and waits. */
  const driven = async (client: RuntimeClient, runId: string): Promise<void> => {
    runs.add(runId);
    for await (const events of client.watch({ run_id: runId, after: 0, signal: ending.signal }))
      tell({ type: 'driven', run_id: runId, events });
  };

  /** One drive at a time; whatever ends it is said. */
  const drive = async (work: (client: RuntimeClient) => Promise<DriveEnd>): Promise<void> => {
    if (driving) return said('a run of a plan is going on here', true);
    driving = true;
    let how: DriveEnd = 'failed';
    try {
      how = await work(await clientOf());
    } catch (error) {
      said(oneLine(error), true);
    } finally {
      driving = false;
      tell({ type: 'driven-out', how });
      changed();
    }
  };

  const steps = (plan: string | null, auto: boolean): Promise<void> =>
    drive(async (client) => {
      tell({ type: 'auto', on: auto });
      const run = await deps.options(client, ['executor', 'summarizer']);
      let how: DriveEnd = 'done';
      await playSteps(
        client,
        { plan, shell: deps.shell(), run },
        {
          step: async (started) => {
            tell({ type: 'driving', phase: 'step', run_id: started.run.run_id });
            changed();
            await driven(client, started.run.run_id);
            // Each step is an invocation of its own for the time limit (10 §6.10).
            return 0;
          },
          ended: async (outcome) => {
            said(...outcomeWords(outcome, deps.key));
            how = endOf(outcome);
            changed();
          },
          planning: (step) => planningRun(client, step),
          split: async () => changed(),
          none: (why) => said(why === 'time' ? 'the time of --timeout is used up' : 'all steps are complete'),
          goesOn: () => state().plan.auto,
        },
      );
      return how;
    });

  const planningRun = async (
    client: RuntimeClient,
    { phase, run, warning }: Extract<PlanningStep, { readonly kind: 'run' }>,
  ): Promise<number> => {
    if (warning !== null) said(warning, true);
    tell({ type: 'driving', phase, run_id: run.run_id });
    await driven(client, run.run_id);
    const { status, exit_code, error } = await client.awaitRun({ run_id: run.run_id });
    if (exit_code !== 0)
      said(status === 'cancelled' ? 'planning was cancelled' : (error?.message ?? `planning ended: ${status}`), true);
    return exit_code;
  };

  /** A planning to its end. @param began its first run */
  const planning = (
    uses: readonly PlanUse[],
    begin: (client: RuntimeClient, run: PlanRunOptions) => Promise<PlanningStep>,
    done: (end: PlanningEnd) => void,
    failed: () => void = () => undefined,
  ): Promise<void> =>
    drive(async (client) => {
      try {
        tell({ type: 'driving', phase: uses.includes('explorer') ? 'explore' : 'plan', run_id: null });
        const first = await begin(client, await deps.options(client, uses));
        const exploring = !uses.includes('planner');
        const end = await playPlanning(client, first, (step) => planningRun(client, step), exploring);
        if (typeof end === 'number') {
          failed();
          return 'failed';
        }
        done(end);
        return 'done';
      } catch (error) {
        failed();
        throw error;
      }
    });

  const show = (title: string, lines: readonly string[]): void =>
    deps.dispatch({ type: 'overlay', overlay: { kind: 'explain', title, lines, at: 0 } });
  const asksBack = (end: PlanningEnd): void => {
    if (end.kind === 'plan' && end.question !== null)
      show('The planner asks', [
        end.question,
        '',
        `${deps.key('plan.new') ?? '/plan new <goal>'} makes a plan of the goal with the answer.`,
      ]);
  };
  const change = async (work: (client: RuntimeClient) => Promise<string>): Promise<void> => {
    said(await work(await clientOf()));
    changed();
  };

  const doing: { readonly [K in PlanIntent['do']]: (intent: Extract<PlanIntent, { do: K }>) => Promise<void> } = {
    follow: ({ run_id }) => follow(run_id),
    steps: async ({ plan, auto }) => {
      // A step is under way here: the others come behind it.
      if (driving && auto) tell({ type: 'auto', on: true });
      else await steps(plan, auto);
    },
    retry: ({ plan, ordinal }) =>
      change(async (client) => {
        const { warning, was_pending } = await client.retryStep({ plan, ordinal });
        return warning ?? (was_pending ? `step ${ordinal} is pending already` : `step ${ordinal} is pending again`);
      }),
    skip: ({ plan, ordinal }) =>
      change(async (client) => {
        await client.skipStep({ plan, ordinal });
        return `step ${ordinal} is skipped`;
      }),
    replan: async ({ plan, instruction, field }) => {
      const before = (await (await clientOf()).showPlan({ plan })) satisfies Plan;
      await planning(
        ['planner'],
        (client, run) => client.replan({ plan, instruction, shell: deps.shell(), run }),
        (end) => {
          if (end.kind !== 'plan') return;
          said(`replanned: ${plural(end.added, 'new step')}`);
          show('Replanned', replannedLines(before, end.plan));
          asksBack(end);
        },
        () => (field === null ? undefined : tell({ type: 'field', field })),
      );
    },
    new: ({ field, goal }) =>
      planning(
        field.explore ? ['planner', 'explorer'] : ['planner'],
        (client, run) =>
          client.newPlan({ goal, from: null, explore: field.explore, planner_model: null, shell: deps.shell(), run }),
        (end) => {
          if (end.kind === 'plan') said(`created "${end.plan.name}" with ${plural(end.plan.total, 'step')}`);
          asksBack(end);
        },
        () => tell({ type: 'field', field }),
      ),
    explore: ({ plan }) =>
      planning(
        ['explorer'],
        (client, run) => client.explorePlan({ plan, run }),
        (end) => {
          if (end.kind !== 'context') return;
          const { languages, entry_points, test_commands } = end.context;
          const named = languages.length === 0 ? 'no languages' : languages.join(', ');
          said(
            `explored: ${named}; ${plural(entry_points.length, 'entry point')}, ${plural(test_commands.length, 'test command')}`,
          );
        },
      ),
    switch: ({ plan }) => change(async (client) => `switched to "${(await client.switchPlan({ plan })).name}"`),
    delete: ({ plan }) =>
      change(async (client) => `deleted "${(await client.deletePlan({ plan, force: false })).name}"`),
    list: async () => {
      const rows = await (await clientOf()).listPlans({ status: null });
      const open = state().overlays.find((overlay) => overlay.kind === 'plans');
      if (open?.kind === 'plans') deps.dispatch({ type: 'overlay', overlay: { ...open, rows } });
      else if (open === undefined) deps.dispatch({ type: 'overlay', overlay: { ...openList('plans'), rows } });
    },
  };

  return {
    perform(intent) {
      // The table has a function for exactly this kind of intent.
      (doing[intent.do] as (intent: PlanIntent) => Promise<void>)(intent).catch((error: unknown) => {
        if (!ending.signal.aborted) said(oneLine(error), true);
      });
    },
    runs: () => runs,
    changed,
    tick() {
      if (drivenElsewhere(state().plan) && now() - loadedAt >= lookMs) changed();
    },
    close() {
      ending.abort();
    },
  };
}

/** A refusal in one line, with the first thing that helps. */
function oneLine(error: unknown): string {
  const { message } = toWire(error);
  const hint = error instanceof RuntimeError ? error.hints[0] : undefined;
  return `${message.replaceAll(/\s+/g, ' ')}${hint === undefined ? '' : ` · ${hint}`}`;
}

/** A step that waits, or stopped at a checkpoint, is not over. */
function endOf({ step: { status } }: StepOutcome): DriveEnd {
  if (status === 'failed') return 'failed';
  return status === 'waiting' || status === 'running' ? 'rests' : 'done';
}

/** How a step ended, in the words of the plan. */
function outcomeWords({ step }: StepOutcome, key: KeyOf): [text: string, bad: boolean] {
  const place = `step ${step.ordinal}`;
  switch (step.status) {
    case 'completed':
      return [`${place} completed: ${stepResult(step)}`, false];
    case 'waiting':
      return [`${place} ${stepWaits(step)}`, true];
    case 'running':
      return [`${place} stopped at its last checkpoint: ${key('plan.next') ?? '/plan next'} goes on with it`, true];
    case 'pending':
      return [`${place} was interrupted; it is pending again`, false];
    case 'skipped':
      return [`${place} is skipped`, false];
    case 'failed':
      return [`${place} failed (${stepResult(step)}): ${waysOn(key, step.ordinal)}`, true];
  }
}
