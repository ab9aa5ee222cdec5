import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTracked } from '../../src/gate/tracked.ts';
import { tempHome, type TempHome } from '../support/temp-home.ts';

let home: TempHome;
const git = (...words: readonly string[]): void => {
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.test', ...words], { cwd: home.workspace });
};
const known = (path: string): boolean => createTracked()(join(home.workspace, path));

beforeEach(() => {
  home = tempHome();
  mkdirSync(join(home.workspace, 'conf/fixtures'), { recursive: true });
  for (const name of ['.env', 'conf/fixtures/.env', 'conf/prod.yml', `conf/${'x'.repeat(200)}`]) {
    writeFileSync(join(home.workspace, name), 'a');
  }
  git('init', '-q');
  git('add', 'conf');
});

afterEach(() => home.remove());

it('knows what the index lists, and the directories that it lies in', () => {
  for (const path of ['conf/prod.yml', 'conf/fixtures/.env', 'conf/fixtures', `conf/${'x'.repeat(200)}`]) {
    expect(known(path)).toBe(true);
  }
  // The end of a name is another name.
  for (const path of ['.env', 'prod.yml', 'fixtures/.env', 'conf/.env', 'conf/prod']) expect(known(path)).toBe(false);
});

it('reads an index whose entries have more flags', () => {
  git('add', '-N', '.env');
  expect(known('.env')).toBe(true);
  expect(known('conf/prod.yml')).toBe(true);
  expect(known('prod.yml')).toBe(false);
});

it.each([
  { form: 'that leaves out what its names share', words: ['update-index', '--index-version', '4'] },
  { form: 'in two files', words: ['update-index', '--split-index'] },
])('reads an index $form', ({ words }) => {
  git(...words);
  expect(known('conf/prod.yml')).toBe(true);
  expect(known('.env')).toBe(false);
  git('add', '.env');
  expect(known('.env')).toBe(true);
});

it('takes what it cannot read for an index that lists anything', () => {
  writeFileSync(join(home.workspace, '.git/index'), 'no index');
  expect(known('.env')).toBe(true);
});

it('knows nothing where there is no repository, or nothing was added', () => {
  expect(createTracked()('/nowhere/a')).toBe(false);
  mkdirSync(join(home.workspace, 'inner'));
  execFileSync('git', ['init', '-q'], { cwd: join(home.workspace, 'inner') });
  expect(known('inner/a')).toBe(false);
});
