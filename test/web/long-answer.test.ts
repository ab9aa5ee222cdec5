import { afterAll, beforeAll, expect, it } from 'vitest';
import { says } from '../support/scripted-app.ts';
import { type WebWorld, webWorld } from './world.ts';

const lines = Array.from({ length: 3000 }, (_, index) => `word ${index} ${'of it '.repeat(6)}`);
let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({ turns: [says(lines.join('\n\n'))] });
}, 60_000);
afterAll(() => world?.close());

it('shows a long answer in portions, and all of it to who finds something further down', async () => {
  const { run_id } = await world.served.app.chat('go');
  await world.served.app.client.awaitRun({ run_id });
  const page = await world.open('/chat/default');
  const answer = page.getByRole('article', { name: 'Reins' });
  const shown = async () => (await answer.locator('.prose > p').allTextContents()).length;
  const more = answer.getByRole('button', { name: /^Show more: [\d,]+ characters are left$/ });
  await more.waitFor();
  // Behind the plain text that is there until the Markdown can be read.
  await expect.poll(shown).toBeGreaterThan(1);
  const first = await shown();
  expect(first).toBeGreaterThan(900);
  expect(first).toBeLessThan(1300);
  await more.click();
  await expect.poll(shown).toBeGreaterThan(first);
  expect(await shown()).toBeLessThan(3000);

  await page.keyboard.press('Control+f');
  await page.getByRole('searchbox', { name: 'Find in this conversation' }).fill('word 2999');
  await expect.poll(shown).toBe(3000);
  expect(await more.count()).toBe(0);
  expect(world.problems).toEqual([]);
});
