import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AppOptions } from '../../src/app-options.ts';

/** What an entry point says of itself when nothing is configured, in a place of a test. @param root of the built program */
export const appOptions = (place: { readonly home: string; readonly workspace: string }, root: string): AppOptions => ({
  root: pathToFileURL(`${root}/`),
  environment: { HOME: place.home, PATH: process.env['PATH'], REINS_HOME: join(place.home, '.reins') },
  cwd: place.workspace,
  surface: 'cli',
  version: 'test',
  warn: () => {},
  tenant: '00000000-0000-0000-0000-000000000001',
  terminal: false,
  dataDir: null,
  database: { value: join(place.workspace, '../local.db'), source: 'flag' },
  model: null,
  provider: null,
  policy: null,
  ollama: null,
  context: 0,
  shell: false,
  allowedDir: null,
  trust: [],
  trace: false,
});
