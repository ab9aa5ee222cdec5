import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type ScriptedApp, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

/** One pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const sees = {
  models: [{ name: 'm', context: 100_000, capabilities: ['chat', 'tools', 'vision'] }],
  turns: [
    { match: { images: 1 }, reply: { text: 'I see one picture.' } },
    { match: {}, reply: { text: 'I see none.' } },
  ],
};

it('sends an image with the instruction and stores its bytes once, outside the message', async () => {
  app = await scriptedApp(sees);
  const path = join(app.place.workspace, 'dot.png');
  writeFileSync(path, png);
  const result = await app.run({ images: [{ path }] });
  expect(result.text).toBe('I see one picture.');
  expect(result.output).toMatchObject({
    messages: [{ role: 'user', images: [{ mime_type: 'image/png', data: '' }] }, {}],
  });
});

it('refuses a file that is no image, whatever its name says', async () => {
  app = await scriptedApp(sees);
  const path = join(app.place.workspace, 'dot.png');
  writeFileSync(path, 'not a picture');
  await expect(app.run({ images: [{ path }] })).rejects.toThrow('is not a PNG, JPEG, GIF or WebP image');
});

it('refuses images beside an input that is no text', async () => {
  app = await scriptedApp(sees);
  const path = join(app.place.workspace, 'dot.png');
  writeFileSync(path, png);
  const run = app.run({ images: [{ path }], input: { type: 'int', value: 3 } });
  await expect(run).rejects.toThrow('--image goes with text');
});

it('refuses more than eight images in one message, whichever face sends them', async () => {
  app = await scriptedApp(sees);
  const path = join(app.place.workspace, 'dot.png');
  writeFileSync(path, png);
  const images = (count: number) => new Array(count).fill({ path });
  await expect(app.chat('look', { images: images(9) })).rejects.toThrow('9 images, more than 8');
  const { run_id } = await app.chat('look', { images: images(8) });
  expect((await app.client.awaitRun({ run_id })).status).toBe('completed');
});
