import { afterAll, beforeAll, expect, it } from 'vitest';
import { says } from '../support/scripted-app.ts';
import { axeFaults, type WebWorld, webWorld } from './world.ts';

let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({ turns: [says('Hello.')] });
}, 60_000);
afterAll(() => world?.close());

it('keeps the form that somebody fills while the login ends and a password has to be chosen, by this one or by somebody else', async () => {
  const page = await world.open('/tools?tab=hooks');
  await page.getByRole('button', { name: 'Add a hook…' }).click();
  const form = page.getByRole('dialog', { name: 'Add a hook' });
  await form.getByLabel('Name').fill('weather');
  await form.getByLabel('URL').fill('http://127.0.0.1:9/');
  const kept = async () => [await form.getByLabel('Name').inputValue(), await form.getByLabel('URL').inputValue()];

  const ended = page.getByRole('dialog', { name: 'Your login has ended' });
  expect((await world.served.call('DELETE', '/api/auth/sessions')).status).toBe(200);
  await ended.waitFor();
  await ended.getByLabel('Password').fill('admin');
  await page.keyboard.press('Enter');
  const choice = page.getByRole('dialog', { name: 'Choose a password' });
  await choice.waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.autocomplete')).toBe('current-password');
  await page.keyboard.press('Escape');
  expect(await axeFaults(page)).toEqual([]);
  const choose = async () => {
    await choice.getByLabel('Current password').fill('admin');
    await choice.getByLabel('New password', { exact: true }).fill('correct horse battery');
    await choice.getByLabel('New password again').fill('correct horse battery');
    await choice.getByRole('button', { name: 'Set the password' }).click();
  };

  // Somebody else was first: the default password holds no more, and its login has ended.
  const first = { current_password: 'admin', new_password: 'a password of somebody' };
  expect((await world.served.call('POST', '/api/auth/change-password', { body: first })).status).toBe(200);
  await choose();
  await ended.waitFor();
  await ended.getByLabel('Password').fill(first.new_password);
  await page.keyboard.press('Enter');
  await ended.waitFor({ state: 'detached' });
  expect(await kept()).toEqual(['weather', 'http://127.0.0.1:9/']);

  await form.getByRole('button', { name: 'Register' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'weather' }).waitFor();
  expect(world.problems).toEqual([]);
});

it('goes on with the form when the password was chosen over it', async () => {
  const own = await webWorld({ turns: [says('Hello.')] });
  try {
    const page = await own.open('/plans');
    const goal = page.getByLabel('What is to be reached?');
    await goal.fill('a goal');
    await page.getByLabel('Look at the workspace first').check();
    expect((await own.served.call('DELETE', '/api/auth/sessions')).status).toBe(200);
    await page.getByRole('dialog', { name: 'Your login has ended' }).getByLabel('Password').fill('admin');
    await page.keyboard.press('Enter');
    const choice = page.getByRole('dialog', { name: 'Choose a password' });
    await choice.getByLabel('Current password').fill('admin');
    await choice.getByLabel('New password', { exact: true }).fill('correct horse battery');
    await choice.getByLabel('New password again').fill('correct horse battery');
    await choice.getByRole('button', { name: 'Set the password' }).click();
    await choice.waitFor({ state: 'detached' });
    expect(await goal.inputValue()).toBe('a goal');
    expect(await page.getByLabel('Look at the workspace first').isChecked()).toBe(true);
    await page.getByText('connected', { exact: true }).waitFor();
    expect(own.problems).toEqual([]);
  } finally {
    await own.close();
  }
});
