import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { bearer, good, type ServerWorld, startServer, withPassword } from './world.ts';

let world: ServerWorld;
let browser: Browser;
let context: BrowserContext;
let elsewhere: Server;
let evil: number;
/** The operator's own page, logged in. */
let own: Page;
let token: string;
const script = readFileSync(new URL('attack-page.js', import.meta.url));
/** What the other site's server was sent. */
const received: { path: string; referer: string | undefined }[] = [];

beforeAll(async () => {
  world = await startServer();
  token = await withPassword(world);
  elsewhere = createServer((request, response) => {
    received.push({ path: request.url ?? '', referer: request.headers.referer });
    const isScript = request.url === '/attack.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : '<!doctype html><title>elsewhere</title><body><script src="/attack.js"></script>');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => elsewhere.once('listening', resolve));
  evil = (elsewhere.address() as { port: number }).port;
  browser = await openBrowser();
  context = await browser.newContext();
  own = await context.newPage();
  await own.goto(world.url);
  const login = JSON.stringify({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'admin', password: good }),
  });
  const status = await own.evaluate(`fetch('/ui/login', ${login}).then((answer) => answer.status)`);
  expect(status).toBe(200);
}, 60_000);
afterAll(async () => {
  await browser?.close();
  elsewhere?.close();
  await world?.close();
});

const sessions = async () => {
  const { json } = await world.send('/api/auth/sessions', { headers: bearer(token) });
  const items = (json?.['items'] ?? []) as { id: string }[];
  return items.map(({ id }) => id);
};

it('HTTP-002 and HTTP-004: lets a page of another port or name change nothing and read nothing', async () => {
  const before = await sessions();
  const answered = world.lines.length;
  for (const host of ['127.0.0.1', 'localhost']) {
    const page = await context.newPage();
    await page.goto(`http://${host}:${evil}/`);
    for (const name of ['127.0.0.1', 'localhost']) {
      const given = [`http://${name}:${world.port}`, before[0], good].map((text) => JSON.stringify(text));
      const read = await page.evaluate(`attack(${given.join(', ')})`);
      expect([host, name, read]).toEqual([host, name, []]);
    }
    await page.close();
  }
  // Not one of them came further than the guard: whatever is answered behind it leaves a line.
  expect(world.lines.slice(answered)).toEqual([]);
  expect(await sessions()).toEqual(before);
  expect((await world.login(good)).status).toBe(200);
  const me = await own.evaluate("fetch('/api/auth/me').then((answer) => answer.status)");
  expect(me).toBe(200);
}, 60_000);

it('keeps its cookie from every script, its own pages among them', async () => {
  expect(await own.evaluate('document.cookie')).toBe('');
  const [cookie] = await context.cookies(world.url);
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
});

it('shows a page that another site links to, and does not let itself be framed or run what is not its own', async () => {
  const page = await context.newPage();
  await page.goto(`http://localhost:${evil}/`);
  await page.evaluate(
    `document.body.append(Object.assign(document.createElement('a'), { href: '${world.url}/login', textContent: 'open' }))`,
  );
  await page.click('text=open');
  await page.waitForURL(`${world.url}/login`);
  expect(await page.title()).toBe('Reins');
  const blocked = await page.evaluate(`new Promise((resolve) => {
    document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective));
    document.body.append(Object.assign(document.createElement('script'), { textContent: 'document.title = "taken"' }));
  })`);
  expect([blocked, await page.title()]).toEqual(['script-src-elem', 'Reins']);
  await page.close();
});

it('HTTP-015: tells no other site where a person came from', async () => {
  const before = received.length;
  await own.evaluate(`void window.open('http://localhost:${evil}/from-here')`);
  await expect
    .poll(() => received.slice(before).find(({ path }) => path === '/from-here'))
    .toEqual({
      path: '/from-here',
      referer: undefined,
    });
});
