import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Action } from '../../ui/actions.ts';
import type { Overlay } from '../../ui/overlays/overlay.ts';
import { createSlashEffects, type SlashDeps } from '../../ui/slash-effects.ts';
import type { SlashIntent } from '../../ui/slash-intent.ts';
import { allowAll, call, calls, says, type ScriptedApp, scriptedApp } from '../support/scripted-app.ts';
import { readyState } from './reducing.ts';

let app: ScriptedApp;
afterEach(() => app.close());

it('/undo shows what it would do to the files of the last turn, and does it once that is said', async () => {
  app = await scriptedApp({
    policy: allowAll,
    turns: [calls([call('local_fs.write_file', { path: 'a.txt', content: 'a' })], { role: 'user' }), says('done')],
  });
  const path = join(app.place.workspace, 'a.txt');
  const { run_id } = await app.chat('write it');
  await app.client.awaitRun({ run_id });
  const [row] = app.rows('SELECT id, name FROM sessions');
  const shown: Overlay[] = [];
  const said: string[] = [];
  const deps: Partial<SlashDeps> = {
    client: async () => app.client,
    state: () => ({ ...readyState(), session: row }) as ReturnType<SlashDeps['state']>,
    dispatch: (action: Action) => void (action.type === 'overlay' && shown.push(action.overlay)),
    say: (text) => void said.push(text),
  };
  // The rest of what such commands need has no part in this one.
  const { perform } = createSlashEffects(deps as SlashDeps);
  const done = async (intent: SlashIntent, of: readonly unknown[]) => {
    const before = of.length;
    perform(intent, (message) => said.push(message));
    await expect.poll(() => of.length).toBe(before + 1);
  };

  await done({ do: 'undo', run_id: null }, shown);
  const [question] = shown;
  expect(question).toMatchObject({
    kind: 'question',
    lines: ['a.txt is taken away'],
    choices: [{ key: 'y', effects: [{ do: 'slash', intent: { do: 'undo-shown', run_id } }] }],
  });
  expect(existsSync(path)).toBe(true);
  await done({ do: 'undo-shown', run_id }, said);
  expect([existsSync(path), said]).toEqual([false, ['undone: 1 file']]);
  await done({ do: 'undo', run_id: run_id.slice(-6) }, said);
  expect(said[1]).toBe('there is nothing to undo: a.txt is as before');
});
