import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Effect } from '../../ui/effect.ts';
import { createEffects, type EffectDeps } from '../../ui/effects.ts';
import { openList } from '../../ui/overlays/overlay.ts';
import { reduce } from '../../ui/reducer.ts';
import { createSlashEffects, type SlashDeps } from '../../ui/slash-effects.ts';
import { runSlash } from '../../ui/slash.ts';
import type { State } from '../../ui/state.ts';
import { createLineCache } from '../../ui/transcript/line-cache.ts';
import { type ScriptedApp, scriptedApp } from '../support/scripted-app.ts';
import { pressAll, readyState } from './reducing.ts';

let app: ScriptedApp;
beforeAll(async () => {
  app = await scriptedApp({ turns: [] });
});
afterAll(() => app.close());

const ruler = { cache: createLineCache(), glyphs: 'unicode' } as const;

/** The session that is on the screen, which another process has renamed, giving its name to another one since. */
let shown: { readonly id: string; readonly name: string };
let count = 0;
beforeEach(async () => {
  count += 1;
  const name = `work${count}`;
  shown = { id: (await app.client.newSession({ name })).id, name };
});

async function giveAway(): Promise<void> {
  await app.client.renameSession({ name: shown.name, new_name: `mine${count}` });
  await app.client.newSession({ name: shown.name });
}

const onScreen = (): State =>
  readyState({ session: { ...shown, before: null, loading: false, deleted: false }, pane: 'chat' });

/** Does what effects ask for. @returns what the client was told, what was said, and the screen after it */
async function perform(from: State, effects: readonly Effect[]) {
  let now = from;
  const said: string[] = [];
  const calls: unknown[] = [];
  const working: Promise<unknown>[] = [];
  const dispatch = (action: Parameters<typeof reduce>[1]) => {
    if (action.type === 'say') said.push(action.text);
    now = reduce(now, action, ruler).state;
  };
  const client = Object.fromEntries(
    Object.entries(app.client).map(([key, does]) => [
      key,
      (input: object) => {
        if ('name' in input) calls.push([key, input.name]);
        const made = (does as (input: object) => Promise<unknown>)(input);
        if (key !== 'watch') working.push(made.catch(() => undefined));
        return made;
      },
    ]),
  );
  const link = {
    openSession: async (name: string | null) => void calls.push(['open', name]),
    compact: async (name: string) => {
      calls.push(['compact', name]);
      return { messages: 1, ended: 'completed' };
    },
    forkWithSummary: async (name: string) => {
      calls.push(['fork', name]);
      return { name: 'made', summarised: 1, ended: 'completed' };
    },
  };
  const ground = { client: async () => client, link, state: () => now, dispatch, now: () => 0 };
  const say = (text: string) => void said.push(text);
  const slash = createSlashEffects({ ...ground, say } as unknown as SlashDeps);
  const doing = createEffects({ ...ground, slash } as unknown as EffectDeps);
  for (const effect of effects) doing.perform(effect);
  await expect.poll(() => said.length + (now.overlays.length > from.overlays.length ? 1 : 0)).toBeGreaterThan(0);
  await Promise.all(working);
  return { calls, said, state: now };
}

const slash = (state: State, name: string, args: string) => {
  const change = runSlash(state, ruler, name, args, 0);
  if (typeof change === 'string') throw new Error(change);
  return perform(change.state, change.effects);
};

it.each([
  ['rename', 'other', 'renameSession'],
  ['fork', '', 'forkSession'],
  ['fork', '--summary', 'fork'],
  ['compact', '', 'compact'],
  ['abandon', '', 'showSession'],
])('/%s %s acts on the session that is on the screen, whoever has its name by now', async (name, args, does) => {
  await giveAway();
  const { calls, state } = await slash(onScreen(), name, `${args}${args === 'other' ? count : ''}`);
  expect(calls).toContainEqual([does, `mine${count}`]);
  expect(calls.flat()).not.toContain(shown.name);
  expect(state.session?.name).toBe(name === 'rename' ? `other${count}` : `mine${count}`);
  expect(state.items).toContainEqual(
    expect.objectContaining({ text: `this session was renamed elsewhere: ${shown.name} is mine${count}` }),
  );
});

it('a session that is gone is not taken for the one that has its name now', async () => {
  await app.client.deleteSession({ name: shown.name, force: false });
  await app.client.newSession({ name: shown.name });
  const { calls, said, state } = await slash(onScreen(), 'rename', 'other');
  expect(calls).toEqual([]);
  expect(said).toEqual([`the session ${shown.name} was deleted`]);
  expect(state.session?.deleted).toBe(true);
});

it.each([
  ['deleted', 'escape D', 'deleteSession'],
  ['forked', 'escape F enter', 'forkSession'],
  ['opened', 'escape enter', 'open'],
])('a row of the list of sessions is the session that was listed where it is %s', async (_way, keys, does) => {
  const rows = (await app.client.listSessions({})).filter(({ id }) => id === shown.id);
  await giveAway();
  const listed = { ...readyState(), overlays: [{ ...openList('sessions'), rows }] };
  const pressed = pressAll(listed, ...keys.split(' '));
  const effects = pressed.effects.filter(({ do: kind }) => kind.endsWith('-session'));
  expect(effects).toHaveLength(1);
  const { calls } = await perform(
    pressed.state,
    // Opening a session says nothing.
    effects.concat(does === 'open' ? [{ do: 'report', what: 'status' }] : []),
  );
  await expect.poll(() => calls).toContainEqual([does, `mine${count}`]);
  expect(calls.flat()).not.toContain(shown.name);
});
