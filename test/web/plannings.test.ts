import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { executor, planner, planOptions } from '../plans/support.ts';
import { says } from '../support/scripted-app.ts';
import { type WebWorld, webWorld } from './world.ts';

/** What a planner is doing is known to every page, and begun once. */

let world: WebWorld;
beforeAll(async () => {
  const steps = JSON.stringify(['Write the note', 'Read it']);
  world = await webWorld({
    turns: [
      { match: { ...planner, last_user: 'never' }, reply: { text: steps, first_delay_ms: 60_000 } },
      // Long enough for another page to be opened meanwhile, on a busy machine too.
      { match: { ...planner, last_user: { contains: 'A note' } }, reply: { text: steps, first_delay_ms: 12_000 } },
      { match: planner, reply: { text: steps, first_delay_ms: 4000 } },
      { match: { ...executor, last_user: { contains: 'linger' } }, reply: { text: 'Done.', first_delay_ms: 4000 } },
      says('Done.'),
    ].map((turn, index) => ({ name: `turn ${index}`, ...turn })),
  });
  await world.served.client.putConfigItem({ key: 'default-model', value: 'm' });
  await world.served.client.putConfigItem({ key: 'default-provider', value: 'scripted' });
}, 60_000);
afterAll(() => world?.close());

/** Presses the button on every page and lets no request through before all were asked for: else the later page may hear of the first one's run. */
async function pressTogether(pages: readonly Page[], name: string): Promise<void> {
  let asked = 0;
  for (const page of pages)
    await page.route('**/api/**', (route) => (route.request().method() === 'POST' ? void asked++ : route.fallback()));
  await Promise.all(pages.map((page) => page.getByRole('button', { name }).click()));
  await expect.poll(() => asked).toBe(pages.length);
  // To stop listening lets what was held go on.
  await Promise.all(pages.map((page) => page.unroute('**/api/**')));
}

const plans = async () => (await world.served.client.pagePlans({})).items.map(({ name }) => name);

it('plans a goal once, over a reload and in another tab, and leads to the plan where it was begun', async () => {
  const context = await world.context();
  const page = await context.newPage();
  world.watch(page);
  await page.goto(`${world.served.url}/plans`);
  const goal = page.getByLabel('What is to be reached?');
  const planIt = page.getByRole('button', { name: 'Plan it' });
  await goal.fill('A note');
  await planIt.click();
  await page.getByText('Planning…').waitFor();
  expect(await planIt.isDisabled()).toBe(true);
  await page.reload();
  await page.getByText('Planning…').waitFor();
  expect(await planIt.isDisabled()).toBe(true);
  const other = await context.newPage();
  world.watch(other);
  await other.goto(`${world.served.url}/plans`);
  await other.getByLabel('What is to be reached?').fill(' A note');
  await other.getByText('This goal is being planned already').waitFor();
  expect(await other.getByRole('button', { name: 'Plan it' }).isDisabled()).toBe(true);
  await page.getByText('1. Write the note').waitFor();
  await other.getByRole('link', { name: /^a-note/ }).waitFor();
  expect(new URL(other.url()).pathname).toBe('/plans');
  expect(await plans()).toHaveLength(1);
  expect(world.problems).toEqual([]);
});

it('plans a goal once that two windows ask for at once, and leads both to the plan', async () => {
  const context = await world.context();
  const pages = [await context.newPage(), await context.newPage()];
  for (const page of pages) {
    world.watch(page);
    await page.goto(`${world.served.url}/plans`);
    await page.getByRole('button', { name: 'New plan' }).click();
    await page.getByLabel('What is to be reached?').fill('Both at once');
  }
  await pressTogether(pages, 'Plan it');
  for (const page of pages) await page.waitForURL(/\/plans\/both-at-once/);
  expect((await plans()).filter((name) => name.startsWith('both-at-once'))).toHaveLength(1);
  expect(world.problems).toEqual([]);
});

it('lets somebody who asks for the form of a new plan write at once', async () => {
  const page = await world.open('/plans');
  const ask = page.getByRole('button', { name: 'New plan' });
  const goal = page.getByLabel('What is to be reached?');
  await ask.focus();
  for (const text of ['Groups', 'Groups, and more']) {
    await page.keyboard.press('Enter');
    await goal.waitFor();
    await page.keyboard.insertText(text === 'Groups' ? text : ', and more');
    expect(await goal.inputValue()).toBe(text);
    await ask.focus();
  }
  expect(world.problems).toEqual([]);
});

it('says who plans a goal that a terminal plans already', async () => {
  const { app } = world.served;
  const terminal = await app.open();
  const page = await world.open('/plans');
  await page.getByRole('button', { name: 'New plan' }).click();
  await page.getByLabel('What is to be reached?').fill('From a terminal');
  const begun = await terminal.newPlan({
    goal: 'From a terminal',
    from: null,
    explore: false,
    planner_model: null,
    shell: false,
    run: planOptions(app.place),
  });
  if (begun.kind !== 'run') throw new Error('no run');
  await page.getByRole('button', { name: 'Plan it' }).click();
  await page.getByText('This goal is being planned already by').waitFor();
  await terminal.planningStep({ run_id: begun.run.run_id });
  await page.getByRole('link', { name: /^from-a-terminal/ }).waitFor();
  expect((await plans()).filter((name) => name.startsWith('from-a-terminal'))).toHaveLength(1);
  expect(world.problems).toEqual([]);
});

it('plans the rest of a plan anew once, over a reload, and says what has changed', async () => {
  const page = await world.open(`/plans/${(await plans())[0]}`);
  await page.getByRole('button', { name: 'Replan…' }).click();
  await page.getByRole('button', { name: 'Plan anew' }).click();
  await page.getByText('Planning…').waitFor();
  await page.reload();
  await page.getByText('Planning…').waitFor();
  expect(await page.getByRole('button', { name: 'Replan…' }).isDisabled()).toBe(true);
  await page.getByRole('heading', { name: 'What has changed' }).waitFor();
  expect(await page.getByRole('button', { name: 'Replan…' }).isDisabled()).toBe(false);
  expect(world.problems).toEqual([]);
});

it('says no longer that a step is in the way when it no longer is', async () => {
  const made = await world.served.client.postPlan({ goal: 'Two windows', steps: ['linger', 'go on'] });
  if (!('name' in made)) throw new Error('no plan');
  const context = await world.context();
  const pages = [await context.newPage(), await context.newPage()];
  for (const page of pages) {
    world.watch(page);
    await page.goto(`${world.served.url}/plans/${made.name}`);
    await page.getByText('1. linger').waitFor();
  }
  const refused: string[] = [];
  for (const page of pages)
    page.on('response', (response) => {
      if (response.status() === 409) refused.push(response.url());
    });
  await pressTogether(pages, 'Run next');
  for (const page of pages) {
    await page.getByText('1 of 2').waitFor();
    await expect.poll(() => page.getByText('is running in process').count()).toBe(0);
  }
  expect(refused).toHaveLength(1);
  expect(world.problems).toEqual([]);
});

it('stops a planning, and can be asked to plan again', async () => {
  const page = await world.open(`/plans/${(await plans())[0]}`);
  await page.getByRole('button', { name: 'Replan…' }).click();
  await page.getByLabel('What should be different?').fill('never');
  await page.getByRole('button', { name: 'Plan anew' }).click();
  await page.getByRole('button', { name: 'Stop planning' }).click();
  await page.getByRole('button', { name: 'Really stop it?' }).click();
  await page.getByRole('alert').filter({ hasText: 'the run was cancelled' }).waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Replan…' }).isDisabled()).toBe(false);
  expect(world.problems).toEqual([]);
});

it('reads a chat anew when the feed that would have told of it was pruned meanwhile', async () => {
  const { client } = world.served;
  await client.createSession({ name: 'default' });
  const page = await (await world.context()).newPage();
  await page.goto(`${world.served.url}/chat/default`);
  await page.getByText('connected', { exact: true }).waitFor();
  await world.served.restart(async () => {
    const { app } = world.served;
    const program = await app.handle.routes();
    const { run_id } = await program.postMessage({ session: 'default', text: 'said meanwhile' });
    await app.client.awaitRun({ run_id });
    app.change('DELETE FROM events');
    const { run_id: later } = await program.postMessage({ session: 'default', text: 'later' });
    await app.client.awaitRun({ run_id: later });
    // Nothing is left that would name the chat.
    app.change('DELETE FROM events WHERE cursor < (SELECT max(cursor) FROM events)');
  });
  await page.getByText('said meanwhile').waitFor();
});
