// `npm run bench -- --scenarios web`: the browser app in the Chromium of the system, by the browser's own clocks: first
// paint and the composer of a cold start, script, scrolling in 5,000 messages, a key, and a stream of 200 words a second.
import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { builtAt } from '../support/built-at.ts';
import { says } from '../support/scripted-app.ts';
import { type WebWorld, webWorld } from '../web/world.ts';
import { at, createFigures, median, sorted } from './figures.ts';

const runs = Number(process.argv[2] ?? 9);
const messages = 5000;
const words = 1600;
const wordMs = 5;
const figures = createFigures();
const ask = '[aria-label=Message]';

const world = await webWorld(
  {
    turns: [
      {
        match: { role: 'user', last_user: 'stream' },
        reply: { text: paragraphs(words), delay_ms: wordMs },
      },
      says('Hello.'),
    ].map((turn, index) => ({ name: `turn ${index}`, ...turn })),
  },
  () => undefined,
);
try {
  await world.served.client.putConfigItem({ key: 'default-model', value: 'm' });
  await world.served.client.putConfigItem({ key: 'default-provider', value: 'scripted' });
  await world.served.client.createSession({ name: 'default' });
  await benchStart(world);
  await benchStream(world);
  await benchLong(world);
  // Browser, server and whatever else runs share the processors.
  const [load = 0] = loadavg();
  const value = `${load.toFixed(1)} on ${availableParallelism()} processors`;
  figures.add({ what: 'load of the machine at the end', value, goal: '', over: false });
  figures.print();
} finally {
  await world.close();
}

/** A profile without a cache each time. */
async function benchStart({ context, served }: WebWorld): Promise<void> {
  const [paints, largest, ready]: [number[], number[], number[]] = [[], [], []];
  let bytes = 0;
  for (let run = -1; run < runs; run += 1) {
    const profile = await context();
    await profile.addInitScript(`
      window.readyAt = new Promise((resolve) => {
        const seen = new MutationObserver(() => {
          if (document.querySelector('${ask}') === null) return;
          seen.disconnect();
          // A task behind the one that drew it: the thread is free again.
          setTimeout(() => resolve(performance.now()));
        });
        seen.observe(document, { childList: true, subtree: true });
      });
      new PerformanceObserver((list) => { window.largestAt = list.getEntries().at(-1).startTime; })
        .observe({ type: 'largest-contentful-paint', buffered: true });`);
    const page = await profile.newPage();
    await page.goto(`${served.url}/chat`);
    const told = (await page.evaluate(`window.readyAt.then((ready) => ({
      paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
      largest: window.largestAt ?? ready,
      ready,
      scripts: performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.endsWith('.js')),
    }))`)) as {
      readonly paint: number;
      readonly largest: number;
      readonly ready: number;
      readonly scripts: readonly string[];
    };
    await profile.close();
    bytes = [...new Set(told.scripts.map((name) => new URL(name).pathname))].reduce(
      (sum, path) => sum + readFileSync(join(builtAt, 'web', `${path}.gz`)).length,
      0,
    );
    if (run < 0) continue;
    paints.push(told.paint);
    largest.push(told.largest);
    ready.push(told.ready);
  }
  figures.time('/chat, cold: first contentful paint, median', median(paints), 500);
  figures.time('/chat, cold: largest contentful paint, median', median(largest), 1000);
  figures.time('/chat, cold: the composer takes keys, median', median(ready), 1000);
  const over = bytes > 250_000;
  figures.add({ what: '/chat: script, gzip', value: `${(bytes / 1000).toFixed(0)} KB`, goal: '250 KB', over });
}

async function benchStream({ open }: WebWorld): Promise<void> {
  const page = await open('/chat');
  await page.locator(ask).fill('stream please');
  await page.evaluate(`{
    window.longTasks = [];
    new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'longtask' });
  }`);
  await watchFrames(page);
  const from = performance.now();
  await page.keyboard.press('Enter');
  // A locator looks through every element at each frame, on the thread that is measured; what the page itself is to ask
  // again later, its Content-Security-Policy forbids.
  const isWhole = `document.querySelector('.transcript').textContent.includes('end${words - 1}')`;
  for (const end = from + 120_000; !(await page.evaluate(isWhole)); await setTimeout(200))
    if (performance.now() > end) throw new Error('the stream did not end within 120 s');
  const rate = words / ((performance.now() - from) / 1000);
  const gaps = await frameGaps(page);
  const long = (await page.evaluate('window.longTasks')) as readonly number[];
  figures.add({ what: 'stream: words a second', value: rate.toFixed(0), goal: '', over: false });
  figures.time('stream: longest task of the main thread (0 = none over 50 ms)', Math.max(0, ...long), 50);
  figures.time('stream: frame to frame, 95th percentile', at(sorted(gaps), 0.95), null);
  await page.close();
}

async function benchLong({ open, served }: WebWorld): Promise<void> {
  const { id } = await served.client.createSession({ name: 'long' });
  served.app.change(`
    WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n WHERE seq < ${messages})
    INSERT INTO messages (id, session_id, seq, role, kind, payload, status, created_at)
    SELECT printf('msg_%026d', seq), '${id}', seq, iif(seq % 2 = 1, 'user', 'assistant'), 'message',
      json_object('role', iif(seq % 2 = 1, 'user', 'assistant'), 'content',
        'Message ' || seq || iif(seq % 2 = 1, '', char(10) || char(10) || '- a point of a **list**' || char(10)
          || '- and \`another\`' || char(10) || char(10) || printf('%.*c', 200 + seq % 400, 'x'))),
      'complete', 1700000000000 + seq FROM n;
    UPDATE sessions SET message_count = ${messages} WHERE id = '${id}'`);
  const page = await open('/chat/long');
  await page.getByText(`Message ${messages}`, { exact: true }).waitFor();
  // Everything that there is, as somebody gets it who scrolls up to the beginning.
  const oldest = page.getByText('Message 1', { exact: true });
  for (let round = 0; (await oldest.count()) === 0; round += 1) {
    if (round > 200) throw new Error('the beginning of the chat did not come');
    await page.evaluate(`document.querySelector('.transcript').scrollTop = 0`);
    await page.waitForTimeout(100);
  }
  await watchFrames(page);
  await page.evaluate(`new Promise((resolve) => {
    const box = document.querySelector('.transcript');
    let left = 240;
    const step = () => {
      box.scrollTop += 300;
      left -= 1;
      if (left > 0) requestAnimationFrame(step);
      else resolve();
    };
    requestAnimationFrame(step);
  })`);
  const gaps = sorted(await frameGaps(page));
  figures.time(`${messages} messages, scrolled 300 px a frame: frame to frame, median`, median(gaps), 17);
  figures.time('… 95th percentile', at(gaps, 0.95), null);
  const rows = Number(await page.evaluate(`document.querySelectorAll('.transcript-row').length`));
  figures.add({ what: '… rows in the page', value: String(rows), goal: '', over: false });
  await page.evaluate(`{
    window.keys = [];
    document.querySelector('${ask}').addEventListener('keydown', (event) =>
      requestAnimationFrame(() => setTimeout(() => window.keys.push(performance.now() - event.timeStamp))));
  }`);
  await page.locator(ask).pressSequentially('The quick brown fox jumps over the lazy dog, again and again.');
  const keys = (await page.evaluate('window.keys')) as readonly number[];
  figures.time('… a key to its paint, 95th percentile', at(sorted(keys), 0.95), 50);
}

/** Notes when frames are drawn, until `frameGaps`. */
function watchFrames(page: Page): Promise<unknown> {
  return page.evaluate(`{
    window.frames60 = [];
    const note = (at) => {
      window.frames60.push(at);
      window.frameNote = requestAnimationFrame(note);
    };
    window.frameNote = requestAnimationFrame(note);
  }`);
}

async function frameGaps(page: Page): Promise<readonly number[]> {
  const times = (await page.evaluate('cancelAnimationFrame(window.frameNote); window.frames60')) as readonly number[];
  return times.slice(1).map((time, index) => time - (times[index] ?? time));
}

/** Text as models write it: paragraphs, a list now and then. */
function paragraphs(count: number): string {
  const all = Array.from({ length: count }, (_, index) => {
    const word = index === count - 1 ? `end${index}` : `word${index % 97}`;
    if (index % 60 === 59) return `${word}\n\n`;
    return index % 60 === 30 ? `${word}\n\n- ` : word;
  });
  return all.join(' ');
}
