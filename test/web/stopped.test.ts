import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, calls, says } from '../support/scripted-app.ts';
import { axeFaults, phone, type WebWorld, webWorld } from './world.ts';

const read = call('local_fs.list_dir', { path: '.' });
const words = Array.from({ length: 30 }, (_, index) => `word${index}`).join(' ');

let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({
    turns: [
      calls([read, read], { role: 'user', last_user: 'look twice' }),
      says('I have looked.', { role: 'tool' }),
      calls([call('local_shell.local_shell', { command: './add' })], { role: 'user', last_user: 'add' }),
      says('Hello.', { role: 'user', last_user: 'hello' }),
      { match: { role: 'user', last_user: 'slow' }, reply: { text: words, delay_ms: 150 } },
    ].map((turn, index) => ({ name: `turn ${index}`, ...turn })),
    policy: { default_action: 'allow', rules: [], compute: { maxToolCalls: 1, onExhausted: 'ask' } },
  });
  await world.served.client.putConfigItem({ key: 'default-model', value: 'm' });
  await world.served.client.putConfigItem({ key: 'default-provider', value: 'scripted' });
  writeFileSync(join(world.served.app.place.workspace, 'add'), '#!/bin/sh\necho added\n', { mode: 0o755 });
}, 60_000);
afterAll(() => world?.close());

it('says of a bound that is spent what one more grant means', async () => {
  const page = await world.open('/chat', { viewport: phone, scheme: 'dark' });
  await page.getByRole('textbox', { name: 'Message' }).fill('look twice');
  await page.getByRole('button', { name: 'Send' }).click();
  const card = page.locator('article.card');
  await card.getByText('1 of 1 tool call').waitFor();
  await card.getByText('1 more tool call for this run; then it asks again').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  // What the bound says is said once, and all facts of the card stand under each other.
  const facts = await card.locator('dt').allTextContents();
  expect(facts.slice(0, 4)).toEqual(['Bound', 'Used', 'Grant', 'Why']);
  expect(facts).not.toContain('Reason');
  expect(await card.locator('dd').nth(3).textContent()).toMatch(/^a spent bound, under policy \(file, [0-9a-f]{8}\)$/);
  const lefts = await page.evaluate(
    "[...document.querySelectorAll('.card dd')].map((each) => each.getBoundingClientRect().left)",
  );
  expect(new Set(lefts as number[]).size).toBe(1);
  expect(await card.getByRole('button').allTextContents()).toEqual(['Grant once more', 'Deny']);
  // The guard of the card: a press counts once it has been there for a while.
  await expect
    .poll(async () => {
      await card
        .getByRole('button', { name: 'Grant once more' })
        .click({ timeout: 1000 })
        .catch(() => undefined);
      return card.count();
    })
    .toBe(0);
  await page.getByText('I have looked.').waitFor();
  expect(world.problems).toEqual([]);
});

it('asks what became of a call whose process died, says what no answer means, and takes a result for it', async () => {
  const { app, client } = world.served;
  const { run_id } = await app.start({ input: { type: 'string', value: 'add' }, on_ask: 'suspend', policy: asking() });
  expect(await app.client.awaitRun({ run_id })).toMatchObject({ status: 'suspended' });
  // As a process leaves it that was killed while the call ran.
  app.change(`UPDATE tool_calls SET state = 'started', started_at = 1 WHERE run_id = '${run_id}'`);
  const [ask] = (await client.pageApprovals({ run: run_id })).items;
  if (ask === undefined) throw new Error('no ask');
  await client.answerApproval({ id: ask.id, binding: ask.binding, outcome: 'approve' });
  const page = await world.open('/approvals');
  const card = page.getByRole('article', { name: /outcome is unknown$/ });
  await card.waitFor();
  await card.getByText(/, then counts as skipped$/).waitFor();
  expect(await card.getByRole('button').allTextContents()).toEqual([
    'Run again…',
    'Treat as done…',
    'Skip',
    'Decide later',
  ]);
  expect(await axeFaults(page)).toEqual([]);
  await card.getByRole('button', { name: 'Treat as done…' }).click();
  await page.keyboard.type('it was added');
  await page.getByRole('dialog').getByRole('button', { name: 'Treat as done' }).click();
  await page.locator('.outcome[data-state=answered]').waitFor();
  expect(await app.client.awaitRun({ run_id })).toMatchObject({ status: 'completed' });
  expect(world.problems).toEqual([]);
});

/** A policy that asks about everything. */
function asking(): string {
  const path = join(world.served.app.place.dir, 'asking.json');
  writeFileSync(path, JSON.stringify({ default_action: 'approve', rules: [] }), { mode: 0o600 });
  return path;
}

it('offers in its chat to go on with a run whose process is gone', async () => {
  const { run_id } = await world.served.client.postMessage({ session: 'default', text: 'slow' });
  await world.served.app.seen(run_id, 'step_chunk');
  await world.served.app.client.stopRun({ run_id, reason: 'shutdown', within_ms: 0 });
  // As the next process finds it that looks.
  world.served.app.change(`UPDATE runs SET status = 'interrupted' WHERE id = '${run_id}'`);
  const page = await world.open('/chat');
  await page.getByText('it stopped at its last checkpoint').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'End the turn' }).waitFor();
  await page.getByRole('textbox', { name: 'Message' }).fill('and then?');
  await page.getByText('this can be sent when it has gone on or was ended').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('word29').waitFor();
  await page.getByRole('button', { name: 'Send' }).waitFor();
  expect(world.problems).toEqual([]);
});

it('goes on from a turn that was stopped as soon as another one has taken its place, also when it is read again', async () => {
  const { app, client, url } = world.served;
  await client.createSession({ name: 'late' });
  const { run_id } = await client.postMessage({ session: 'late', text: 'slow' });
  await app.seen(run_id, 'step_chunk');
  await app.client.stopRun({ run_id, reason: 'shutdown', within_ms: 0 });
  app.change(`UPDATE runs SET status = 'interrupted' WHERE id = '${run_id}'`);
  const [page, setup] = [await world.open('/chat/late'), await world.open('/setup')];
  await page.getByRole('button', { name: 'End the turn' }).waitFor();
  const rests = setup.getByText('1 run rests and can be continued', { exact: false });
  await rests.waitFor();
  // From a terminal, say.
  await client.postMessage({ session: 'late', text: 'hello' });
  const said = async () => {
    await page.getByText('Hello.').waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    expect(await page.getByRole('button', { name: 'Resume' }).count()).toBe(0);
    const texts = await page.locator('.bubble').allTextContents();
    expect(texts.filter((text) => ['slow', 'hello'].includes(text))).toEqual(['slow', 'hello']);
  };
  await said();
  await rests.waitFor({ state: 'detached' });
  await page.reload();
  await said();
  await page.goto(`${url}/approvals`);
  await page.getByRole('tab', { name: 'Pending' }).waitFor();
  expect(await page.getByRole('region', { name: 'Runs that rest' }).count()).toBe(0);
  expect(world.problems).toEqual([]);
});
