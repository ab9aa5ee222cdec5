import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { namesOutside } from '../../src/gate/git-index.ts';
import { findRepository } from '../../src/gate/repository.ts';
import { repositoryProblem } from '../../src/policy/git.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let home: TempHome;
beforeEach(() => {
  home = tempHome();
});
afterEach(() => home.remove());

const own = () => join(home.workspace, '.git');
const git = (...words: string[]) => execFileSync('git', ['-C', home.workspace, ...words], { stdio: 'pipe' });
const problem = () => repositoryProblem(findRepository(home.workspace, home.workspace), 'diff');

function entry(name: string, length = name.length): Buffer {
  const head = Buffer.alloc(62);
  head.writeUInt16BE(length, 60);
  const text = Buffer.concat([head, Buffer.from(name, 'latin1')]);
  return Buffer.concat([text, Buffer.alloc(8 - (text.length % 8))]);
}
function index(entries: readonly Buffer[], version = 2): Buffer {
  const head = Buffer.from('DIRC\0\0\0\0\0\0\0\0', 'latin1');
  head.writeUInt32BE(version, 4);
  head.writeUInt32BE(entries.length, 8);
  return Buffer.concat([head, ...entries, Buffer.alloc(20)]);
}

it.each(['../x', '/etc/passwd', 'a/../../x', 'a/..', '..'])('tells an index that names %s', (name) => {
  mkdirSync(own());
  writeFileSync(join(own(), 'index'), index([entry('a'), entry(name)]));
  expect(namesOutside(own(), 20)).toBe(true);
  writeFileSync(join(own(), 'index'), index([entry('a'), entry('a..b/..c/d..'), entry('x'.repeat(5000), 0xfff)]));
  expect(namesOutside(own(), 20)).toBe(false);
  writeFileSync(join(own(), 'sharedindex.1'), index([entry(name)]));
  expect(namesOutside(own(), 20)).toBe(true);
});

it('joins a name that begins like the one before it', () => {
  mkdirSync(own());
  const short = (left: number, rest: string, length: number) =>
    Buffer.concat([entry('', length).subarray(0, 62), Buffer.from([left]), Buffer.from(`${rest}\0`)]);
  writeFileSync(join(own(), 'index'), index([short(0, 'a/..b', 5), short(1, 'c', 5)], 4));
  expect(namesOutside(own(), 20)).toBe(false);
  writeFileSync(join(own(), 'index'), index([short(0, 'a/..b', 5), short(1, '/c', 6)], 4));
  expect(namesOutside(own(), 20)).toBe(true);
});

it.each([
  ['a length that is not the name’s', index([entry('ab', 1)])],
  ['fewer entries than it says', index([entry('a')]).subarray(0, 60)],
  ['another version', index([], 5)],
  ['nothing', Buffer.alloc(0)],
])('takes one with %s for one that cannot be read', (_what, bytes) => {
  mkdirSync(own());
  writeFileSync(join(own(), 'index'), bytes);
  expect(namesOutside(own(), 20)).toBe(true);
});

it.each([
  ['--object-format=sha1', '2', '--no-split-index'],
  ['--object-format=sha1', '3', '--no-split-index'],
  ['--object-format=sha1', '4', '--no-split-index'],
  ['--object-format=sha1', '2', '--split-index'],
  ['--object-format=sha256', '4', '--no-split-index'],
])('reads what git writes: %s, version %s, %s', (format, version, split) => {
  git('init', '-q', format);
  expect(problem()).toBe(null);
  mkdirSync(join(home.workspace, 'a/deep'), { recursive: true });
  for (const name of ['a/b', 'a/bc', 'a/deep/ü', 'z', 'new']) writeFileSync(join(home.workspace, name), name);
  git('add', 'a', 'z');
  git('add', '-N', 'new');
  git('update-index', '--index-version', version, split);
  git('add', '.');
  expect(problem()).toBe(null);
});

it('has a call asked about where it tells one', () => {
  git('init', '-q');
  writeFileSync(join(own(), 'index'), index([entry('../x')]));
  expect(problem()).toBe('git_config: the index names a file outside, or cannot be read');
});

describe('a granted git diff', () => {
  const changed = (): readonly string[] => findRepository(home.workspace, home.workspace)?.changed?.(/\.env/) ?? [];
  const put = (name: string, text: string) => writeFileSync(join(home.workspace, name), text);

  it.each(['2', '4'])('is told which files that it knows were changed since (version %s)', (version) => {
    git('init', '-q');
    put('.env.example', 'A=1\n');
    put('.env', 'A=1\n');
    put('.envé', 'A=1\n');
    put('other', 'x\n');
    git('add', '-f', '.env', '.envé', 'other');
    git('update-index', '--index-version', version);
    // As old as the index, it is looked into.
    expect(changed()).toEqual([]);
    const [old, later] = [new Date(Date.now() - 60_000), new Date(Date.now() - 30_000)];
    for (const name of ['.env', '.envé', 'other']) utimesSync(join(home.workspace, name), old, old);
    git('update-index', '--refresh');
    expect(changed()).toEqual([]);
    put('.envé', 'A=2\n');
    utimesSync(join(home.workspace, '.envé'), later, later);
    put('other', 'y\n');
    expect(changed()).toEqual([join(home.workspace, '.envé')]);
    put('.env', 'A=secret\n');
    utimesSync(join(home.workspace, '.env'), old, old);
    expect(changed()).toEqual([join(home.workspace, '.env'), join(home.workspace, '.envé')]);
    rmSync(join(home.workspace, '.env'));
    expect(changed()).toEqual([join(home.workspace, '.envé')]);
  });
});
