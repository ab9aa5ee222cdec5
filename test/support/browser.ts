import { type Browser, chromium } from 'playwright-core';

/** The browser of the system, without a screen. Who starts it closes it. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: '/usr/bin/chromium',
    // The tests run as root where nothing else is; the pages are our own.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
