import { afterAll, beforeAll, expect, it } from 'vitest';
import { axeFaults, phone, settled, type WebWorld, webWorld } from './world.ts';

/** What is shown stays true while nobody touches the page, and no event tells of it. */

let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({
    turns: [
      {
        name: 'slow',
        match: { role: 'user' },
        reply: { text: Array.from({ length: 400 }, (_, index) => `word${index}`).join(' '), delay_ms: 100 },
      },
    ],
  });
  await world.served.client.putConfigItem({ key: 'default-model', value: 'm' });
  await world.served.client.putConfigItem({ key: 'default-provider', value: 'scripted' });
}, 60_000);
afterAll(() => world?.close());

it('lists chats as they are named elsewhere, and leads from an open one to its new name', async () => {
  await world.served.client.createSession({ name: 'before' });
  await world.served.client.createSession({ name: 'beside' });
  const page = await world.open('/chat/before');
  const chats = page.getByRole('navigation', { name: 'Chats' }).getByRole('link');
  const names = () => chats.locator('b').allTextContents();
  await page.getByText('Ask for something to be done here').waitFor();
  await expect.poll(async () => [...(await names())].sort()).toEqual(['before', 'beside']);
  await page.getByRole('textbox', { name: 'Message' }).fill('half a thought');
  await world.served.client.patchSession({ session: 'before', name: 'behind' });
  await world.served.client.removeSession({ session: 'beside' });
  await expect.poll(names).toEqual(['behind']);
  await page.getByText('was deleted or renamed somewhere else').waitFor();
  await page.getByRole('button', { name: 'Open it as behind' }).click();
  await page.getByRole('heading', { name: 'behind' }).waitFor();
  // What was being written came along.
  expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('half a thought');
  expect(world.problems).toEqual([]);
});

it('offers of a chat that was deleted elsewhere only what can succeed, and shows it when there is one again', async () => {
  await world.served.client.createSession({ name: 'gone' });
  const page = await world.open('/chat/gone', { viewport: phone });
  await page.getByText('Ask for something to be done here').waitFor();
  await world.served.client.removeSession({ session: 'gone' });
  await page.getByText('was deleted or renamed somewhere else').waitFor();
  const start = page.getByRole('button', { name: 'Start a chat with this name' });
  expect(await page.locator('.conversation').getByRole('button', { name: 'Try again' }).count()).toBe(0);
  // It stands apart from the edge.
  expect((await start.boundingBox())?.x).toBeGreaterThan(10);
  expect(await axeFaults(page)).toEqual([]);
  await page.goto(`${world.served.url}/chat/wished`);
  await page.getByText('There is no session "wished"').waitFor();
  await world.served.client.createSession({ name: 'wished' });
  await page.getByText('Ask for something to be done here').waitFor();
  expect(await start.count()).toBe(0);
  expect(world.problems).toEqual([]);
});

it('counts on how long a run takes while it is under way', async () => {
  const page = await world.open('/chat');
  await page.getByRole('textbox', { name: 'Message' }).fill('say it');
  await page.getByRole('button', { name: 'Send' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('word3').first().waitFor();
  const span = page.locator('.run-panel p.row .muted');
  const seconds = async (): Promise<number> => {
    const text = (await span.textContent()) ?? '';
    return text.endsWith('ms') ? 0 : Number.parseFloat(text);
  };
  const first = await seconds();
  await expect.poll(seconds).toBeGreaterThan(first + 3);
  expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(1);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Really end it?' }).click();
  await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
  // And is at rest when it is over.
  const over = await settled(page, () => span.textContent());
  await page.waitForTimeout(1500);
  expect(await span.textContent()).toBe(over);
  expect(world.problems).toEqual([]);
});
