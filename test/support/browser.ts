import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Debian's Chromium without its window, which takes a third less of the processors, or the one with it. */
const programs = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'] as const;

/** The browser of the system, without a screen. Who starts it closes it. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: programs.find((path) => existsSync(path)) ?? programs[0],
    // The tests run as root where nothing else is; the pages are our own.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
