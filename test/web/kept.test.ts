import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { call, calls, says } from '../support/scripted-app.ts';
import { phone, settled, type WebWorld, webWorld } from './world.ts';

/** What somebody has written, chosen or been asked in a chat, and then goes elsewhere. */

const code = 'Run this:\n\n```sh\necho one\necho two\n```';

let world: WebWorld;
beforeAll(async () => {
  const content = Array.from({ length: 30 }, (_, line) => `line ${line}\n`).join('');
  const turns = [
    calls([call('local_fs.write_file', { path: 'long.txt', content })], { role: 'user', last_user: 'write' }),
    says(code, { role: 'user', last_user: 'how' }),
    {
      ...says('It is said.', { role: 'user', last_user: 'slowly' }),
      reply: { text: 'It is said.', first_delay_ms: 1000 },
    },
    says('It is said.'),
  ];
  world = await webWorld({
    turns: turns.map((turn, index) => ({ name: `turn ${index}`, ...turn })),
    policy: { default_action: 'approve', rules: [] },
  });
  await world.served.client.putConfigItem({ key: 'default-model', value: 'm' });
  await world.served.client.putConfigItem({ key: 'default-provider', value: 'scripted' });
}, 60_000);
afterAll(() => world?.close());

const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const bubbles = async (page: Page) => (await page.locator('.bubble').allInnerTexts()).map((text) => text.trim());

it('keeps a message that was not taken over another page and a reload, under its key, until it is sent or taken back', async () => {
  await world.served.client.createSession({ name: 'kept' });
  const page = await world.open('/chat/kept');
  await page.getByText('Ask for something to be done here').waitFor();
  const keys: (string | undefined)[] = [];
  let isLost = true;
  await page.route('**/api/sessions/kept/messages', (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    keys.push(route.request().headers()['idempotency-key']);
    return isLost ? route.abort() : route.continue();
  });
  const again = page.getByRole('button', { name: 'Try again' });
  await composer(page).fill('the first');
  await page.keyboard.press('Enter');
  await again.waitFor();
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  await page.goBack();
  await again.waitFor();
  await page.reload();
  await again.waitFor();
  expect(await bubbles(page)).toEqual(['the first']);

  // A second one is wanted otherwise: it goes where it was written, behind what stands there.
  await composer(page).fill('the second');
  await page.keyboard.press('Enter');
  await expect.poll(() => again.count()).toBe(2);
  await composer(page).fill('begun');
  await page.getByRole('button', { name: 'Take back, to change it' }).last().click();
  expect(await composer(page).inputValue()).toBe('begun\n\nthe second');
  await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA');
  expect(await bubbles(page)).toEqual(['the first']);

  isLost = false;
  await again.click();
  await page.getByText('It is said.').waitFor();
  expect(keys[0]).toBe(keys[2]);
  await page.reload();
  await page.getByText('It is said.').waitFor();
  expect([await bubbles(page), await again.count()]).toEqual([['the first'], 0]);
  expect(await composer(page).inputValue()).toBe('begun\n\nthe second');
  expect(world.problems).toEqual([]);
});

it('goes on with a message whose page was left before it was answered', async () => {
  await world.served.client.createSession({ name: 'left' });
  const page = await world.open('/chat/left');
  await page.getByText('Ask for something to be done here').waitFor();
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route('**/api/sessions/left/messages', async (route) => {
    if (route.request().method() === 'POST') await held;
    await route.continue();
  });
  await composer(page).fill('on its way');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  await page.goBack();
  await page.getByText('sending…').waitFor();
  // It would be refused, or be there first.
  await composer(page).fill('behind it');
  await page.keyboard.press('Enter');
  await page.getByText('The message before this one is on its way').waitFor();
  letGo();
  await page.getByText('It is said.').waitFor();
  expect([await bubbles(page), await page.getByText('sending…').count()]).toEqual([['on its way'], 0]);
  expect(await composer(page).inputValue()).toBe('behind it');
  expect(world.problems).toEqual([]);
});

it('shows an answer whose end is heard while the chat that was read anew is being drawn', async () => {
  await world.served.client.createSession({ name: 'drawn' });
  const context = await world.context();
  // What a busy machine does: what is to be drawn waits.
  await context.addInitScript(`const post = MessagePort.prototype.postMessage;
    MessagePort.prototype.postMessage = function (...given) { setTimeout(() => post.apply(this, given), 300); };`);
  const page = await context.newPage();
  world.watch(page);
  await page.goto(`${world.served.url}/chat/drawn`);
  await page.getByText('Ask for something to be done here').waitFor();
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route('**/api/sessions/drawn/messages', async (route) => {
    if (route.request().method() === 'POST') await held;
    await route.continue();
  });
  await composer(page).fill('slowly');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  await page.goBack();
  await page.getByText('sending…').waitFor();
  await page.route('**/api/sessions/drawn/messages?*', async (route) => {
    const response = await route.fetch();
    await new Promise((resolve) => setTimeout(resolve, 500));
    await route.fulfill({ response });
  });
  letGo();
  // Between the two readings it may be gone for a moment.
  await expect
    .poll(async () => [await bubbles(page), await page.getByText('It is said.').count()])
    .toEqual([['slowly'], 1]);
  expect(world.problems).toEqual([]);
});

it('shows an answer once that is there before it is told of its beginning', async () => {
  await world.served.client.createSession({ name: 'told' });
  const context = await world.context();
  await context.addInitScript(`const real = window.fetch;
    window.fetch = async (...given) => {
      const response = await real(...given);
      if (!String(given[0]?.url ?? given[0]).includes('/api/events')) return response;
      const late = (chunk, to) => new Promise((done) => setTimeout(() => { to.enqueue(chunk); done(); }, 1000));
      return new Response(response.body.pipeThrough(new TransformStream({ transform: late })), response);
    };`);
  const page = await context.newPage();
  world.watch(page);
  let readings = 0;
  page.on('response', (response) => {
    if (response.url().includes('/sessions/told/messages?')) readings += 1;
  });
  await page.goto(`${world.served.url}/chat/told`);
  await page.getByText('Ask for something to be done here').waitFor();
  // The feed has begun, and the chat is read for it.
  await expect.poll(() => readings).toBeGreaterThan(1);
  const before = readings;
  await composer(page).fill('at once');
  await page.keyboard.press('Enter');
  await page.getByText('It is said.').first().waitFor();
  await expect.poll(() => readings).toBeGreaterThan(before);
  const shown = async () => [await bubbles(page), await page.getByText('It is said.').count()];
  expect(await settled(page, shown)).toEqual([['at once'], 1]);
  expect(world.problems).toEqual([]);
});

it('shows the end of a turn that it could not hear before the next one began, as in a page that is hidden', async () => {
  const { client, app } = world.served;
  await client.createSession({ name: 'hidden' });
  const page = await world.open('/chat/hidden');
  await page.getByText('Ask for something to be done here').waitFor();
  await composer(page).fill('slowly');
  await page.keyboard.press('Enter');
  const show = (isHidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { get: () => ${isHidden}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));`);
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  await show(true);
  const { active_run_id } = await client.getSession({ session: 'hidden' });
  await app.client.awaitRun({ run_id: active_run_id ?? '' });
  const { run_id } = await client.postMessage({ session: 'hidden', text: 'and then' });
  await app.client.awaitRun({ run_id });
  await show(false);
  const answers = page.getByText('It is said.');
  await expect.poll(() => answers.count()).toBe(2);
  expect(await bubbles(page)).toEqual(['slowly', 'and then']);
  expect(world.problems).toEqual([]);
});

it('shows a message once that arrives after it was given up', async () => {
  const { client, call } = world.served;
  await client.createSession({ name: 'late' });
  const page = await world.open('/chat/late');
  await page.getByText('Ask for something to be done here').waitFor();
  let key: string | undefined;
  await page.route('**/api/sessions/late/messages', (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    key ??= route.request().headers()['idempotency-key'];
    return route.abort();
  });
  const again = page.getByRole('button', { name: 'Try again' });
  // The key that ends a composition in Safari sends nothing.
  await composer(page).fill('late');
  await composer(page).dispatchEvent('keydown', { key: 'Enter', keyCode: 229 });
  expect([await composer(page).inputValue(), key]).toEqual(['late', undefined]);
  await page.keyboard.press('Enter');
  await again.waitFor();
  const headers = { 'idempotency-key': key ?? '' };
  expect((await call('POST', '/api/sessions/late/messages', { body: { text: 'late' }, headers })).status).toBe(202);
  await page.getByText('It is said.').waitFor();
  await again.waitFor({ state: 'detached' });
  expect(await bubbles(page)).toEqual(['late']);
  await page.locator('[aria-live=polite]', { hasText: /^Reins has answered$/ }).waitFor({ state: 'attached' });
  expect(world.problems).toEqual([]);
});

it('keeps what is being written and what it is sent with, also under another name of the chat', async () => {
  await world.served.client.createSession({ name: 'before' });
  const page = await world.open('/chat/before');
  await composer(page).fill('half a thought');
  await page.getByRole('button', { name: /standard chain/ }).click();
  await page.getByLabel('Policy').selectOption('read-only');
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'About this chat' }).click();
  await page.getByLabel('Name').fill('behind');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.waitForURL(/\/chat\/behind$/);
  await page.getByRole('link', { name: 'Plans', exact: true }).click();
  await page.getByRole('heading', { name: 'Plans' }).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: /policy read-only/ }).waitFor();
  expect(await composer(page).inputValue()).toBe('half a thought');
  expect(await page.title()).toBe('behind · Chat · Reins');

  // With the chat it goes: another one of its name begins anew.
  await page.getByRole('button', { name: 'About this chat' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Really delete it?' }).click();
  await page.waitForURL(/\/chat$/);
  await world.served.client.createSession({ name: 'behind' });
  await page.goto(`${world.served.url}/chat/behind`);
  await page.getByRole('button', { name: /policy policy/ }).waitFor();
  expect(await composer(page).inputValue()).toBe('');
  expect(world.problems).toEqual([]);
});

it('offers a new chat in the place of one that was deleted elsewhere, and keeps what was said to it', async () => {
  await world.served.client.createSession({ name: 'gone' });
  const page = await world.open('/chat/gone');
  await page.getByText('Ask for something to be done here').waitFor();
  await world.served.client.removeSession({ session: 'gone' });
  await composer(page).fill('a long thought');
  await page.keyboard.press('Enter');
  await page.getByText('was deleted or renamed somewhere else').waitFor();
  await page.getByRole('button', { name: 'Start a chat with this name' }).click();
  await page.getByText('was deleted or renamed somewhere else').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('It is said.').waitFor();
  expect(await bubbles(page)).toEqual(['a long thought']);
  expect(world.problems).toEqual([]);
});

it('begins a new chat at its composer, takes code and messages along, and says one of them again', async () => {
  const page = await world.open('/chat');
  await page.locator('a.session').first().waitFor();
  // The list beside the chat stays: it is not read from its beginning.
  await page.evaluate("document.querySelector('.session-list').dataset.mark = 'same'");
  await page.getByRole('button', { name: 'New', exact: true }).click();
  await page.waitForURL(/\/chat\/session-/);
  expect(await page.locator('.session-list[data-mark=same]').count()).toBe(1);
  await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe('Message');
  await page.keyboard.type('how is it done?');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Copy the answer' }).waitFor();
  // No page may read the clipboard: what is written into it is looked at on its way.
  await page.evaluate('navigator.clipboard.writeText = async (text) => { window.taken = text }');
  const taken = async (name: string) => {
    await page.getByRole('button', { name }).click();
    return page.evaluate('window.taken');
  };
  expect(await taken('Copy the code')).toBe('echo one\necho two');
  await page.locator('[aria-live=polite]', { hasText: /^Copied$/ }).waitFor({ state: 'attached' });
  expect(await taken('Copy the answer')).toBe(code);
  expect(await taken('Copy your message')).toBe('how is it done?');
  await page.getByRole('button', { name: 'Use again' }).click();
  expect(await composer(page).inputValue()).toBe('how is it done?');
  expect(world.problems).toEqual([]);
});

it('takes nobody away from what they have turned to while a chat was being made or renamed', async () => {
  await world.served.client.createSession({ name: 'begun' });
  const page = await world.open('/chat/begun');
  let letGo = (): void => undefined;
  await page.route('**/api/sessions{,/*}', async (route) => {
    const changes = ['POST', 'PATCH'].includes(route.request().method());
    if (changes) await new Promise<void>((resolve) => (letGo = resolve));
    await route.continue();
  });
  const away = async (method: string, isDone: () => Promise<unknown>): Promise<void> => {
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    const answered = page.waitForResponse((response) => response.request().method() === method);
    letGo();
    await answered;
    await isDone();
    expect(new URL(page.url()).pathname).toBe('/runs');
    await page.goBack();
  };
  const pause = () => page.waitForTimeout(200);
  await page.getByRole('button', { name: 'New', exact: true }).click();
  await away('POST', pause);
  await page.getByRole('button', { name: 'About this chat' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('ended');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.keyboard.press('Escape');
  await away('PATCH', pause);
  expect(world.problems).toEqual([]);
});

it('says of a chat that it waits for somebody, and begins to show what is asked at its top', async () => {
  await world.served.client.createSession({ name: 'asks' });
  const page = await world.open('/chat/asks', { viewport: phone });
  await composer(page).fill('please write');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'waits for you' }).waitFor();
  const heading = page.getByRole('heading', { name: /^Create long.txt/ });
  await heading.waitFor();
  const deny = page.getByRole('button', { name: 'Deny', exact: true });
  const inView = async (found: typeof heading) => {
    const [box, view] = [await found.boundingBox(), await page.locator('.transcript').boundingBox()];
    if (box === null || view === null) return false;
    return box.y >= view.y && box.y + box.height <= view.y + view.height;
  };
  await expect.poll(() => inView(heading)).toBe(true);
  // What is below is reached, and stays in view.
  await page.getByRole('button', { name: 'To the end' }).click();
  await expect.poll(() => inView(deny)).toBe(true);
  await composer(page).fill('and then');
  await page.getByText('The turn waits for your answer').waitFor();
  await page.getByRole('button', { name: 'Chats' }).click();
  await page.getByRole('link', { name: /^asks waits for you/ }).waitFor();
  expect(world.problems).toEqual([]);
});
