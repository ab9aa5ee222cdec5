import { afterAll, beforeAll, expect, it } from 'vitest';
import { says } from '../support/scripted-app.ts';
import { type WebWorld, webWorld } from './world.ts';

const words = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ');

let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({
    turns: [
      { name: 'slow', match: { role: 'user', last_user: 'slow' }, reply: { text: words, delay_ms: 60 } },
      { name: 'all', ...says('Here it is.') },
    ],
  });
  await world.served.client.putConfigItem({ key: 'default-model', value: 'm' });
  await world.served.client.putConfigItem({ key: 'default-provider', value: 'scripted' });
  await world.served.client.createSession({ name: 'shared' });
}, 60_000);
afterAll(() => world?.close());

it('takes the message of another window for no message of its own, which was sent at the same moment and refused', async () => {
  const page = await world.open('/chat/shared');
  const box = page.getByRole('textbox', { name: 'Message' });
  await page.getByText('Ask for something to be done here').waitFor();
  // The other one is first: its turn is under way before this message reaches the server.
  let isFirst = true;
  await page.route('**/api/sessions/shared/messages', async (route) => {
    if (!isFirst || route.request().method() !== 'POST') return route.continue();
    isFirst = false;
    const { run_id } = await world.served.client.postMessage({ session: 'shared', text: 'slow, of the other' });
    await world.served.app.seen(run_id, 'chain_started');
    return route.continue();
  });
  await box.fill('of this one');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  await page.getByText('slow, of the other').first().waitFor();
  await page.getByText('word39').waitFor();
  await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
  expect(await page.locator('.said.user').allInnerTexts()).toHaveLength(2);

  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('Here it is.').waitFor();
  const texts = async () => (await page.locator('.said.user .bubble').allInnerTexts()).map((text) => text.trim());
  expect(await texts()).toEqual(['slow, of the other', 'of this one']);
  await page.reload();
  await page.getByText('Here it is.').waitFor();
  expect(await texts()).toEqual(['slow, of the other', 'of this one']);
  expect(world.problems).toEqual([]);
});
