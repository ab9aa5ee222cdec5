import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { withSearchPath } from '../text/search-path.ts';
import type { Context } from './context.ts';

type Opening = { readonly process: Pick<Context['process'], 'environment'>; readonly warn: (line: string) => void };

const keptMs = 60_000;
const opener = (): string => (process.platform === 'darwin' ? 'open' : 'xdg-open');

/**
 * Opens a login link in the default browser. Its code is never in an argument list: a page that only its owner can read
 * leads there, and is removed after a minute or when the program ends (09 §4.7).
 */
export function openInBrowser(link: string, directory: string, { process: { environment }, warn }: Opening): void {
  const place = mkdtempSync(join(directory, 'open-'));
  const page = join(place, 'open.html');
  // The address is of our own making: letters, digits and signs that need no escape.
  writeFileSync(page, `<!doctype html><meta http-equiv="refresh" content="0;url=${link}">`, {
    mode: 0o600,
    flag: 'wx',
  });
  const remove = (): void => rmSync(place, { recursive: true, force: true });
  const timer = setTimeout(remove, keptMs);
  timer.unref();
  process.once('exit', remove);
  openUrl(pathToFileURL(page).href, environment, () =>
    warn('no browser could be started; "reins beam link" prints a link'),
  );
}

/** Opens a URL, as one argument, with what this system opens pages with; it gets nothing of this terminal. */
export function openUrl(url: string, environment: Context['process']['environment'], onError: () => void): void {
  const env = withSearchPath(environment);
  const child = spawn(opener(), [url], { env, stdio: 'ignore', detached: true });
  child.once('error', onError);
  child.unref();
}
