import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { call, calls, says } from '../support/scripted-app.ts';
import { type WebWorld, webWorld } from './world.ts';

/** Requests whose answers never come: sent on a connection that died in the sleep of a laptop. */

let world: WebWorld;
beforeAll(async () => {
  const turns = [
    calls([call('local_fs.write_file', { path: 'made.txt', content: 'x' })], { role: 'user', last_user: 'write' }),
    says('It is done.'),
  ];
  world = await webWorld({
    turns: turns.map((turn, index) => ({ name: `turn ${index}`, ...turn })),
    policy: { default_action: 'approve', rules: [] },
  });
  await world.served.client.putConfigItem({ key: 'default-model', value: 'm' });
  await world.served.client.putConfigItem({ key: 'default-provider', value: 'scripted' });
}, 60_000);
afterAll(() => world?.close());

/** The first POST to a path is lost, or its answer where the server gets it. Resolves when that has happened. */
function loseFirst(page: Page, path: string, lost: 'request' | 'answer'): Promise<void> {
  let first = true;
  return new Promise((resolve, reject) => {
    page
      .route(path, async (route) => {
        if (!first || route.request().method() !== 'POST') return route.continue();
        first = false;
        if (lost === 'answer') await route.fetch();
        resolve();
      })
      .catch(reject);
  });
}
const sessions = () => world.served.app.rows('SELECT name FROM sessions').length;

it('says that no answer came, and does what is tried again once', async () => {
  const page = await world.open('/chat/default');
  const create = page.getByRole('button', { name: 'New', exact: true });
  await create.waitFor();
  // The page may show the button before the server has made the session that it opened.
  await expect.poll(sessions).toBe(1);
  const before = sessions();
  const done = loseFirst(page, '**/api/sessions', 'answer');
  await page.clock.install();
  await create.click();
  await done;
  await page.clock.fastForward(41_000);
  // What was being read on a slow machine may have got no answer either.
  await page.getByText('The server has not answered for 40 seconds. It may have been done all the same').waitFor();
  await create.click();
  await page.waitForURL(/\/chat\/session-/);
  expect(sessions()).toBe(before + 1);
  // What is done anew afterwards is another one.
  await create.click();
  await expect.poll(sessions).toBe(before + 2);
  expect(world.problems).toEqual([]);
});

it('sends an answer to an ask again until it is confirmed', async () => {
  await world.served.client.createSession({ name: 'asks' });
  const page = await world.open('/chat/asks');
  await page.getByRole('textbox', { name: 'Message' }).fill('write');
  await page.clock.install();
  await page.keyboard.press('Enter');
  const card = page.locator('article.card');
  const approve = card.getByRole('button', { name: 'Approve once' });
  await approve.waitFor();
  let lost = false;
  void loseFirst(page, '**/answer', 'request').then(() => {
    lost = true;
  });
  // The guard of the card: a press counts once it has been there for a while.
  await expect
    .poll(() =>
      approve.click({ timeout: 1000 }).then(
        () => lost,
        () => lost,
      ),
    )
    .toBe(true);
  await page.clock.fastForward(41_000);
  await card.getByText('not confirmed yet').waitFor();
  await page.clock.fastForward(2000);
  await page.getByText('It is done.').waitFor();
  expect(world.problems).toEqual([]);
});

it('shows a message once that came although its answer was lost, and keeps one that did not come', async () => {
  await world.served.client.createSession({ name: 'lost' });
  const page = await world.open('/chat/lost');
  await page.getByText('Ask for something to be done here').waitFor();
  const ways = ['answer', 'request', 'key'];
  const keys: (string | undefined)[] = [];
  await page.route('**/api/sessions/lost/messages', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    keys.push(route.request().headers()['idempotency-key']);
    const way = ways.shift();
    if (way === undefined) return route.continue();
    // As a server has it that was killed before it could begin.
    const error = { message: 'No reply yet.', code: 'conflict', param: 'Idempotency-Key' };
    if (way === 'key') return route.fulfill({ status: 409, json: { error } });
    if (way === 'answer') await route.fetch();
    return route.abort();
  });
  const box = page.getByRole('textbox', { name: 'Message' });
  const again = page.getByRole('button', { name: 'Try again' });
  const texts = async () => (await page.locator('.bubble').allInnerTexts()).map((text) => text.trim());
  await box.fill('say it');
  await page.keyboard.press('Enter');
  await page.getByText('It is done.').waitFor();
  await expect.poll(() => again.count()).toBe(0);
  expect(await texts()).toEqual(['say it']);

  // In the same words, which are there already.
  await box.fill('say it');
  // The last of what is read anew.
  const read = page.waitForResponse((answer) => answer.url().includes('/runs?'));
  await page.keyboard.press('Enter');
  await again.waitFor();
  await read;
  expect([await texts(), await again.count()]).toEqual([['say it', 'say it'], 1]);
  await again.click();
  await page.getByText('No reply yet.').waitFor();
  await again.click();
  await expect.poll(() => page.getByText('It is done.').count()).toBe(2);
  expect([keys.length, new Set(keys.slice(1, 3)).size, new Set(keys).size]).toEqual([4, 1, 3]);
  expect([await texts(), await again.count()]).toEqual([['say it', 'say it'], 0]);
  expect(world.problems).toEqual([]);
});
