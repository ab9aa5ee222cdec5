import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { says } from '../support/scripted-app.ts';
import { settled, type WebWorld, webWorld } from './world.ts';

/** How many pixels of the chat are below its view. */
const leftBelow = (page: Page) => (): Promise<number> =>
  page.evaluate(`(({ scrollHeight, scrollTop, clientHeight }) =>
    Math.round(scrollHeight - scrollTop - clientHeight))(document.querySelector('.transcript'))`);

const paragraphs = (count: number): string =>
  Array.from({ length: count }, (_, index) => `Paragraph ${index}.`).join('\n\n');

let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({
    turns: [
      {
        name: 'slow',
        match: { role: 'user', last_user: 'slow' },
        reply: { text: paragraphs(80), delay_ms: 60 },
      },
      { name: 'long', ...says(`${paragraphs(60)}\n\nThat was all.`) },
    ],
    policy: { default_action: 'approve', rules: [] },
  });
  await world.served.client.putConfigItem({ key: 'default-model', value: 'm' });
  await world.served.client.putConfigItem({ key: 'default-provider', value: 'scripted' });
}, 60_000);
afterAll(() => world?.close());

/** A chat that is longer than its view, at its end. */
async function longChat(): Promise<Page> {
  const page = await world.open('/chat');
  await page.getByRole('textbox', { name: 'Message' }).fill('tell me everything');
  await page.getByRole('button', { name: 'Send' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('That was all.').last().waitFor();
  await page.getByRole('button', { name: 'Send' }).waitFor();
  expect(await settled(page, leftBelow(page))).toBe(0);
  return page;
}

/** Writes so many lines as a person does, and gives where the chat stood behind each. */
async function writeLines(page: Page, count: number): Promise<readonly number[]> {
  const left = leftBelow(page);
  const seen: number[] = [];
  await page.getByRole('textbox', { name: 'Message' }).focus();
  for (let line = 1; line <= count; line += 1) {
    await page.keyboard.type(`line ${line}`);
    await page.keyboard.press('Shift+Enter');
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    seen.push(await left());
  }
  return seen;
}

it('stays at the end of a chat while a message of several lines is written, and when it is sent', async () => {
  const page = await longChat();
  expect(await writeLines(page, 8)).toEqual(Array(8).fill(0));
  expect(await page.getByRole('button', { name: 'To the end' }).count()).toBe(0);
  await page.keyboard.press('Enter');
  await page.locator('.said.user', { hasText: 'line 8' }).waitFor();
  await page.getByRole('button', { name: 'Send' }).waitFor();
  expect(await settled(page, leftBelow(page))).toBe(0);
  expect(world.problems).toEqual([]);
});

it('goes on following an answer that streams while the next message is written', async () => {
  const page = await longChat();
  await page.getByRole('textbox', { name: 'Message' }).fill('slow please');
  await page.keyboard.press('Enter');
  await page.getByText('Paragraph 3.').last().waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  await writeLines(page, 10);
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Backspace');
  await writeLines(page, 3);
  expect(await page.getByRole('button', { name: /To the end|new/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'Send' }).waitFor({ timeout: 60_000 });
  expect(await settled(page, leftBelow(page))).toBe(0);
  expect(world.problems).toEqual([]);
});
