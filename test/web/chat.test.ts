import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, calls, says } from '../support/scripted-app.ts';
import { axeFaults, phone, type WebWorld, webWorld } from './world.ts';

const prose = `Here is **what I found**:\n\n- one file\n- one note\n\n\`\`\`ts\nconst answer = 42;\n\`\`\`\n\nAnd a table:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n`;
let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({
    turns: [
      calls([call('local_fs.write_file', { path: 'note.txt', content: 'one\ntwo\n' })], { role: 'user', last_user: 'write' }),
      calls([call('local_fs.read_file', { path: 'seen.txt' })], { role: 'user', last_user: 'read' }),
      { match: { last_user: 'slow' }, reply: { text: 'slow '.repeat(60), chunk_chars: 5 }, pace: { chunk_ms: 60 } },
      says(prose),
    ],
    policy: { default_action: 'approve', rules: [{ tools: 'local_fs', tool: 'read_file', action: 'allow' }] },
  });
  writeFileSync(join(world.served.app.place.workspace, 'seen.txt'), 'seen\n');
}, 60_000);
afterAll(() => world?.close());

it('takes a message, asks in its place before a file is written, and goes on when it was approved', async () => {
  const page = await world.open('/chat');
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('please write the note');
  await page.keyboard.press('Enter');
  const card = page.locator('article.card');
  await card.waitFor();
  await page.screenshot({ path: '/tmp/h-web-shot-chat-ask.png' });
  expect(await axeFaults(page)).toEqual([]);
});
