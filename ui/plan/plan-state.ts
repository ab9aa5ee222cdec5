import type { RunEvent } from '../../src/schema/event.ts';
import type { Plan, PlanStep } from '../../src/schema/plan.ts';
import type { Item } from '../../src/view/items.ts';
import { reduceTranscript } from '../../src/view/transcript.ts';
import type { Editing } from '../composer/editing.ts';
import type { Anchor } from '../transcript/viewport.ts';

/** What this process drives: a step, or a run of a planning. */
export type Driving = {
  readonly phase: 'step' | 'explore' | 'plan' | 'repair';
  /** Null until its run is accepted. */
  readonly run_id: string | null;
  readonly started_at: number;
  /** When the first of the runs began that follow one another without a key. */
  readonly since: number;
  readonly waiting_since: number | null;
  readonly waited_ms: number;
  readonly heard_at: number;
  readonly interrupted_at: number | null;
};

export type PlanField = {
  readonly purpose: 'goal' | 'instruction';
  readonly editing: Editing;
  readonly explore: boolean;
};

export type PlanState = {
  /** The active plan; null when there is none, or it has not been read yet. */
  readonly plan: Plan | null;
  readonly loaded: boolean;
  /**
   * The model that carries out, whichever one the chat has chosen for itself, and the one that plans; null = the former
   * plans too, or is found among the backends.
   */
  readonly models: { readonly planner: string | null; readonly executor: string | null };
  /** Id of the chosen step: it stays chosen when steps are renumbered. */
  readonly chosen: string | null;
  /** When a key chose it. */
  readonly chosenAt: number;
  /** The run whose transcript is shown, and its items. */
  readonly run: string | null;
  readonly items: readonly Item[];
  /** The run rests behind what was heard of it. */
  readonly rests: boolean;
  readonly anchor: Anchor | null;
  readonly driving: Driving | null;
  /** The pending steps go one after the other. */
  readonly auto: boolean;
  readonly field: PlanField | null;
  /** A letter that takes effect if no other one follows. */
  readonly letter: { readonly id: string; readonly at: number } | null;
  /** When a letter last came that was typing, not a choice. */
  readonly typedAt: number;
  /** What became of the last action, under the list. */
  readonly said: { readonly text: string; readonly bad: boolean } | null;
};

export const emptyPlan: PlanState = {
  plan: null,
  loaded: false,
  models: { planner: null, executor: null },
  chosen: null,
  chosenAt: Number.NEGATIVE_INFINITY,
  run: null,
  items: [],
  rests: false,
  anchor: null,
  driving: null,
  auto: false,
  field: null,
  letter: null,
  typedAt: Number.NEGATIVE_INFINITY,
  said: null,
};

export type PlanAction =
  | { readonly type: 'loaded'; readonly plan: Plan | null; readonly models?: PlanState['models'] }
  /** This process begins a run of a plan. */
  | { readonly type: 'driving'; readonly phase: Driving['phase']; readonly run_id: string | null }
  /** It has come to the end of what it began; what rests is not over. */
  | { readonly type: 'driven-out'; readonly how: 'done' | 'failed' | 'rests' }
  | { readonly type: 'auto'; readonly on: boolean }
  /** Events of the run that is shown. */
  | { readonly type: 'events'; readonly run_id: string; readonly events: readonly RunEvent[] }
  /** Events of the run that this process drives. */
  | { readonly type: 'driven'; readonly run_id: string; readonly events: readonly RunEvent[] }
  | { readonly type: 'said'; readonly text: string; readonly bad: boolean }
  /** A field gets its text back, since nothing came of it. */
  | { readonly type: 'field'; readonly field: PlanField };

/** What the pane wants of the world. */
export type PlanIntent =
  /** Null: nothing is followed any more. */
  | { readonly do: 'follow'; readonly run_id: string | null }
  | { readonly do: 'steps'; readonly plan: string | null; readonly auto: boolean }
  | { readonly do: 'retry'; readonly plan: string; readonly ordinal: number }
  | { readonly do: 'skip'; readonly plan: string; readonly ordinal: number }
  /** `field`: where the instruction was typed; it gets its text back when nothing comes of it. */
  | {
      readonly do: 'replan';
      readonly plan: string;
      readonly instruction: string;
      readonly field: PlanField | null;
    }
  | { readonly do: 'new'; readonly field: PlanField; readonly goal: string }
  | { readonly do: 'explore'; readonly plan: string }
  | { readonly do: 'switch'; readonly plan: string }
  | { readonly do: 'delete'; readonly plan: string }
  | { readonly do: 'list' };

/** From here on the chosen step stands beside the list (10 §2.4). */
export const wideColumns = 110;

/** A choice by a key stays for so long, whatever runs meanwhile (10 §8). */
const keptMs = 10_000;

export const chosenStep = ({ plan, chosen }: Pick<PlanState, 'plan' | 'chosen'>): PlanStep | null =>
  plan?.steps.find(({ id }) => id === chosen) ?? plan?.steps[0] ?? null;

/** A step that some process works on, this one included. */
export const runningStep = ({ plan }: Pick<PlanState, 'plan'>): PlanStep | null =>
  plan?.steps.find(({ status, interrupted }) => (status === 'running' || status === 'waiting') && !interrupted) ?? null;

/** Another process works on the plan: here it is only looked at. */
export function drivenElsewhere(state: Pick<PlanState, 'plan' | 'driving'>): boolean {
  const running = runningStep(state);
  return running !== null && state.driving === null;
}

/** Whether what is shown goes on by itself: a planning, or a step that some process works on. */
export function isLive(state: Pick<PlanState, 'plan' | 'driving' | 'chosen' | 'run'>): boolean {
  if (state.driving !== null && state.driving.phase !== 'step') return true;
  return state.run !== null && runningStep(state)?.id === chosenStep(state)?.id && runningStep(state) !== null;
}

export type PlanChange = { readonly state: PlanState; readonly intents: readonly PlanIntent[] };

/** One step. Pure; what is to be followed afterwards comes back as an intent. */
export function reducePlan(state: PlanState, action: PlanAction, now: number): PlanChange {
  const next = step(state, action, now);
  return viewing(next, next.rests && goesOn(next, action));
}

/** Whether somebody takes up the run that is shown: here, or in another process. */
function goesOn(state: PlanState, action: PlanAction): boolean {
  if (action.type === 'driving') return action.run_id === state.run;
  if (action.type !== 'loaded') return false;
  return state.plan?.steps.some(({ run_id, run_by }) => run_id === state.run && run_by !== null) === true;
}

function step(state: PlanState, action: PlanAction, now: number): PlanState {
  switch (action.type) {
    case 'loaded':
      return loaded({ ...state, models: action.models ?? state.models }, action.plan, now);
    case 'driving':
      return {
        ...state,
        said: null,
        driving: begun(action.phase, action.run_id, state.driving?.since ?? now, now),
      };
    case 'driven-out':
      return { ...state, driving: null, auto: false };
    case 'auto':
      return { ...state, auto: action.on };
    case 'events':
      return action.run_id === state.run
        ? {
            ...state,
            items: reduceTranscript({ items: state.items }, action.events).items,
            rests: action.events.reduce((rests, { kind }) => turned(kind) ?? rests, state.rests),
          }
        : state;
    case 'driven':
      return state.driving?.run_id === action.run_id
        ? { ...state, driving: action.events.reduce((driving, event) => heard(driving, event, now), state.driving) }
        : state;
    case 'said':
      return { ...state, said: { text: action.text, bad: action.bad } };
    case 'field':
      return { ...state, field: action.field };
  }
}

const turned = (kind: RunEvent['kind']): boolean | null =>
  kind === 'chain_suspended' ? true : kind === 'chain_resumed' ? false : null;

/** The running step chooses itself, unless a key moved the choice a moment ago. */
function loaded(state: PlanState, plan: Plan | null, now: number): PlanState {
  const next = { ...state, plan, loaded: true };
  const current = runningStep(next);
  const free = now - state.chosenAt >= keptMs;
  const known = plan?.steps.some(({ id }) => id === state.chosen) === true;
  const first = plan?.steps.find(({ status }) => status !== 'completed' && status !== 'skipped') ?? plan?.steps.at(-1);
  const chosen = current !== null && free ? current.id : known ? state.chosen : (first?.id ?? null);
  return { ...next, chosen };
}

const begun = (phase: Driving['phase'], run_id: string | null, since: number, now: number): Driving => ({
  phase,
  run_id,
  started_at: now,
  since,
  waiting_since: null,
  waited_ms: 0,
  heard_at: now,
  interrupted_at: null,
});

function heard(driving: Driving, event: RunEvent, now: number): Driving {
  const { waiting_since, waited_ms } = driving;
  if (event.kind === 'ask') return { ...driving, heard_at: now, waiting_since: waiting_since ?? now };
  if (event.kind !== 'verdict' || waiting_since === null) return { ...driving, heard_at: now };
  return { ...driving, heard_at: now, waiting_since: null, waited_ms: waited_ms + now - waiting_since };
}

/** The run that is to be seen: that of a planning, else that of the chosen step unless it is over and done. */
function wantedRun(state: PlanState): string | null {
  const { driving } = state;
  if (driving !== null && driving.phase !== 'step') return driving.run_id;
  const chosen = chosenStep(state);
  return chosen === null || chosen.status === 'completed' || chosen.status === 'skipped' ? null : chosen.run_id;
}

/** Changes over to the run that is to be seen. @param again its stream has ended, and there is more to come */
export function viewing(state: PlanState, again = false): PlanChange {
  const run = wantedRun(state);
  if (run === state.run && !again) return { state, intents: [] };
  return { state: { ...state, run, items: [], rests: false, anchor: null }, intents: [{ do: 'follow', run_id: run }] };
}

/** A line for each step of a plan that was replaced: what went and what came (10 §8). */
export function replannedLines(before: Plan, after: Plan): readonly string[] {
  const kept = new Set(after.steps.map(({ id }) => id));
  const known = new Set(before.steps.map(({ id }) => id));
  const gone = before.steps.filter(({ id }) => !kept.has(id)).map(({ description }) => `- ${description}`);
  const rest = after.steps.map(({ id, ordinal, description }) =>
    known.has(id) ? `  ${ordinal}. ${description}` : `+ ${ordinal}. ${description}`,
  );
  return [...gone, ...rest];
}
