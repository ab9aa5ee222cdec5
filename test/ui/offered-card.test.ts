import { expect, it } from 'vitest';
import type { Action } from '../../ui/actions.ts';
import { reduce } from '../../ui/reducer.ts';
import type { State } from '../../ui/state.ts';
import { createLineCache } from '../../ui/transcript/line-cache.ts';
import { anAsk } from './approvals/an-ask.ts';
import { keyOfWords, readyState } from './reducing.ts';

const ruler = { cache: createLineCache(), glyphs: 'unicode' as const };
const after = (state: State, ...actions: readonly Action[]): State =>
  actions.reduce((next, action) => reduce(next, action, ruler).state, state);
const asks = (...named: readonly string[]): Action => ({
  type: 'asks',
  asks: named.map((id) => anAsk({ id, run_id: 'run_1' })),
  ids: {},
  now: 10_000,
});
const esc = (now: number): Action => ({ type: 'key', key: keyOfWords('escape'), now });
const cardOf = ({ approvals }: State): string | null => approvals.card?.id ?? null;

it('who leaves the card of an ask is not given the others of its message one by one, but one that comes later', () => {
  const turn = { run_id: 'run_1', waiting_since: null, elsewhere: null } as State['turn'];
  const asked = after(readyState({ turn }), asks('ask_1', 'ask_2', 'ask_3'));
  expect(cardOf(asked)).toBe('ask_1');
  const left = after(asked, esc(11_000), { type: 'tick', now: 20_000 }, asks('ask_1', 'ask_2', 'ask_3'));
  expect(cardOf(left)).toBeNull();
  expect(cardOf(after(left, asks('ask_1', 'ask_2', 'ask_3', 'ask_4'), { type: 'tick', now: 30_000 }))).toBe('ask_4');
});
