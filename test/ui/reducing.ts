import type { Key } from '../../ui/keys/key.ts';
import { shippedKeyMap } from '../../ui/keys/key-map.ts';
import type { Effect } from '../../ui/effect.ts';
import { reduce } from '../../ui/reducer.ts';
import { firstFacts, firstState, type State } from '../../ui/state.ts';
import { createLineCache } from '../../ui/transcript/line-cache.ts';

/** A screen that is ready, with a session and nothing in it. */
export const readyState = (over: Partial<State> = {}): State => ({
  ...firstState({
    size: { columns: 80, rows: 24 },
    now: 0,
    keys: shippedKeyMap(),
    thinkOpen: false,
    facts: firstFacts({ cwd: '/w', shell: false }),
  }),
  phase: 'ready',
  session: { id: 's1', name: 'work', before: null, loading: false, deleted: false },
  ...over,
});

/** A key as it is written in the key map. */
export function keyOfWords(written: string): Key {
  const [, ctrl, alt, shift, name = ''] = /^(ctrl\+)?(alt\+)?(shift\+)?(.+)$/.exec(written) ?? [];
  const plain = ctrl === undefined && alt === undefined;
  const text = !plain ? '' : name === 'space' ? ' ' : [...name].length === 1 ? name : '';
  return { name, ctrl: ctrl !== undefined, alt: alt !== undefined, shift: shift !== undefined, text };
}

/** Presses keys on a state, a second apart. @returns the state, and what was asked of the world */
export function pressAll(
  state: State,
  ...keys: readonly string[]
): { readonly state: State; readonly effects: readonly Effect[] } {
  const ruler = { cache: createLineCache(), glyphs: 'unicode' as const };
  const effects: Effect[] = [];
  let next = state;
  for (const written of keys) {
    const done = reduce(next, { type: 'key', key: keyOfWords(written), now: next.now + 1000 }, ruler);
    next = done.state;
    effects.push(...done.effects);
    // A letter of the plan pane stands alone in that second.
    if (next.plan.letter === null) continue;
    const alone = reduce(next, { type: 'plan-letter', now: next.plan.letter.at }, ruler);
    next = alone.state;
    effects.push(...alone.effects);
  }
  return { state: next, effects };
}
