import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A fresh directory with a home and a workspace of its own. Call `remove` in `afterEach`. */
export type TempHome = { readonly dir: string; readonly home: string; readonly workspace: string; remove(): void };

export function tempHome(): TempHome {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'reins-test-')));
  const home = join(dir, 'home');
  const workspace = join(dir, 'ws');
  mkdirSync(home, { mode: 0o700 });
  mkdirSync(workspace);
  return {
    dir,
    home,
    workspace,
    remove: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }),
  };
}
