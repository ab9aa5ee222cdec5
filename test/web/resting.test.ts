import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, calls, says } from '../support/scripted-app.ts';
import { choosePassword, type WebWorld, webWorld } from './world.ts';

let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({
    turns: [
      says('Written.', { tool: { count: 1 } }),
      calls([call('local_fs.write_file', { path: 'a', content: 'x' })]),
    ],
    policy: { default_action: 'approve', rules: [] },
  });
  await world.served.client.putConfigItem({ key: 'default-model', value: 'm' });
  await world.served.client.putConfigItem({ key: 'default-provider', value: 'scripted' });
}, 60_000);
afterAll(() => world?.close());

/** A run of a chat that rests, and whose ask is answered: nobody but a person has it go on. */
async function rested(): Promise<string> {
  const { app } = world.served;
  const { run_id } = await app.chat('Write it', { on_ask: 'suspend' });
  await app.client.awaitRun({ run_id });
  const [ask] = app.rows("SELECT id FROM asks WHERE state = 'pending'");
  const yes = { outcome: 'approve' as const, feedback: null, text: null, remember: null, binding: null };
  await app.client.answerAsk({ id: String(ask?.['id']), ...yes, no_resume: true });
  return run_id;
}

it('says of a run that could not go on why not, and which attempt that was; its chat can be saved', async () => {
  const { app } = world.served;
  const run_id = await rested();
  app.change("UPDATE run_state SET payload_sha256 = 'other'");
  const page = await world.open(`/runs/${run_id}`);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('attempt 1 of 5 to go on', { exact: false }).waitFor();
  await page.getByText('could not go on (attempt 1 of 5)', { exact: false }).waitFor();
  await page.goto(`${world.served.url}/approvals`);
  await page.getByRole('region', { name: 'Runs that rest' }).getByText('could not go on').waitFor();
  await page.goto(`${world.served.url}/chat/default`);
  // Its answer is there, and nobody has had it go on.
  const note = page.locator('.note', { hasText: 'The run rests, and nothing is left to answer.' });
  await note.getByRole('button', { name: 'Resume' }).waitFor();
  await page.getByRole('button', { name: 'About this chat' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export as JSON' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('default.json');
  expect(JSON.parse(readFileSync(await download.path(), 'utf8'))).toMatchObject({
    session: { name: 'default' },
    messages: [{ role: 'user', text: 'Write it' }, { role: 'assistant' }],
  });
  expect(world.problems).toEqual([]);
}, 60_000);

it('tells what the run is about whose process was killed while it waited', async () => {
  const { app, client } = world.served;
  const { run_id } = await app.start({ input: { type: 'string', value: 'Write it once more' }, on_ask: 'suspend' });
  await app.client.awaitRun({ run_id });
  app.change(`UPDATE runs SET status = 'interrupted' WHERE id = '${run_id}'`);
  const page = await world.open('/approvals');
  await page.locator('.group-head').getByText('Write it once more').waitFor();
  await client.endRun({ id: run_id });
  expect(world.problems).toEqual([]);
});

it('leads from the strip about a run that rests to where it is resumed', async () => {
  await world.served.client.abandonSession({ session: 'default' });
  await rested();
  const page = await world.open('/runs');
  // What is graver is said first. The new password ends every other login, so this test is the last one.
  await page.getByText('No password is set').waitFor();
  expect(await choosePassword(page)).toBe(200);
  await page.reload();
  const strip = page.locator('.strip', { hasText: '1 run rests and can be continued.' });
  await strip.getByRole('link', { name: 'Go to the run' }).waitFor();
  expect(await strip.getByRole('link').allTextContents()).toEqual(['Go to the run']);
  expect(await strip.textContent()).not.toContain('reins');
  await strip.getByRole('link').click();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('completed').first().waitFor();
  await strip.waitFor({ state: 'detached' });
  expect(world.problems).toEqual([]);
});
