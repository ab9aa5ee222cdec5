import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { findFiles } from '../../src/workspace/find-files.ts';
import { tempHome } from '../support/temp-home.ts';

const place = tempHome();
afterEach(place.remove);

test('files are found by their words, but for those of this program, wherever they lie', () => {
  for (const path of [
    'state/local.db',
    'state/chain.json',
    'my.db',
    'my.db-wal',
    'notes/state.md',
    '.env',
    '.git/state',
  ]) {
    mkdirSync(join(place.workspace, path, '..'), { recursive: true });
    writeFileSync(join(place.workspace, path), 'text');
  }
  const own = ['state', 'my.db'].map((path) => join(place.workspace, path));
  const paths = (query: string) => findFiles(place.workspace, query, 10, own).map(({ path }) => path);
  expect([paths('state'), paths('db'), paths('NOTES md')]).toEqual([['notes/state.md'], [], ['notes/state.md']]);
});
