import { describe, expect, test } from 'vitest';
import {
  chosenStep,
  drivenElsewhere,
  emptyPlan,
  type PlanAction,
  type PlanState,
  reducePlan,
  replannedLines,
} from '../../../ui/plan/plan-state.ts';
import { runSlash } from '../../../ui/slash.ts';
import { createLineCache } from '../../../ui/transcript/line-cache.ts';
import { pressAll, readyState } from '../reducing.ts';
import { planOf as plan, stepOf as step } from './a-plan.ts';

const through = (state: PlanState, now: number, ...actions: readonly PlanAction[]) =>
  actions.reduce(
    (change, action) => {
      const next = reducePlan(change.state, action, now);
      return { state: next.state, intents: [...change.intents, ...next.intents] };
    },
    { state, intents: [] as readonly unknown[] },
  );
const chosen = (state: PlanState): number | undefined => chosenStep(state)?.ordinal;

describe('the plan pane', () => {
  test('asks whether steps are run only where they can: a failed one comes first', () => {
    const shown = (...steps: readonly ReturnType<typeof step>[]) => {
      const state = readyState({ pane: 'plan', plan: { ...emptyPlan, plan: plan(...steps) } });
      const pressed = pressAll(state, 'a').state;
      return [pressed.overlays.length, pressed.plan.said?.text ?? ''];
    };
    expect(shown(step(1, { status: 'failed' }), step(2))).toEqual([0, 'step 1 has failed: r retry, s skip, R replan']);
    expect(shown(step(1, { status: 'skipped' }), step(2))).toEqual([1, '']);
  });

  test('names keys to who has pressed one, and commands to who has typed one', () => {
    const said = (typed: string, ...steps: readonly ReturnType<typeof step>[]): string | undefined => {
      const own = { ...emptyPlan, loaded: true, plan: steps.length === 0 ? null : plan(...steps) };
      const ruler = { cache: createLineCache(), glyphs: 'unicode' } as const;
      const change = runSlash(readyState({ plan: own }), ruler, 'plan', typed, 0);
      return typeof change === 'string' ? change : change.state.plan.said?.text;
    };
    expect(said('auto', step(1, { status: 'failed' }), step(2))).toBe(
      'step 1 has failed: /plan retry 1, /plan skip 1 or /plan replan',
    );
    expect(said('next')).toBe('there is no plan: /plan new <goal> makes one');
    expect(said('retry 1')).toBe('there is no plan: /plan new <goal> makes one');
    const pane = readyState({ pane: 'plan', plan: { ...emptyPlan, loaded: true } });
    expect(pressAll(pane, 'R').state.plan.said?.text).toBe('there is no plan: N makes one');
  });

  test('keeps the goal of a field that was closed, and gives it back with Ctrl+Y in the next one', () => {
    const state = readyState({ pane: 'plan', plan: { ...emptyPlan, loaded: true } });
    const closed = pressAll(state, 'N', 'h', 'o', 'escape').state;
    expect([closed.plan.field, closed.plan.said]).toEqual([null, { text: 'Ctrl+Y has what you typed', bad: false }]);
    expect(pressAll(closed, 'N', 'ctrl+y').state.plan.field?.editing.text).toBe('ho');
    expect(pressAll(state, 'N', 'escape').state.plan.said).toBeNull();
  });

  test('a replanning takes the field of its instruction along, which is given back when it fails', () => {
    const state = readyState({ pane: 'plan', plan: { ...emptyPlan, loaded: true, plan: plan(step(1)) } });
    const { effects } = pressAll(state, 'R', 'h', 'o', 'enter');
    const intent = effects.find(({ do: what }) => what === 'plan');
    expect(intent).toMatchObject({ intent: { do: 'replan', instruction: 'ho', field: { editing: { text: 'ho' } } } });
  });

  test('goes to the ends of a long list with one key', () => {
    const hundred = plan(...Array.from({ length: 100 }, (_, index) => step(index + 1)));
    const start = readyState({ pane: 'plan', plan: { ...emptyPlan, plan: hundred } });
    const last = pressAll(start, 'end').state;
    expect([chosen(last.plan), chosen(pressAll(last, 'home').state.plan)]).toEqual([100, 1]);
  });

  test('chooses the running step and follows its run', () => {
    const running = plan(step(1, { status: 'completed', run_id: 'r1' }), step(2, { status: 'running', run_id: 'r2' }));
    const { state, intents } = through(emptyPlan, 0, { type: 'loaded', plan: running });
    expect(chosen(state)).toBe(2);
    expect(intents).toEqual([{ do: 'follow', run_id: 'r2' }]);
  });

  test('leaves a choice of the last 10 s where it is', () => {
    const before: PlanState = { ...emptyPlan, chosen: 'step1', chosenAt: 5000 };
    const running = plan(step(1, { status: 'completed' }), step(2, { status: 'running', run_id: 'r2' }));
    expect(chosen(through(before, 14_000, { type: 'loaded', plan: running }).state)).toBe(1);
    expect(chosen(through(before, 15_000, { type: 'loaded', plan: running }).state)).toBe(2);
  });

  test('keeps the chosen step when steps are renumbered', () => {
    const before: PlanState = { ...emptyPlan, chosen: 'step2', plan: plan(step(1), step(2)) };
    const after = plan(step(1), { ...step(3), ordinal: 2 }, { ...step(2), ordinal: 3 });
    expect(chosen(through(before, 20_000, { type: 'loaded', plan: after }).state)).toBe(3);
  });

  test('shows the run of a planning while it goes on, and events of no other run', () => {
    const { state, intents } = through(
      emptyPlan,
      0,
      { type: 'driving', phase: 'plan', run_id: 'p1' },
      {
        type: 'events',
        run_id: 'other',
        events: [{ kind: 'notice', level: 'warn', message: 'x' } as never],
      },
    );
    expect(intents).toEqual([{ do: 'follow', run_id: 'p1' }]);
    expect(state.items).toEqual([]);
  });

  test('follows a run again that rested when somebody takes it up, and not for as long as it rests', () => {
    const resting = step(1, { status: 'running', interrupted: true, run_id: 'r1' });
    const rested = { type: 'events', run_id: 'r1', events: [{ kind: 'chain_suspended' } as never] } as const;
    const read = through(emptyPlan, 0, { type: 'loaded', plan: plan(resting) }, rested).state;
    const caused = (action: PlanAction) => through(read, 0, action).intents;
    const again = [{ do: 'follow', run_id: 'r1' }];
    expect(caused({ type: 'loaded', plan: plan(resting) })).toEqual([]);
    expect(caused({ type: 'driving', phase: 'step', run_id: 'r1' })).toEqual(again);
    const run_by = { pid: 4127, surface: 'cli' };
    const goesOn = plan({ ...resting, interrupted: false, run_by });
    expect(caused({ type: 'loaded', plan: goesOn })).toEqual(again);
    // One that goes on is heard already.
    const resumed = { ...rested, events: [{ kind: 'chain_resumed' } as never] };
    expect(through(read, 0, resumed, { type: 'loaded', plan: goesOn }).intents).toEqual([]);
  });

  test('counts the time that a step waits for a person apart', () => {
    const event = (kind: 'ask' | 'verdict') => ({ kind }) as never;
    const begun = through(emptyPlan, 1000, { type: 'driving', phase: 'step', run_id: 'r1' }).state;
    const waits = through(begun, 2000, { type: 'driven', run_id: 'r1', events: [event('ask')] }).state;
    expect(waits.driving?.waiting_since).toBe(2000);
    const goesOn = through(waits, 5000, { type: 'driven', run_id: 'r1', events: [event('verdict')] }).state;
    expect(goesOn.driving).toMatchObject({ waiting_since: null, waited_ms: 3000 });
  });

  test('knows a step that another process works on, and one whose process is gone', () => {
    const running = step(1, { status: 'running', run_id: 'r1' });
    expect(drivenElsewhere({ plan: plan(running), driving: null })).toBe(true);
    expect(drivenElsewhere({ plan: plan({ ...running, interrupted: true }), driving: null })).toBe(false);
  });

  test('says what replanning took away and what it put there', () => {
    const before = plan(step(1, { status: 'completed' }), step(2));
    const after = plan(step(1, { status: 'completed' }), { ...step(3), ordinal: 2 });
    expect(replannedLines(before, after)).toEqual(['- do 2', '  1. do 1', '+ 2. do 3']);
  });
});
