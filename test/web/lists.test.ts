import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, calls, says } from '../support/scripted-app.ts';
import { visit, type WebWorld, webWorld } from './world.ts';

/** Lists that are longer than one page of the server. */

let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({
    turns: [
      calls([call('local_fs.write_file', { path: 'note.txt', content: 'one\n' })], {
        role: 'user',
        last_user: 'write',
      }),
      says('Hello.'),
    ].map((turn, index) => ({ name: `turn ${index}`, ...turn })),
    policy: { default_action: 'approve', rules: [] },
  });
  const { app, client, run } = world.served;
  await app.client.awaitRun({ run_id: await run() });
  await app.seen(await run({ input: 'write' }), 'ask');
  await client.postPlan({ goal: 'Ship it', steps: ['Write', 'Tag'] });
  await client.createSession({ name: 'first' });
  copies(
    'runs',
    { id: "'run_copy' || n.i", created_at: 'row.created_at - n.i * 1000' },
    250,
    "row.status = 'completed'",
  );
  copies('asks', { id: "'ask_copy' || n.i", created_at: 'row.created_at + n.i * 1000' }, 60, 'true');
  copies('plans', { id: "'plan_copy' || n.i", name: "'plan-' || n.i" }, 150, 'true');
  copies('sessions', { id: "'session_copy' || n.i", name: "'chat-' || n.i" }, 250, "row.name = 'first'");
  await client.createSession({ name: 'the-last' });
  const { run_id } = await client.postMessage({
    session: 'the-last',
    text: 'about marmots',
    model: 'm',
    provider: 'scripted',
  });
  await app.client.awaitRun({ run_id });
  app.change("UPDATE sessions SET created_at = 1, last_message_at = 1 WHERE name = 'the-last'");
}, 60_000);
afterAll(() => world?.close());

/** As many rows as nobody makes by hand. */
function copies(table: string, over: Readonly<Record<string, string>>, count: number, where: string): void {
  const { app } = world.served;
  const columns = app.rows('SELECT name FROM pragma_table_info(?)', table).map(({ name }) => String(name));
  const values = columns.map((column) => over[column] ?? `row.${column}`);
  app.change(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO ${table} (${columns.join()}) SELECT ${values.join()} FROM ${table} row, n WHERE ${where}`);
}

it.each([
  ['/plans', '.cards > li', 'Older ones', 100, 151],
  ['/runs', '.run-link', 'Older ones', 100, 200],
  ['/chat/first', '.session', 'Older ones', 200, 252],
] as const)(
  'shows all of a long list at %s, and stays in its place while more is read',
  async (path, row, word, first, then) => {
    const page = await world.open(path);
    const rows = page.locator(row);
    await expect.poll(() => rows.count()).toBe(first);
    const more = page.getByRole('button', { name: word });
    await more.focus();
    await page.evaluate(`document.querySelectorAll('${row}')[${first - 1}].dataset.held = ''`);
    await page.keyboard.press('Enter');
    await expect.poll(() => rows.count()).toBe(then);
    // The rows that were there are still the same, and so is what somebody looked at.
    expect(await page.locator('[data-held]').count()).toBe(1);
    expect(await page.evaluate('document.activeElement !== document.body')).toBe(true);
    expect(world.problems).toEqual([]);
  },
);

it('goes back to the row of a long list that somebody has left for its page, and to the top of a list that is opened anew', async () => {
  const page = await world.open('/runs');
  const rows = page.locator('.run-link');
  await page.getByRole('button', { name: 'Older ones' }).click();
  await expect.poll(() => rows.count()).toBe(200);
  const row = rows.nth(150);
  await row.scrollIntoViewIfNeeded();
  const top = Number(await page.evaluate('scrollY'));
  expect(top).toBeGreaterThan(1000);
  await row.click();
  await page.getByRole('tab', { name: 'Timeline' }).waitFor();
  expect(await page.evaluate('scrollY')).toBe(0);
  await page.goBack();
  await expect.poll(() => rows.count()).toBe(200);
  await expect.poll(() => page.evaluate('scrollY')).toBe(top);
  await page.getByRole('link', { name: 'Plans' }).click();
  await page.locator('.cards > li').first().waitFor();
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  await expect.poll(() => rows.count()).toBe(100);
  expect(await page.evaluate('scrollY')).toBe(0);
  expect(world.problems).toEqual([]);
});

it('finds a chat behind those that were read, by its name and by what was said in it, and goes on with what was found', async () => {
  const page = await world.open('/chat/first');
  const rows = page.locator('.session');
  await expect.poll(() => rows.count()).toBe(200);
  const filter = page.getByRole('searchbox', { name: 'Filter chats' });
  const names = () => page.locator('.session b').allInnerTexts();
  await filter.fill('Chat-23');
  await expect
    .poll(async () => (await names()).toSorted())
    .toEqual(['chat-23', ...Array.from({ length: 10 }, (_, at) => `chat-23${at}`)].toSorted());
  await filter.fill('marmo');
  await expect.poll(names).toEqual(['the-last']);
  // The row says where it was said.
  expect(await rows.locator('mark').allTextContents()).toEqual(['marmots']);
  await rows.click();
  await page.locator('.said.user').getByText('about marmots').waitFor();
  await page.reload();
  await expect.poll(names).toEqual(['the-last']);
  expect(await filter.inputValue()).toBe('marmo');
  await filter.fill('nowhere said');
  await page.getByText('In no chat.').waitFor();
  await filter.fill('');
  await expect.poll(() => rows.count()).toBe(200);
  expect(world.problems).toEqual([]);
});

it('reads of many open asks no more cards at once than a server answers', async () => {
  const page = await (await world.context()).newPage();
  world.watch(page);
  const read = new Set<string>();
  page.on('request', (request) => {
    if (/\/api\/approvals\/ask_/.test(request.url())) read.add(request.url());
  });
  await page.goto(`${world.served.url}/approvals`);
  await page.getByText('25 of 61 are shown').waitFor();
  // Who looks for something else is not told that nothing waits.
  await page.getByRole('searchbox').fill('no such thing');
  await page.getByText('None of the 61 asks that wait for you has this.').waitFor();
  await page.getByRole('searchbox').fill('');
  await page.locator('.group-head').getByText(': write').first().waitFor();
  await expect.poll(() => page.locator('article.card').count()).toBe(25);
  expect(read.size).toBe(25);
  await page.getByRole('button', { name: 'Deny all shown (25)' }).waitFor();
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.getByText('50 of 61 are shown').waitFor();
  await visit(page, '/runs');
  await page.locator('.run-link').first().waitFor();
  expect(world.problems).toEqual([]);
});

it.each([1280, 800])('breaks no word in the last columns of the audit log, %d wide', async (width) => {
  const page = await world.open('/settings/audit', { viewport: { width, height: 800 } });
  await page.getByRole('cell', { name: 'operator:web' }).first().waitFor();
  // A word that is broken has more than one box.
  const broken =
    await page.evaluate(`[...document.querySelectorAll('td:is([data-label=Type], [data-label=By], [data-label=Rule])')]
    .flatMap((cell) => {
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      const words = [];
      while (texts.nextNode())
        for (const found of texts.currentNode.data.matchAll(/\\S+/g)) {
          const range = document.createRange();
          range.setStart(texts.currentNode, found.index);
          range.setEnd(texts.currentNode, found.index + found[0].length);
          if (range.getClientRects().length > 1) words.push(found[0]);
        }
      return words;
    })`);
  expect(broken).toEqual([]);
});

it('tells chats apart whose long names differ at their ends', async () => {
  const name = `nightly-review-of-the-shop-${'a'.repeat(36)}`;
  await world.served.client.createSession({ name: `${name}1` });
  const page = await world.open('/chat/first?filter=nightly');
  const shown = page.locator('.session b');
  await shown.first().waitFor();
  expect(
    await page.evaluate(`(() => {
      const name = document.querySelector('.session b');
      return [name.textContent, name.scrollWidth <= name.clientWidth, name.scrollHeight <= name.clientHeight];
    })()`),
  ).toEqual([`${name}1`, true, true]);
  expect(world.problems).toEqual([]);
});
