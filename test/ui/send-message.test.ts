import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Action } from '../../ui/actions.ts';
import { createSender } from '../../ui/send-message.ts';
import { type ScriptedApp, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp;
beforeAll(async () => {
  app = await scriptedApp({ turns: [] });
});
afterAll(() => app.close());

const written = { text: 'hi', images: [], context: [] };

/** Sends a message from a screen that knows a session by this name. @returns where it went, and what was told */
async function send(id: string, name: string) {
  const to: unknown[] = [];
  const told: Action[] = [];
  const client = {
    ...app.client,
    sendMessage: async ({ session }: { readonly session: string | null }) => {
      to.push(session);
      return { run_id: 'run_1', session_id: id, session_name: session, warnings: [], policy: { state: 'ok' } };
    },
  };
  await createSender({
    client: async () => client as never,
    request: async () => ({}) as never,
    dispatch: (action) => void told.push(action),
    now: () => 0,
    session: () => ({ id, name, before: null, loading: false, deleted: false }),
    chosen: () => ({}),
    key: () => null,
    signal: new AbortController().signal,
    started: () => undefined,
    accepted: () => undefined,
    busy: async () => undefined,
  })({ do: 'send', text: 'hi', written, session: name });
  return { to, told };
}

it('a message goes into the session that it was written in, whoever has its name by now', async () => {
  const { id } = await app.client.newSession({ name: 'work' });
  await app.client.renameSession({ name: 'work', new_name: 'old' });
  await app.client.newSession({ name: 'work' });
  const { to, told } = await send(id, 'work');
  expect(to).toEqual(['old']);
  expect(told).toContainEqual({ type: 'renamed', name: 'old' });
});

it('and into none where that one was deleted, whatever is called so now', async () => {
  const { id } = await app.client.newSession({ name: 'gone' });
  await app.client.deleteSession({ name: 'gone', force: false });
  await app.client.newSession({ name: 'gone' });
  const { to, told } = await send(id, 'gone');
  expect(to).toEqual([]);
  expect(told.map(({ type }) => type)).toEqual(['session-gone', 'not-sent']);
});
