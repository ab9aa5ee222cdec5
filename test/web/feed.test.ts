import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, calls } from '../support/scripted-app.ts';
import { visit, type WebWorld, webWorld } from './world.ts';

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
/** So many asks wait, whatever waited before; a server has four runs at work. */
async function waiting(count: number): Promise<void> {
  const { client } = world.served;
  const { items } = await client.pageApprovals({ state: 'pending' });
  for (const { id, binding } of items.slice(count)) await client.answerApproval({ id, binding, outcome: 'deny' });
  for (let more = items.length; more < count; more += 1) await asks();
}
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

it('hears what is asked when somebody has logged in again in another tab than the one that reads', async () => {
  await waiting(3);
  const context = await world.context();
  const reads = await context.newPage();
  world.watch(reads);
  await reads.goto(`${world.served.url}/approvals`);
  await cards(reads).toBe(3);
  await reads.getByText('connected', { exact: true }).waitFor();
  const used = await context.newPage();
  world.watch(used);
  await used.goto(`${world.served.url}/approvals`);
  await cards(used).toBe(3);
  expect((await world.served.call('DELETE', '/api/auth/sessions')).status).toBe(200);
  await reads.getByRole('dialog', { name: 'Your login has ended' }).waitFor();
  await visit(used, '/plans');
  const ended = used.getByRole('dialog', { name: 'Your login has ended' });
  await ended.waitFor();
  // As by a link that is opened in this browser: nobody turns to the tab that reads.
  const name = `reins_session_${new URL(world.served.url).port}`;
  await context.addCookies([
    { name, value: world.served.login(), url: world.served.url, httpOnly: true, sameSite: 'Strict' },
  ]);
  await used.evaluate("window.dispatchEvent(new Event('focus'))");
  await ended.waitFor({ state: 'detached' });
  await visit(used, '/approvals');
  await asks();
  await cards(used).toBe(4);
  await used.getByText('connected', { exact: true }).waitFor();
  expect(await reads.getByRole('dialog').count()).toBe(0);
  expect(world.problems).toEqual([]);
});

it('says no more that the connection is lost when the one stream that was lost is wanted no more', async () => {
  const page = await (await world.context()).newPage();
  await page.route('**/api/runs/*/events', (route) => route.abort());
  await waiting(1);
  const [run] = (await world.served.client.pageRuns({})).items;
  await page.goto(`${world.served.url}/runs/${run?.id}?tab=transcript`);
  await page.getByText('Connection lost.').waitFor();
  await visit(page, '/runs');
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  await page.getByText('Connection lost.').waitFor({ state: 'detached' });
});

it('says of asks that were all denied how many they were, and denies none that came while they were looked at', async () => {
  await waiting(3);
  const page = await (await world.context()).newPage();
  world.watch(page);
  await page.goto(`${world.served.url}/approvals`);
  await cards(page).toBe(3);
  await page.getByRole('button', { name: 'Deny all shown (3)' }).click();
  const dialog = page.getByRole('dialog', { name: 'Deny these 3 asks?' });
  await asks();
  await cards(page).toBe(4);
  const deny = dialog.getByRole('button', { name: 'Deny them' });
  // The guard of the dialog: a press counts once it has been there for a while.
  await expect
    .poll(() =>
      deny.click({ timeout: 500 }).then(
        () => dialog.count(),
        () => dialog.count(),
      ),
    )
    .toBe(0);
  await page.getByText('3 denied.').waitFor();
  await cards(page).toBe(1);
  expect(world.problems).toEqual([]);
});

it('begins no more readings while two are on their way, and shows the newest behind them', async () => {
  await waiting(1);
  const page = await (await world.context()).newPage();
  world.watch(page);
  await page.goto(`${world.served.url}/runs`);
  await page.getByText('connected', { exact: true }).waitFor();
  const rows = page.locator('.run-link');
  await rows.first().waitFor();
  const before = await rows.count();
  const held: (() => void)[] = [];
  let isSlow = true;
  await page.route('**/api/runs?*', async (route) => {
    if (isSlow) await new Promise<void>((letGo) => held.push(letGo));
    await route.continue();
  });
  for (let count = 0; count < 3; count += 1) {
    const heard = page.waitForRequest(/\/api\/approvals\?/);
    await asks();
    await heard;
  }
  expect(held).toHaveLength(2);
  isSlow = false;
  for (const letGo of held) letGo();
  await expect.poll(() => rows.count()).toBe(before + 3);
  expect(world.problems).toEqual([]);
});
