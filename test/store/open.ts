import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { type OpenedStore, type OpenOptions, openStore } from '../../src/store/store.ts';
import type { TempHome } from '../support/temp-home.ts';

/** The tenant of every test that needs one. */
export const tenant = '00000000-0000-0000-0000-000000000001';
export const startOfTime = Date.UTC(2026, 0, 2, 3, 4, 5);

export const databaseIn = (temp: TempHome): string => join(temp.home, 'local.db');

/** Opens the database of a temporary home, creating it unless told otherwise; warnings go to `warned`. */
export const openIn = (
  temp: TempHome,
  options: Partial<OpenOptions> = {},
  warned: string[] = [],
): Promise<OpenedStore> =>
  openStore({
    path: databaseIn(temp),
    mode: 'create',
    reinsHome: temp.home,
    version: '0.0.0-test',
    now: () => startOfTime,
    warn: (line) => warned.push(line),
    busyTimeoutMs: 20,
    ...options,
  });

let bundles = 0;
const root = join(import.meta.dirname, '..', '..');
const bundleDirectory = join(root, 'node_modules', '.cache', `reins-test-${process.pid}`);

/** Bundles a source file so that a child process can import it. It lies where the child finds our packages. */
export async function bundle(source: string): Promise<string> {
  bundles += 1;
  mkdirSync(bundleDirectory, { recursive: true });
  const outfile = join(bundleDirectory, `store-${bundles}.mjs`);
  await build({
    entryPoints: [join(root, source)],
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['better-sqlite3'],
    outfile,
    logLevel: 'error',
  });
  return pathToFileURL(outfile).href;
}

export const removeBundles = (): void => rmSync(bundleDirectory, { recursive: true, force: true });
