import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { loopChain, type ScriptedApp, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp;
afterEach(() => app.close());

/** Processes of this one that start commands. */
const helpers = (): readonly string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      const [, , parent] = /\) (\w) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
      return Number(parent) === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('workers/spawner');
    } catch {
      return false;
    }
  });

it('gets ready to start commands while a model that may ask for one is thinking', async () => {
  app = await scriptedApp({
    chain: loopChain,
    turns: [{ reply: { text: 'done', first_delay_ms: 60_000 } }],
  });
  const before = helpers();
  const { run_id } = await app.start({ shell: true });
  await expect.poll(() => helpers().length).toBeGreaterThan(before.length);
  expect(await app.client.cancelRun({ run_id, reason: 'seen' })).toBe(null);
});
