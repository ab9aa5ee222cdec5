import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { type Served, served } from '../server/served.ts';
import { openBrowser } from '../support/browser.ts';
import type { ScriptedSetup } from '../support/scripted-app.ts';

export const wide = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844 };

type Look = {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly scheme?: 'light' | 'dark';
  /** How long ago somebody has logged in; absent: just now. */
  readonly loggedInMs?: number;
  /** It is touched with a finger. */
  readonly touch?: boolean;
  /** Nobody is logged in. */
  readonly stranger?: boolean;
};

/** The app as a person meets it: a real server over a scripted model, in a real browser. */
export type WebWorld = {
  readonly served: Served;
  readonly browser: Browser;
  /** What must never be: console messages, violations of the policy of the page, requests to elsewhere. */
  readonly problems: readonly string[];
  /** Another browser profile, logged in unless it says otherwise; it is closed with the test that opens it. */
  context(look?: Look): Promise<BrowserContext>;
  /** A page of a fresh profile, at a path. */
  open(path: string, look?: Look): Promise<Page>;
  /** Watches another page for the same problems. */
  watch(page: Page): void;
  close(): Promise<void>;
};

/** By how many milliseconds answers may be late, at random: it finds what a test or a page takes for an order. */
const mostLateMs = Number(process.env['REINS_TEST_LATE_MS'] ?? 0);

/** @param behind takes what closes a profile; a benchmark is no test, and closes them itself */
export async function webWorld(
  setup: ScriptedSetup,
  behind: (close: () => Promise<void>) => void = onTestFinished,
): Promise<WebWorld> {
  const server = await served(setup);
  const browser = await openBrowser();
  const problems: string[] = [];
  const port = new URL(server.url).port;

  const watch = (page: Page): void => {
    page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
    page.on('console', (message) => {
      // The browser's own line about a refused request; what the page makes of the refusal is another matter.
      if (/^Failed to load resource/.test(message.text())) return;
      if (['error', 'warning'].includes(message.type())) problems.push(`console: ${message.text()}`);
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(server.url)) problems.push(`request: ${request.url()}`);
    });
  };
  const context: WebWorld['context'] = async (look = {}) => {
    const { viewport = wide, scheme = 'light', touch = false, stranger = false, loggedInMs = 0 } = look;
    const made = await browser.newContext({
      viewport,
      colorScheme: scheme,
      reducedMotion: 'reduce',
      hasTouch: touch,
      isMobile: touch,
    });
    // A page that is left open reads again with each event of the tests behind it.
    behind(async () => {
      if (!browser.isConnected()) return;
      // An answer that a test holds back may still be on its way.
      const routed = [made, ...made.pages()];
      await Promise.all(routed.map((each) => each.unrouteAll({ behavior: 'ignoreErrors' })));
      await made.close();
    });
    await made.addInitScript(
      "addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))",
    );
    // What a page is not given that has come over plain HTTP from another machine.
    await made.addInitScript('delete Crypto.prototype.randomUUID');
    if (mostLateMs > 0)
      await made.route('**/api/**', async (route) => {
        if (!route.request().url().includes('/events')) await delay(Math.random() ** 2 * mostLateMs);
        // The page may be gone by then.
        await route.continue().catch(() => undefined);
      });
    if (!stranger) {
      const cookie = {
        name: `reins_session_${port}`,
        value: server.login(loggedInMs),
        httpOnly: true,
        sameSite: 'Strict' as const,
      };
      await made.addCookies([{ ...cookie, url: server.url }]);
    }
    return made;
  };
  return {
    served: server,
    browser,
    problems,
    context,
    watch,
    async open(path, look) {
      const page = await (await context(look)).newPage();
      watch(page);
      await page.goto(`${server.url}${path}`);
      return page;
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Violations of impact serious or critical, each in one line. */
export async function axeFaults(page: Page): Promise<readonly string[]> {
  // Reading half a megabyte of script again takes longer than most checks.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe);
  const found: unknown =
    // Nothing comes from elsewhere, so nothing has to be fetched before the check.
    await page.evaluate(`axe.run(document, { resultTypes: ['violations'], preload: false }).then(({ violations }) =>
    violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ target, failureSummary }) => target.join(' ') + ' ' + failureSummary).join(' | ')))`);
  // The script above gives a list of texts.
  return found as string[];
}

/** Sets the password, from a page that is logged in; every other login ends. @returns the status of the answer */
export const choosePassword = (page: Page): Promise<unknown> =>
  page.evaluate(`fetch('/api/auth/change-password', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ current_password: 'admin', new_password: 'seven quiet herons' }),
  }).then(({ status }) => status)`);

/** Goes to a path as a link of the app does, without loading the app again. */
export const visit = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);

/** What is read of a page when it no longer changes: the same for half a second, however late a busy machine draws. */
export async function settled<Value>(page: Page, read: () => Promise<Value>): Promise<Value> {
  let last = await read();
  for (let same = 0; same < 5; ) {
    await page.waitForTimeout(100);
    const next = await read();
    same = JSON.stringify(next) === JSON.stringify(last) ? same + 1 : 0;
    last = next;
  }
  return last;
}
