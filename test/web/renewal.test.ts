import type { BrowserContext, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { says } from '../support/scripted-app.ts';
import { type WebWorld, webWorld } from './world.ts';

const hourMs = 60 * 60_000;

let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({ turns: [says('Hello.')] });
}, 60_000);
afterAll(() => world?.close());

const opened = async (context: BrowserContext): Promise<Page> => {
  const page = await context.newPage();
  world.watch(page);
  await page.goto(`${world.served.url}/runs`);
  // The frame has asked who is there.
  await page.getByText('No password is set').waitFor();
  return page;
};
const cookieOf = async (context: BrowserContext): Promise<string> => (await context.cookies())[0]?.value ?? '';
const is = (path: string) => (response: Response) => new URL(response.url()).pathname === path;
/** Resolves when no tab of the browser is at the login. */
const settled = (page: Page) => page.evaluate("navigator.locks.request('reins-login', () => null)");

it('renews the login of who uses the page, once for all tabs, and not of a page that is only open', async () => {
  const context = await world.context({ loggedInMs: 20 * hourMs });
  let renewed = 0;
  context.on('response', (response) => {
    if (is('/api/auth/refresh')(response)) renewed += 1;
  });
  const [one, other] = [await opened(context), await opened(context)];
  const before = await cookieOf(context);
  expect(renewed).toBe(0);
  const answer = one.waitForResponse(is('/api/auth/refresh'));
  await one.keyboard.press('Tab');
  const { expires_at } = (await (await answer).json()) as { expires_at: string };
  expect(Date.parse(expires_at)).toBeGreaterThan(Date.now() + 23 * hourMs);
  expect(await cookieOf(context)).not.toBe(before);
  // The other tab looks for itself, and finds that nothing is to be done.
  const looked = other.waitForResponse(is('/api/auth/me'));
  await other.keyboard.press('Tab');
  await looked;
  await settled(other);
  expect(renewed).toBe(1);
  await other.reload();
  await other.getByRole('heading', { name: 'Runs' }).waitFor();
  expect(world.problems).toEqual([]);
});

it('leaves a login alone that is younger than an hour', async () => {
  const context = await world.context();
  const page = await opened(context);
  const before = await cookieOf(context);
  const looked = page.waitForResponse((response) => is('/api/auth/me')(response) && response.ok());
  await page.keyboard.press('Tab');
  await looked;
  await settled(page);
  expect(await cookieOf(context)).toBe(before);
});

it('sends again what was under way with the old cookie while another tab renewed the login', async () => {
  const context = await world.context();
  const page = await opened(context);
  const old = await cookieOf(context);
  let late = 0;
  await page.route('**/api/plans*', async (route) => {
    if (late > 0) return route.continue();
    await page.evaluate("fetch('/api/auth/refresh', { method: 'POST' })");
    const cookie = `${(await context.cookies())[0]?.name}=${old}`;
    const response = await route.fetch({ headers: { ...route.request().headers(), cookie } });
    late = response.status();
    return route.fulfill({ response });
  });
  await page.getByRole('link', { name: 'Plans' }).click();
  await page.getByRole('heading', { name: 'Plans' }).waitFor();
  await expect.poll(() => late).toBe(401);
  await page.getByRole('button', { name: /plan/i }).first().waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  expect(await cookieOf(context)).not.toBe(old);
  expect(world.problems).toEqual([]);
});
