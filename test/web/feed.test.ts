import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, calls } from '../support/scripted-app.ts';
import { type WebWorld, webWorld } from './world.ts';

/** A page shows what happened at any time since it was asked for, however late the feed comes that tells of it. */

let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({
    turns: [calls([call('local_fs.write_file', { path: 'note.txt', content: 'one\n' })], { role: 'user' })],
    policy: { default_action: 'approve', rules: [] },
  });
}, 60_000);
afterAll(() => world?.close());

/** Begins a run, and waits until it asks. */
const asks = async (): Promise<void> => {
  await world.served.app.seen(await world.served.run({ input: 'write' }), 'ask');
};
type Opened = Awaited<ReturnType<WebWorld['open']>>;

/** Something is done while the first stream of the feed is on its way to the server. */
async function meanwhile(page: Opened, act: () => Promise<unknown>): Promise<void> {
  let acted: Promise<unknown> | null = null;
  await page.route('**/api/events*', async (route) => {
    acted ??= act();
    await acted;
    await route.continue();
  });
}

const cards = (page: Opened) => expect.poll(() => page.locator('article.card').count(), { timeout: 30_000 });

it('shows what was asked between the reading of a page and the first word of the feed', async () => {
  const page = await (await world.context()).newPage();
  world.watch(page);
  await meanwhile(page, asks);
  await page.goto(`${world.served.url}/approvals`);
  await cards(page).toBe(1);
  expect(world.problems).toEqual([]);
});

it('shows what was asked while another tab took over the feed of one that was closed', async () => {
  const context = await world.context();
  const one = await context.newPage();
  await one.goto(`${world.served.url}/approvals`);
  await cards(one).toBe(1);
  const other = await context.newPage();
  world.watch(other);
  await other.goto(`${world.served.url}/approvals`);
  await cards(other).toBe(1);
  await meanwhile(other, asks);
  await one.close();
  await cards(other).toBe(2);
  expect(world.problems).toEqual([]);
});

it('shows what was asked before a feed that was not waited for', async () => {
  const page = await (await world.context()).newPage();
  world.watch(page);
  await meanwhile(page, async () => {
    // The page has given up waiting, and shows what it has.
    await cards(page).toBe(2);
    await asks();
  });
  await page.goto(`${world.served.url}/approvals`);
  await cards(page).toBe(3);
  expect(world.problems).toEqual([]);
});
