import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { asks, executor, plans, reply, summariser, summary } from '../plans/support.ts';
import { call, calls, says } from '../support/scripted-app.ts';
import { axeFaults, phone, visit, type WebWorld, webWorld } from './world.ts';

const blanks = ' '.repeat(800);
const lines = Array.from({ length: 500 }, (_, index) => `line ${index}`).join('\n');

const oneCommand = `git push origin ${'a-long-name-of-a-branch/'.repeat(12)}end`;

let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({
    turns: [
      calls([call('local_shell.local_shell', { command: oneCommand })], { role: 'user', last_user: 'shell' }),
      calls([call('local_shell.local_shell', { command: 'touch a\ntouch b' })], {
        role: 'user',
        last_user: 'hidden',
      }),
      plans(['Write the note']),
      asks('local_fs.write_file', { path: 'note.txt', content: 'a note\n' }, { ...executor, role: 'user' }),
      reply('Written.', executor),
      reply(summary(), summariser),
      calls([call('local_fs.write_file', { path: 'long.txt', content: `${lines}\n\u202egnp${blanks}x\n` })], {
        role: 'user',
      }),
      says('Done.'),
    ].map((turn, index) => ({ name: `turn ${index}`, ...turn })),
    policy: { default_action: 'approve', rules: [] },
  });
}, 60_000);
afterAll(() => world?.close());

it('approves nothing that was not displayed, and shows what hides', async () => {
  await world.served.run();
  const page = await world.open('/approvals');
  const card = page.locator('article.card');
  await card.waitFor();
  expect(await card.getByRole('button', { name: 'Approve once' }).count()).toBe(0);
  expect(await card.getByText(/lines hidden/).count()).toBe(1);
  // The key of the card approves nothing either.
  await card.focus();
  await page.keyboard.press('a');
  expect(await axeFaults(page)).toEqual([]);
  await card.getByRole('button', { name: /^Show \d+ hidden lines$/ }).click();
  await card.getByRole('button', { name: 'Approve once' }).waitFor();
  // The button that was pressed is gone; who reads with the keyboard is still at the card.
  expect(await page.evaluate('document.activeElement.className')).toBe('card');
  const text = (await card.textContent()) ?? '';
  expect(text).toContain('⟨U+202E⟩gnp⟨blank x 800⟩x');
  expect(text).toContain('Holds characters that cannot be seen');
  expect(await axeFaults(page)).toEqual([]);
  expect(world.problems).toEqual([]);
});

it('HTTP-017: shows in every open tab within a second who has answered', async () => {
  const one = await world.open('/approvals');
  const other = await world.open('/approvals', { viewport: phone, scheme: 'dark' });
  await one.locator('article.card').waitFor();
  await other.locator('article.card').waitFor();
  expect(await axeFaults(other)).toEqual([]);
  expect(await other.evaluate('document.documentElement.scrollWidth')).toBe(390);
  const [ask] = (await world.served.client.pageApprovals({})).items;
  if (ask === undefined) throw new Error('no ask');
  await world.served.client.answerApproval({ id: ask.id, binding: ask.binding, outcome: 'deny', feedback: 'not now' });
  for (const page of [one, other]) {
    const line = page.locator('.outcome[data-state=denied]');
    await line.waitFor();
    expect(await line.textContent()).toContain('by operator:web');
    expect(await page.locator('article.card').count()).toBe(0);
  }
  expect(world.problems).toEqual([]);
});

it('shows a run as a picture and as a table, which the keyboard reaches', async () => {
  const page = await world.open('/runs');
  await page.locator('.run-link').first().click();
  await page.getByRole('heading', { name: 'Run', exact: true }).waitFor();
  await page.locator('svg .bar-waiting').first().waitFor();
  expect(await axeFaults(page)).toEqual([]);
  expect(await page.getByRole('table', { name: 'The run as a table' }).getByRole('row').count()).toBeGreaterThan(4);
  await page.locator('svg .bar-policy').first().focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText('long.txt').first().waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  expect(await page.getByRole('dialog').count()).toBe(0);
  for (const tab of ['Transcript', 'Steps', 'Input and output', 'Raw events']) {
    await page.getByRole('tab', { name: tab }).click();
    expect(await axeFaults(page)).toEqual([]);
  }
  expect(world.problems).toEqual([]);
});

it('says that the connection is lost while the server is away, and goes on by itself when it is back', async () => {
  const page = await world.open('/approvals');
  await page.getByText('Nothing waits for you').waitFor();
  const rests = await world.served.run();
  await page.locator('article.card').waitFor();
  await world.served.restart(async () => {
    await page.getByText('Connection lost.').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await world.served.app.client.stopRun({ run_id: rests, reason: 'shutdown', within_ms: 0 });
  });
  await page.getByText('Connection lost.').waitFor({ state: 'detached' });
  // A run that was stopped with the server goes on with the answer, and could not before.
  await visit(page, `/runs/${rests}?tab=transcript`);
  await page.getByText('The run rests until you have answered.').waitFor();
  expect(await page.getByRole('button', { name: 'Resume' }).count()).toBe(0);
  // What is typed into a dialog goes where something is written, and does not press its first button.
  await page.getByRole('button', { name: 'Deny with feedback…' }).click();
  await page.keyboard.type('not like this');
  await page.getByRole('dialog').getByRole('button', { name: 'Deny' }).click();
  await page.getByText('denied by operator:web').waitFor();
  await page.goBack();
  await page.getByText('Pending (0)').waitFor();
  await world.served.run();
  await page.locator('article.card').waitFor();
  expect(world.problems).toEqual([]);
});

it('leads from a goal to its plan, and asks in the place of the step', async () => {
  await world.served.client.putConfigItem({ key: 'default-model', value: 'm' });
  await world.served.client.putConfigItem({ key: 'default-provider', value: 'scripted' });
  const page = await world.open('/plans');
  await page.getByLabel('What is to be reached?').fill('A note');
  await page.getByRole('button', { name: 'Plan it' }).click();
  await page.getByText('1. Write the note').waitFor();
  expect(new URL(page.url()).pathname).toMatch(/^\/plans\/a-note/);
  await page.getByRole('button', { name: 'Run next' }).click();
  const card = page.locator('.step article.card');
  await card.waitFor();
  expect(await axeFaults(page)).toEqual([]);
  const approve = card.getByRole('button', { name: 'Approve once' });
  // As soon as the guard lets it.
  await expect
    .poll(
      () =>
        approve.click({ timeout: 500 }).then(
          () => card.count(),
          () => card.count(),
        ),
      { timeout: 30_000 },
    )
    .toBe(0);
  await page.getByText('1 of 1').waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Really delete it?' }).click();
  await page.getByLabel('What is to be reached?').waitFor();
  // A key is a key, however soon after the page was loaded.
  await page.reload();
  await page.getByLabel('What is to be reached?').waitFor();
  await page.keyboard.press('?');
  await page.getByRole('heading', { name: 'Keys' }).waitFor();
  expect(world.problems).toEqual([]);
});

it('HTTP-017: tells a late press who has answered', async () => {
  const run = await world.served.run();
  const { ask_id } = await world.served.app.seen(run, 'ask');
  const page = await (await world.context()).newPage();
  // This page is told of nothing that happens.
  await page.route('**/api/events*', (route) => route.abort());
  await page.goto(`${world.served.url}/approvals/${ask_id}`);
  const deny = page.getByRole('button', { name: 'Deny', exact: true });
  await deny.waitFor();
  const { binding } = await world.served.client.getApproval({ id: ask_id });
  await world.served.client.answerApproval({ id: ask_id, binding, outcome: 'deny', feedback: 'not now' });
  const line = page.locator('.outcome');
  await expect
    .poll(
      () =>
        deny.click({ timeout: 500 }).then(
          () => line.count(),
          () => line.count(),
        ),
      { timeout: 30_000 },
    )
    .toBe(1);
  expect(await line.textContent()).toMatch(/^denied.*by operator:web.*“not now”$/);
  expect((await world.served.client.getApproval({ id: ask_id })).verdict?.feedback).toBe('not now');
});

it('APR-010: takes no press that brings its window to the front', async () => {
  const run = await world.served.run();
  const { ask_id } = await world.served.app.seen(run, 'ask');
  const page = await world.open(`/approvals/${ask_id}`);
  const state = async () => (await world.served.client.getApproval({ id: ask_id })).state;
  await page.getByRole('button', { name: /^Show \d+ hidden lines$/ }).click();
  const approve = page.getByRole('button', { name: 'Approve once' });
  await approve.waitFor();
  // Past the guard, by the clock of the page.
  const armed = () =>
    page.evaluate(`new Promise((resolve) => {
      const from = performance.now();
      const look = () => (performance.now() > from + 600 ? resolve() : requestAnimationFrame(look));
      look();
    })`);
  // Whichever comes first of the two, and where there is no event at all.
  for (const order of ['before', 'behind', 'none']) {
    await page.evaluate(`window.stop?.();
      if ('${order}' === 'none') document.hasFocus = () => false;
      else {
        const focused = () => window.dispatchEvent(new Event('focus'));
        addEventListener('pointerdown', focused, '${order}' === 'before');
        window.stop = () => removeEventListener('pointerdown', focused, '${order}' === 'before');
      }`);
    await armed();
    await approve.click();
    expect([order, await state()]).toEqual([order, 'pending']);
  }
  await page.locator('article.card').focus();
  await page.keyboard.press('a');
  expect(await state()).toBe('pending');
  await page.evaluate('delete document.hasFocus');
  await armed();
  await approve.click();
  await page.locator('.outcome[data-state=approved]').waitFor();
  expect(world.problems).toEqual([]);
});

it('says one command once, and keeps a list of long ones in the window', async () => {
  await world.served.app.start({ input: { type: 'string', value: 'shell' }, on_ask: 'ask' });
  const page = await world.open('/approvals', { viewport: phone });
  const card = page.getByRole('article', { name: /^Run 1 command/ });
  await card.waitFor();
  expect(((await card.textContent()) ?? '').split(oneCommand)).toHaveLength(2);
  const { items } = await world.served.client.pageApprovals({});
  const ask = items.find(({ tools }) => tools === 'local_shell');
  if (ask === undefined) throw new Error('no ask');
  await world.served.client.answerApproval({ id: ask.id, binding: ask.binding, outcome: 'deny' });
  await visit(page, '/approvals?tab=answered');
  await page.locator('.outcome', { hasText: 'git push origin' }).waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  expect(world.problems).toEqual([]);
});

it('shows in the row of an answered ask what hides in its call, as the card does', async () => {
  await world.served.app.start({ input: { type: 'string', value: 'hidden' }, on_ask: 'ask' });
  const page = await world.open('/approvals');
  const card = page.locator('article.card', { hasText: 'touch a⏎' });
  await card.waitFor();
  const { items } = await world.served.client.pageApprovals({});
  const ask = items.find(({ summary }) => summary === 'touch a\\u000atouch b');
  if (ask === undefined) throw new Error('no ask');
  await world.served.client.answerApproval({ id: ask.id, binding: ask.binding, outcome: 'deny' });
  await visit(page, '/approvals?tab=answered');
  await page.locator('.outcome', { hasText: 'touch a⏎touch b' }).waitFor();
  expect(world.problems).toEqual([]);
});

it('keeps what was written to an ask where it was not taken, and asks nothing about a policy that has no name', async () => {
  const run = await world.served.app.start({ input: { type: 'string', value: 'shell' }, on_ask: 'ask' });
  const { ask_id } = await world.served.app.seen(run.run_id, 'ask');
  const page = await world.open(`/approvals/${ask_id}`);
  await page.getByRole('button', { name: 'Edit…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('The edited call is judged anew').waitFor();
  await dialog.getByRole('button', { name: 'Send the edited call' }).and(page.locator(':enabled')).waitFor();
  expect(await dialog.getByRole('alert').count()).toBe(0);
  await page.keyboard.press('Escape');

  let refusals = 0;
  await page.route('**/answer', async (route) => {
    refusals += 1;
    if (refusals > 1) return route.continue();
    const error = { message: 'The database is busy.', type: 'api_error', code: 'database_busy' };
    return route.fulfill({ status: 503, contentType: 'application/json', body: JSON.stringify({ error }) });
  });
  await page.getByRole('button', { name: 'Deny with feedback…' }).click();
  await page.keyboard.type('not like this');
  await dialog.getByRole('button', { name: 'Deny' }).click();
  await dialog.getByText('That was not taken.').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  expect(await dialog.getByRole('textbox').inputValue()).toBe('not like this');
  await dialog.getByRole('button', { name: 'Deny' }).click();
  await page.getByText('“not like this”').waitFor();
  expect(world.problems).toEqual([]);
});

it('takes a double press for one answer, and offers nothing more of an ask whose answer was taken', async () => {
  const run = await world.served.app.start({ input: { type: 'string', value: 'shell' }, on_ask: 'ask' });
  const { ask_id } = await world.served.app.seen(run.run_id, 'ask');
  const page = await world.open(`/approvals/${ask_id}`);
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.getByRole('button', { name: 'Deny with feedback…' }).click();
  // The answer takes its time, and what is read behind it never comes.
  await page.route('**/answer', async (route) => {
    await held;
    await route.continue();
  });
  await page.route(`**/api/approvals/${ask_id}`, () => undefined);
  const dialog = page.getByRole('dialog');
  await page.keyboard.type('not like this');
  await dialog.getByRole('button', { name: 'Deny' }).dblclick();
  await dialog.getByRole('button', { name: 'Deny', exact: true, disabled: true }).waitFor();
  expect(await dialog.getByText('That was not taken.').count()).toBe(0);
  letGo();
  await page.locator('.outcome', { hasText: '“not like this”' }).waitFor();
  expect(await page.locator('article.card').count()).toBe(0);
  expect(world.problems).toEqual([]);
});

it('approves nothing for a session that has changed under the dialog about it', async () => {
  const { app, client } = world.served;
  const run = await app.start({ input: { type: 'string', value: 'shell' }, on_ask: 'ask' });
  const id = (await app.seen(run.run_id, 'ask')).ask_id;
  const page = await world.open(`/approvals/${id}`);
  const dialog = page.getByRole('dialog');
  const button = page.getByRole('button', { name: 'Approve for this session…' });
  // A press counts once the guard lets it.
  const press = () => button.click({ timeout: 1000 }).then(() => dialog.count());
  await expect.poll(press, { interval: 500 }).toBe(1);
  const { binding } = await client.getApproval({ id });
  const rules = [{ tools: 'local_fs', action: 'approve' }];
  writeFileSync(join(app.place.dir, 'policy.json'), JSON.stringify({ default_action: 'approve', rules }));
  await expect(client.answerApproval({ id, outcome: 'approve', binding })).rejects.toThrow('the policy has changed');
  await page.getByText('The policy changed since this was asked.').waitFor();
  expect(await dialog.count()).toBe(0);
  await page.keyboard.press('a');
  expect((await client.getApproval({ id })).state).toBe('pending');
  expect(world.problems).toEqual([]);
});
