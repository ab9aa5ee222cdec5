import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { executor, reply, summariser, summary } from '../plans/support.ts';
import { call, calls } from '../support/scripted-app.ts';
import { withFewColours } from './png.ts';
import { phone, visit, type WebWorld, webWorld } from './world.ts';

/** The pictures of the README: how they are taken anew stands there. */

const into = process.env['REINS_SHOTS'];
const password = 'correct horse battery';
const cart = `export type Line = { readonly price: number; readonly count: number };

/** Sum of a cart, in cents. */
export function total(lines: readonly Line[]): number {
  let sum = 0;
  for (const line of lines) sum += line.price * line.count;
  return sum;
}
`;
const note = { path: 'docs/discount.md', content: '# Discounts\nA part of one, rounded once, at the end.\n' };
const policy = {
  default_action: 'approve',
  rules: [
    { tools: 'local_fs', tool: 'read_file', action: 'allow' },
    {
      tools: 'local_fs',
      action: 'allow',
      when: [{ key: 'path', op: 'path_within', value: 'src' }],
    },
    { tools: 'local_shell', action: 'deny', when: [{ key: 'command', op: 'command_blacklist', value: 'rm,dd' }] },
  ],
};

const turns = [
  calls([call('local_fs.read_file', { path: 'src/cart.ts' })], { ...executor, role: 'user' }),
  reply('The cart sums whole cents.', executor),
  reply(summary(), summariser),
  {
    match: { role: 'user' },
    reply: {
      text: 'First I look at how the cart sums its lines.',
      delay_ms: 40,
      tool_calls: [call('local_fs.read_file', { path: 'src/cart.ts' })],
    },
  },
  {
    match: { role: 'tool', tool: { name: 'local_fs.read_file' } },
    reply: {
      text: '`total` sums whole cents, so a discount has to **round once**. I write that down before I change it.',
      delay_ms: 40,
      tool_calls: [call('local_fs.write_file', note)],
    },
  },
  { match: {}, reply: { text: 'Written. Next I would give `total` a second parameter.', delay_ms: 40 } },
];

/** A page of somebody who has set a password and logged in. */
async function entered(world: WebWorld, look: Parameters<WebWorld['open']>[1]): Promise<Page> {
  const page = await world.open('/chat', { ...look, stranger: true });
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
  await page.locator('.main').waitFor();
  return page;
}

describe.runIf(into !== undefined)('the pictures of the README', () => {
  it('are taken', async () => {
    const world = await webWorld({
      turns: turns.map((turn, index) => ({ name: `turn ${index}`, ...turn })),
      models: [{ name: 'coder', context: 32_768, capabilities: ['chat', 'tools'] }],
      over: () => ({ policy: null }),
    });
    try {
      const { served } = world;
      const { place } = served.app;
      mkdirSync(join(place.workspace, 'src'));
      writeFileSync(join(place.workspace, 'src/cart.ts'), cart);
      await served.client.putConfigItem({ key: 'default-model', value: 'coder' });
      await served.client.putConfigItem({ key: 'default-provider', value: 'scripted' });
      const text = `${JSON.stringify(policy, null, 2)}\n`;
      await served.client.putPolicy({ file: 'hitl-policy-mine.json', text, source: 'user', if_none_match: '*' });
      await served.client.postPlan({ goal: 'Discounts', steps: ['Read the cart', 'Write the discount'] });
      await served.app.client.awaitRun({ run_id: (await served.client.postNext({ name: 'active' })).run_id });
      const body = { current_password: 'admin', new_password: password };
      expect((await served.call('POST', '/api/auth/change-password', { body })).status).toBe(200);
      const page = await entered(world, { viewport: { width: 1280, height: 940 } });
      const small = await entered(world, { viewport: phone, scheme: 'dark' });
      const shoot = async (of: Page, name: string): Promise<void> => {
        // Where the test has its files is nothing to show.
        await of.evaluate(`{
          const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (texts.nextNode()) {
            const node = texts.currentNode;
            node.nodeValue = node.nodeValue.replaceAll(${JSON.stringify(place.workspace)}, '/srv/shop');
          }
        }`);
        writeFileSync(join(into ?? '', `beam-${name}.png`), withFewColours(await of.screenshot()));
      };

      await page.getByRole('textbox', { name: 'Message' }).fill('Give the cart a discount');
      await page.keyboard.press('Enter');
      const approve = page.getByRole('button', { name: 'Approve once' });
      await approve.waitFor();
      // What stands beside the chat hears of it a moment later.
      await page.locator('.run-panel').getByText('waiting', { exact: true }).first().waitFor();
      await page.locator('.run-panel').getByText('2 of 200').waitFor();
      await page.locator('.run-panel').getByText('coder', { exact: true }).nth(1).waitFor();
      await page.locator('.badge').first().waitFor();
      await shoot(page, 'chat');
      await visit(small, '/approvals');
      await small.locator('article.card').waitFor();
      await shoot(small, 'phone');
      const run = await page.getByRole('link', { name: 'The run' }).getAttribute('href');
      // Somebody thinks about it: a wait that the timeline shows.
      await page.waitForTimeout(1500);
      await approve.click();
      await page.getByText('Next I would give').waitFor();
      await visit(page, run ?? '/runs');
      await page.locator('svg .bar-waiting').first().waitFor();
      await shoot(page, 'run');
      // The others do not fill a screen of this height.
      await page.setViewportSize({ width: 1280, height: 660 });
      await visit(page, '/policies/hitl-policy-mine');
      await page.getByLabel('Arguments (JSON)').fill('{\n  "path": "src/cart.ts",\n  "content": "…"\n}');
      await page.getByText('by rule 2').waitFor();
      await shoot(page, 'policy');
      await visit(page, '/chains/chain-step-executor?source=builtin');
      await page.getByText('taken in the last run').waitFor();
      await page.locator('.cm-line').first().waitFor();
      await shoot(page, 'chain');
      expect(world.problems).toEqual([]);
    } finally {
      await world.close();
    }
  });
});
