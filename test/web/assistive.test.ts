import { afterAll, beforeAll, expect, it } from 'vitest';
import { says } from '../support/scripted-app.ts';
import { phone, visit, type WebWorld, webWorld } from './world.ts';

/** The app with the keyboard alone, read aloud, and in large text. */

let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({
    turns: [
      { name: 'long', match: { last_user: 'take your time' }, reply: { hang: true } },
      { name: 'all', ...says('Hello.') },
    ],
  });
  await world.served.client.putConfigItem({ key: 'default-model', value: 'm' });
  await world.served.client.putConfigItem({ key: 'default-provider', value: 'scripted' });
}, 60_000);
afterAll(() => world?.close());

it('leaves the focus on a button while what it does is under way, and takes no second press', async () => {
  const page = await world.open('/chat/default');
  // The first chat has been made.
  await page.getByText('Ask for something to be done here.').waitFor();
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let sent = 0;
  await page.route('**/api/sessions', async (route) => {
    if (route.request().method() === 'POST') {
      sent += 1;
      await held;
    }
    await route.continue();
  });
  const create = page.getByRole('button', { name: 'New', exact: true });
  await create.focus();
  await page.keyboard.press('Enter');
  await page.locator('.sessions [aria-busy=true]').waitFor();
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('New');
  letGo();
  await page.waitForURL(/\/chat\/session-/);
  expect(sent).toBe(1);
  // The server has answered before the second half of a double click, and a key is held longer than that.
  await create.dblclick();
  await expect.poll(() => sent).toBe(2);
  await create.focus();
  for (let held = 0; held < 3; held += 1) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await expect.poll(() => sent).toBe(3);
  await page.waitForTimeout(200);
  expect(sent).toBe(3);
  expect(world.problems).toEqual([]);
});

it('shows of a backend that is being asked that it takes no press meanwhile', async () => {
  const page = await world.open('/backends');
  await page.route('**/check', () => undefined);
  const card = page.getByRole('list', { name: 'Backends' }).locator('li', { hasText: 's' }).first();
  await card.getByRole('button', { name: 'Check now' }).click();
  await card.locator('[aria-busy=true]', { hasText: 'Check now' }).waitFor();
  await card.getByRole('button', { name: 'Remove', disabled: true }).waitFor();
  expect(world.problems).toEqual([]);
});

it('edits a setting with the keyboard alone, from its button and back to it', async () => {
  const page = await world.open('/settings');
  await page.getByRole('button', { name: 'Change max-rounds' }).focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('New value of max-rounds').waitFor();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('77');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Change max-rounds' }).waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Change max-rounds');
  await expect.poll(async () => (await world.served.app.client.getConfig({ key: 'max-rounds' })).value).toBe('77');
});

it('counts seconds for the eye only: what is read aloud does not change with them', async () => {
  const page = await world.open('/runs', { stranger: true });
  await page.route('**/api/ui/login', (route) =>
    route.fulfill({
      status: 429,
      headers: { 'retry-after': '30' },
      contentType: 'application/json',
      body: JSON.stringify({ error: { code: 'too_many_attempts', message: 'Too many.' } }),
    }),
  );
  await page.getByLabel('Password').fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /^Log in \(again in \d+ s\)$/ }).waitFor();
  expect(await page.getByRole('alert').textContent()).toBe('Too many.');

  const inside = await (await world.context()).newPage();
  await inside.route('**/api/events', (route) => route.abort());
  await inside.goto(`${world.served.url}/runs`);
  const strip = inside.locator('.strip.danger');
  await strip.getByText(/Trying again/).waitFor();
  await expect
    .poll(() => strip.ariaSnapshot())
    .toBe('- status: Connection lost. What you see may be old. Runs go on as long as the server does.');
});

it('says which page has come, and who speaks in a chat', async () => {
  const page = await world.open('/chat');
  await page.getByLabel('Message', { exact: true }).fill('Good morning');
  await page.keyboard.press('Enter');
  await page.getByRole('article', { name: 'Reins' }).getByText('Hello.').waitFor();
  expect(await page.getByRole('article', { name: 'You' }).locator('.bubble').innerText()).toBe('Good morning');
  await visit(page, '/plans');
  await page.locator('[aria-live=polite]', { hasText: /^Plans$/ }).waitFor({ state: 'attached' });
  expect(world.problems).toEqual([]);
});

it('follows the text size that somebody has set, and has room for twice of it on a phone', async () => {
  const { client } = world.served;
  await client.createSession({ name: 'at-work' });
  const { run_id } = await client.postMessage({ session: 'at-work', text: 'take your time' });
  const page = await world.open('/settings', { viewport: phone });
  await page.getByRole('button', { name: 'Change max-rounds' }).waitFor();
  expect(await page.evaluate('getComputedStyle(document.documentElement).fontSize')).toBe('15px');
  await page.evaluate("document.documentElement.style.fontSize = '187.5%'");
  for (const [path, seen] of [
    ['/settings', 'Change max-rounds'],
    ['/settings/sessions', 'End all others'],
    ['/settings/audit', 'Verify'],
    ['/chat/at-work', 'Stop'],
  ] as const) {
    await visit(page, path);
    await page.getByRole('button', { name: seen }).waitFor();
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  }
  await client.endRun({ id: run_id });
});

it('goes through tabs with the arrows round and round, and to both ends with Home and End', async () => {
  const page = await world.open('/settings');
  // The page is there once one of its tabs has the focus.
  await page.getByRole('tab', { name: 'Configuration' }).focus();
  const names = await page.getByRole('tab').allTextContents();
  expect(names.length).toBeGreaterThan(2);
  const leadsTo = async (key: string, name: string | undefined): Promise<void> => {
    await page.keyboard.press(key);
    const focused =
      "document.activeElement.getAttribute('aria-selected') === 'true' && document.activeElement.textContent";
    await expect.poll(() => page.evaluate(focused)).toBe(name);
  };
  await leadsTo('End', names.at(-1));
  await leadsTo('ArrowRight', names[0]);
  await leadsTo('ArrowLeft', names.at(-1));
  await leadsTo('Home', names[0]);
  await expect.poll(() => page.evaluate('scrollY')).toBe(0);
  const controls = await page.getByRole('tab', { selected: true }).getAttribute('aria-controls');
  expect(await page.getByRole('tabpanel').getAttribute('id')).toBe(controls);
  expect(world.problems).toEqual([]);
});
