import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { everyAsk } from '../../src/schema/ask.ts';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp | undefined;
afterEach(async () => app?.close());

it('says on the card of a call that reads where its path leads (03 §8)', async () => {
  app = await scriptedApp({
    policy: { default_action: 'approve', rules: [] },
    turns: [
      calls([call('local_fs.read_file', { path: 'notes.txt' })], { role: 'user' }),
      says('done', { role: 'tool' }),
    ],
  });
  const { dir, workspace } = app.place;
  mkdirSync(join(dir, 'elsewhere'));
  const real = join(dir, 'elsewhere/private');
  writeFileSync(real, 'x');
  symlinkSync(real, join(workspace, 'notes.txt'));
  const { run_id } = await app.start({ on_ask: 'suspend' });
  await app.client.awaitRun({ run_id });
  const [ask] = (await app.client.listAsks({ ...everyAsk, state: 'pending', limit: 2 })).asks;
  expect(ask?.preview.paths).toEqual([{ given: 'notes.txt', real, inside: false, link: true }]);
});
