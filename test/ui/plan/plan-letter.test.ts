import { expect, test } from 'vitest';
import { reduce } from '../../../ui/reducer.ts';
import type { State } from '../../../ui/state.ts';
import { emptyPlan } from '../../../ui/plan/plan-state.ts';
import { createLineCache } from '../../../ui/transcript/line-cache.ts';
import type { Effect } from '../../../ui/effect.ts';
import { keyOfWords, readyState } from '../reducing.ts';
import { planOf, stepOf } from './a-plan.ts';

const ruler = { cache: createLineCache(), glyphs: 'unicode' } as const;
const pane = readyState({ pane: 'plan', plan: { ...emptyPlan, loaded: true, plan: planOf(stepOf(1), stepOf(2)) } });

/** Types with so many milliseconds between two keys; the clock of a letter that stands alone rings in between. */
function typed(
  state: State,
  keys: readonly string[],
  gap: number,
): { readonly state: State; readonly wants: readonly Effect[] } {
  const wants: Effect[] = [];
  let next = state;
  let now = state.now + 10_000;
  const take = (change: { readonly state: State; readonly effects: readonly Effect[] }): void => {
    next = change.state;
    wants.push(...change.effects.filter((effect) => effect.do === 'plan'));
  };
  for (const written of keys) {
    take(reduce(next, { type: 'key', key: keyOfWords(written), now }, ruler));
    const rings = next.plan.letter?.at;
    now += gap;
    if (rings !== undefined && rings <= now) take(reduce(next, { type: 'plan-letter', now }, ruler));
  }
  return { state: next, wants };
}

test('a letter that stands alone does what it is for, a moment later', () => {
  const skip = { do: 'plan', intent: { do: 'skip', plan: pane.plan.plan?.name, ordinal: 1 } };
  expect(typed(pane, ['s'], 100).wants).toEqual([]);
  expect(typed(pane, ['s'], 300).wants).toEqual([skip]);
  // Nothing but a letter could be typing: the next key finds it done.
  expect(typed(pane, ['s', 'down'], 100).wants).toEqual([skip]);
  expect(typed(pane, ['N'], 0).state.plan.field?.purpose).toBe('goal');
});

test.each([
  ['please continue and run the next step', 120],
  ['skip it', 180],
  ['please start again', 600],
])('who types "%s" without a composer starts and skips nothing, and is told where it is', (text, gap) => {
  const keys = [...text].map((each) => (each === ' ' ? 'space' : each));
  const { state, wants } = typed(pane, keys, gap);
  expect(wants).toEqual([]);
  expect([state.pane, state.overlays.length, state.plan.field]).toEqual(['plan', 0, null]);
  expect(state.said?.text).toBe('typing? the plan has the keys here: F2 goes to the chat');
});
