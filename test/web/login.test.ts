import { afterAll, beforeAll, expect, it } from 'vitest';
import { says } from '../support/scripted-app.ts';
import { axeFaults, type WebWorld, webWorld } from './world.ts';

let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({ turns: [says('Hello.')] });
}, 60_000);
afterAll(() => world?.close());

it('takes the default password and has another one set before anything else', async () => {
  const page = await world.open('/runs', { stranger: true });
  await page.getByText('No password is set yet').waitFor();
  // What is pointed at can be read, too.
  await page.getByRole('button', { name: 'Log in' }).hover();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByLabel('Password').fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: /./ }).first().waitFor();
  expect(await page.evaluate('document.activeElement.type')).toBe('password');
  await page.getByLabel('Password').fill('admin');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Choose a password' }).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByLabel('Current password').fill('admin');
  await page.getByLabel('New password', { exact: true }).fill('correct horse battery');
  await page.getByLabel('New password again').fill('correct horse battery');
  await page.getByRole('button', { name: 'Set the password' }).click();
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/runs');
  expect(world.problems).toEqual([]);
});

it('HTTP-015: opens with a one-time link, which leaves the address bar and the history, is in no address that is asked for, and works once', async () => {
  const code = 'c'.repeat(43);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(code));
  const ground = await world.served.app.ground();
  ground.logins.addCode(Buffer.from(digest).toString('hex'), Date.now() + 60_000);
  const page = await (await world.context({ stranger: true })).newPage();
  world.watch(page);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(`${request.url()} ${request.headers()['referer'] ?? ''}`));
  await page.goto(`${world.served.url}/#code=${code}`);
  await page.getByRole('navigation', { name: 'Pages', exact: true }).waitFor();
  expect(await page.evaluate('[location.hash, history.length]')).toEqual(['', 2]);
  // The page before this one is the empty tab, and the one behind it has no code.
  await page.goBack();
  await page.goForward();
  await page.getByRole('navigation', { name: 'Pages', exact: true }).waitFor();
  expect(page.url()).not.toContain('code');
  expect(asked.length).toBeGreaterThan(5);
  expect(asked.filter((line) => line.includes(code) || line.includes('code='))).toEqual([]);
  // Nothing is set up: that comes first, and can be tried without.
  await page.getByRole('button', { name: 'Try without a model' }).click();
  await page.getByRole('heading', { name: 'Run', exact: true }).waitFor();
  const again = await world.open(`/#code=${code}`, { stranger: true });
  await again.getByText('This link was already used or has expired').waitFor();
  expect(world.problems).toEqual([]);
});
