import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EffectGround } from '../../ui/effect-ground.ts';
import { openList } from '../../ui/overlays/overlay.ts';
import { reduce } from '../../ui/reducer.ts';
import { sessionEffects } from '../../ui/session-effects.ts';
import type { State } from '../../ui/state.ts';
import { createLineCache } from '../../ui/transcript/line-cache.ts';
import { type ScriptedApp, scriptedApp } from '../support/scripted-app.ts';
import { pressAll, readyState } from './reducing.ts';

let app: ScriptedApp;
beforeAll(async () => {
  app = await scriptedApp({ turns: [] });
  await app.client.newSession({ name: 'work' });
});
afterAll(() => app.close());

/** Presses keys in the list of sessions and does what they ask for. @returns what is shown then, and what was said */
async function press(...keys: readonly string[]) {
  const rows = await app.client.listSessions({});
  const pressed = pressAll(readyState({ overlays: [{ ...openList('sessions'), rows }] }), ...keys);
  let now: State = pressed.state;
  const said: string[] = [];
  const opened: (string | null)[] = [];
  const working: Promise<unknown>[] = [];
  const ground = {
    say: (text) => void said.push(text),
    dispatch: (action) => {
      now = reduce(now, action, { cache: createLineCache(), glyphs: 'unicode' }).state;
    },
    state: () => now,
    attempt: (work) => {
      working.push(work(app.client).catch((error: Error) => said.push(error.message)));
    },
    link: { openSession: async (name: string | null) => void opened.push(name) },
  } as Partial<EffectGround> as EffectGround;
  const doing = sessionEffects(ground);
  for (const effect of pressed.effects) {
    if (effect.do === 'new-session' || effect.do === 'rename-session' || effect.do === 'fork-session')
      doing[effect.do](effect as never);
  }
  await Promise.all(working);
  const top = now.overlays.at(-1);
  const field = top?.kind === 'sessions' ? (top.field === null ? null : top.field.editing.text) : undefined;
  return { field, said, opened };
}

it.each([
  ['new', 'escape N'],
  ['renamed', 'escape R ctrl+u'],
  ['forked', 'escape F'],
])('a name that is no name stays in its field, with what is wrong, where a session is %s', async (way, before) => {
  const keys = before.split(' ');
  const bad = await press(...keys, ...'a/b', 'enter');
  expect([bad.field, bad.opened]).toEqual(['a/b', []]);
  expect(bad.said).toEqual(['A session name has 1 to 64 letters, digits, ".", "_" or "-", no sign first.']);
  // The list closes once there is a session to show.
  const good = await press(...keys, ...way, 'enter');
  expect(good.opened).toEqual(way === 'renamed' ? [] : [way]);
  expect(good.field).toBe(way === 'renamed' ? null : undefined);
});
