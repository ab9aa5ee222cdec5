import { expect, it, onTestFinished, vi } from 'vitest';
import { textOf } from '../../src/view/line.ts';
import type { EffectGround } from '../../ui/effect-ground.ts';
import { openList, type Overlay } from '../../ui/overlays/overlay.ts';
import { placeOf } from '../../ui/overlays/place.ts';
import { reduce } from '../../ui/reducer.ts';
import { sessionEffects } from '../../ui/session-effects.ts';
import type { State } from '../../ui/state.ts';
import { createLineCache } from '../../ui/transcript/line-cache.ts';
import { says, scriptedApp } from '../support/scripted-app.ts';
import { pressAll, readyState } from './reducing.ts';

const long = 'Somebody asked a good while ago whether the marmots of the Alps sleep through all of the winter.';

/** The list of sessions, in one of which marmots are spoken of. @returns what is shown once a filter was typed */
async function list() {
  const app = await scriptedApp({ turns: [says(long)] });
  onTestFinished(() => app.close());
  for (const name of ['marmot-names', 'shop', 'work']) await app.client.newSession({ name });
  // The session that was made last is the active one.
  const { run_id } = await app.chat('how do animals sleep?');
  await app.client.awaitRun({ run_id });
  const rows = await app.client.listSessions({});
  let now: State = readyState({ session: null, overlays: [{ ...openList('sessions'), rows }] });
  const dispatch: EffectGround['dispatch'] = (action) => {
    now = reduce(now, action, { cache: createLineCache(), glyphs: 'unicode' }).state;
  };
  const attempt: EffectGround['attempt'] = (work) => void work(app.client);
  const doing = sessionEffects({ dispatch, attempt, state: () => now } as Partial<EffectGround> as EffectGround);
  const press = (...keys: readonly string[]): void => {
    const pressed = pressAll(now, ...keys);
    now = pressed.state;
    for (const effect of pressed.effects) if (effect.do === 'find-sessions') doing['find-sessions'](effect);
  };
  const view = () => placeOf(now, now.overlays.at(-1) as Overlay).view;
  const names = (): readonly string[] => view().body.map((row) => /[a-z]\S*/.exec(textOf(row))?.[0] ?? '');
  const below = (): string => (view().below ?? []).map(textOf).join('\n');
  return { press, names, below, effects: (...keys: readonly string[]) => pressAll(now, ...keys).effects };
}

it('a filter finds sessions by what was said in them, behind those of that name, and shows the passage', async () => {
  const { press, names, below, effects } = await list();
  press(...'marmot');
  expect(names()).toEqual(['marmot-names']);
  await vi.waitFor(() => expect(names()).toEqual(['marmot-names', 'work']));
  press('down');
  expect(below()).toBe('said: "…while ago whether the marmots of the Alps sleep through all of th…');
  expect(effects('enter')).toMatchObject([{ do: 'switch-session', of: { name: 'work' } }]);
});

it('a filter that goes on is no longer met by what met its beginning', async () => {
  const { press, names } = await list();
  press(...'winter');
  await vi.waitFor(() => expect(names()).toEqual(['work']));
  press(...'green');
  expect(names()).toEqual(['nothing']);
  press('ctrl+u');
  expect(names()).toHaveLength(3);
});
