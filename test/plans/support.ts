import type { Plan, PlanRunOptions, StepOutcome, StepStarted } from '../../src/schema/plan.ts';
import type { RuntimeClient } from '../../src/client/operations.ts';
import { type ScriptedApp, type ScriptedSetup, scriptedApp } from '../support/scripted-app.ts';

/** System texts that tell the prompts of plans apart (04 §19). */
export const planner = { system: { starts_with: 'You turn a goal into a plan' } };
export const executor = { system: { starts_with: 'You carry out exactly one step' } };
export const summariser = { system: { starts_with: 'You condense the record' } };
export const repairer = { system: { contains: 'should be one JSON object with the members outcome' } };
export const explorer = { system: { contains: 'so that a planner can plan work in it' } };

export const reply = (text: string, match: object) => ({ match, reply: { text } });
export const asks = (name: string, args: unknown, match: object) => ({
  match,
  reply: { text: 'I act.', tool_calls: [{ name, arguments: args }] },
});
export const plans = (steps: readonly string[]) => reply(JSON.stringify(steps), planner);
export const summary = (over: object = {}) =>
  JSON.stringify({
    outcome: 'success',
    summary: 'It was done.',
    handover_for_next: 'Go on.',
    artifacts: [],
    caveats: [],
    ...over,
  });
/** Every step is done with one sentence and summed up. */
export const done = [reply('Done.', executor), reply(summary(), summariser)];

export type PlanApp = ScriptedApp & {
  readonly options: PlanRunOptions;
  /** Follows a planning to its plan. */
  plan(goal?: string, over?: Partial<Parameters<RuntimeClient['newPlan']>[0]>): Promise<Plan>;
  /** Starts the next step; null when nothing is open. */
  next(over?: Partial<Parameters<RuntimeClient['nextStep']>[0]>): Promise<StepStarted | null>;
  /** One step to its end. */
  step(over?: Partial<Parameters<RuntimeClient['nextStep']>[0]>): Promise<StepOutcome>;
  show(): Promise<Plan>;
  /** The messages that the runs of a kind were started with or added. */
  texts(kind: string): readonly string[];
};

/** What runs of plans are started with: as a terminal would, with the policy of the set-up. */
export const planOptions = ({ dir }: { readonly dir: string }): PlanRunOptions => ({
  model: null,
  provider: null,
  policy: `${dir}/policy.json`,
  on_ask: 'suspend',
  timeout_ms: 0,
  context: 0,
  think: null,
  allowed_dir: null,
  max_turns: 0,
  max_tool_calls: 0,
  max_tokens: 0,
  trust: [],
});

/** The program with a scripted model that plays planner, executor and summariser. */
export async function planApp(setup: ScriptedSetup): Promise<PlanApp> {
  const app = await scriptedApp(setup);
  const { client } = app;
  await client.setConfig({ key: 'default-model', value: 'm' });
  await client.setConfig({ key: 'default-provider', value: 'scripted' });
  const options = planOptions(app.place);
  const next: PlanApp['next'] = async (over = {}) => {
    const started = await client.nextStep({ plan: null, shell: false, run: options, ...over });
    return started.kind === 'done' ? null : started;
  };
  return {
    ...app,
    options,
    async plan(goal = 'the goal', over = {}) {
      let step = await client.newPlan({
        goal,
        from: null,
        explore: false,
        planner_model: null,
        shell: false,
        run: options,
        ...over,
      });
      while (step.kind === 'run') step = await client.planningStep({ run_id: step.run.run_id });
      if (step.kind !== 'plan') throw new Error(`a planning ended with ${step.kind}`);
      return step.plan;
    },
    next,
    async step(over) {
      const started = await next(over);
      if (started === null) throw new Error('nothing is open');
      return client.stepOutcome({ run_id: started.run.run_id });
    },
    show: () => client.showPlan({ plan: null }),
    texts: (kind) =>
      app
        .rows(
          `SELECT json_extract(m.payload, '$.content') AS text FROM run_messages m JOIN runs r ON r.id = m.run_id
           WHERE r.kind = ? ORDER BY r.created_at, m.seq`,
          kind,
        )
        .map((row) => String(row['text'])),
  };
}
