import { afterAll, beforeAll, expect, it } from 'vitest';
import { axeFaults, type WebWorld, webWorld } from './world.ts';

/** What the address names is not there, or not there any more. */

let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({ turns: [] });
}, 60_000);
afterAll(() => world?.close());

it.each([
  ['/approvals?tab=nothing', 'Pending (0)'],
  ['/tools?tab=nothing', 'Tools'],
  ['/policies/hitl-policy-default.json?tab=nothing', 'Explain'],
] as const)('shows the first tab at %s, which a keyboard reaches', async (path, first) => {
  const page = await world.open(path);
  const tab = page.getByRole('tab', { name: first, selected: true });
  await tab.waitFor();
  expect(await tab.getAttribute('tabindex')).toBe('0');
  expect(await page.locator('.note.danger').count()).toBe(0);
  await tab.press('ArrowRight');
  expect(await page.getByRole('tab', { selected: true }).textContent()).not.toBe(first);
});

it.each(['/plans', '/runs'])('shows all at %s?status=nothing, and says so', async (path) => {
  const page = await world.open(`${path}?status=nothing`);
  await page.locator('.empty').waitFor();
  expect(await page.locator('.note.danger').count()).toBe(0);
  expect(await page.locator('select').first().inputValue()).toBe('');
});

it.each([
  ['/policies/gone.json', 'All policies', 'Policies'],
  ['/chains/gone.json', 'All chains', 'Chains'],
  ['/nowhere', 'Go to the chat', ''],
] as const)('leads on from %s, where nothing is', async (path, way, title) => {
  const page = await world.open(path);
  await page.getByRole('link', { name: way }).click();
  if (title === '') await page.getByRole('textbox', { name: 'Message' }).waitFor();
  else await page.getByRole('heading', { name: title, exact: true }).waitFor();
  expect(world.problems).toEqual([]);
});

it('leaves nothing to be done with a plan that is deleted elsewhere while it is shown', async () => {
  const { client } = world.served;
  await client.postPlan({ goal: 'Ship it', steps: ['Write', 'Tag'] });
  const [{ name } = { name: '' }] = (await client.pagePlans({})).items;
  const page = await world.open(`/plans/${name}`);
  await page.getByRole('button', { name: 'Run next' }).waitFor();
  await client.removePlan({ name });
  await page.getByRole('alert').getByText(name).waitFor();
  expect(await page.locator('main').getByRole('button').allTextContents()).toEqual([]);
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole('link', { name: 'All plans' }).click();
  await page.getByRole('heading', { name: 'Plans' }).waitFor();
  expect(world.problems).toEqual([]);
});

it('says that the server is away where a page is opened for the first time, and shows it when it is back', async () => {
  // React tells the console of every page that failed.
  const page = await (await world.context()).newPage();
  await page.goto(`${world.served.url}/chat`);
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  await world.served.restart(async () => {
    await page.getByText('Connection lost.').waitFor();
    await page.getByRole('link', { name: 'Tools' }).click();
    await page.getByRole('alert').getByText('The server does not answer').waitFor();
    expect(await page.getByText('Another version').count()).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
  });
  await page.getByRole('tab', { name: 'Hooks' }).waitFor();
});
