import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { done, executor, reply, summary, summariser } from '../plans/support.ts';
import { call, calls, loopChain, says } from '../support/scripted-app.ts';
import { axeFaults, phone, visit, type WebWorld, webWorld, wide } from './world.ts';

/** Every page of what is set up, at both sizes and in both themes, with something in it. */

let world: WebWorld;

beforeAll(async () => {
  world = await webWorld({
    policy: { default_action: 'allow', rules: [{ tools: 'local_fs', tool: 'write_file', action: 'approve' }] },
    turns: [
      calls([call('local_fs.write_file', { path: 'new.txt', content: 'x' })], { role: 'user', last_user: 'a file' }),
      ...done,
      reply('Written.', { ...executor, role: 'tool' }),
      reply(summary(), summariser),
      calls([call('local_fs.read_file', { path: 'notes.txt' })], { role: 'user' }),
      says('Read it.', { role: 'tool' }),
    ],
  });
  const { served } = world;
  const { client, place } = served.app;
  await client.setConfig({ key: 'default-model', value: 'm' });
  await client.setConfig({ key: 'default-provider', value: 'scripted' });
  writeFileSync(join(place.workspace, 'notes.txt'), 'a note\n');
  const home = join(place.home, '.reins');
  mkdirSync(home, { recursive: true });
  await served.client.putPolicy({
    file: 'hitl-policy-mine.json',
    text: `${JSON.stringify(
      {
        default_action: 'approve',
        rules: [
          { tools: 'local_fs', tool: 'read_file', action: 'allow' },
          { tools: 'local_shell', action: 'deny' },
        ],
      },
      null,
      2,
    )}\n`,
    source: 'user',
    if_none_match: '*',
  });
  await served.client.putChain({
    file: 'loop.json',
    text: `${JSON.stringify(loopChain, null, 2)}\n`,
    source: 'user',
    if_none_match: '*',
  });
  await client.awaitRun({ run_id: await served.run({ chain: 'loop' }) });
  await served.client.postPlan({ goal: 'Ship the release\nwith notes', steps: ['Write the notes', 'Tag it'] });
  // It stays open.
  await served.app.seen(await served.run({ chain: 'loop', input: 'a file' }), 'ask');
  served.login();
  const next = await served.client.postNext({ name: 'active' });
  await client.awaitRun({ run_id: next.run_id });
  await served.client.createMcpServer({ name: 'memory', transport: 'stdio', command: 'node', args: ['memory.js'] });
  await served.client.createHook({ name: 'shop', url: 'http://127.0.0.1:9/', headers: { Authorization: 'Bearer x' } });
}, 90_000);
afterAll(() => world?.close());

const visits: readonly (readonly [path: string, there: string])[] = [
  ['/plans', 'Ship the release'],
  ['/plans/active', 'Write the notes'],
  ['/policies', 'mine'],
  ['/policies/hitl-policy-mine', 'A call of the past'],
  ['/policies/hitl-policy-mine?tab=rules', 'local_shell.*'],
  ['/chains', 'loop'],
  ['/chains/loop?source=user', 'taken in the last run'],
  ['/backends', 'Check now'],
  ['/models', 'Context'],
  ['/tools', 'local_fs.read_file'],
  ['/tools?tab=hooks', 'Authorization: set'],
  ['/tools?tab=mcp', '["node","memory.js"]'],
  ['/usage', 'Questions to you'],
  ['/settings', 'default-model'],
  ['/settings/password', 'Current password'],
  ['/settings/sessions', 'this one'],
  ['/settings/trust', 'Trust'],
  ['/settings/audit', 'Verify'],
  ['/settings/about', 'Workspace'],
  ['/setup', '1 ask waits'],
];

/** A time as programs write it. */
const rawTime = /\d{4}-\d\d-\d\dT\d\d:\S+/;

it.each([
  ['wide and light', wide, 'light'],
  ['on a phone and dark', phone, 'dark'],
] as const)(
  'shows every page %s without a fault that axe finds',
  async (_, viewport, scheme) => {
    const page = await world.open('/setup', { viewport, scheme });
    const faults: string[] = [];
    for (const [path, there] of visits) {
      await visit(page, path);
      await page
        .getByText(there)
        .first()
        .waitFor({ state: 'attached', timeout: 20_000 })
        .catch(() => faults.push(`${path}: does not show ${there}`));
      for (const fault of await axeFaults(page)) faults.push(`${path}: ${fault}`);
      const raw = rawTime.exec(await page.locator('body').innerText());
      if (raw !== null) faults.push(`${path}: says ${raw[0]}`);
      const over = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      if (Number(over) > 0) faults.push(`${path}: ${over} px wider than the window`);
    }
    expect(faults).toEqual([]);
    expect(world.problems).toEqual([]);
  },
  120_000,
);

/** What is touched and stands by itself, or alone in a row, with less room than a finger needs; not what is hidden until it has the focus. */
const tooSmall = `[...document.querySelectorAll('main :is(button, input, select, textarea, summary, :is(td, .empty, .strip, .cards, .step, .first-steps, .page-head) a)')]
  .filter((each) => !each.matches('[type=checkbox], [type=radio], .cm-editor *') && each.checkVisibility())
  .map((each) => [each, each.getBoundingClientRect()])
  .filter(([each, { width, height }]) => width > 0 && (height < 43.5 || (each.matches('.step a') && width < 43.5)))
  .map(([each, { height }]) => each.localName + '.' + each.className + ' ' + (each.innerText ?? '').slice(0, 20) + ' ' + Math.round(height))`;

it('gives a finger room on every page', async () => {
  const page = await world.open('/setup', { viewport: phone, touch: true });
  const faults: string[] = [];
  for (const [path, there] of [...visits, ['/chat/default', 'Send'], ['/approvals', 'Approve once']] as const) {
    await visit(page, path);
    await page.getByText(there).first().waitFor({ state: 'attached', timeout: 20_000 });
    for (const each of (await page.evaluate(tooSmall)) as readonly string[]) faults.push(`${path}: ${each}`);
  }
  expect(faults).toEqual([]);
  expect(world.problems).toEqual([]);
}, 120_000);

it('has room for every page at 200 % zoom, and for a name that is one long word on a phone', async () => {
  const { client } = world.served;
  const active = await client.getPlan({ name: 'active' });
  const long = await client.postPlan({ goal: 'Donaudampfschifffahrtsgesellschaft'.repeat(2), steps: ['One'] });
  await client.activatePlan({ name: active.name });
  const name = 'name' in long ? long.name : '';
  const over = async (width: number, paths: typeof visits) => {
    const page = await world.open('/setup', { viewport: { width, height: 400 } });
    const faults: string[] = [];
    for (const [path, there] of paths) {
      await visit(page, path);
      await page.getByText(there).first().waitFor({ state: 'attached', timeout: 20_000 });
      const wider = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
      if (wider > 0) faults.push(`${path}: ${wider} px wider than ${width}`);
    }
    return faults;
  };
  expect(await over(640, visits)).toEqual([]);
  const named = ['/plans', `/plans/${name}`].map((path) => [path, name] as const);
  expect(await over(320, named)).toEqual([]);
  await client.removePlan({ name });
  // The same with large text, which a phone can be set to.
  const page = await world.open('/setup', { viewport: { width: 320, height: 800 } });
  await page.getByText('Checks').waitFor();
  await page.evaluate("document.documentElement.style.fontSize = '200%'");
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  expect(world.problems).toEqual([]);
}, 60_000);

it('marks what hides in a refusal, and in the address of what is not there', async () => {
  const page = await world.open('/runs/run_%E2%80%AEexe');
  await page.getByText('no such run: run_⟨U+202E⟩exe').waitFor();
  await visit(page, '/plans/%E2%80%AEexe');
  await page.getByRole('heading', { name: '⟨U+202E⟩exe', exact: true }).waitFor();
  await expect.poll(() => page.title()).toContain('⟨U+202E⟩exe · Reins');
});

it('shows the chat that was chosen from the list of a phone', async () => {
  await world.served.client.createSession({ name: 'other' });
  const page = await world.open('/chat/default', { viewport: phone, touch: true });
  await page.getByRole('button', { name: 'Chats' }).click();
  await page
    .getByRole('navigation', { name: 'Chats' })
    .getByRole('link', { name: /^other/ })
    .click();
  await page.getByRole('heading', { name: 'other' }).waitFor();
  expect(await page.getByRole('navigation', { name: 'Chats' }).isVisible()).toBe(false);
  expect(world.problems).toEqual([]);
});

it('says on the page of the set-up what has become of an ask meanwhile', async () => {
  const page = await world.open('/setup');
  const waiting = page.getByText('1 ask waits');
  await waiting.waitFor();
  expect(await waiting.textContent()).toMatch(/^1 ask waits for an answer, the oldest from (just now|\d+[sm] ago)\.$/);
  const { served } = world;
  const [ask] = (await served.client.pageApprovals({})).items;
  const { binding } = await served.client.getApproval({ id: ask?.id ?? '' });
  await served.client.answerApproval({ id: ask?.id ?? '', outcome: 'deny', binding });
  await waiting.waitFor({ state: 'detached' });
});

it('follows what is set up in a terminal', async () => {
  const terminal = await world.served.app.open();
  const page = await world.open('/setup');
  const model = page.getByText('a-new-one');
  await page.getByText('Checks').waitFor();
  expect(await model.count()).toBe(0);
  await terminal.setConfig({ key: 'default-model', value: 'a-new-one' });
  await model.first().waitFor();
  await visit(page, '/tools?tab=hooks');
  await page.getByRole('region', { name: 'shop' }).waitFor();
  await terminal.removeHook({ name: 'shop' });
  await page.getByText('A hook makes').waitFor();
  expect(world.problems).toEqual([]);
});

it('says that a workspace without a directory of its own has no chats yet, whatever else is ready', async () => {
  const page = await world.open('/plans');
  await page.route('**/api/setup-status', async (route) => {
    const response = await route.fetch();
    const message = 'There is no .reins directory here or above.';
    const issue = { code: 'no_project', severity: 'error', category: 'storage', message, fixPath: null, subject: null };
    await route.fulfill({
      response,
      json: { ...(await response.json()), ready: true, issues: [{ ...issue, cliCommand: 'reins init' }] },
    });
  });
  await page.goto(`${world.served.url}/setup`);
  await page.getByRole('listitem').filter({ hasText: 'Run “reins init” in this directory' }).waitFor();
  expect(await page.getByText('Everything is ready').count()).toBe(0);
  await world.served.client.createSession({ name: 'homeless' });
  await page.goto(`${world.served.url}/chat/homeless`);
  await page.getByRole('heading', { name: 'One thing is missing' }).waitFor();
  await page.getByText('reins init').waitFor();
  expect(world.problems).toEqual([]);
});

it('lays the cards of a row of backends out alike, and says what is wrong and what to look at apart', async () => {
  const { client } = world.served;
  await client.createBackend({ name: 'far', type: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1' });
  await client.checkBackend({ name: 'far' });
  const page = await world.open('/backends');
  const note = page.getByRole('listitem').filter({ hasText: 'far' }).locator('.note p');
  await note.first().waitFor();
  expect(await note.allTextContents()).toEqual(['connection refused', 'Is the server running?']);
  // The places of the first facts in their cards.
  const tops = (await page.evaluate(`[...document.querySelectorAll('.backend-cards > li')].map((card) =>
    Math.round(card.querySelector('dt').getBoundingClientRect().top - card.getBoundingClientRect().top))`)) as number[];
  expect([tops.length > 1, new Set(tops).size]).toEqual([true, 1]);
});

it('leaves out of a card on a phone what its row does not say', async () => {
  const page = await world.open('/settings/audit?type=config_changed', { viewport: phone });
  const row = page.locator('tbody tr').first();
  await row.waitFor();
  const shown = await page.evaluate(`[...document.querySelector('tbody tr').children]
    .filter((cell) => cell.getClientRects().length > 0).map((cell) => cell.dataset.label)`);
  expect(shown).toEqual(['No.', 'At', 'Type', 'Entry', 'By']);
});

it('a run shows the files that it has changed, and undoes them once that is said twice', async () => {
  const { client, app } = world.served;
  const run_id = await world.served.run({ chain: 'loop', input: 'a file' });
  const { ask_id } = await app.seen(run_id, 'ask');
  const page = await world.open(`/runs/${run_id}?tab=files`);
  await page.getByText('The file tools of this run have changed no file.').waitFor();
  const { binding } = await client.getApproval({ id: ask_id });
  await client.answerApproval({ id: ask_id, binding, outcome: 'approve' });
  await app.client.awaitRun({ run_id });
  const path = join(app.place.workspace, 'new.txt');
  expect(existsSync(path)).toBe(true);
  await page.getByText('is taken away').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Undo these changes' }).click();
  await page.getByRole('button', { name: 'Really undo them?' }).click();
  await page.getByText('is as before').waitFor();
  expect(existsSync(path)).toBe(false);
  expect(await page.getByRole('button', { name: 'Undo these changes' }).count()).toBe(0);
  expect(world.problems).toEqual([]);
});
