import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, calls, says } from '../support/scripted-app.ts';
import { axeFaults, phone, settled, visit, type WebWorld, webWorld } from './world.ts';

/** How many pixels of the chat are below its view. */
const leftBelow = (page: Page) => (): Promise<number> =>
  page.evaluate(`(({ scrollHeight, scrollTop, clientHeight }) =>
    Math.round(scrollHeight - scrollTop - clientHeight))(document.querySelector('.transcript'))`);

const long = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ');
const hostile = [
  'A picture: <img src=https://x.test/?d=1> and ![p](https://x.test/p.png)',
  '<script>document.title = "owned"</script>',
  '[here](javascript:alert(1)) and [there](https://x.test/there)',
  ...[
    'JaVaScRiPt:alert(1)',
    '&#106;avascript:alert(1)',
    '&#x1;javascript:alert(1)',
    'java&#9;script:alert(1)',
    'vbscript:msgbox(1)',
  ]
    .concat([
      'data:text/html,<script>alert(1)</script>',
      'data:image/svg+xml,<svg/onload=alert(1)>',
      'blob:x',
      'file:///etc/passwd',
    ])
    .map((url) => `[bad](<${url}>)`),
  '![s](https://x.test/?q=secret "t") ![r][r] <https://x.test/auto> <javascript:alert(1)>\n\n[r]: https://x.test/r.png',
  '<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = "owned"</script></svg><math><mi xlink:href="javascript:alert(1)">m</mi></math>',
  '<style>@import "https://x.test/s.css"</style><link rel=prefetch href="https://x.test/l"><base href="https://x.test/"><meta http-equiv=refresh content="0;url=https://x.test/m">',
  '<iframe srcdoc="x"></iframe><form action="https://x.test/f"><button>Send</button></form><video poster="https://x.test/v"></video>',
  'hidden \u202e reversed \u200b and &#x202E; by reference',
  '<article class="card"><button>Approve once</button></article>',
].join('\n\n');

const row = (word: string) => `| ${Array.from({ length: 12 }, (_, at) => `${word} ${at}`).join(' | ')} |`;
const wide = `مرحبا بالعالم. English here.\n\n${row('heading')}\n${'|---'.repeat(12)}|\n${row('considerable')}`;

let world: WebWorld;
beforeAll(async () => {
  world = await webWorld({
    turns: [
      calls([call('local_fs.write_file', { path: 'note.txt', content: 'one \ntwo\n' })], {
        role: 'user',
        last_user: 'write',
      }),
      { match: { role: 'user', last_user: 'slow' }, reply: { text: long, delay_ms: 60 } },
      says(hostile, { role: 'user', last_user: 'hostile' }),
      says(wide, { role: 'user', last_user: 'a table' }),
      { match: { role: 'user', last_user: 'break' }, reply: { error: { class: 'auth', message: 'no key' } } },
      calls([call('local_fs.read_file', { path: 'hostile.html' })], { role: 'user', last_user: 'show the file' }),
      says('That was the file.', { tool: { name: { equals: 'local_fs.read_file' } } }),
      says('Here is **what I found**.'),
    ].map((turn, index) => ({ name: `turn ${index}`, ...turn })),
    policy: { default_action: 'approve', rules: [] },
  });
  await world.served.client.putConfigItem({ key: 'default-model', value: 'm' });
  await world.served.client.putConfigItem({ key: 'default-provider', value: 'scripted' });
  writeFileSync(join(world.served.app.place.workspace, 'seen.txt'), 'seen\n');
  writeFileSync(join(world.served.app.place.workspace, 'hostile.html'), hostile);
}, 60_000);
afterAll(() => world?.close());

it('asks in its place before a file is written, takes no stray press, and goes on when it was approved', async () => {
  const page = await world.open('/chat');
  await page.getByRole('textbox', { name: 'Message' }).fill('please write the note');
  await page.getByRole('button', { name: 'Send' }).waitFor();
  // As soon as it is there: the press was meant for something else.
  await page.evaluate(`new MutationObserver((_, observer) => {
    const approve = document.querySelector('article.card .primary');
    if (approve === null) return;
    observer.disconnect();
    approve.click();
    document.body.dataset.stray = 'pressed';
  }).observe(document.body, { childList: true, subtree: true })`);
  await page.keyboard.press('Enter');
  const card = page.locator('article.card');
  await card.waitFor();
  await page.locator('body[data-stray=pressed]').waitFor();
  expect(await card.getByRole('heading', { level: 2 }).textContent()).toBe('Create note.txt (+2 −0)');
  // Who goes from heading to heading finds none missing.
  const levels = (await page.evaluate(
    "[...document.querySelectorAll('main :is(h1, h2, h3, h4)')].map((each) => each.tagName)",
  )) as string[];
  expect(levels).toEqual(['H1', 'H2', 'H3']);
  // What the change says is told once, and with it what is hard to see.
  expect(await card.locator('pre').allTextContents()).toEqual([
    '--- /dev/null\n+++ b/note.txt\n@@ -0,0 +1,2 @@\n+one·\n+two\n',
  ]);
  // The title counts what the inbox has, which comes by itself.
  await expect.poll(() => page.title()).toBe('(1) default · Chat · Reins');
  const approve = card.getByRole('button', { name: 'Approve once' });
  // The card has grown below the view, which was at its end and stays there.
  await approve.waitFor();
  expect(await page.getByRole('button', { name: 'To the end' }).count()).toBe(0);
  await approve.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.insertText('a');
  expect(await card.count()).toBe(1);
  expect(await axeFaults(page)).toEqual([]);
  // A press that begins after the guard.
  await expect.poll(() => pressed(approve, card), { timeout: 30_000, interval: 500 }).toBe(0);
  await page.getByText('what I found').waitFor();
  await page.getByText('approved by operator:web').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  expect(world.problems).toEqual([]);
});

type Found = ReturnType<Awaited<ReturnType<WebWorld['open']>>['locator']>;

async function pressed(button: Found, card: Found): Promise<number> {
  if ((await card.count()) > 0) await button.click({ timeout: 1000 }).catch(() => undefined);
  return card.count();
}

it('shows a message that streams from its first word after a reload in its middle', async () => {
  const page = await world.open('/chat');
  await page.getByRole('textbox', { name: 'Message' }).fill('slow please');
  await page.getByRole('button', { name: 'Send' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('word8').waitFor();
  await page.reload();
  const said = page.locator('.said .prose').last();
  await said.getByText('word12').waitFor();
  expect(await said.textContent()).toMatch(/^word0 word1 word2 word3 /);
  await said.getByText('word39').waitFor();
  await page.getByRole('button', { name: 'Send' }).waitFor();
  expect(await said.textContent()).toBe(long);
  expect(await page.getByText('word39').count()).toBe(1);
  expect(world.problems).toEqual([]);
});

it('follows what is sent while the chat is still being read', async () => {
  const page = await world.open('/plans');
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route('**/api/runs?*status=interrupted*', async (route) => {
    await held;
    await route.continue();
  });
  await visit(page, '/chat');
  await page.getByRole('textbox', { name: 'Message' }).fill('slow please');
  const taken = page.waitForResponse(
    (answer) => answer.request().method() === 'POST' && answer.url().endsWith('/messages'),
  );
  await page.keyboard.press('Enter');
  await taken;
  letGo();
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  const said = page.locator('.said .prose').last();
  await said.getByText('word39').waitFor();
  await page.getByRole('button', { name: 'Send' }).waitFor();
  expect(await said.textContent()).toBe(long);
  expect(await page.locator('.said.user').last().textContent()).toContain('slow please');
  expect(world.problems).toEqual([]);
});

it('keeps what its run has asked when the chat is read anew behind what was sent', async () => {
  const page = await world.open('/plans');
  const gate = (): { readonly held: Promise<void>; letGo: () => void } => {
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    return { held, letGo: () => letGo() };
  };
  const reading = gate();
  const again = gate();
  await page.route('**/api/runs?*status=interrupted*', async (route) => {
    await reading.held;
    await route.continue();
  });
  let readings = 0;
  await page.route('**/api/sessions/*/messages?*', async (route) => {
    readings += 1;
    // What it finds is older than what has happened by the time it arrives.
    const response = await route.fetch();
    if (readings > 1) await again.held;
    await route.fulfill({ response });
  });
  await visit(page, '/chat');
  await page.getByRole('textbox', { name: 'Message' }).fill('please write the note');
  await page.keyboard.press('Enter');
  const card = page.locator('article.card');
  await card.waitFor();
  reading.letGo();
  await expect.poll(() => readings).toBe(2);
  const read = page.waitForResponse((answer) => /\/messages\?/.test(answer.url()));
  await page.evaluate("document.querySelector('article.card').setAttribute('data-same', 'yes')");
  again.letGo();
  await read;
  // It is drawn in the frame behind its arrival.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  // It was never gone: nothing vanishes under the pointer of who is about to press.
  expect(await card.getAttribute('data-same')).toBe('yes');
  const deny = card.getByRole('button', { name: 'Deny', exact: true });
  await expect.poll(() => pressed(deny, card), { timeout: 30_000, interval: 500 }).toBe(0);
  await page.getByText('what I found').last().waitFor();
  await page.getByText('denied by operator:web').waitFor();
  expect(await page.locator('.said.user').last().textContent()).toContain('please write the note');
  expect(world.problems).toEqual([]);
});

it('HTTP-018 and DSP-005: draws hostile text of a model as text, and asks nobody for its pictures', async () => {
  const page = await world.open('/chat');
  await page.getByRole('textbox', { name: 'Message' }).fill('hostile please');
  await page.getByRole('button', { name: 'Send' }).waitFor();
  await page.keyboard.press('Enter');
  const said = page.locator('.said .prose').last();
  await said.getByText('by reference').waitFor();
  // Until what reads Markdown has arrived the text stands as it is.
  await said.locator('a').first().waitFor();
  const text = (await said.textContent()) ?? '';
  expect(text).toContain('<img src=https://x.test/?d=1>');
  expect(text).toContain('[image: p] (https://x.test/p.png)');
  expect(text).toContain('<script>document.title = "owned"</script>');
  expect(text).toContain('here (javascript:alert(1))');
  expect(text).toContain('hidden ⟨U+202E⟩ reversed ⟨U+200B⟩ and ⟨U+202E⟩ by reference');
  expect(text).toContain('<article class="card"><button>Approve once</button></article>');
  expect(await said.locator('img, script, button, article').count()).toBe(0);
  const links = await said.locator('a').all();
  // Addresses that stand in the text become links in full; nothing follows them by itself.
  expect(await Promise.all(links.map((link) => link.getAttribute('href')))).toEqual([
    'https://x.test/?d=1%3E',
    'https://x.test/there',
    'https://x.test/auto',
  ]);
  expect(await Promise.all(links.map((link) => link.getAttribute('rel')))).toEqual(
    Array(3).fill('noopener noreferrer'),
  );
  const drawn = 'svg, math, style, link, base, meta, iframe, form, video';
  expect([await said.locator(drawn).count(), await page.title()]).toEqual([0, 'default · Chat · Reins']);

  // The same as what a tool gives.
  await page.getByRole('textbox', { name: 'Message' }).fill('show the file');
  await page.getByRole('button', { name: 'Send' }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('article.card').waitFor();
  const [ask] = (await world.served.client.pageApprovals({})).items;
  await world.served.client.answerApproval({ id: ask?.id ?? '', binding: ask?.binding ?? '', outcome: 'approve' });
  await page.getByText('That was the file.').waitFor();
  await page.locator('.call-line').last().click();
  const call = page.locator('.call').last();
  await call.getByText('javascript:alert(1)').first().waitFor();
  expect(await call.textContent()).toContain(hostile.split('\n\n')[1]);
  expect(await call.locator(`a, img, script, article, ${drawn}`).count()).toBe(0);
  expect(world.problems).toEqual([]);
});

/** A session in which so much was said; ids are unique in the whole database. */
async function spoken(name: string, count: number): Promise<void> {
  const { id } = await world.served.client.createSession({ name });
  world.served.app.change(`
    WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n WHERE seq < ${count})
    INSERT INTO messages (id, session_id, seq, role, kind, payload, status, created_at)
    SELECT printf('msg_%013d%013d', ${count}, seq), '${id}', seq, 'user', 'message',
      json_object('role', 'user', 'content', 'Message ' || seq), 'complete', seq FROM n;
    UPDATE sessions SET message_count = ${count} WHERE id = '${id}'`);
}

it('shows everything that was said to who scrolls up, and keeps what is being read in its place', async () => {
  await spoken('long', 450);
  const page = await world.open('/chat/long');
  const said = (seq: number) => page.locator('.transcript').getByText(`Message ${seq}`, { exact: true });
  await said(450).waitFor();
  const toTop = () => page.evaluate(`document.querySelector('.transcript').scrollTop = 0`);
  const frames = () =>
    page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
  const atTop = () =>
    page.evaluate(`(() => {
      const { top } = document.querySelector('.transcript').getBoundingClientRect();
      const rows = [...document.querySelectorAll('.transcript-row')].map((row) => [row, row.getBoundingClientRect()]);
      const [row, place] = rows.find(([, { bottom }]) => bottom > top + 1) ?? [];
      return row === undefined ? null : { text: row.innerText, above: Math.round(top - place.top) };
    })()`);
  const height = () => page.evaluate("document.querySelector('.transcript').scrollHeight") as Promise<number>;
  // The next page stands above what was at the top; who goes on reading until it is there stays where they are by then.
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route('**/messages?*cursor=*', async (route) => {
    await held;
    await route.continue();
  });
  const wanted = page.waitForRequest(/messages\?.*cursor=/);
  await toTop();
  await wanted;
  await page.evaluate(`document.querySelector('.transcript').scrollTop = 900`);
  // Rows settle where they were never drawn before.
  let reading = await atTop();
  for (let same = 0; same < 10; ) {
    await frames();
    const now = await atTop();
    same = JSON.stringify(now) === JSON.stringify(reading) ? same + 1 : 0;
    reading = now;
  }
  const lower = await height();
  letGo();
  await expect.poll(height).toBeGreaterThan(lower + 5000);
  await expect.poll(atTop).toEqual(reading);
  await page.unroute('**/messages?*cursor=*');
  await expect.poll(() => toTop().then(() => said(1).count())).toBe(1);
  // On paper there is all of it, and behind it what was read is where it was, though rows above it are measured by now.
  await page.evaluate(`document.querySelector('.transcript').scrollTop = 2000`);
  await said(1).waitFor({ state: 'detached' });
  await frames();
  const before = await atTop();
  expect(before).toMatchObject({ text: expect.stringMatching(/Message \d+/) });
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  await expect.poll(() => page.locator('.transcript-row').count()).toBe(450);
  await frames();
  await page.evaluate("dispatchEvent(new Event('afterprint'))");
  await expect.poll(atTop).toEqual(before);
  await frames();
  expect(await atTop()).toEqual(before);
  // Who looks at something else and goes back is where they were, too.
  await page.getByRole('link', { name: 'Runs' }).click();
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  await page.goBack();
  await expect.poll(() => atTop().catch(() => null)).toEqual(before);
  // What was loaded above is not new; what is sent from up there is seen, with what comes of it.
  await page.getByRole('button', { name: 'To the end' }).waitFor();
  // Two that were not taken: each says so, and goes again by itself.
  const box = page.getByRole('textbox', { name: 'Message' });
  await page.context().setOffline(true);
  for (const text of ['lost one', 'lost two']) {
    await box.fill(text);
    await page.keyboard.press('Enter');
    await page.locator('.said.user', { hasText: text }).getByRole('button', { name: 'Try again' }).waitFor();
  }
  await page.context().setOffline(false);
  await page.locator('.said.user', { hasText: 'lost one' }).getByRole('button', { name: 'Try again' }).click();
  await page.getByText('what I found').last().waitFor();
  await page.getByRole('button', { name: 'Send' }).waitFor();
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(1);
  expect(world.problems).toEqual([]);
});

it('lets who reads go up by single turns of the wheel, and follows the end again where they come back to it', async () => {
  const page = await world.open('/chat/long');
  const transcript = page.locator('.transcript');
  await transcript.getByText('Message 450', { exact: true }).waitFor();
  const left = leftBelow(page);
  await expect.poll(left).toBe(0);
  await transcript.hover();
  const toEnd = page.getByRole('button', { name: 'To the end' });
  await page.mouse.wheel(0, -60);
  await toEnd.waitFor();
  expect(await settled(page, left)).toBe(60);
  await page.mouse.wheel(0, 60);
  await toEnd.waitFor({ state: 'detached' });
  await expect.poll(left).toBe(0);
});

it('goes by a key to the first line also of a chat that hardly is longer than its view, and stays there', async () => {
  await spoken('short', 24);
  const page = await world.open('/chat/short', { viewport: { width: 1000, height: 700 } });
  const transcript = page.locator('.transcript');
  await transcript.getByText('Message 24', { exact: true }).waitFor();
  const box = (what: string): Promise<number> =>
    page.evaluate(`(({ scrollHeight, scrollTop, clientHeight }) => ${what})(document.querySelector('.transcript'))`);
  // Measured, all of them.
  const over = await settled(page, () => box('scrollHeight - clientHeight'));
  await page.setViewportSize({ width: 1000, height: 700 + over - 100 });
  await expect.poll(() => box('scrollTop')).toBe(100);
  await transcript.press('Home');
  await page.getByRole('button', { name: 'To the end' }).waitFor();
  expect(await settled(page, () => box('scrollTop'))).toBe(0);
  await transcript.press('End');
  await expect.poll(() => box('scrollTop')).toBe(100);
});

it('comes back to what was read, to the pixel, however late its rows are measured', async () => {
  const context = await world.context({ viewport: { width: 320, height: 640 } });
  // As on a busy machine, where frames are drawn ahead of what was measured for them.
  await context.addInitScript(`window.ResizeObserver = class extends ResizeObserver {
    constructor(hear) {
      super((...heard) => setTimeout(() => hear(...heard), 100));
    }
  }`);
  const page = await context.newPage();
  world.watch(page);
  await page.goto(`${world.served.url}/chat/long`);
  const transcript = page.locator('.transcript');
  await transcript.getByText('Message 450', { exact: true }).waitFor();
  const atTop = () =>
    page.evaluate(`(() => {
      const { top } = document.querySelector('.transcript')?.getBoundingClientRect() ?? {};
      const rows = [...document.querySelectorAll('.transcript-row')].map((row) => [row, row.getBoundingClientRect()]);
      const [row, place] = rows.find(([, { bottom }]) => bottom > top + 1) ?? [];
      return row === undefined ? null : row.innerText + Math.round(top - place.top);
    })()`);
  await transcript.press('Home');
  await expect.poll(() => page.evaluate("document.querySelector('.transcript').scrollHeight")).toBeGreaterThan(15_000);
  await page.evaluate("document.querySelector('.transcript').scrollTop = 2044");
  const before = await settled(page, atTop);
  await visit(page, '/runs');
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  await page.goBack();
  await expect.poll(atTop).toEqual(before);
  // And it stays there when all of them are.
  expect(await settled(page, atTop)).toEqual(before);
});

it('goes to the end of a chat by a key, however large the rows on the way turn out', async () => {
  const page = await world.open('/chat/long', { viewport: { width: 320, height: 640 } });
  // The list of chats has its first words, too.
  const last = page.locator('.transcript').getByText('Message 450', { exact: true });
  await last.waitFor();
  const toEnd = page.getByRole('button', { name: 'To the end' });
  await page.locator('.transcript').press('Home');
  await toEnd.waitFor();
  await expect.poll(() => last.count()).toBe(0);
  await page.locator('.transcript').press('End');
  await expect.poll(() => last.count()).toBe(1);
  // Not by gliding past: it stays there.
  const left = leftBelow(page);
  expect(await settled(page, left)).toBe(0);
  expect(await toEnd.count()).toBe(0);
});

it('finds in a chat what is far from the view, and tells where it is', async () => {
  const page = await world.open('/chat/long', { viewport: { width: 320, height: 640 } });
  await page.locator('.transcript').getByText('Message 450', { exact: true }).waitFor();
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.focus();
  await page.keyboard.press('Control+f');
  const field = page.getByRole('searchbox', { name: 'Find in this conversation' });
  await expect.poll(() => page.evaluate('document.activeElement.type')).toBe('search');
  await field.fill('message  3');
  // One cross, which closes the bar: the browser's own would stand beside it, and empty the field.
  const { width, height } = (await field.boundingBox()) ?? { width: 0, height: 0 };
  await field.click({ position: { x: width - 17, y: height / 2 } });
  expect(await field.inputValue()).toBe('message  3');
  const bar = page.getByRole('search');
  const count = bar.getByRole('status');
  // Messages 3, 30 to 39 and 300 to 399, which were not all loaded.
  await expect.poll(() => count.textContent()).toBe('1 of 111, you: Message 399');
  const marked = () =>
    page.evaluate(`[...CSS.highlights.get('found-here')].map((range) => {
      const { top, bottom } = range.getBoundingClientRect();
      const view = document.querySelector('.transcript').getBoundingClientRect();
      return range.toString() + (top >= view.top && bottom <= view.bottom ? ' in view of ' : ' out of view of ') +
        range.startContainer.parentElement.closest('.transcript-row').innerText.split('\\n')[0];
    })`);
  await expect.poll(marked).toEqual(['Message 3 in view of Message 399']);
  // Behind the newest comes the oldest, which was loaded last.
  await page.keyboard.press('Shift+Enter');
  await expect.poll(() => count.textContent()).toBe('111 of 111, you: Message 3');
  await expect.poll(marked).toEqual(['Message 3 in view of Message 3']);
  await page.keyboard.press('Enter');
  await expect.poll(marked).toEqual(['Message 3 in view of Message 399']);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  expect(await axeFaults(page)).toEqual([]);
  // A second press in the field is the browser's own.
  await page.evaluate(
    "void (window.own = new Promise((seen) => addEventListener('keydown', (event) => event.key === 'f' && seen(!event.defaultPrevented))))",
  );
  await page.keyboard.press('Control+f');
  expect(await page.evaluate('window.own')).toBe(true);
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
  expect(await page.evaluate("[document.activeElement.tagName, CSS.highlights.get('found').size]")).toEqual([
    'TEXTAREA',
    0,
  ]);
  expect(world.problems).toEqual([]);
});

it('says of a turn that waits for others that it is queued, and where, and ends it there', async () => {
  const { client, app } = world.served;
  await client.putConfigItem({ key: 'beam-max-runs', value: '1' });
  for (const name of ['busy', 'behind', 'last']) await client.createSession({ name });
  // It asks, and keeps its turn while it waits for the answer.
  const first = await client.postMessage({ session: 'busy', text: 'show the file' });
  await app.seen(first.run_id, 'ask');
  const second = await client.postMessage({ session: 'behind', text: 'hello' });
  const page = await world.open('/chat/last');
  await page.getByRole('textbox', { name: 'Message' }).fill('hello');
  await page.keyboard.press('Enter');
  const head = page.locator('.conversation-head');
  await head.getByText('queued, place 2').waitFor();
  const why = page
    .getByRole('status')
    .filter({ hasText: 'Runs that wait for an answer count, too: 1 ask may hold it up.' });
  expect(await why.getByRole('link', { name: '1 ask' }).getAttribute('href')).toBe('/approvals');
  // Over the keyboard of a phone there is room to write, whatever is said beside it.
  const box = page.getByRole('textbox', { name: 'Message' });
  await page.setViewportSize({ width: 360, height: 380 });
  await box.fill('next');
  expect((await box.boundingBox())?.width).toBeGreaterThan(150);
  await box.fill('');
  await page.setViewportSize({ width: 1280, height: 800 });
  await client.endRun({ id: second.run_id });
  await head.getByText('queued, next').waitFor();
  expect(await page.getByText('running', { exact: true }).count()).toBe(0);
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Really end it?' }).click();
  await page.getByText('cancelled over HTTP').waitFor();
  await page.getByRole('button', { name: 'Send again' }).click();
  await head.getByText('queued, next').waitFor();
  await client.endRun({ id: first.run_id });
  await page.getByText('what I found').waitFor();
  await head.getByText('queued').waitFor({ state: 'detached' });
  await client.deleteConfigItem({ key: 'beam-max-runs' });
  expect(world.problems).toEqual([]);
});

it('renames, forks and deletes a chat, each where it leads', async () => {
  const page = await world.open('/chat/long');
  const dialog = page.getByRole('dialog');
  const about = page.getByRole('button', { name: 'About this chat' });
  await about.click();
  await dialog.getByLabel('Name').fill('not a name');
  await dialog.getByRole('button', { name: 'Rename' }).click();
  await dialog.getByText('A session name has').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByLabel('Name').fill('longer');
  await dialog.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('heading', { name: 'longer' }).waitFor();
  await about.click();
  await dialog.getByRole('button', { name: 'Fork' }).click();
  await page.getByRole('heading', { name: 'longer-2' }).waitFor();
  // Renamed in the terminal meanwhile: who comes back to the window is told, and finds it by its other name.
  await world.served.app.client.renameSession({ name: 'longer', new_name: 'elsewhere' });
  await page.goto(`${world.served.url}/chat/longer-2`);
  await page.getByText('elsewhere', { exact: true }).waitFor();
  // It has been read under its name.
  await page.locator('.transcript').getByText('Message 450', { exact: true }).waitFor();
  await world.served.app.client.renameSession({ name: 'longer-2', new_name: 'other' });
  const comeBack = () => page.evaluate("window.dispatchEvent(new Event('focus'))");
  await expect.poll(() => comeBack().then(() => page.getByText('deleted or renamed somewhere else').count())).toBe(1);
  await page.getByRole('link', { name: /^other/ }).click();
  await page.getByRole('heading', { name: 'other' }).waitFor();
  await about.click();
  // A double click is one press, and so is a key that is held.
  await dialog.getByRole('button', { name: 'Delete' }).dblclick();
  await dialog.getByRole('button', { name: 'Really delete it?' }).blur();
  await dialog.getByRole('button', { name: 'Delete' }).focus();
  for (let held = 0; held < 3; held += 1) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await dialog.getByRole('button', { name: 'Really delete it?' }).waitFor();
  expect((await world.served.client.pageSessions({})).items.map(({ name }) => name)).toContain('other');
  await dialog.getByRole('button', { name: 'Really delete it?' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect((await world.served.client.pageSessions({})).items.map(({ name }) => name)).not.toContain('other');
  expect(world.problems).toEqual([]);
});

it('fits a phone, in the dark, without a fault', async () => {
  const page = await world.open('/chat/default', { viewport: phone, scheme: 'dark' });
  await page.getByText('what I found').last().waitFor();
  const box = page.getByRole('textbox', { name: 'Message' });
  // Whoever writes more than a line still sees the end of what they answer, also over a keyboard.
  const unseen = () =>
    page.evaluate(`(({ scrollHeight, scrollTop, clientHeight }) => [scrollHeight - scrollTop - clientHeight > 1, clientHeight > 60])(
      document.querySelector('.transcript'))`);
  for (const written of ['one\ntwo\nthree', 'one\ntwo\nthree\nfour', 'line\n'.repeat(12)]) {
    await box.fill(written);
    await expect.poll(unseen).toEqual([false, true]);
  }
  await page.setViewportSize({ width: 390, height: 460 });
  await expect.poll(unseen).toEqual([false, true]);
  await page.setViewportSize(phone);
  await box.fill('');
  expect(await axeFaults(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await box.fill('look at @seen');
  await page.getByRole('button', { name: 'seen.txt' }).waitFor();
  await box.press('Tab');
  expect(await box.inputValue()).toBe('look at @seen.txt ');
  await box.fill('');
  // Whatever stands in the address is a name.
  await visit(page, '/chat/%25');
  await page.getByText('There is no session "%"').waitFor();
  expect(world.problems).toEqual([]);
});

it('makes the first chat where its address is opened before there is any', async () => {
  const fresh = await webWorld({ turns: [says('Hello.')] });
  try {
    await fresh.served.client.putConfigItem({ key: 'default-model', value: 'm' });
    await fresh.served.client.putConfigItem({ key: 'default-provider', value: 'scripted' });
    const page = await fresh.open('/chat/default');
    await page.getByText('Ask for something to be done here.').waitFor();
    expect(await page.getByRole('alert').filter({ hasText: 'no session' }).count()).toBe(0);
    expect((await fresh.served.client.pageSessions({})).items.map(({ name }) => name)).toEqual(['default']);
    expect(fresh.problems).toEqual([]);
  } finally {
    await fresh.close();
  }
});

it('keeps words whole in a wide table, runs each block in its own direction, and offers a failed turn again after a reload', async () => {
  const page = await world.open('/chat', { viewport: { width: 320, height: 256 } });
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.fill('a table');
  await page.keyboard.press('Enter');
  const cell = page.getByRole('cell', { name: 'considerable 11' });
  await cell.waitFor();
  // One word a line at most, and what is too wide scrolls by itself.
  expect((await cell.boundingBox())?.width).toBeGreaterThan(80);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  expect(await page.locator('.said .prose p:dir(rtl)').count()).toBe(1);
  // Four hundred per cent of a small screen: what was said has room left.
  const height = async () => (await page.locator('.transcript').boundingBox())?.height;
  await expect.poll(height).toBeGreaterThan(80);
  await page.getByRole('button', { name: 'Send' }).waitFor();
  await box.fill('break it');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Send again' }).waitFor();
  await page.reload();
  await page.getByText('failed (auth)').waitFor();
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.locator('.said.user').getByText('break it').nth(1).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  expect(world.problems).toEqual([]);
});

it('starts a chat under the name in its address where there is none, and sends there what was written before', async () => {
  const page = await world.open('/chat/fresh');
  await page.getByText('There is no session "fresh"').waitFor();
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.fill('a table');
  await box.press('Enter');
  // Refused by now.
  const again = page.locator('.said.user').getByRole('button', { name: 'Try again' });
  await again.waitFor();
  await page.getByRole('button', { name: 'Start a chat with this name' }).click();
  await page.getByRole('button', { name: 'Start a chat with this name' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: /^fresh/ }).waitFor();
  await again.click();
  await page.getByText('English here.').waitFor();
  expect(await page.getByText('There is no session').count()).toBe(0);
  expect(world.problems).toEqual([]);
});

it('asks for the login again when it has ended, over the page, which keeps what was being written', async () => {
  const page = await world.open('/chat/default');
  await page.getByRole('textbox', { name: 'Message' }).fill('half a thought');
  // Who is typing goes on for a moment: nothing of it is taken for the password, and Enter tries none.
  const tried: string[] = [];
  page.on('request', (request) => request.url().endsWith('/login') && tried.push(request.url()));
  await page.evaluate(`new MutationObserver((_, observer) => {
    if (document.querySelector('dialog[open]') === null) return;
    observer.disconnect();
    for (const key of ['a', 'Enter']) document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    window.typedInto = document.activeElement.tagName;
  }).observe(document.body, { childList: true, subtree: true, attributes: true })`);
  // A new password ends every other session.
  const changed = await world.served.call('POST', '/api/auth/change-password', {
    body: { current_password: 'admin', new_password: 'correct horse battery' },
  });
  expect(changed.status).toBe(200);
  await page.getByRole('heading', { name: 'Your login has ended' }).waitFor();
  await expect.poll(() => page.evaluate('window.typedInto')).toBe('DIALOG');
  await expect.poll(() => page.evaluate('document.activeElement.type')).toBe('password');
  expect([await page.getByLabel('Password').inputValue(), tried]).toEqual(['', []]);
  expect(await axeFaults(page)).toEqual([]);
  await page.getByLabel('Password').fill('correct horse battery');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('half a thought');
  await page.getByText('what I found').last().waitFor();
  // Logged out in another tab, and in again: who comes back to this one goes on.
  const other = await page.context().newPage();
  await other.goto(`${world.served.url}/runs`);
  await other.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Your login has ended' }).waitFor();
  await other.getByLabel('Password').fill('correct horse battery');
  await other.keyboard.press('Enter');
  await other.getByRole('heading', { name: 'Runs' }).waitFor();
  await page.evaluate("window.dispatchEvent(new Event('focus'))");
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(world.problems).toEqual([]);
});
