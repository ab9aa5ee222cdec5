import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, calls, says } from '../support/scripted-app.ts';
import { type WebWorld, webWorld } from './world.ts';

/** Where the focus is once what had it is gone: at what stands there now, never at the page as a whole. */

let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({
    turns: [
      calls([call('local_fs.write_file', { path: 'note.txt', content: 'one\n' })], {
        role: 'user',
        last_user: 'write',
      }),
      ...['a', 'b', 'c', 'd', 'e'].map((name) =>
        calls([call('local_fs.write_file', { path: `${name}.txt`, content: name })], {
          role: 'user',
          last_user: `file ${name}`,
        }),
      ),
      says('As you like.'),
    ],
    policy: { default_action: 'approve', rules: [] },
  });
  const { client, login } = world.served;
  await client.putConfigItem({ key: 'default-model', value: 'm' });
  await client.putConfigItem({ key: 'default-provider', value: 'scripted' });
  for (const name of ['bank', 'shop']) await client.createHook({ name, url: 'http://127.0.0.1:9/' });
  await client.createMcpServer({ name: 'memory', transport: 'stdio', command: 'node', args: ['memory.js'] });
  await client.createBackend({ name: 'spare', type: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1' });
  await client.postPlan({ goal: 'Ship it', steps: ['Tag it'] });
  login();
}, 60_000);
afterAll(() => world?.close());

const focused = (page: Page): Promise<unknown> =>
  page.evaluate(`(() => {
    const { activeElement: at } = document;
    return at.localName + ' ' + (at.getAttribute('aria-label') ?? at.innerText).split('\\n')[0].trim();
  })()`);

/** Presses a button with the keyboard, and once more where it asks. */
async function press(page: Page, name: string | RegExp, within = page.locator('body'), times = 2): Promise<void> {
  const button = within.getByRole('button', { name }).first();
  await button.focus();
  for (let pressed = 0; pressed < times; pressed += 1) await page.keyboard.press('Enter');
}

it('goes with who follows a link to the page behind it', async () => {
  const page = await world.open('/approvals');
  await page.getByRole('link', { name: 'See the runs' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  await expect.poll(() => page.evaluate("document.activeElement.className.split(' ')[0]")).toBe('page');
});

it('is at the next hook when one was removed, and at the sentence about hooks when that was the last', async () => {
  const page = await world.open('/tools?tab=hooks');
  const hook = (name: string) => page.getByRole('region', { name });
  await press(page, 'Remove', hook('bank'));
  await hook('bank').waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toBe('section shop');
  await page.keyboard.press('Shift+Tab');
  expect(await focused(page)).toBe('button Add a hook…');
  await press(page, 'Remove', hook('shop'));
  await hook('shop').waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toMatch(/^div A hook makes/);
  expect(world.problems).toEqual([]);
});

it('goes on to the ask behind the one that was answered', async () => {
  for (const name of ['a', 'b', 'c']) {
    await world.served.app.seen(await world.served.run({ input: `file ${name}` }), 'ask');
  }
  const page = await world.open('/approvals');
  const card = page.locator('article.card');
  await expect.poll(() => card.count()).toBe(3);
  await card.nth(1).focus();
  const answered = async (): Promise<number> => {
    await page.keyboard.press('a');
    return card.count();
  };
  await expect.poll(answered, { timeout: 30_000, interval: 500 }).toBe(2);
  await expect.poll(() => focused(page)).toMatch(/^p approved/);
  await page.keyboard.press('j');
  expect(await focused(page)).toBe('article Create c.txt (+1 −0)');
  await page.keyboard.press('k');
  expect(await focused(page)).toBe('article Create a.txt (+1 −0)');
  expect(world.problems).toEqual([]);
});

it('lets no key move or approve another ask that was typed into a field which has gone with its own', async () => {
  for (const name of ['d', 'e']) await world.served.app.seen(await world.served.run({ input: `file ${name}` }), 'ask');
  const page = await world.open('/approvals');
  const cards = page.locator('article.card');
  await expect.poll(() => cards.count()).toBeGreaterThan(1);
  const id = String(await cards.first().getAttribute('data-ask'));
  // Others may come ahead of it.
  await page.locator(`[data-ask="${id}"]`).getByRole('button', { name: 'Deny with feedback…' }).click();
  const { binding } = await world.served.client.getApproval({ id });
  await page.getByLabel('What the model is told').fill('no, ');
  // Keys that a busy machine sends late would be those of somebody who has paused: the page types for itself.
  await page.evaluate(`(() => {
    const field = document.activeElement;
    window.held = [];
    const type = (at) => !at.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true, cancelable: true }));
    const typing = setInterval(() => type(field), 20);
    new MutationObserver((_, observer) => {
      if (field.isConnected) return;
      clearInterval(typing);
      observer.disconnect();
      for (let keys = 0; keys < 3; keys += 1) window.held.push(type(document.activeElement));
    }).observe(document.body, { childList: true, subtree: true });
  })()`);
  await world.served.client.answerApproval({ id, outcome: 'deny', binding });
  const dialog = page.getByRole('dialog', { name: 'Not sent' });
  await dialog.getByText('no,').waitFor();
  expect(await page.evaluate('window.held')).toEqual([true, true, true]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await focused(page)).toMatch(/^p denied/);
  // Who has paused means the page.
  const next = () => page.keyboard.press('j').then(() => focused(page));
  await expect.poll(next, { timeout: 20_000, interval: 1000 }).toMatch(/^article/);
  expect(world.problems).toEqual([]);
});

// From here on the login of the world itself may have ended.
it.each([
  ['a tool server', '/tools?tab=mcp', 'Remove', /^div An MCP server is/, 2],
  ['a backend', '/backends', 'Remove', /^li (?!spare)/, 2],
  ['a login', '/settings/sessions', /^End the login/, /^tr /, 1],
] as const)('is where %s was', async (_, path, name, place, times) => {
  const page = await world.open(path);
  // The backend of the world stands behind the one that goes.
  const within = path === '/backends' ? page.getByRole('listitem').filter({ hasText: 'spare' }) : page.locator('body');
  await press(page, name, within, times);
  await expect.poll(() => focused(page)).toMatch(place);
});

it('stays with the buttons where the pressed one has nothing left to do', async () => {
  world.served.login();
  const page = await world.open('/settings/sessions');
  const button = page.getByRole('button', { name: 'End all others' });
  await button.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await expect.poll(() => button.isDisabled()).toBe(true);
  await expect.poll(() => focused(page)).toBe('div End all others');
});

it('is at what became of an ask that was answered', async () => {
  const page = await world.open('/chat');
  await page.getByLabel('Message', { exact: true }).fill('please write');
  await page.keyboard.press('Enter');
  const card = page.locator('article.card');
  const deny = card.getByRole('button', { name: 'Deny', exact: true });
  await deny.waitFor();
  // A press counts once it begins behind the guard.
  const left = async (): Promise<number> => {
    if ((await card.count()) > 0) await deny.press('Space', { timeout: 1000 }).catch(() => undefined);
    return card.count();
  };
  await expect.poll(left, { timeout: 30_000, interval: 500 }).toBe(0);
  await page.getByText('As you like.').waitFor();
  await expect.poll(() => focused(page)).toMatch(/^div ▸/);
  await page.keyboard.press('Tab');
  expect(await focused(page)).toMatch(/^button ▸/);
  expect(world.problems).toEqual([]);
});

it('is at the first field of the password that has to be chosen', async () => {
  const page = await world.open('/runs', { stranger: true });
  await page.getByLabel('Password').fill('admin');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Choose a password' }).waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.autocomplete')).toBe('current-password');
});
