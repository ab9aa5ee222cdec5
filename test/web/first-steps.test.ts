import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { says } from '../support/scripted-app.ts';
import { phone, type WebWorld, webWorld } from './world.ts';

/** A service that has one model. */
const service = createServer((_, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ object: 'list', data: [{ id: 'm', object: 'model' }] }));
});

let world: WebWorld;
beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  world = await webWorld({ turns: [says('Hello.')] });
}, 60_000);
afterAll(async () => {
  await world?.close();
  service.closeAllConnections();
  service.close();
});

it('counts a step as done when nothing below says otherwise, and models only where somebody was asked', async () => {
  const { client, app } = world.served;
  const { port } = service.address() as AddressInfo;
  const page = await world.open('/setup');
  const steps = page.getByRole('region', { name: 'First steps' }).getByRole('listitem');
  const shown = () => steps.allTextContents();
  await expect
    .poll(shown)
    .toEqual([
      'step 1Choose a provider and register it',
      'step 2Check that it answers',
      'step 3Choose the default model',
      'step 4Send a first message',
    ]);
  await client.createBackend({ name: 'far', type: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1' });
  await page.goto(`${world.served.url}/backends`);
  const far = page.getByRole('listitem').filter({ hasText: 'far' });
  await far.getByText('does not answer').waitFor();
  expect(await far.locator('.facts').textContent()).toContain('Modelsnot known');

  await client.createBackend({ name: 'near', type: 'openai-compatible', base_url: `http://127.0.0.1:${port}/v1` });
  await client.checkBackend({ name: 'near' });
  await client.checkBackend({ name: 'far' });
  const { run_id } = await client.postMessage({ session: 'default', text: 'hello', model: 'm', provider: 'scripted' });
  await app.client.awaitRun({ run_id });
  await page.goto(`${world.served.url}/setup`);
  // One of two does not answer, which the checks below say.
  await expect
    .poll(shown)
    .toEqual([
      'doneChoose a provider and register it',
      'step 2Check that it answers',
      'step 3Choose the default model',
      'doneSend a first message',
    ]);
  await client.deleteBackend({ name: 'far', if_match: '*' });
  await expect.poll(async () => (await shown())[1]).toBe('doneCheck that it answers');
  expect(world.problems).toEqual([]);
});

it('keeps the row of a run in one line, and its numbers readable', async () => {
  const { client, app } = world.served;
  const { name } = await client.createSession({});
  const { run_id } = await client.postMessage({ session: name, text: 'hello', model: 'm', provider: 'scripted' });
  await app.client.awaitRun({ run_id });
  app.change(`UPDATE runs SET usage = json_set(usage, '$.input_tokens', 1234567, '$.output_tokens', 0)
    WHERE id = '${run_id}'`);
  const page = await world.open('/runs');
  const row = page.getByRole('row').filter({ has: page.locator(`a[href="/runs/${run_id}"]`) });
  const from = row.locator('td[data-label=From]');
  expect(await from.textContent()).toBe(name);
  expect(await row.locator('td[data-label=Tokens]').textContent()).toBe('1,234,567');
  expect((await row.boundingBox())?.height).toBeLessThan(50);
  expect(world.problems).toEqual([]);
});

it('tells a run on a phone in a few lines', async () => {
  const { client, app } = world.served;
  const { name } = await client.createSession({});
  const text = 'what does this project do, and which of its files do I read first when I am new to it?';
  const { run_id } = await client.postMessage({ session: name, text, model: 'm', provider: 'scripted' });
  await app.client.awaitRun({ run_id });
  for (const scheme of ['light', 'dark'] as const) {
    const page = await world.open('/runs', { viewport: phone, scheme });
    const card = page.getByRole('row').filter({ has: page.locator(`a[href="/runs/${run_id}"]`) });
    expect((await card.boundingBox())?.height).toBeLessThan(130);
    expect(await card.innerText()).toMatch(/^completed/);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width);
  }
  expect(world.problems).toEqual([]);
});
