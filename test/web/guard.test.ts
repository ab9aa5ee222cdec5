import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { call, calls, says } from '../support/scripted-app.ts';
import { axeFaults, phone, type WebWorld, webWorld } from './world.ts';

/** Of one run. */
const turns = [
  calls([call('local_fs.write_file', { path: 'note.txt', content: 'a note\n' })], { role: 'user' }),
  says('Done.', { role: 'tool' }),
];

let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({
    turns: [...turns, ...turns].map((turn, index) => ({ name: `turn ${index}`, ...turn })),
    policy: { default_action: 'approve', rules: [] },
  });
}, 60_000);
afterAll(() => world?.close());
// A file that is there already would have to be read before it is written.
afterEach(() => rmSync(join(world.served.app.place.workspace, 'note.txt'), { force: true }));

/** A press that begins as soon as the window was brought to the front, whatever the clock says. */
const pressTooSoon = (page: Page, button: string): Promise<unknown> =>
  page.evaluate(`(() => {
    const button = document.querySelector(${JSON.stringify(button)});
    dispatchEvent(new Event('focus'));
    button.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
    button.click();
  })()`);

it('takes the click of assistive technology behind the guard, and none at the end of a key held since before', async () => {
  const run = await world.served.run();
  const { ask_id } = await world.served.app.seen(run, 'ask');
  const state = async () => (await world.served.client.getApproval({ id: ask_id })).state;
  const page = await world.open(`/approvals/${ask_id}`);
  const card = page.locator('article.card');
  await card.getByRole('button', { name: 'Approve once' }).waitFor();
  // A click that no key and no pointer began.
  const clickAfter = (event: string) =>
    page.evaluate(`(() => {
      ${event};
      // Gone once it was answered.
      document.querySelector('article.card .primary')?.click();
    })()`);

  await clickAfter(`dispatchEvent(new Event('focus'))`);
  await expect.poll(() => card.getByRole('status').textContent()).toBe('Too soon: press it again.');
  const clock = async () => Number(await page.evaluate('performance.now()'));
  const start = await clock();
  await expect.poll(async () => (await clock()) - start).toBeGreaterThan(1000);
  await clickAfter(`dispatchEvent(new KeyboardEvent('keyup', { key: ' ' }))`);
  expect(await state()).toBe('pending');
  const press = async () => {
    await clickAfter('');
    return state();
  };
  await expect.poll(press, { interval: 700 }).toBe('approved');
  // It writes its file before that is taken away.
  await world.served.app.client.awaitRun({ run_id: run });
  expect(world.problems).toEqual([]);
});

it('says of a press that came too soon, and of Enter, what to do instead', async () => {
  const run = await world.served.run();
  const { ask_id } = await world.served.app.seen(run, 'ask');
  const state = async () => (await world.served.client.getApproval({ id: ask_id })).state;
  const page = await world.open(`/approvals/${ask_id}`, { viewport: phone });
  const card = page.locator('article.card');
  const approve = card.getByRole('button', { name: 'Approve once' });
  await approve.waitFor();
  const hint = card.getByRole('status');
  expect(await hint.textContent()).toBe('');
  const place = await card.boundingBox();

  await pressTooSoon(page, 'article.card .primary');
  await expect.poll(() => hint.textContent()).toBe('Too soon: press it again.');
  expect(await axeFaults(page)).toEqual([]);
  await approve.focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => hint.textContent()).toBe('Enter does not approve: press Space, or a on the card.');
  await card.getByRole('button', { name: 'Deny', exact: true }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => hint.textContent()).toBe('Enter does not answer: press Space.');
  await card.focus();
  await page.evaluate(`(() => {
    dispatchEvent(new Event('focus'));
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }));
  })()`);
  await expect.poll(() => hint.textContent()).toBe('Too soon: press it again.');
  // What is said moves nothing: a button that moves takes no press.
  expect(await card.boundingBox()).toEqual(place);
  expect(await state()).toBe('pending');

  // Its own dialogs say it inside: the page behind them is not heard.
  await card.getByRole('button', { name: 'Edit…' }).click();
  const dialog = page.getByRole('dialog');
  const send = dialog.getByRole('button', { name: 'Send the edited call' });
  await expect.poll(() => send.isEnabled()).toBe(true);
  await pressTooSoon(page, 'dialog .primary');
  const inside = dialog.locator('.guard-hint');
  await expect.poll(() => inside.textContent()).toBe('Too soon: press it again.');
  expect(await axeFaults(page)).toEqual([]);
  expect(await state()).toBe('pending');

  // The same press does it behind the guard, and nothing is left to be said.
  await page.keyboard.press('Escape');
  await approve.focus();
  await expect
    .poll(
      async () => {
        await page.keyboard.press('Space');
        return state();
      },
      { interval: 700 },
    )
    .toBe('approved');
  await card.waitFor({ state: 'detached' });
  expect(world.problems).toEqual([]);
});
