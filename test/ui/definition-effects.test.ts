import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { textOf } from '../../src/view/line.ts';
import { addServer } from '../runs/add-server.ts';
import { type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';
import { createDefinitionEffects } from '../../ui/definition-effects.ts';
import type { Effect } from '../../ui/effect.ts';
import { shippedKeyMap } from '../../ui/keys/key-map.ts';
import { viewOf } from '../../ui/overlays/views.ts';
import { reduce } from '../../ui/reducer.ts';
import { lookAround } from '../../ui/opening.ts';
import { bannerOf } from '../../ui/status-lines.ts';
import { firstFacts, firstState, type State } from '../../ui/state.ts';
import { createLineCache } from '../../ui/transcript/line-cache.ts';

let own: ScriptedApp;
let list: string;
const describe = (description: string, ...more: readonly string[]): void => {
  const tool = (name: string, said: string) => ({ name, description: said, inputSchema: { type: 'object' } });
  writeFileSync(list, JSON.stringify([tool('echo', description), ...more.map((name) => tool(name, 'another one'))]));
};
beforeEach(async () => {
  own = await scriptedApp({ turns: [says('end')] });
  list = join(own.place.dir, 'tools.json');
  describe('says it back');
  await addServer(own, 'one', ['file', list]);
  await own.client.checkMcpServer({ name: 'one' });
});
afterEach(() => own.close());

/** The state of the screen over the real client, without a screen. */
function face() {
  let state: State = {
    ...firstState({
      size: { columns: 80, rows: 20 },
      now: 0,
      keys: shippedKeyMap(),
      thinkOpen: false,
      facts: firstFacts({ cwd: '/w', shell: false }),
    }),
    phase: 'ready',
  };
  let now = 10_000;
  const ruler = { cache: createLineCache(), glyphs: 'unicode' } as const;
  const asked: Effect[] = [];
  const dispatch = (action: Parameters<typeof reduce>[1]): void => {
    const change = reduce(state, action, ruler);
    state = change.state;
    asked.push(...change.effects);
  };
  const effects = createDefinitionEffects({
    client: async () => own.client,
    dispatch,
    say: (text, bad) => dispatch({ type: 'say', text, bad, now }),
    now: () => now,
  });
  return {
    effects,
    banner: () => bannerOf(state)?.text ?? null,
    said: () => state.said?.text ?? null,
    shown: () => {
      const top = state.overlays.at(-1);
      if (top === undefined) return null;
      const view = viewOf(top, state, 74);
      return [view.title, ...[...view.head, ...view.body].map(textOf)].join('\n');
    },
    /** A key a while after the last thing, and what it asks for. */
    async press(name: string, text = name): Promise<void> {
      now += 1_000;
      dispatch({ type: 'key', key: { name, ctrl: false, alt: false, shift: false, text }, now });
      for (const effect of asked.splice(0)) if (effect.do === 'definition') await effects.answer(effect);
    },
  };
}
const waiting = async (): Promise<readonly string[]> =>
  (await own.client.showMcpServer({ name: 'one' })).drift.map(({ tool }) => tool);

test('opening the screen starts no tool server', async () => {
  let looks = 0;
  const definitions = async (): Promise<void> => {
    looks += 1;
  };
  await lookAround({
    client: own.client,
    dispatch: () => {},
    policy: null,
    model: null,
    key: () => null,
    session: () => null,
    definitions,
  });
  expect(looks).toBe(1);
  const marks = readFileSync(join(own.place.dir, 'one.marks'), 'utf8').trim().split('\n');
  // Once, when it was registered.
  expect(marks.filter((line) => line.startsWith('start'))).toHaveLength(1);
});

test('a changed tool is told of in the banner, and accepted when all of its difference was on the screen', async () => {
  const screen = face();
  await screen.effects.look();
  expect([screen.banner(), await screen.effects.review()]).toEqual([null, false]);
  describe(`says it back${' and more'.repeat(200)}`);
  await own.client.checkMcpServer({ name: 'one' });
  await screen.effects.look();
  expect(screen.banner()).toBe('the tool one.echo has changed and cannot be called: /trust');

  expect(await screen.effects.review()).toBe(true);
  expect(screen.shown()).toMatch(/^Accept this tool definition\?\none\.echo of the MCP server one\n/);
  expect(screen.shown()).toContain('│ -  "description": "says it back"');
  await screen.press('y');
  expect(screen.shown()).toMatch(/! \d+ lines not seen: PgDn/);
  expect(await waiting()).toEqual(['echo']);
  for (let page = 0; page < 5; page += 1) await screen.press('pagedown', '');
  await screen.press('y');
  expect([await waiting(), screen.shown(), screen.banner()]).toEqual([[], null, null]);
  expect(screen.said()).toBe('accepted one.echo: it can be called from the next message on');
});

test('a tool is kept out without being asked about again, and what changes meanwhile is another question', async () => {
  const screen = face();
  describe('says it back', 'steal');
  await own.client.checkMcpServer({ name: 'one' });
  await screen.effects.review();
  await screen.press('n');
  expect([await waiting(), screen.shown(), screen.banner()]).toEqual([['steal'], null, null]);

  describe('says something else', 'steal');
  await own.client.checkMcpServer({ name: 'one' });
  await screen.effects.look();
  // The one that was kept out is what it was.
  expect(screen.banner()).toBe('the tool one.echo has changed and cannot be called: /trust');
  await screen.effects.review();
  expect(screen.shown()).toContain('one.echo');
  describe('and something else again', 'steal');
  for (let page = 0; page < 3; page += 1) await screen.press('pagedown', '');
  await screen.press('y');
  expect(screen.said()).toBe('the tools of "one" have changed again: nothing was accepted');
  expect(await waiting()).toEqual(['echo', 'steal']);
  expect(screen.shown()).toContain('and something else again');
});
