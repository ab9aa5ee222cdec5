import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { allowAll, call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp;
afterEach(() => app.close());

const shell = (command: string) => calls([call('local_shell.local_shell', { command })], { role: 'user' });
const statusOf = (run_id: string) => app.rows('SELECT status FROM runs WHERE id = ?', run_id)[0]?.['status'];
const states = () => app.rows('SELECT state FROM tool_calls ORDER BY seq').map(({ state }) => state);

it('lets a call that is being executed end, begins no other, and goes on later', async () => {
  app = await scriptedApp({ turns: [shell('sleep 1; touch first'), says('done', { role: 'tool' })], policy: allowAll });
  const ground = await app.ground();
  const { run_id } = await app.start();
  await app.seen(run_id, 'tool_call_started');
  await ground.rest(10_000);
  expect([statusOf(run_id), states()]).toEqual(['suspended', ['done']]);
  expect(existsSync(join(app.place.workspace, 'first'))).toBe(true);
  const [last] = app.rows("SELECT data FROM events WHERE kind = 'chain_suspended'");
  // The outcome of the call stands behind the saved state, which holds the message that asked for it.
  const [asked] = app.rows(
    "SELECT max(seq) AS seq FROM events WHERE kind = 'message' AND data LIKE '%sleep 1; touch%'",
  );
  expect(JSON.parse(String(last?.['data']))).toMatchObject({ reason: 'shutdown', checkpoint_seq: asked?.['seq'] });
  await app.client.resumeRun({ run_id, accept_changed_chain: false, on_ask: 'deny', timeout_ms: 0 });
  const result = await app.client.awaitRun({ run_id });
  expect([result.error, result.status, result.text]).toEqual([null, 'completed', 'done']);
  expect(states()).toEqual(['done']);
});

it('stops a call that takes too long, whose outcome is then unknown', async () => {
  app = await scriptedApp({ turns: [shell('sleep 60'), says('done', { role: 'tool' })], policy: allowAll });
  const ground = await app.ground();
  const { run_id } = await app.start();
  await app.seen(run_id, 'tool_call_started');
  await ground.rest(100);
  expect([statusOf(run_id), states()]).toEqual(['suspended', ['started']]);
  await app.client.resumeRun({ run_id, accept_changed_chain: false, on_ask: 'suspend', timeout_ms: 0 });
  await app.client.awaitRun({ run_id });
  expect(states()).toEqual(['unknown']);
});

it('leaves a question open, which is answered after the next start', async () => {
  app = await scriptedApp({
    turns: [shell('touch asked'), says('done', { role: 'tool' })],
    policy: { default_action: 'approve', rules: [] },
  });
  const ground = await app.ground();
  const { run_id } = await app.start({ on_ask: 'wait' });
  const { ask_id } = (await app.seen(run_id, 'ask')) as unknown as { ask_id: string };
  await ground.rest(10_000);
  expect([statusOf(run_id), (await app.client.showAsk({ id: ask_id })).state]).toEqual(['suspended', 'pending']);
});
